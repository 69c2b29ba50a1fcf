"""What the parts of a selector are for messages: TRUE, FALSE, UNKNOWN or ERR, and whether types differed, all at once.

Each of these is a formula of the normal form, and the index answers which formulas are true of a message or of a row:
so every part is asked in one evaluation, whether or not evaluating the whole would reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.index._index import Index
from mqsel.index._reader import MessageReader, match_rows
from mqsel.language.nodes import And, Node, Not, Or, children
from mqsel.language.selector import Selector
from mqsel.logic.formulas import NEVER, Formula, all_of, complement
from mqsel.logic.normal import ALL_PARTS, Normal, Writer
from mqsel.machine.sections import Texts
from mqsel.names import joined
from mqsel.values import Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

# How messages are counted. What is TRUE is no mismatch, even where types differ in it.
OUTCOMES = ("TRUE", "FALSE", "UNKNOWN", "mismatched", "ERR")
TRUE, FALSE, UNKNOWN, MISMATCHED, ERROR = range(5)
_OUTCOME_OF = {Truth.TRUE: TRUE, Truth.FALSE: FALSE, Truth.UNKNOWN: UNKNOWN, Truth.ERR: ERROR}


class Verdict(NamedTuple):
    """What a selector is for a message.

    Attributes:
        truth: TRUE, FALSE, UNKNOWN or ERR.
        is_mismatched: evaluating it met a value of another kind than a test wants.
    """

    truth: Truth
    is_mismatched: bool

    @property
    def number(self) -> int:
        """Its place in `OUTCOMES`."""
        return MISMATCHED if self.is_mismatched and self.truth is not Truth.TRUE else _OUTCOME_OF[self.truth]


# Most selectors are FALSE for most messages: what no formula is true of is this.
_USUAL = Verdict(Truth.FALSE, is_mismatched=False)


class Outcomes:
    """Selectors, or parts of one, whose outcomes are found together.

    Args:
        selectors: in the order of the answers; each with whether it counts that types differ.
    """

    def __init__(self, selectors: Iterable[tuple[Selector, bool]]) -> None:
        writer = Writer()
        self.count = 0
        self._places: list[tuple[int, Verdict]] = []  # of each formula the selector and what that is
        self._formulas: list[Formula] = []
        for self.count, (one, has_types) in enumerate(selectors, 1):
            names = {name: joined(read, one.naming) for name, read in one.names.items()}
            form = writer.write(one, names, ALL_PARTS)
            for verdict, formula in _apart(form if has_types else form._replace(mismatch=NEVER)):
                if formula is not NEVER:
                    self._places.append((self.count - 1, verdict))
                    self._formulas.append(formula)
        index = Index()
        index.add(range(len(self._formulas)), self._formulas)
        self._names = index.names
        self._reader: MessageReader[int] = MessageReader()
        places = [*range(len(self._formulas))]
        self._reader.begin(index, None, places, None, Texts(), {}, {})
        self._kernel: Kernel | str = ""

    def of(self, message: Any) -> list[Verdict]:
        """Return what each selector is for a message, which is a mapping or a Record."""
        found = [_USUAL] * self.count
        for number in self._reader.match(message):
            place, verdict = self._places[number]
            found[place] = verdict
        return found

    def counts(self, batch: object) -> list[dict[Verdict, int]]:
        """Return for each selector how many rows of a batch have each verdict."""
        import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

        lists = self._match(batch)
        found = [{_USUAL: len(lists)} for _ in range(self.count)]
        numbers, counts = pc.value_counts(lists.flatten()).flatten()
        for number, count in zip(numbers.to_pylist(), counts.to_pylist(), strict=True):
            place, verdict = self._places[number]
            found[place][verdict] = count
            found[place][_USUAL] -= count
        return found

    def rows(self, batch: object) -> pa.Array:
        """Return for each row of a batch what the first selector is, a place in `OUTCOMES`."""
        import pyarrow as pa  # noqa: PLC0415 (optional)
        import pyarrow.compute as pc  # noqa: PLC0415

        lists = self._match(batch)
        numbers = pa.array([verdict.number for _, verdict in self._places], pa.int8())
        usual = pa.nulls(len(lists), pa.int8()).fill_null(FALSE)
        return pc.replace_with_mask(usual, pc.greater(pc.list_value_length(lists), 0), numbers.take(lists.flatten()))

    def _match(self, batch: object) -> pa.ListArray:
        return match_rows(self._reader, batch, self._kernel_for)[0]

    def _kernel_for(self, _: int) -> Kernel | str:
        """Return what runs all formulas over columns, or why they are run row by row."""
        if not self._kernel:
            try:
                self._kernel = Kernel(tuple(self._formulas), self._names, True)
            except TooLargeError as reason:
                self._kernel = str(reason)
        return self._kernel


def _apart(form: Normal) -> Iterator[tuple[Verdict, Formula]]:
    """List the verdicts, but for the usual one, and where a selector has them: no message has two."""
    truths = (*zip((Truth.TRUE, Truth.FALSE, Truth.ERR), form.truths, strict=True), (Truth.UNKNOWN, form.unknown))
    fits = complement(form.mismatch)
    for truth, formula in truths:
        for is_mismatched, mismatch in ((True, form.mismatch), (False, fits)):
            verdict = Verdict(truth, is_mismatched)
            if verdict != _USUAL:
                yield verdict, all_of([formula, mismatch])


# ---- the parts of a selector -----------------------------------------------------------------------------------------


def parts_of(root: Node) -> list[tuple[Node, int]]:
    """List the conditions of a selector and their depth, each before its operands."""
    parts: list[tuple[Node, int]] = []
    stack: list[tuple[Node, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        parts.append((node, depth))
        if isinstance(node, (And, Or, Not)):
            stack += [(child, depth + 1) for child in reversed(children(node))]
    return parts


def outcomes_of_parts(selector: Selector) -> Outcomes:
    """Return what finds the outcomes of all parts of a selector, in the order of `parts_of`."""
    parts = [selector.part(node) for node, _ in parts_of(selector.node)]
    return Outcomes((part, has_types(part)) for part in parts)


def has_types(part: Selector) -> bool:
    """Whether it counts that types differ in a part: not in a connective, as the tests below it say where."""
    return not isinstance(part.node, (And, Or, Not))
