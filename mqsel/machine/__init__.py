"""A checked selector to a verified program, and the machine that runs it over properties and columns."""
