"""Build the floor: `python bench/build_floor.py` writes W6 and W7 out as C and compiles floor.pyx into build/bench.

Needs Cython, setuptools and a C compiler; nothing of it is part of the package.
"""

from __future__ import annotations

import sys
from importlib import util
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import workloads

import mqsel
from mqsel.language import nodes
from mqsel.language.parser import parse

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"

_ACCEPTED = {
    "=": "SAME",
    "<>": "LESS MORE UNORDERED",
    "<": "LESS",
    "<=": "LESS SAME",
    ">": "MORE",
    ">=": "MORE SAME",
}
_ALL = ("LESS", "SAME", "MORE", "UNORDERED", "MISFIT")


def _slot(node: nodes.Node) -> str:
    """Write a property, or whole numbers multiplied and added to it."""
    if isinstance(node, nodes.Identifier):
        return f"need(slots, source, {node.name.upper()})[0]"
    assert isinstance(node, nodes.Arithmetic)
    text = _slot(node.operands[0])
    for sign, number in zip(node.operators, node.operands[1:], strict=True):
        text = f"{ {'*': 'times', '+': 'plus'}[sign] }({text}, {number.value})"
    return text


def _text(value: str) -> str:
    return f"b{value!r}, {len(value)}"


def _test(node: nodes.Node) -> tuple[str, str, str]:
    """Write a test: what the value is to the constant, when that is TRUE and when FALSE."""
    accepted = ["SAME"]
    match node:
        case nodes.Comparison():
            slot, constant = _slot(node.left), node.right.value
            accepted = _ACCEPTED[node.operator].split()
            relation = {
                "string": f"against_found({slot}, is_text({slot}, {_text(str(constant))}))",
                "boolean": f"against_flag({slot}, {constant})",
                "exact": f"against_int({slot}, {constant})",
                "approximate": f"against_real({slot}, {constant})",
            }[node.right.kind]
        case nodes.Between():
            relation = f"between({_slot(node.operand)}, {node.low.value}, {node.high.value})"
        case nodes.In() | nodes.Like():
            slot = _slot(node.identifier)
            found = " or ".join(f"is_text({slot}, {_text(one)})" for one in getattr(node, "choices", ()))
            relation = f"against_found({slot}, {found or f'starts({slot}, {_text(node.pattern[:-1])})'})"
        case nodes.IsNull():
            relation = f"(SAME if {_slot(node.identifier)}.tag == NOTHING else MORE)"
        case _:
            raise NotImplementedError(nodes.unparse(node))
    negated = getattr(node, "negated", False)
    if negated:
        accepted = ["MORE"]
    refused = [name for name in _ALL if name not in accepted]
    if isinstance(node, nodes.Between):  # of NULL, BETWEEN is FALSE and NOT BETWEEN TRUE
        (accepted if negated else refused).append("ABSENT")
    return relation, " | ".join(accepted), " | ".join(refused)


def _leaf(node: nodes.Node, wanted: bool) -> str:
    relation, accepted, refused = _test(node)
    return f"({relation} & ({accepted if wanted else refused})) != 0"


def _exact(node: nodes.Node, level: int, indent: str) -> list[str]:
    """Write all of three-valued logic into t<level>, for messages where arithmetic may meet NULL: that is ERR."""
    top = f"t{level}"
    match node:
        case nodes.Not():
            return [*_exact(node.operand, level, indent), f"{indent}{top} = NOT[{top}]"]
        case nodes.And() | nodes.Or():
            table, decided = ("AND", "FALSE") if isinstance(node, nodes.And) else ("OR", "TRUE")
            lines = _exact(node.operands[0], level, indent)
            for operand in node.operands[1:]:
                lines.append(f"{indent}if {top} != {decided}:")
                lines += _exact(operand, level + 1, indent + "    ")
                lines.append(f"{indent}    {top} = {table}[{top} * 3 + t{level + 1}]")
            return lines
    lines = [f"{indent}if {_slot(name)}.tag == NOTHING:\n{indent}    return False" for name in _computed(node)]
    return [*lines, f"{indent}{top} = truth({', '.join(_test(node))})"]


