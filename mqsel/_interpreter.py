"""Refuses every interpreter of a process but the main one, and a package in a zip, before an extension is loaded.

An extension built by Cython belongs to the interpreter that loads it first. If a subinterpreter loaded one, the main
interpreter could never load it again. From a zip Python loads none. So this module is imported before all others.
"""

from importlib import import_module

_zip = getattr(__spec__.loader, "archive", None)
if _zip is not None:
    raise ImportError(
        f"mqsel is imported from {_zip}: expected a folder, as Python imports no compiled module from a zip; on Spark "
        "send it by --archives, not --py-files"
    )
for _name in ("_interpreters", "_xxsubinterpreters"):  # its name from Python 3.13, and before
    try:
        _interpreters = import_module(_name)
    except ImportError:
        continue
    if _interpreters.get_current() != _interpreters.get_main():
        raise ImportError("mqsel is imported in a subinterpreter: expected the main one; use a process instead")
    break
