"""THE instruction table. The C enum, the verifier, the disassembler, the README table and the tests derive from it.

An instruction is one 32-bit word:

     31                              8 7            0
    +---------------------------------+--------------+
    |             operand             |    opcode    |      operand kinds slot, constant, strings, pattern, text,
    +---------------------------------+--------------+      truth, target: one number of 24 bits
    |     second     |     first      |    opcode    |      operand kinds with a "+": two numbers of 12 bits
    +----------------+----------------+--------------+

Two stacks, one of values and one of truth values; a word of the effect names the stack. An opcode's number is its
place in the table: a new row stands last (or FORMAT_VERSION in program.py grows). Nothing else depends on the order.
``python mqsel/machine/opcodes.py`` rewrites what is generated from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """One instruction.

    Args:
        operand: the kind of its operand.
        effect: what it takes from the stacks and puts there.
        synopsis: one sentence.
        operator: of a selector, what it does with values; "" for what moves values and truth values.
        negated: it gives the negation of another instruction, of ``=`` or of the operator without its NOT.
        affix: where its text stands in the string: "prefix", "suffix", "contains", or "" for no such test.
        taken: the truth values with which it goes to its target.
        parent: names of the instructions that a fused one replaces, in order.
    """

    name: str
    operand: str
    effect: str
    synopsis: str
    operator: str = ""
    negated: bool = False
    affix: str = ""
    taken: str = ""
    parent: tuple[str, ...] = ()


class Pattern(NamedTuple):
    """A LIKE pattern with its escape character, as a constant."""

    text: str
    escape: str | None


# What an operand of kind constant (the first five), text, strings or pattern numbers.
Constant = int | float | str | bytes | bool | tuple[str, ...] | Pattern

_PLAIN: tuple[Row, ...] = (
    # values
    Row("PUSH_SLOT", "slot", "-- value", "push the property; one the message lacks is NULL"),
    Row("PUSH_CONSTANT", "constant", "-- value", "push the constant"),
    Row("AS_VALUE", "", "truth -- value", "a truth value as a boolean; UNKNOWN is NULL"),
    Row("ADD", "", "value value -- value", "left + right, after Java's binary numeric promotion", "+"),
    Row("SUBTRACT", "", "value value -- value", "left - right", "-"),
    Row("MULTIPLY", "", "value value -- value", "left * right", "*"),
    Row("DIVIDE", "", "value value -- value", "left / right; ERR for an integer divided by zero", "/"),
    Row("PLUS", "", "value -- value", "unary plus: a number stays, anything else is poisoned", "unary +"),
    Row("NEGATE", "", "value -- value", "unary minus", "unary -"),
    # truth values
    Row("PUSH_TRUTH", "truth", "-- truth", "push FALSE or TRUE"),
    Row("AS_TRUTH", "", "value -- truth", "a boolean as a condition; NULL is UNKNOWN, anything else a mismatch"),
    Row("EQUAL", "", "value value -- truth", "left = right", "="),
    Row("NOT_EQUAL", "", "value value -- truth", "left <> right", "<>", negated=True),
    Row("LESS", "", "value value -- truth", "left < right", "<"),
    Row("LESS_EQUAL", "", "value value -- truth", "left <= right", "<="),
    Row("GREATER", "", "value value -- truth", "left > right", ">"),
    Row("GREATER_EQUAL", "", "value value -- truth", "left >= right", ">="),
    Row("BETWEEN", "", "value value value -- truth", "operand BETWEEN low AND high", "BETWEEN"),
    Row(
        "NOT_BETWEEN", "", "value value value -- truth", "operand NOT BETWEEN low AND high", "NOT BETWEEN", negated=True
    ),
    Row("IN", "strings", "value -- truth", "the string is one of the constant's", "IN"),
    Row("NOT_IN", "strings", "value -- truth", "the string is none of the constant's", "NOT IN", negated=True),
    Row("LIKE", "pattern", "value -- truth", "the string matches the pattern", "LIKE"),
    Row("NOT_LIKE", "pattern", "value -- truth", "the string does not match the pattern", "NOT LIKE", negated=True),
    Row("IS_NULL", "slot", "-- truth", "the message lacks the property", "IS NULL"),
    Row("IS_NOT_NULL", "slot", "-- truth", "the message has the property", "IS NOT NULL", negated=True),
    Row("AND", "", "truth truth -- truth", "Kleene AND"),
    Row("OR", "", "truth truth -- truth", "Kleene OR"),
    Row("NOT", "", "truth -- truth", "Kleene NOT"),
    # control
    *(
        Row(name, "target", effect, f"if {taken.replace(' ', ' or ')} go forward to the target{rest}", taken=taken)
        for name, taken, effect, rest in (
            ("JUMP_IF_FALSE", "FALSE", "truth -- truth", ", keeping the truth value"),
            ("JUMP_IF_TRUE", "TRUE", "truth -- truth", ", keeping the truth value"),
            ("BRANCH_IF_TRUE", "TRUE", "truth --", ""),
            ("BRANCH_UNLESS_TRUE", "FALSE UNKNOWN", "truth --", ""),
            ("BRANCH_IF_FALSE", "FALSE", "truth --", ""),
            ("BRANCH_UNLESS_FALSE", "TRUE UNKNOWN", "truth --", ""),
            ("BRANCH_IF_UNKNOWN", "UNKNOWN", "truth -- truth", ", without the truth value"),
        )
    ),
    Row(
        "RESTART_IF_UNKNOWN",
        "target",
        "truth -- truth",
        "if UNKNOWN begin again in the exact code at the target",
        taken="UNKNOWN",
    ),
    Row("RETURN_TRUTH", "truth", "--", "end with FALSE or TRUE"),
    Row("RETURN", "", "truth --", "end with the truth value"),
    Row(
        "SWITCH_SLOT",
        "slot+strings",
        "--",
        "if the slot is the nth string go to the nth JUMP behind, else past them all",
    ),
    Row("JUMP", "target", "--", "go forward to the target", taken="FALSE TRUE UNKNOWN"),
)

_BY_NAME = {row.name: row for row in _PLAIN}
_RELATIONS = [row.name for row in _PLAIN if row.effect == "value value -- truth"]
_OPERATIONS = [row.name for row in _PLAIN if row.effect == "value value -- value"]


def _fused(suffix: str, operand: str, synopsis: str, *parent: str, name: str = "", affix: str = "") -> Row:
    """Write the row of an instruction that pushes, then does as the last of *parent*; {} is its operator."""
    last = _BY_NAME[parent[-1]]
    return last._replace(
        name=(name or last.name) + suffix,
        operand=operand,
        effect=last.effect.replace("value ", "", len(parent) - 1),
        synopsis=synopsis.format(last.operator),
        affix=affix,
        parent=parent,
    )


TABLE: tuple[Row, ...] = (
    *_PLAIN,
    *(
        _fused("_CONSTANT", "constant", "value {} constant", "PUSH_CONSTANT", name)
        for name in (*_OPERATIONS, *_RELATIONS)
    ),
    *(
        _fused(
            "_CONSTANTS", "constant+constant", "value {} constant AND constant", "PUSH_CONSTANT", "PUSH_CONSTANT", name
        )
        for name in ("BETWEEN", "NOT_BETWEEN")
    ),
    *(
        _fused("_SLOT_STRING", "slot+text", "slot {} string", "PUSH_SLOT", "PUSH_CONSTANT", name)
        for name in ("EQUAL", "NOT_EQUAL")
    ),
    *(
        _fused("_SLOT_CONSTANT", "slot+constant", "slot {} constant", "PUSH_SLOT", "PUSH_CONSTANT", name)
        for name in _RELATIONS
    ),
    *(_fused("_SLOT", "slot+pattern", "slot {} pattern", "PUSH_SLOT", name) for name in ("LIKE", "NOT_LIKE")),
    *(
        _fused(
            "_SLOT", "slot+text", f"slot {{}} {shown}", "PUSH_SLOT", f"{sign}LIKE", name=f"{sign}{name}", affix=affix
        )
        for name, affix, shown in (
            ("STARTS_WITH", "prefix", "'text%'"),
            ("ENDS_WITH", "suffix", "'%text'"),
            ("CONTAINS", "contains", "'%text%'"),
        )
        for sign in ("", "NOT_")
    ),
    *(_fused("_SLOT", "slot+strings", "slot {} constant", "PUSH_SLOT", name) for name in ("IN", "NOT_IN")),
)

# The number of each opcode.
CODE: dict[str, int] = {row.name: number for number, row in enumerate(TABLE)}

# What the compiler asks for: (operator, kind of the operand, affix) -> name.
CHOICE: dict[tuple[str, str, str], str] = {
    (row.operator, row.operand, row.affix): row.name for row in TABLE if row.operator
}

OPERAND_BITS = 24
OPERAND_LIMIT = 1 << OPERAND_BITS
FUSED_BITS = 12
FUSED_LIMIT = 1 << FUSED_BITS


def effect(row: Row) -> tuple[int, int, int, int]:
    """Count what *row* takes from and puts on the two stacks: (values in, truths in, values out, truths out)."""
    before, after = (side.split() for side in row.effect.split("--"))
    return before.count("value"), before.count("truth"), after.count("value"), after.count("truth")


def render_pxd() -> str:
    """Write the C enum, one commented line an opcode."""
    lines = [
        "# Generated from opcodes.py by `python mqsel/machine/opcodes.py`; a test proves it fresh.",
        "",
        "cdef enum Op:",
    ]
    for number, row in enumerate(TABLE):
        lines.append(f"    {row.name} = {number}  # ( {row.effect.strip()} )  {row.synopsis}")
    return "\n".join(lines) + "\n"


def render_markdown() -> str:
    """Write the table as Markdown, for the README."""
    lines = ["| opcode | operand | effect | meaning |", "|---|---|---|---|"]
    lines += [f"| `{row.name}` | {row.operand} | `{row.effect.strip()}` | {row.synopsis} |" for row in TABLE]
    return "\n".join(lines) + "\n"


MARKERS = ("<!-- opcodes: generated by python mqsel/machine/opcodes.py -->\n", "<!-- end of opcodes -->\n")


def _main() -> None:
    folder = Path(__file__).parent
    (folder / "_opcodes.pxd").write_text(render_pxd(), encoding="utf-8")
    readme = folder / "README.md"
    head, _, rest = readme.read_text(encoding="utf-8").partition(MARKERS[0])
    _, _, tail = rest.partition(MARKERS[1])
    readme.write_text(head + MARKERS[0] + render_markdown() + MARKERS[1] + tail, encoding="utf-8")


if __name__ == "__main__":
    _main()
