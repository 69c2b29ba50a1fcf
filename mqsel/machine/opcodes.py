"""THE instruction table. The C enum, the verifier, the disassembler, the README table and the tests derive from it.

An instruction is one 32-bit word:

     31                              8 7            0
    +---------------------------------+--------------+
    |             operand             |    opcode    |      operand types slot, constant, strings, pattern, text,
    +---------------------------------+--------------+      truth, target, test: one number of 24 bits
    |     second     |     first      |    opcode    |      operand types with a "+": two numbers of 12 bits
    +----------------+----------------+--------------+

Two stacks, one of values and one of truth values; a word of the effect names the stack. An opcode's number is its
place in the table: a new row stands last (or FORMAT_VERSION in program.py grows). Nothing else depends on the order.
``python mqsel/machine/opcodes.py`` rewrites what is generated from it.
"""

from typing import NamedTuple

# The types of operands, in the order in which C code numbers them.
OPERANDS = ("", "slot", "constant", "strings", "pattern", "text", "truth", "target", "test")


class Opcode(NamedTuple):
    """One instruction.

    Args:
        operand: the type of its operand, or two with a "+".
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


# What an operand of the types constant (the first five), text, strings or pattern numbers.
Constant = int | float | str | bytes | bool | tuple[str, ...] | Pattern

_PLAIN: tuple[Opcode, ...] = (
    # values
    Opcode("PUSH_SLOT", "slot", "-- value", "push the property; NULL if the message lacks it"),
    Opcode("PUSH_CONSTANT", "constant", "-- value", "push the constant"),
    Opcode("AS_VALUE", "", "truth -- value", "a truth value as a boolean; UNKNOWN is NULL"),
    Opcode("ADD", "", "value value -- value", "left + right, after Java's binary numeric promotion", "+"),
    Opcode("SUBTRACT", "", "value value -- value", "left - right", "-"),
    Opcode("MULTIPLY", "", "value value -- value", "left * right", "*"),
    Opcode("DIVIDE", "", "value value -- value", "left / right; ERR for an integer divided by zero", "/"),
    Opcode("PLUS", "", "value -- value", "unary plus: a number stays, another value is a type error", "unary +"),
    Opcode("NEGATE", "", "value -- value", "unary minus", "unary -"),
    # truth values
    Opcode("PUSH_TRUTH", "truth", "-- truth", "push FALSE or TRUE"),
    Opcode("AS_TRUTH", "", "value -- truth", "a boolean as a condition; NULL is UNKNOWN, anything else a mismatch"),
    Opcode("EQUAL", "", "value value -- truth", "left = right", "="),
    Opcode("NOT_EQUAL", "", "value value -- truth", "left <> right", "<>", negated=True),
    Opcode("LESS", "", "value value -- truth", "left < right", "<"),
    Opcode("LESS_EQUAL", "", "value value -- truth", "left <= right", "<="),
    Opcode("GREATER", "", "value value -- truth", "left > right", ">"),
    Opcode("GREATER_EQUAL", "", "value value -- truth", "left >= right", ">="),
    Opcode("BETWEEN", "", "value value value -- truth", "operand BETWEEN low AND high", "BETWEEN"),
    Opcode(
        "NOT_BETWEEN", "", "value value value -- truth", "operand NOT BETWEEN low AND high", "NOT BETWEEN", negated=True
    ),
    Opcode("IN", "strings", "value -- truth", "the string is one of the constant's", "IN"),
    Opcode("NOT_IN", "strings", "value -- truth", "the string is none of the constant's", "NOT IN", negated=True),
    Opcode("LIKE", "pattern", "value -- truth", "the string matches the pattern", "LIKE"),
    Opcode("NOT_LIKE", "pattern", "value -- truth", "the string does not match the pattern", "NOT LIKE", negated=True),
    Opcode("IS_NULL", "slot", "-- truth", "the message lacks the property", "IS NULL"),
    Opcode("IS_NOT_NULL", "slot", "-- truth", "the message has the property", "IS NOT NULL", negated=True),
    Opcode("AND", "", "truth truth -- truth", "Kleene AND"),
    Opcode("OR", "", "truth truth -- truth", "Kleene OR"),
    Opcode("NOT", "", "truth -- truth", "Kleene NOT"),
    # control
    *(
        Opcode(name, "target", effect, f"if {taken.replace(' ', ' or ')} go forward to the target{rest}", taken=taken)
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
    Opcode(
        "RESTART_IF_UNKNOWN",
        "target",
        "truth -- truth",
        "if UNKNOWN begin again in the exact code at the target",
        taken="UNKNOWN",
    ),
    Opcode("RETURN_TRUTH", "truth", "--", "end with FALSE or TRUE"),
    Opcode("RETURN", "", "truth --", "end with the truth value"),
    Opcode(
        "SWITCH_SLOT",
        "slot+strings",
        "--",
        "if the slot is the nth string go to the nth JUMP after this, else past them all",
    ),
    Opcode("JUMP", "target", "--", "go forward to the target", taken="FALSE TRUE UNKNOWN"),
)

# Of connectives that are not Kleene's.
_FIRST = (
    Opcode(
        "JUMP_UNLESS_TRUE",
        "target",
        "truth -- truth",
        "if FALSE or UNKNOWN go forward to the target, keeping the truth value",
        taken="FALSE UNKNOWN",
    ),
    Opcode("RIGHT", "", "truth truth -- truth", "the right one of both"),
)
_COMPUTED = Opcode("COMPUTED", "test", "-- truth", "the interpreted test of the selector that has this number, from 0")
_REMAINDER = Opcode("REMAINDER", "", "value value -- value", "left % right; ERR for an integer and zero", "%")

_BY_NAME = {row.name: row for row in (*_PLAIN, _REMAINDER)}
_RELATIONS = [row.name for row in _PLAIN if row.effect == "value value -- truth"]
_OPERATIONS = [row.name for row in _PLAIN if row.effect == "value value -- value"]


def _fused(suffix: str, operand: str, synopsis: str, *parent: str, name: str = "", affix: str = "") -> Opcode:
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


TABLE: tuple[Opcode, ...] = (
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
    *(
        _fused("_SLOT_CONSTANT", "slot+constant", "slot {} constant", "PUSH_SLOT", "PUSH_CONSTANT", name)
        for name in _OPERATIONS
    ),
    _REMAINDER,
    _fused("_CONSTANT", "constant", "value {} constant", "PUSH_CONSTANT", "REMAINDER"),
    _fused("_SLOT_CONSTANT", "slot+constant", "slot {} constant", "PUSH_SLOT", "PUSH_CONSTANT", "REMAINDER"),
    *_FIRST,
    _COMPUTED,
)

# The number of each opcode.
CODE: dict[str, int] = {row.name: number for number, row in enumerate(TABLE)}

# What the compiler asks for: (operator, type of the operand, affix) -> name.
CHOICE: dict[tuple[str, str, str], str] = {
    (row.operator, row.operand, row.affix): row.name for row in TABLE if row.operator
}

OPERAND_BITS = 24
OPERAND_LIMIT = 1 << OPERAND_BITS
FUSED_BITS = 12
FUSED_LIMIT = 1 << FUSED_BITS


def effect(row: Opcode) -> tuple[int, int, int, int]:
    """Count what *row* takes from and puts on the two stacks: (values in, truths in, values out, truths out)."""
    before, after = (side.split() for side in row.effect.split("--"))
    return before.count("value"), before.count("truth"), after.count("value"), after.count("truth")


def render_pxd() -> str:
    """Write the C enums: opcodes, one commented line each, and the types of operands."""
    lines = [
        "# Generated from opcodes.py by `python mqsel/machine/opcodes.py`; a test proves it fresh.",
        "",
        "cdef enum Op:",
    ]
    for number, row in enumerate(TABLE):
        lines.append(f"    {row.name} = {number}  # ( {row.effect.strip()} )  {row.synopsis}")
    lines += ["", "cdef enum OperandType:", *(f"    {name.upper() or 'NOTHING'}" for name in OPERANDS)]
    return "\n".join(lines) + "\n"


def render_markdown() -> str:
    """Write the table as Markdown, for the README."""
    lines = ["| opcode | operand | effect | meaning |", "|---|---|---|---|"]
    lines += [f"| `{row.name}` | {row.operand} | `{row.effect.strip()}` | {row.synopsis} |" for row in TABLE]
    return "\n".join(lines) + "\n"


MARKERS = ("<!-- opcodes: generated by python mqsel/machine/opcodes.py -->\n", "<!-- end of opcodes -->\n")


def _main() -> None:
    from pathlib import Path  # noqa: PLC0415 (this is a script, too: importing mqsel needs none of it)

    folder = Path(__file__).parent
    (folder / "_opcodes.pxd").write_text(render_pxd(), encoding="utf-8")
    readme = folder / "README.md"
    head, _, rest = readme.read_text(encoding="utf-8").partition(MARKERS[0])
    _, _, tail = rest.partition(MARKERS[1])
    readme.write_text(head + MARKERS[0] + render_markdown() + MARKERS[1] + tail, encoding="utf-8")


if __name__ == "__main__":
    _main()
