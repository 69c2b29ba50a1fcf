"""Rebuild what has changed, and run the tests that see it: `python -m tests.near [--room] mqsel/index/_reader.pyx …`.

A test file sees a module if it imports the module, or a module that imports that one, or is in the folder of one of
them. The nearest come first, and the first failure ends the run. With --room it ends with the nearest: the
module's own folder, or the tests that import a module of none.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))  # where pytest looks for the modules of the tests

from layers import PACKAGE, TOP, imports_of, module_of, sources  # noqa: E402 (found by the line above)


def distances(paths: list[Path]) -> dict[str, int]:
    """Return the modules that see a change of these files, each with how many imports are between."""
    importers = defaultdict(set)
    for path in sources():
        for name in imports_of(path):
            importers[name.removesuffix(".__init__")].add(module_of(path).removesuffix(".__init__"))
    reached = {module_of(path).removesuffix(".__init__"): 0 for path in paths}
    queue = [*reached]
    for module in queue:  # which grows
        for importer in importers[module] - reached.keys():
            reached[importer] = reached[module] + 1
            queue.append(importer)
    return reached


def tests_near(paths: list[Path], *, is_room: bool) -> list[Path]:
    """Return the test files that see a change of these files, the nearest first, or the nearest alone."""
    reached = distances(paths)
    rooms: dict[str, int] = {}
    for module, distance in reached.items():
        room = module.partition(".")[0]
        rooms[room] = min(distance, rooms.get(room, distance))
    near = {}
    for path in sorted(HERE.rglob("test_*.py")):
        room = path.relative_to(HERE).parts[0]
        names = {name.removesuffix(".__init__") for name in imports_of(path)}
        if room in TOP:  # `import mqsel` is how any test compiles a selector
            names.discard("__init__")
        seen = [rooms[room]] if room in rooms else []
        seen += [reached[name] + 1 for name in names & reached.keys()]
        if seen:
            near[path] = min(seen)
    if is_room:
        near = {path: distance for path, distance in near.items() if distance == min(near.values())}
    return sorted(near, key=lambda path: near[path])


def main(arguments: list[str]) -> int:
    """Build, and run the tests that see the files that are named."""
    paths = [Path(argument).resolve() for argument in arguments if argument != "--room"]
    if wrong := [path for path in paths if not (path.is_file() and path.is_relative_to(PACKAGE))]:
        print(f"{wrong[0]} is no file of the package: expected paths such as mqsel/index/_reader.pyx", file=sys.stderr)
        return 2
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=ROOT, check=True)
    near = [path.relative_to(ROOT).as_posix() for path in tests_near(paths, is_room="--room" in arguments)]
    print(f"{len(near)} files of tests, first {near[0]}", flush=True)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", *near], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
