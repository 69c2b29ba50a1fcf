"""The extensions: what pyproject.toml cannot say.

MQSEL_SANITIZE=1 builds with address and undefined-behaviour sanitizers, MQSEL_FAULTS=1 with faults that
tests/fuzz/fuzz_faults.py asks for.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import Cython
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

SANITIZE = os.environ.get("MQSEL_SANITIZE") == "1"
FAULTS = os.environ.get("MQSEL_FAULTS") == "1"
UNIX = sys.platform != "win32"

# Read before all else in each extension.
HEADERS = ["mqsel/_cython.h", *(["tests/fuzz/faults.h"] if FAULTS else [])]

# Holds what Cython otherwise writes into every other extension: a quarter less to compile.
SHARED = "mqsel._cython"

# Compiled from the .py that people and mypy read: what runs for each selector of a set, and each one that is unpickled
# (bench/README.md, Columns, has the instructions).
COMPILED = (
    "language.lexer",
    "language.pattern",
    "language.parser",
    "language.checker",
    "logic.intervals",
    "logic.sets",
    "logic.formulas",
    "logic.normal",
    "machine.program",
    "sets.reading",
)

# Runs for each message, row or byte, and gets -O3. With -O1 columns execute up to 6.7 times as many instructions, sets
# 12 % more, rows and messages of bytes 8 %, files 7 %, loading a program 4 %.
LOOPS = (
    "language.lexer",
    "machine._values",
    "machine._verifier",
    "machine._operators",
    "machine._sources",
    "machine._vm",
    "machine._stream",
    "columns._arrow",
    "columns._sets",
    "columns._columns",
    "columns._kernel",
    "columns._formulas",
    "columns._answers",
    "index._candidates",
    "index._reader",
    "formats._decoder",
    "formats._mq",
    "formats._amqp",
    "formats._json",
    "formats._records",
    "formats._artemis",
    "files._splitters",
    "files._exports",
    "files._sifter",
    "analysis.explain._tally",
    "_messages",
)
# Runs for each selector, set or file, and gets -O1, which gcc needs half the time for.
OTHERS = (
    *(name for name in COMPILED if name not in LOOPS),
    "machine._image",
    "index._segment",
    "index._memtable",
    "index._postings",
    "index._index",
    "files._footer",
)


def digest(paths: Iterable[str], *more: object) -> str:
    """Return a number, in hexadecimal, of the files and of what else something is built from."""
    found = sha256(repr(more).encode())
    for path in sorted(paths):
        found.update(f"{path}\n".encode() + Path(path).read_bytes().replace(b"\r\n", b"\n"))
    return found.hexdigest()


KEPT = Path("build", "extensions", sys.implementation.cache_tag)
BUILT = KEPT / "built.json"  # what each extension in the source tree was built from: a number, and the paths
VERSIONS = 8  # of an extension that are kept, such as those of other branches


def stale() -> list[str]:
    """Return the extensions in the source tree whose sources have changed since they were built."""
    if not BUILT.exists():
        return ["all of them"]
    built = json.loads(BUILT.read_text(encoding="utf-8"))
    return [
        name
        for name, (number, *paths) in built.items()
        if not all(map(os.path.exists, paths)) or digest(paths) != number
    ]


class Fresh(build):
    """A build into an empty folder: what an older one left there, such as a module since renamed, is in no wheel."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class Extensions(build_ext):
    """Extensions translated and compiled in as many processes as there are processors, and kept in build/extensions.

    They are kept under a number of all that they are built from, since times say nothing: pip builds in a folder that
    it throws away, with a Cython that it has just unpacked.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count() or 1

    def run(self) -> None:
        super().run()
        if self.inplace:
            BUILT.write_text(json.dumps(self.built_from), encoding="utf-8")
        else:  # an editable install has no manual pages
            self.distribution.data_files = [("share/man/man1", manual_pages(Path(self.build_lib)))]

    def build_extensions(self) -> None:
        tree = create_dependency_tree(quiet=True)
        tools = (sys.version, Cython.__version__, vars(self.compiler).get("compiler_so"))
        self.kept, self.built_from = {}, {}
        for extension in self.extensions:
            needed = {path for source in extension.sources for path in tree.all_dependencies(source)}
            # Cython's own lie elsewhere each time that pip builds, and are known by its version.
            paths = {path for path in needed if not Path(path).is_absolute()}
            paths |= {header.as_posix() for path in paths for header in Path(path).parent.glob("*.h")}
            paths |= {*extension.depends}
            flags = (extension.extra_compile_args, extension.extra_link_args, extension.define_macros)
            number = digest(paths, tools, flags)[:16]
            self.kept[extension.name] = KEPT / f"{extension.name}.{number}"
            self.built_from[extension.name] = [digest(paths), *sorted(paths)]
        translated = cythonize(
            [one for one in self.extensions if self.force or not self.kept[one.name].exists()],
            nthreads=min(self.parallel, 61),  # of which Windows has no more for one pool
            # No generated C in the tree, the source distribution or the wheel.
            build_dir="build/cython",
            force=True,
            quiet=not self.verbose,
            shared_utility_qualified_name=SHARED,
        )
        self.translated = {extension.name: extension.sources for extension in translated}
        self.force = True  # what has been translated is compiled, whatever the time of an older one
        super().build_extensions()

    def build_extension(self, extension: Extension) -> None:
        built, kept = Path(self.get_ext_fullpath(extension.name)), self.kept[extension.name]
        if extension.name in self.translated:
            extension.sources = self.translated[extension.name]
            super().build_extension(extension)
            kept.parent.mkdir(parents=True, exist_ok=True)
            whole = kept.with_suffix(".part")  # what an interruption leaves is not taken for it
            shutil.copy(built, whole)
            whole.replace(kept)
        os.utime(kept)
        versions = sorted(kept.parent.glob(f"{extension.name}.*"), key=os.path.getmtime)
        for former in versions[:-VERSIONS]:
            former.unlink()
        built.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kept, built)  # with a time of now, so that it replaces whatever stands in the source tree


def manual_pages(built: Path) -> list[str]:
    """Return the pages of man, which the package that has just been built writes of its commands."""
    folder = Path("build", "man")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-B", ".github/site/manual.py", str(folder)]  # or bytecode would be in the wheel
    environment = {**os.environ, "PYTHONPATH": str(built.resolve())}
    subprocess.run(command, check=True, env=environment)  # noqa: S603 (ours alone)
    return [path.as_posix() for path in sorted(folder.iterdir())]


class Sources(sdist):
    """A source distribution with all that its tests and documents need, not the package alone."""

    def make_distribution(self) -> None:
        for folder in ("mqsel", "tests", "bench", ".github", ".ci"):
            self.filelist.graft(folder)
        for made in ("*.so", "*.pyd", "*.pyc", "*.c", ".hypothesis/**"):
            self.filelist.global_exclude(made)
        super().make_distribution()


def flags(name: str) -> dict[str, list[str]]:
    """Return what the compiler and the linker are told about an extension."""
    if not UNIX:
        return {"extra_compile_args": [f"/FI{header}" for header in HEADERS]}
    # Without -g0 three quarters of a wheel are debug information, which some builds of Python ask for.
    compiling = ["-O3" if name in LOOPS else "-O1", "-Wall", "-g0"]
    compiling += [word for header in HEADERS for word in ("-include", header)]
    if sys.platform == "linux":
        # Keeps the slow functions, and the registers they save, out of the machine's loop: 5 to 9 % on W2 (tuples) and
        # W7. What is declared inline is inlined, however long the unit and the loop are: otherwise some lines more in a
        # slow function, or a few opcodes, drive comparison out of the loop (W7, dicts: 1,924 instructions a message;
        # without the first parameter 2,271) and the look-up of IN (W6, dicts: 244; without the second one 260).
        compiling += ["-fno-inline-functions-called-once"]
        compiling += ["--param=inline-unit-growth=300", "--param=large-function-growth=1000"]
        if name.startswith("columns."):
            # A loop that begins within a line of code takes longer: dictionaries, W4 1.10 -> 0.74 ns a row, W7 20.9
            # -> 19, others up to 15 %. Rows would take 2 to 5 % longer.
            compiling += ["-falign-loops=32"]
    if not SANITIZE:
        return {"extra_compile_args": compiling}
    sanitizing = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g"]
    return {"extra_compile_args": [*compiling, *sanitizing, "-O1"], "extra_link_args": sanitizing[:1]}


def extension(name: str) -> Extension:
    """Return the extension of this name within the package."""
    source = f"mqsel/{name.replace('.', '/')}.{'py' if name in COMPILED else 'pyx'}"
    made = Extension(f"mqsel.{name}", [source], include_dirs=["mqsel/columns"], depends=HEADERS, **flags(name))
    if name == "machine._verifier":  # which is built again whenever a source has changed
        sources = [path.as_posix() for path in Path("mqsel").rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".h")]
        made.define_macros.append(("MQSEL_BUILD", f"0x{digest(sources)[:8]}"))
    return made


if __name__ == "__main__":  # not in the processes that translate, which import this file on some systems
    setup(
        cmdclass={"build": Fresh, "build_ext": Extensions, "sdist": Sources},
        # The largest first, lest one processor has nothing to do at the end.
        ext_modules=[Extension(SHARED, [], depends=HEADERS, **flags(SHARED)), *map(extension, (*OTHERS, *LOOPS))],
    )
