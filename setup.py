"""The extensions: what pyproject.toml cannot say.

MQSEL_SANITIZE=1 builds with address and undefined-behaviour sanitizers.
"""

import os
import sys
from hashlib import sha256
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.sdist import sdist


def digest(paths: list[str]) -> str:
    """Make a number of the sources, by which builds of one version are told apart."""
    made = sha256()
    for path in paths:
        made.update(f"{path}\n".encode() + Path(path).read_bytes().replace(b"\r\n", b"\n"))
    return f"0x{made.hexdigest()[:8]}"


class Sources(sdist):
    """A source distribution with all that its tests and documents need, not the package alone."""

    def make_distribution(self) -> None:
        for folder in ("tests", "bench", ".github", ".ci"):
            self.filelist.graft(folder)
        for made in ("*.so", "*.pyd", "*.pyc", "*.c", ".hypothesis/**"):
            self.filelist.global_exclude(made)
        super().make_distribution()


SANITIZE = os.environ.get("MQSEL_SANITIZE") == "1"
UNIX = sys.platform != "win32"

# Without -g0 three quarters of a wheel are debug information, which some builds of Python ask for.
compile_args = ["-O3", "-Wall", "-g0"] if UNIX else []
if sys.platform == "linux":
    # Keeps the slow functions, and the registers they save, out of the machine's loop: 5 to 9 % on W2 (tuples) and W7.
    compile_args.append("-fno-inline-functions-called-once")
    # What is declared inline is inlined, however long the unit is: otherwise some lines more in a slow function drive
    # comparison out of the loop (W7, dicts: 1,942 instructions a message; without, 2,084 and then 2,140).
    compile_args.append("--param=inline-unit-growth=100")
link_args: list[str] = []
if SANITIZE:
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g", "-O1"]
    compile_args = [*compile_args, *flags]
    link_args = flags[:1]

sources = sorted(path.as_posix() for path in Path("mqsel").rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".h"))
# The extension that knows the number is compiled again whenever a source has changed.
numbered = {"machine._verifier": {"define_macros": [("MQSEL_BUILD", digest(sources))], "depends": sources}}
# Those that include C of our own.
numbered |= {
    f"columns.{name}": {"depends": ["mqsel/columns/_loops.h"]}
    for name in ("_sets", "_columns", "_texts", "_arithmetic", "_formulas", "_shared", "_answers")
}

# Compiled from the .py that people and mypy read: a fifth to a third more selectors a second in a set (bench/table.py
# --sets), and 41 us for compiling one instead of 48. Not the lexer, which is one regular expression and gains nothing.
COMPILED = ("language.parser", "language.checker", "language.sets", "language.formulas", "language.normal")

setup(
    cmdclass={"sdist": Sources},
    ext_modules=cythonize(
        [
            Extension(
                f"mqsel.{name}",
                [f"mqsel/{name.replace('.', '/')}.{'py' if name in COMPILED else 'pyx'}"],
                include_dirs=["mqsel/columns"],
                # With -O3 they are a sixth larger, and gcc warns of Python's own headers.
                extra_compile_args=[*compile_args, "-O2"] if UNIX and name in COMPILED else compile_args,
                extra_link_args=link_args,
                **numbered.get(name, {}),
            )
            for name in (
                *COMPILED,
                "machine._values",
                "machine._verifier",
                "machine._image",
                "machine._operators",
                "machine._sources",
                "machine._vm",
                "machine._stream",
                "columns._arrow",
                "columns._sets",
                "columns._columns",
                "columns._texts",
                "columns._kernel",
                "columns._arithmetic",
                "columns._formulas",
                "columns._shared",
                "columns._answers",
                "index._parts",
                "index._draft",
                "index._steps",
                "index._drafter",
                "index._ways",
                "index._gates",
                "index._lists",
                "index._layout",
                "index._search",
                "index._pieces",
                "index._index",
                "index._reading",
                "index._deliveries",
                "formats._text",
                "formats._folders",
                "files._footer",
                "formats._mq",
                "formats._json",
                "formats._records",
                "files._dumps",
                "files._qload",
                "files._amqsbcg",
                "files._lines",
                "files._pieces",
                "_messages",
            )
        ],
        # No generated C in the tree, the source distribution or the wheel.
        build_dir="build/cython",
    ),
)
