"""A selector that was read and checked: the one object that everything after the checker passes on.

A text is parsed and checked once. The formulas and the machine of a selector are made when somebody first reads them,
and kept on the object: only their attributes import from the folders below. A part of a selector is a selector again.
Owns no rule: the parser and the checker have them. Follows language §4.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from mqsel.carets import type_name
from mqsel.errors import ArgumentError, SelectorError
from mqsel.language.checker import MatchOption, Remarks, check, clock_readings, remark
from mqsel.language.computed import time_of
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.nodes import Computed, Identifier, Node, of_core, row, unparse, walk, with_outcomes
from mqsel.language.parser import parse_in_order
from mqsel.values import Truth

if TYPE_CHECKING:
    from mqsel.logic.formulas import Formula
    from mqsel.logic.normal import Normal
    from mqsel.machine._vm import Machine

_CACHE_SIZE = 512
_Value = TypeVar("_Value")


class _Lazy(Generic[_Value]):
    """An attribute that is made when it is first read. Two threads may make it twice, which does no harm."""

    def __init__(self, make: Callable[[Any], _Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, selector: Any, owner: type | None = None) -> _Value:
        value = self._make(selector)
        selector.__dict__[self._name] = value  # where Python finds it before it asks this class again
        return value


class _Fields(NamedTuple):
    """The fields of a `Selector`.

    Attributes:
        text: what the spans of the tree point into.
        dialect: what the text was read as: the outcomes of its nodes are those of this dialect.
        node: the tree, as parsed (or as the optimizer rearranged it).
        order: its nodes as `walk` lists them.
        names: for each name as written, the property it reads, in order of first reading.
        constant: the truth of a selector that reads no property, else None.
        match_option: see `MatchOption`.
        is_part: whether the text is that of a whole of which the tree is a part.
    """

    text: str
    dialect: Dialect
    node: Node
    order: Sequence[Node]
    names: Mapping[str, str]
    constant: Truth | None
    match_option: MatchOption | None
    is_part: bool = False


class Selector(_Fields):
    """A tree and what the checker found out about it. Immutable; a selector is equal to no other object."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    @property
    def naming(self) -> str:
        """How one property can be spelled: see `mqsel.names.spellings`."""
        return core_of(self.dialect).naming

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that the selector reads, in order of first reading."""
        return tuple(dict.fromkeys(self.names.values()))

    @_Lazy
    def formulas(self) -> "Normal":
        """The formulas over messages for which the selector is TRUE, FALSE and ERR."""
        from mqsel.logic.normal import normal  # noqa: PLC0415 (of a row below, for those who read it)

        return normal(self)

    @_Lazy
    def not_true(self) -> "Formula":
        """The formula of the messages for which the selector is not TRUE."""
        from mqsel.logic.formulas import complement  # noqa: PLC0415 (as above)

        return complement(self.formulas.true)

    @_Lazy
    def machine(self) -> "Machine":
        """The machine that runs the selector."""
        from mqsel.machine._vm import Machine  # noqa: PLC0415 (as above)
        from mqsel.machine.compiler import program_of  # noqa: PLC0415

        return Machine(program_of(self))

    def part(self, node: Node, dialect: Dialect | None = None) -> "Selector":
        """Return the selector of *node*, which is made of nodes of this tree; only a whole selector is a match option.

        Args:
            dialect: other choices to evaluate it by; the text is not read again.
        """
        is_part = node is not self.node
        node = node if dialect is None else with_outcomes(node, core_of(dialect))
        order = walk(node)
        names = {one.name: self.names[one.name] for one in order if type(one) is Identifier}
        option = None if is_part else self.match_option
        return Selector(self.text, dialect or self.dialect, node, order, names, None, option, is_part)

    def written(self) -> "Selector":
        """Return the selector, a part with a text of its own: the text of a program has to compile to its code.

        A part may be constant, and is no match option.
        """
        if not self.is_part:
            return self
        lenient = self.dialect.replace(max_length=None, constant_false="accept")
        text = unparse(self.node, self.dialect)
        part = read_anew(text, lenient)
        return part if part.match_option is None else read_anew(f"({text})", lenient)

    def of_core(self) -> "Selector":
        """Return the selector with tests of the core for those of a product, where these have them."""
        if Computed not in map(type, self.order):
            return self
        if not any(type(node) is Computed and node.core is not None for node in self.order):
            return self
        node = of_core(self.node)
        return self._replace(node=node, order=walk(node))

    def names_of(self, node: Node) -> list[str]:
        """List the properties that a part reads, in order of first reading."""
        return [*dict.fromkeys(self.names[one.name] for one in walk(node) if type(one) is Identifier)]

    def remarks(self) -> Remarks:
        """Count and list what the selector tests."""
        return remark(self.order, self.names)


def as_text(given: object) -> str:
    """Return the text of a selector, which may be of a class derived from str, as a str.

    Raises: ArgumentError: it is none.
    """
    if not isinstance(given, str):
        raise ArgumentError(f"a selector is a str, found {type_name(given)}")
    return str.__str__(given)


def read_anew(text: str, dialect: Dialect) -> "Selector":
    """Parse and check *text*.

    Raises: SelectorError: what `parse` and `check` refuse.
    """
    try:
        order = parse_in_order(text, dialect)
        return row(Selector, (text, dialect, order[-1], order, *check(order, text, dialect), False))
    except SelectorError as error:
        error.is_ibm = dialect.departures()[0].startswith("IBM")
        raise


@functools.lru_cache(_CACHE_SIZE)
def read_selector(text: str, dialect: Dialect) -> "Selector":
    """Parse and check *text*, once: what reads many texts once each needs `read_anew`.

    Raises: as `read_anew`.
    """
    return read_anew(text, dialect)


def at_time(selector: "Selector", now: int | None) -> "Selector":
    """Return a selector that is what another one is at a time; the same where it does not read the time.

    Args:
        now: milliseconds since 1970; by default the time of the clock.

    Raises: ArgumentError: no time.
    """
    readings = clock_readings(selector.order) if core_of(selector.dialect).has_clock else []
    time = str(time_of(now)) if readings or now is not None else ""
    if not readings:
        return selector
    text, last = "", 0
    for start, stop in sorted(readings):
        text, last = text + selector.text[last:start] + time, stop
    lenient = selector.dialect.replace(max_length=None, constant_false="accept")
    return read_anew(text + selector.text[last:], lenient)
