"""What the command line does with input for many selectors: say of each message who gets it.

Two `Work`s of `mqsel.files.scan`: one gives messages with keys, the other lines of JSON that have both, among
complaints, and at the end the counts. Everything that goes in or comes out may be pickled. Prints nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, NamedTuple

from mqsel.errors import FileError, MqselError, PropertyTypeError
from mqsel.files import parquet
from mqsel.files.framings import FORMATS, each, taken_apart
from mqsel.files.parts import Part
from mqsel.files.rows import lines
from mqsel.files.scan import Ask, Broken, Complaint, Tally, Work, of_rows, reader, refused, why
from mqsel.sets.set import SelectorSet


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


def deliver(selectors: SelectorSet[Any], ask: Ask, units: Iterable[Any], _path: str = "-") -> Iterator[Delivered]:
    """Yield who gets which message, among complaints about what is broken; at the end the counts.

    Args:
        selectors: the set.
        ask: of its options count `counting` (yield no messages), `raising`, `limit` (of messages that somebody gets),
            `format` and `types`.
        units: what `reading` gives in blocks for a file of the format that is asked for.
    """
    tally = Deliveries()
    made, read, _ = reader(ask.format, selectors, types=dict(ask.types))
    head = b""
    for piece, found in each(taken_apart(units), lambda data: selectors.match(read(data))):
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
            yield from refused(tally, tally.lines if FORMATS[ask.format].is_lines else piece.place, found)
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
    except (FileError, PropertyTypeError) as error:
        yield of_rows(error)
    tally.lines = tally.messages
    yield tally


def _in_json(records: Iterable[Delivered], kind: str, path: str) -> Iterator[Any]:
    """Write deliveries as lines of JSON: a process that gives them has done all the work."""
    for record in records:
        yield _line(path, kind, record) if isinstance(record, Delivery) else record


def _line(path: str, kind: str, delivery: Delivery) -> bytes:
    """Write a delivery as a line of JSON; a message that is JSON stands in it untouched."""
    keys = json.dumps(delivery.keys, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if FORMATS[kind].is_lines or kind == "parquet":
        return b'{"subscribers": %b, "message": %b}\n' % (keys, delivery.message.strip())
    place = json.dumps({"file": path, FORMATS[kind].place: delivery.place}, ensure_ascii=False)
    return b'{"subscribers": %b, %b\n' % (keys, place[1:].encode("utf-8", "surrogateescape"))


def _deliver_in_json(selectors: SelectorSet[Any], ask: Ask, units: Iterable[Any], path: str = "-") -> Iterator[Any]:
    return _in_json(deliver(selectors, ask, units), ask.format, path)


def _deliver_rows_in_json(selectors: SelectorSet[Any], ask: Ask, part: Part) -> Iterator[Any]:
    return _in_json(_deliver_rows(selectors, ask, part), part.format, part.path)


DELIVER = Work(deliver, _deliver_rows, Deliveries)
DELIVER_IN_JSON = Work(_deliver_in_json, _deliver_rows_in_json, Deliveries)