def _computed(node: nodes.Node) -> list[nodes.Node]:
    """List the properties that arithmetic reads."""
    within = [part.operands[0] for part in nodes.walk(node) if isinstance(part, nodes.Arithmetic)]
    return list({part.name: part for part in within if isinstance(part, nodes.Identifier)}.values())


def _dispatch(node: nodes.Or) -> list[str]:
    """Write an OR of ``property = 'constant' AND rest`` as switches over the length and the text."""
    slot = _slot(node.operands[0].operands[0].left)
    groups: dict[int, list[str]] = {}
    for operand in node.operands:
        test, *rest = operand.operands
        text = test.right.value.encode()
        packed = int.from_bytes(text.ljust(8, b"\0"), sys.byteorder)
        answer = " and ".join(workloads.condition(part, True, _leaf) for part in rest)
        lines = groups.setdefault(len(text), [])
        lines.append(f"        {'elif' if lines else 'if'} packed == {packed}ULL:\n            return {answer}")
    written = [f"    if {slot}.tag != TEXT:\n        return False"]
    for length, lines in groups.items():
        written += [f"    if {slot}.length == {length}:\n        packed = word({slot}.text, {length})", *lines]
    return [*written, "    return False"]


def _is_dispatch(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Or) and all(
        isinstance(part, nodes.And)
        and isinstance(part.operands[0], nodes.Comparison)
        and (part.operands[0].operator, part.operands[0].right.kind) == ("=", "string")
        and len(part.operands[0].right.value) <= 8
        and part.operands[0].left == node.operands[0].operands[0].left
        for part in node.operands
    )


def written(texts: dict[str, str]) -> str:
    """Write W6 and W7 as Cython."""
    lines = ["# Written by build_floor.py."]
    for name in ("W6", "W7"):
        tree = parse(texts[name], mqsel.IBM_MQ)
        head = [
            "    cdef Slot slots[COUNT]",
            "    cdef uint64_t packed",
            "    cdef int place",
            "    for place in range(COUNT):\n        slots[place].tag = UNREAD",
        ]
        if _is_dispatch(tree):
            body = _dispatch(tree)
        else:
            body = [
                f"    if {_slot(node)}.tag == NOTHING:\n        return {name.lower()}_exact(source, slots)"
                for node in _computed(tree)
            ]
            body.append(f"    return {workloads.condition(tree, True, _leaf)}")
            levels = ", ".join(f"t{level}" for level in range(workloads.DEPTH + 1))
            lines += [f"\ncdef bint {name.lower()}_exact(Source *source, Slot *slots) noexcept:"]
            lines += [f"    cdef int {levels}", *_exact(tree, 0, "    "), "    return t0 == TRUE"]
        lines += [f"\ncdef inline bint {name.lower()}(Source *source) noexcept:", *head, *body]
    return "\n".join([*lines, f"\nTEXTS = {texts!r}", ""])


def load(texts: dict[str, str]) -> ModuleType:
    """Load the floor that was built for these selectors.

    Raises: FileNotFoundError: there is none.
    """
    path = BUILD / f"floor{EXTENSION_SUFFIXES[0]}"
    if not path.exists():
        raise FileNotFoundError("the floor is not built: python bench/build_floor.py")
    spec = util.spec_from_file_location("floor", path)
    floor = util.module_from_spec(spec)
    spec.loader.exec_module(floor)
    if texts != floor.TEXTS:
        raise FileNotFoundError("the floor was built for something else: python bench/build_floor.py")
    return floor


def build(texts: dict[str, str]) -> None:
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    BUILD.mkdir(parents=True, exist_ok=True)
    sources = {"floor.pyx": (HERE / "floor.pyx").read_text(encoding="utf-8"), "floor_long.pxi": written(texts)}
    for name, text in sources.items():
        path = BUILD / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    # A slot holds one of several things, and only that is read: gcc cannot know.
    arguments = [] if sys.platform == "win32" else ["-O3", "-Wno-unknown-warning-option", "-Wno-maybe-uninitialized"]
    modules = cythonize(Extension("floor", [str(BUILD / "floor.pyx")], extra_compile_args=arguments), quiet=True)
    command = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(BUILD), str(BUILD)
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    build(workloads.selectors())
    print(f"the floor stands in {load(workloads.selectors()).__file__}")
