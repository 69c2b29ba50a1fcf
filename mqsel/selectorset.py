"""The former module of `SelectorSet`, which earlier pickles name."""

from mqsel.sets.set import SelectorSet, _unpickled

__all__ = ["SelectorSet", "_unpickled"]
