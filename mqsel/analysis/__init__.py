"""Check, compare and explain selectors."""
