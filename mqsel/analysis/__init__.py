"""Lint, comparison and explanation of selectors."""
