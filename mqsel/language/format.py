"""Tree to text that people read: keywords in capitals, one line where it fits, else lines by structure.

`mqsel.language.nodes.unparse` writes the fewest parentheses; here stand those that help, too: around an AND in an OR,
and around the test behind a NOT. Names and numbers stay as written. What is written is read again and compared with the
tree before it is given, so that a layout never changes a meaning. Nothing recurses.
"""

from __future__ import annotations

from mqsel.carets import cells
from mqsel.errors import SelectorError
from mqsel.language.dialect import Dialect
from mqsel.language.nodes import (
    And,
    Identifier,
    In,
    Literal,
    Node,
    Not,
    Or,
    pieces_of,
    quote,
    unparse,
    walk,
    written_name,
)
from mqsel.language.selector import Selector, read_selector

WIDTH = 80  # cells of a line
ONE_LINE = 1 << 30
_INDENT = 2

_LOGIC = (And, Or, Not)
_BARE_BEHIND_NOT = (Not, Identifier, Literal)


def formatted(selector: Selector, width: int = WIDTH) -> str:
    """Write *selector* in lines of at most *width* cells, as far as its names and texts are short enough.

    A text that it returned stays as it is. Where lines and parentheses break a limit of the dialect, it is one line
    with the fewest parentheses; where that is too long, the text as it is.

    Returns: the text, without a line end behind it; empty for a blank selector.
    """
    root, text = selector.node, selector.text
    if isinstance(root, Literal) and text[slice(*root.span)].upper() not in ("TRUE", "FALSE"):
        return ""
    lines = "\n".join(_lines(root, text, width, selector.dialect))
    # In parentheses an identifier is a string to compare, and no match option (language §8).
    for made in (lines, unparse(root, selector.dialect), f"({lines})"):
        try:
            again = read_selector(made, selector.dialect)
        except SelectorError:
            continue
        if again.node == root and again.match_option == selector.match_option:
            return made
    return text


def _has_parentheses(child: Node, parent: Node) -> bool:
    """Report whether an operand of AND, OR or NOT is written in parentheses."""
    return not isinstance(child, _BARE_BEHIND_NOT) if isinstance(parent, Not) else isinstance(child, (And, Or))


def _written(root: Node, text: str, dialect: Dialect) -> str:
    """Write *root* in one line."""
    pieces: list[str] = []
    todo: list[str | Node] = [root]
    while todo:
        piece = todo.pop()
        match piece:
            case str():
                pieces.append(piece)
            case Literal("exact" | "approximate", _, span):
                number = text[slice(*span)]
                sign = number[0] if number[0] in "+-" else ""
                pieces.append(sign + number[len(sign) :].split()[-1])  # blanks may stand behind the sign
            case Not(operand):
                todo += reversed(["NOT ", *_enclosed(operand, piece)])
            case And(operands) | Or(operands):
                below = _enclosed(operands[0], piece)
                for operand in operands[1:]:
                    below += [_word(piece), *_enclosed(operand, piece)]
                todo += reversed(below)
            case _:
                todo += reversed(pieces_of(piece, dialect))
    return "".join(pieces)


def _word(node: And | Or) -> str:
    return " AND " if isinstance(node, And) else " OR "


def _enclosed(child: Node, parent: Node) -> list[str | Node]:
    return ["(", child, ")"] if _has_parentheses(child, parent) else [child]


def _lines(root: Node, text: str, width: int, dialect: Dialect) -> list[str]:
    """Write *root* in lines: one where it fits, else one for each operand, with its AND or OR before it."""
    needs: dict[int, int] = {}  # the cells that a node takes in one line
    for part in walk(root, _LOGIC):
        match part:
            case And(operands) | Or(operands):
                words = len(_word(part)) * (len(operands) - 1)
                needs[id(part)] = words + sum(needs[id(one)] + 2 * _has_parentheses(one, part) for one in operands)
            case Not(operand):
                needs[id(part)] = 4 + needs[id(operand)] + 2 * _has_parentheses(operand, part)
            case _:
                needs[id(part)] = cells(_written(part, text, dialect))
    lines: list[str] = []
    # (what to write, whether in parentheses, what stands before it in its line)
    todo: list[tuple[Node | str, bool, int, str]] = [(root, False, 0, "")]
    while todo:
        piece, is_enclosed, indent, before = todo.pop()
        lead = " " * indent + before
        if isinstance(piece, str):
            lines.append(lead + piece)
            continue
        node = piece
        if len(lead) + needs[id(node)] + 2 * is_enclosed <= width or not isinstance(node, (*_LOGIC, In)):
            lines.append(lead + ("({})" if is_enclosed else "{}").format(_written(node, text, dialect)))
        elif is_enclosed:
            lines.append(lead + "(")
            todo += [(")", False, indent, ""), (node, False, indent + _INDENT, "")]
        elif isinstance(node, Not):
            todo.append((node.operand, _has_parentheses(node.operand, node), indent, before + "NOT "))
        elif isinstance(node, In):
            lines.append(f"{lead}{written_name(node.identifier.name, dialect)} {'NOT ' * node.negated}IN (")
            lines += _filled([quote(one) for one in node.choices], indent + _INDENT, width)
            lines.append(" " * indent + ")")
        else:
            first, *others = [(one, _has_parentheses(one, node), indent) for one in node.operands]
            word = _word(node)[1:]
            todo += reversed([(*first, ""), *[(*one, word) for one in others]])
    return lines


def _filled(choices: list[str], indent: int, width: int) -> list[str]:
    """Write the texts of an IN list, as many in a line as it has room for."""
    lines = [""]
    for place, choice in enumerate(choices):
        piece = choice + "," * (place < len(choices) - 1)
        if lines[-1] and indent + cells(lines[-1]) + 1 + cells(piece) > width:
            lines.append("")
        lines[-1] += f" {piece}" if lines[-1] else piece
    return [" " * indent + line for line in lines]
