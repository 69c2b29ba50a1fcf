"""The former module of `SelectorSet`, under whose name versions before 0.4.0 pickled it."""

from mqsel.sets.set import SelectorSet, _unpickled

__all__ = ["SelectorSet", "_unpickled"]
