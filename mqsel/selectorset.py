"""Where pickles of sets by versions before 0.4.0 find what reads them."""

from mqsel.sets.set import SelectorSet, _unpickled

__all__ = ["SelectorSet", "_unpickled"]
