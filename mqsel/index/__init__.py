"""Many formulas as one: which of them a message makes TRUE."""
