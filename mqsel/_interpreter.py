"""Refuses every interpreter of a process but the main one, before an extension is loaded.

An extension built by Cython belongs to the interpreter that loads it first. If a subinterpreter loaded one, the main
interpreter could never load it again. So this module is imported before all others.
"""

from importlib import import_module

for _name in ("_interpreters", "_xxsubinterpreters"):  # its name from Python 3.13, and before
    try:
        _interpreters = import_module(_name)
    except ImportError:
        continue
    if _interpreters.get_current() != _interpreters.get_main():
        raise ImportError("mqsel is imported in a subinterpreter: expected the main one; use a process instead")
    break
