"""What the command line does with input for many selectors, here or on an executor: say of each message who gets it.

The sibling of `mqsel.files.scan`: it is given the same, and gives messages with keys, complaints, and at the end the
counts. Everything that goes in or comes out of it may be pickled. Prints nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, NamedTuple

from mqsel.errors import FileError, MqselError, PropertyTypeError
from mqsel.files import framings, parquet
from mqsel.files.dumps import Piece
from mqsel.files.framings import FORMATS, each
from mqsel.files.parts import Part, messages
from mqsel.files.rows import lines
from mqsel.files.scan import REPORTED, Ask, Broken, Complaint, Tally, reader, said, why
from mqsel.selectorset import SelectorSet


class Delivery(NamedTuple):
    """A message and who gets it.

    Attributes:
        keys: of the selectors that select it.
        place: as of a `Piece`; of a row of Parquet 0.
        message: as it stands in the file; of Parquet a line of JSON.
        head: what stands before the first message of the file, with the first that is delivered.
    """

    keys: list[Any]
    place: int
    message: bytes
    head: bytes = b""


class Deliveries(Tally):
    """The counts of one piece of input; `selected` are the messages that anybody gets.

    Attributes:
        delivered: messages by key.
    """

    __slots__ = ("delivered",)

    def __init__(self) -> None:
        super().__init__()
        self.delivered: Counter[Any] = Counter()


Delivered = Delivery | Complaint | Broken | Deliveries


def deliver(selectors: SelectorSet[Any], ask: Ask, source: Iterable[Piece | FileError]) -> Iterator[Delivered]:
    """Yield who gets which message, among complaints about what is broken; at the end the counts.

    Args:
        selectors: the set.
        ask: of its options count `counting` (yield no messages), `raising`, `limit` (of messages that somebody gets),
            `format` and `types`.
        source: what `reading` gives for a file of the format that is asked for, not in blocks.
    """
    tally = Deliveries()
    made, read, _ = reader(ask.format, selectors, types=dict(ask.types))
    head = b""
    for piece, found in each(source, lambda data: selectors.match(read(data))):
        if piece is None:
            assert isinstance(found, FileError)
            yield Broken(why(found))
            continue
        tally.lines += 1
        if found is None:
            head = head or (b"" if FORMATS[ask.format].is_lines else piece.raw)
            continue
        tally.messages += 1
        if isinstance(found, MqselError):
            tally.skipped += 1
            if tally.skipped <= REPORTED:
                yield Complaint(tally.lines if FORMATS[ask.format].is_lines else piece.place, said(found))
            if ask.raising:
                break
        elif found:
            tally.selected += 1
            tally.delivered.update(found)
            if not ask.counting:
                yield Delivery(found, piece.place, piece.raw, head)
                head = b""
            if tally.selected == ask.limit:
                break
    tally.unread = +Counter(getattr(made, "unread", {}))
    yield tally


def deliver_blocks(selectors: SelectorSet[Any], ask: Ask, blocks: Iterable[bytes]) -> Iterator[Delivered]:
    """Deliver the lines of blocks, as `deliver` does."""
    return deliver(selectors, ask, framings.lines(blocks))


def deliver_part(selectors: SelectorSet[Any], ask: Ask, part: Part) -> Iterator[Delivered]:
    """Deliver a part of a file, as `deliver` does."""
    if part.format == "parquet":
        yield from _deliver_rows(selectors, ask, part)
    else:
        yield from deliver(selectors, ask._replace(format=part.format), messages(part))


def _deliver_rows(selectors: Any, ask: Ask, part: Part) -> Iterator[Delivered]:
    """Deliver rows of Parquet, read by columns; what somebody gets becomes a line of JSON."""
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

    tally, keys = Deliveries(), list(selectors)
    try:
        # Asked for as if inverted: no row group may be left out, as each is for somebody.
        for group in parquet.groups(
            selectors, part.path, part.start, part.stop, fixed=dict(part.fixed), is_inverted=True
        ):
            assert group.table is not None
            table = group.table if group.table.num_columns else pa.table({"-": pa.nulls(group.rows)})
            found = [[keys[place] for place in row] for row in selectors.match_batch(table).to_pylist()]
            tally.messages += group.rows
            left = None if ask.limit is None else ask.limit - tally.selected
            mask = [bool(row) for row in found]
            if left is not None and sum(mask) > left:
                last = [number for number, is_wanted in enumerate(mask) if is_wanted][left - 1]
                mask = [is_wanted and number <= last for number, is_wanted in enumerate(mask)]
            chosen = list(compress(found, mask))
            tally.selected += len(chosen)
            for row in chosen:
                tally.delivered.update(row)
            if not ask.counting:
                at = iter(chosen)
                for rows in parquet.taken(part.path, group, pa.array(mask, pa.bool_())):
                    with parquet.trouble_of(part.path):
                        made = lines(rows)
                    for line in made.splitlines(keepends=True):
                        yield Delivery(next(at), 0, line)
            if tally.selected == ask.limit:
                break
    except FileError as error:
        yield Broken(why(error))
    except PropertyTypeError as error:  # of a column, and so of every row
        yield Broken(str(error))
    tally.lines = tally.messages
    yield tally
