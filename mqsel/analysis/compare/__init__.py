"""Comparisons of selectors: with each other, in two dialects, with a contract, and for another product."""
