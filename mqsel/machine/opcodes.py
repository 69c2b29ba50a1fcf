"""THE instruction table. The C enum, the verifier, the disassembler, the README table and the tests derive from it.

An instruction is one 32-bit word:

     31                              8 7            0
    +---------------------------------+--------------+
    |             operand             |    opcode    |      operand kinds slot, constant, strings, pattern, text,
    +---------------------------------+--------------+      truth, target: one number of 24 bits
    |     second     |     first      |    opcode    |      operand kinds with a "+": two numbers of 12 bits
    +----------------+----------------+--------------+

Two stacks, one of values and one of truth values; a word of the effect names the stack. An opcode's number is its
place in the table: rows are appended, never moved (or FORMAT_VERSION in program.py grows).
``python mqsel/machine/opcodes.py`` rewrites what is generated from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """One instruction: its name, the kind of its operand, its effect on the stacks, one sentence, its parents.

    ``parent`` holds the names of the instructions that a fused one replaces, in order.
    """

    name: str
    operand: str
    effect: str
    synopsis: str
    parent: tuple[str, ...] = ()


class Pattern(NamedTuple):
    """A LIKE pattern with its escape character, as a constant."""

    text: str
    escape: str | None


# What an operand of kind constant (the first five), text, strings or pattern numbers.
Constant = int | float | str | bytes | bool | tuple[str, ...] | Pattern

_RELATIONS = (
    ("EQUAL", "="),
    ("NOT_EQUAL", "<>"),
    ("LESS", "<"),
    ("LESS_EQUAL", "<="),
    ("GREATER", ">"),
    ("GREATER_EQUAL", ">="),
)

_ROWS: tuple[tuple[str, ...], ...] = (
    # values
    ("PUSH_SLOT", "slot", "-- value", "push the property; one the message lacks is NULL"),
    ("PUSH_CONSTANT", "constant", "-- value", "push the constant"),
    ("AS_VALUE", "", "truth -- value", "a truth value as a boolean; UNKNOWN is NULL"),
    ("ADD", "", "value value -- value", "left + right, after Java's binary numeric promotion"),
    ("SUBTRACT", "", "value value -- value", "left - right"),
    ("MULTIPLY", "", "value value -- value", "left * right"),
    ("DIVIDE", "", "value value -- value", "left / right; ERR for an integer divided by zero"),
    ("PLUS", "", "value -- value", "unary plus: a number stays, anything else is poisoned"),
    ("NEGATE", "", "value -- value", "unary minus"),
    # truth values
    ("PUSH_TRUTH", "truth", "-- truth", "push FALSE or TRUE"),
    ("AS_TRUTH", "", "value -- truth", "a boolean as a condition; NULL is UNKNOWN, anything else a mismatch"),
    *((name, "", "value value -- truth", f"left {sign} right") for name, sign in _RELATIONS),
    ("BETWEEN", "", "value value value -- truth", "operand BETWEEN low AND high"),
    ("NOT_BETWEEN", "", "value value value -- truth", "operand NOT BETWEEN low AND high"),
    ("IN", "strings", "value -- truth", "the string is one of the constant's"),
    ("NOT_IN", "strings", "value -- truth", "the string is none of the constant's"),
    ("LIKE", "pattern", "value -- truth", "the string matches the pattern"),
    ("NOT_LIKE", "pattern", "value -- truth", "the string does not match the pattern"),
    ("IS_NULL", "slot", "-- truth", "the message lacks the property"),
    ("IS_NOT_NULL", "slot", "-- truth", "the message has the property"),
    ("AND", "", "truth truth -- truth", "Kleene AND"),
    ("OR", "", "truth truth -- truth", "Kleene OR"),
    ("NOT", "", "truth -- truth", "Kleene NOT"),
    # control
    ("JUMP_IF_FALSE", "target", "truth -- truth", "if FALSE go forward to the target, keeping the truth value"),
    ("JUMP_IF_TRUE", "target", "truth -- truth", "if TRUE go forward to the target, keeping the truth value"),
    ("BRANCH_IF_TRUE", "target", "truth --", "if TRUE go forward to the target"),
    ("BRANCH_UNLESS_TRUE", "target", "truth --", "if FALSE or UNKNOWN go forward to the target"),
    ("BRANCH_IF_FALSE", "target", "truth --", "if FALSE go forward to the target"),
    ("BRANCH_UNLESS_FALSE", "target", "truth --", "if TRUE or UNKNOWN go forward to the target"),
    ("BRANCH_IF_UNKNOWN", "target", "truth -- truth", "if UNKNOWN go forward to the target, without the truth value"),
    ("RESTART_IF_UNKNOWN", "target", "truth -- truth", "if UNKNOWN begin again in the exact code at the target"),
    ("RETURN_TRUTH", "truth", "--", "end with FALSE or TRUE"),
    ("RETURN", "", "truth --", "end with the truth value"),
    (
        "SWITCH_SLOT",
        "slot+strings",
        "--",
        "if the slot is the nth string go to the nth JUMP behind, else past them all",
    ),
    ("JUMP", "target", "--", "go forward to the target"),
    # fused
    *(
        (f"{name}_CONSTANT", "constant", "value -- value", f"value {sign} constant", "PUSH_CONSTANT", name)
        for name, sign in (("ADD", "+"), ("SUBTRACT", "-"), ("MULTIPLY", "*"), ("DIVIDE", "/"))
    ),
    *(
        (f"{name}_CONSTANT", "constant", "value -- truth", f"value {sign} constant", "PUSH_CONSTANT", name)
        for name, sign in _RELATIONS
    ),
    *(
        (
            f"{name}_CONSTANTS",
            "constant+constant",
            "value -- truth",
            f"value {words} constant AND constant",
            "PUSH_CONSTANT",
            "PUSH_CONSTANT",
            name,
        )
        for name, words in (("BETWEEN", "BETWEEN"), ("NOT_BETWEEN", "NOT BETWEEN"))
    ),
    ("EQUAL_SLOT_STRING", "slot+text", "-- truth", "slot = string", "PUSH_SLOT", "PUSH_CONSTANT", "EQUAL"),
    ("NOT_EQUAL_SLOT_STRING", "slot+text", "-- truth", "slot <> string", "PUSH_SLOT", "PUSH_CONSTANT", "NOT_EQUAL"),
    *(
        (
            f"{name}_SLOT_CONSTANT",
            "slot+constant",
            "-- truth",
            f"slot {sign} constant",
            "PUSH_SLOT",
            "PUSH_CONSTANT",
            name,
        )
        for name, sign in _RELATIONS
    ),
    # The negated opcode of each pair follows the plain one: the machine counts on it.
    *(
        (f"{negation}{name}_SLOT", f"slot+{kind}", "-- truth", f"slot {words} {shape}", "PUSH_SLOT", f"{negation}LIKE")
        for name, kind, shape in (
            ("LIKE", "pattern", "pattern"),
            ("STARTS_WITH", "text", "'text%'"),
            ("ENDS_WITH", "text", "'%text'"),
            ("CONTAINS", "text", "'%text%'"),
        )
        for negation, words in (("", "LIKE"), ("NOT_", "NOT LIKE"))
    ),
    ("IN_SLOT", "slot+strings", "-- truth", "slot IN constant", "PUSH_SLOT", "IN"),
    ("NOT_IN_SLOT", "slot+strings", "-- truth", "slot NOT IN constant", "PUSH_SLOT", "NOT_IN"),
)

TABLE: tuple[Row, ...] = tuple(Row(row[0], row[1], row[2], row[3], tuple(row[4:])) for row in _ROWS)

# The number of each opcode.
CODE: dict[str, int] = {row.name: number for number, row in enumerate(TABLE)}

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
