"""Evaluate selectors over Arrow columns, a block of rows at a time."""
