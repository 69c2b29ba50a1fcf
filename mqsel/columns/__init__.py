"""Columns of Arrow to truth values: the normal form of a selector over blocks of rows."""
