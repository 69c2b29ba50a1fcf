"""Text to a checked selector: what the language means stands in README.md. Pure Python: needs no compiled machine."""
