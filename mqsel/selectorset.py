"""Many selectors at once: which of them select a message.

A `SelectorSet` is a mapping of keys to selectors. What it says of a message is what a loop over Matchers says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from mqsel import formats
from mqsel.errors import ArgumentError, DecodeError, FileError, PropertyTypeError, SelectorError, shortened
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.machine import wordings
from mqsel.machine._values import Record
from mqsel.machine.schema import SchemaLike, as_schema
from mqsel.matcher import Matcher, Message
from mqsel.matcher import compile as compiled

if TYPE_CHECKING:
    import os

    import pyarrow as pa  # type: ignore[import-untyped]
    from typing_extensions import Self

    from mqsel.analysis.explain import Explanation

K = TypeVar("K", bound=Hashable)
_M = TypeVar("_M")
_MAGIC = b"mqsel selectors 1\n"
_FAILURES = 100  # errors that a stream keeps


class SelectorSet(MutableMapping[K, str], Generic[K]):
    """Selectors by key, in order of insertion; `match` gives the keys of those that select a message.

    Args:
        selectors: a mapping of keys to selectors, or pairs; a selector is a text, or a Matcher with its own dialect.
        dialect: how the texts are read.
        schema: the layout of messages that are sequences, as for `compile`.
        keep_text: without the texts a set cannot show, explain or scan its selectors.

    Raises: what `update` raises.
    """

    def __init__(
        self,
        selectors: Mapping[K, str | Matcher] | Iterable[tuple[K, str | Matcher]] = (),
        *,
        dialect: Dialect | str = IBM_MQ,
        schema: SchemaLike | None = None,
        keep_text: bool = True,
    ) -> None:
        self.dialect = as_dialect(dialect)
        self.schema = None if schema is None else as_schema(schema)
        self.keep_text = bool(keep_text)
        self._matchers: dict[K, Matcher] = {}
        self.update(selectors)

    # ---- the mapping -------------------------------------------------------------------------------------------------

    def _read(self, key: K, selector: str | Matcher) -> Matcher:
        try:
            hash(key)
        except TypeError as error:
            raise ArgumentError(f"the key {shortened(key)} has no hash: a key is what a dict takes") from error
        if isinstance(selector, Matcher):
            text, dialect = selector.selector, selector.dialect
        elif isinstance(selector, str):
            text, dialect = selector, self.dialect
        else:
            raise ArgumentError(
                f"the selector of {shortened(key)} is a Python {type(selector).__name__}: expected a str or a Matcher"
            )
        try:
            return compiled(text, dialect=dialect, schema=self.schema)
        except SelectorError as error:
            error.key = key
            raise

    def __getitem__(self, key: K) -> str:
        matcher = self._matchers[key]
        self._texts_wanted("show")
        return matcher.selector

    def __setitem__(self, key: K, selector: str | Matcher) -> None:
        self._matchers[key] = self._read(key, selector)

    def __delitem__(self, key: K) -> None:
        del self._matchers[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._matchers)

    def __len__(self) -> int:
        return len(self._matchers)

    def __contains__(self, key: object) -> bool:
        return key in self._matchers

    def clear(self) -> None:
        self._matchers.clear()

    def update(  # type: ignore[override]
        self, selectors: Mapping[K, str | Matcher] | Iterable[tuple[K, str | Matcher]] = (), /, **more: str | Matcher
    ) -> None:
        """Add selectors, or replace those of the same keys: all of them, or none where one is faulty.

        Raises: SelectorError: the first faulty one; it names its ``key``. ArgumentError: a key without a hash, or a
            selector that is neither a str nor a Matcher.
        """
        pairs = [*_pairs(selectors), *_pairs(more)]
        self._matchers.update({key: self._read(key, selector) for key, selector in pairs})

    def admit(
        self, selectors: Mapping[K, str | Matcher] | Iterable[tuple[K, str | Matcher]]
    ) -> list[tuple[K, SelectorError]]:
        """Add the valid ones of *selectors*, or replace those of the same keys.

        Returns: the faulty ones: key and error.

        Raises: ArgumentError: as `update`.
        """
        faulty: list[tuple[K, SelectorError]] = []
        valid: dict[K, Matcher] = {}
        for key, selector in _pairs(selectors):
            try:
                valid[key] = self._read(key, selector)
            except SelectorError as error:
                faulty.append((key, error.with_traceback(None)))
        self._matchers.update(valid)
        return faulty

    def matcher(self, key: K) -> Matcher:
        """Give the selector of a key as a Matcher.

        Raises: KeyError: no such key. ArgumentError: the texts were not kept.
        """
        self._texts_wanted("compile")
        return self._matchers[key]

    def _texts_wanted(self, verb: str) -> None:
        if not self.keep_text:
            raise ArgumentError(
                f"this set did not keep the texts of its selectors: it cannot {verb} one",
                hint="make it with keep_text=True",
            )

    # ---- messages ----------------------------------------------------------------------------------------------------

    def match(self, message: Message, *, within: Iterable[K] | None = None) -> list[K]:
        """Give the keys of the selectors that select *message*, in order of insertion.

        Args:
            message: a mapping, a sequence laid out by the schema, a Row or namedtuple, a `Record`, or what `decoder`
                gives.
            within: look at these keys alone; one that is not in the set selects nothing.

        Raises: PropertyTypeError: no message, or a property that any selector of the set reads has no property value;
            a Matcher may not have come to it.
        """
        allowed = None if within is None else _keys(within)
        if isinstance(message, _Raw):
            return [
                key
                for key, matcher in self._matchers.items()
                if (allowed is None or key in allowed) and message.matches(matcher)
            ]
        return [
            key
            for key, matcher in self._matchers.items()
            if (allowed is None or key in allowed) and matcher.matches(message)
        ]

    def scan(self, message: Message) -> list[K]:
        """Give what `match` gives, by running every selector as a Matcher.

        Raises: as `match`; ArgumentError: the texts were not kept.
        """
        self._texts_wanted("run")
        return self.match(message)

    def filter(
        self,
        messages: Iterable[_M],
        *,
        errors: Literal["raise", "skip"] = "raise",
        format: formats.FormatName | None = None,  # noqa: A002 (the word of the command line)
        **options: Any,
    ) -> Deliveries[_M, K]:
        """Iterate over those of *messages* that a selector selects, each with the keys of those that do.

        Args: as for `Matcher.filter`.

        Returns: an iterator of (message, keys) that counts ``seen``, ``selected`` and ``skipped``, and keeps the first
            errors as ``failures``.
        """
        if errors not in ("raise", "skip"):
            raise ArgumentError(f"errors is {errors!r}: expected 'raise' or 'skip'")
        kind: type = type(messages)
        if kind is Record or not (hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")):
            raise ArgumentError(f"filter takes an iterable of messages, found one Python {type(messages).__name__}")
        if format is None and options:
            raise ArgumentError(f"filter takes {', '.join(options)} only with a format")
        if format is not None and isinstance(messages, (bytes, bytearray, memoryview, str)):
            raise ArgumentError(f"filter takes an iterable of messages, found one Python {type(messages).__name__}")
        decode = None if format is None else self.decoder(format, **options)
        return Deliveries(self, messages, skipping=errors == "skip", decode=decode)

    def decoder(self, format: str, **options: Any) -> formats.Decoder:  # noqa: A002 (the word of the command line)
        """Make a callable that turns one raw message into what `match` of this set takes.

        Args: as for `filter`.

        Raises: ArgumentError: no such format or option.
        """
        formats.decoder(format, (), **options)
        decoders: dict[Matcher, formats.Decoder] = {}

        def decode(message: Any) -> _Raw:
            return _Raw(message, decoders, lambda matcher: matcher.decoder(format, **options))

        return decode

    def match_batch(self, batch: object) -> pa.ListArray:
        """Give for each row of a batch which selectors select it.

        Args:
            batch: as for `Matcher.match_batch`.

        Returns: shape (rows,): lists of uint32, rising: positions in ``list(self)``, of which `keys_at` makes keys.
        """
        try:
            import pyarrow as pa  # noqa: PLC0415 (may be missing)
        except ImportError as error:
            raise wordings.package_missing("match_batch", "pyarrow", "arrow") from error
        columns = [matcher.match_batch(batch).to_pylist() for matcher in self._matchers.values()]
        rows = len(columns[0]) if columns else batch.num_rows  # type: ignore[attr-defined]
        lists = [[place for place, column in enumerate(columns) if column[row]] for row in range(rows)]
        return pa.array(lists, pa.list_(pa.uint32()))

    def explain(self, key: K, message: Message) -> Explanation:
        """Say of every part of a selector what it was for *message*, and why.

        Raises: KeyError: no such key. ArgumentError: the texts were not kept.
        """
        return self.matcher(key).explain(message)

    def stats(self) -> dict[str, Any]:
        """Tell how many selectors there are, and how they are reached."""
        return {"selectors": len(self)}

    # ---- travelling --------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file, for `open`.

        Raises: ArgumentError: a key that is neither a str nor an int.
        """
        for key in self:
            if type(key) not in (str, int):
                raise ArgumentError(f"the key {shortened(key)} cannot be saved: expected a str or an int")
        held = [
            (key, one.selector, {name: getattr(one.dialect, name) for name in one.dialect.__slots__})
            for key, one in self._matchers.items()
        ]
        own = {name: getattr(self.dialect, name) for name in self.dialect.__slots__}
        whole = {"dialect": own, "schema": self.schema, "keep_text": self.keep_text, "selectors": held}
        Path(path).write_bytes(_MAGIC + json.dumps(whole).encode())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file that `save` wrote.

        Raises: FileError: no such file, or not one of these.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror}", path=str(path)) from error
        if not data.startswith(_MAGIC):
            raise FileError("not a file of selectors", path=str(path), hint="write it with SelectorSet.save")
        whole = json.loads(data[len(_MAGIC) :])
        schema = None if whole["schema"] is None else tuple(zip(*whole["schema"], strict=True))
        made = cls(dialect=Dialect(**whole["dialect"]), schema=schema, keep_text=whole["keep_text"])
        made.update([(key, compiled(text, dialect=Dialect(**own))) for key, text, own in whole["selectors"]])
        return made

    def copy(self) -> Self:
        """Give a set of the same selectors that changes by itself."""
        made = type(self)(dialect=self.dialect, schema=self.schema, keep_text=self.keep_text)
        made.update(self)
        return made

    __copy__ = copy

    def __or__(self, other: Mapping[K, str | Matcher]) -> Self:
        made = self.copy()
        made.update(other)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SelectorSet):
            return NotImplemented
        return self._matchers == other._matchers

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<mqsel.SelectorSet of {len(self):,} selectors, {self.dialect!r}>"


class Deliveries(Generic[_M, K]):
    """Iterate over messages that are selected, each with the keys of the selectors that select it.

    Attributes:
        seen, selected, skipped: counts of messages so far.
        failures: the errors of the messages skipped, at most 100 of them; each knows its index.
        decode: the decoder of raw messages, or None.
    """

    def __init__(
        self, selectors: SelectorSet[K], messages: Iterable[_M], *, skipping: bool, decode: formats.Decoder | None
    ) -> None:
        self.seen = self.selected = self.skipped = 0
        self.failures: list[PropertyTypeError | DecodeError] = []
        self.decode = decode
        self._selectors = selectors
        self._messages = iter(messages)
        self._skipping = skipping

    def __iter__(self) -> Iterator[tuple[_M, list[K]]]:
        return self

    def __next__(self) -> tuple[_M, list[K]]:
        for message in self._messages:
            self.seen += 1
            try:
                held: Any = message if self.decode is None else self.decode(message)
                keys = self._selectors.match(held)
            except (PropertyTypeError, DecodeError) as error:
                error.index = self.seen - 1
                if not self._skipping:
                    self.close()
                    raise
                self.skipped += 1
                if len(self.failures) < _FAILURES:
                    self.failures.append(error.with_traceback(None))
                continue
            if keys:
                self.selected += 1
                return message, keys
        raise StopIteration

    def close(self) -> None:
        """End the stream."""
        self._messages = iter(())


class _Raw:
    def __init__(
        self, message: Any, decoders: dict[Matcher, formats.Decoder], make: Callable[[Matcher], formats.Decoder]
    ) -> None:
        self.message, self.decoders, self.make = message, decoders, make

    def matches(self, matcher: Matcher) -> bool:
        if matcher not in self.decoders:
            self.decoders[matcher] = self.make(matcher)
        held = self.decoders[matcher](self.message)
        return held if isinstance(held, bool) else matcher.matches(held)


def _pairs(selectors: Any) -> list[tuple[Any, Any]]:
    """List keys and selectors of a mapping, or of pairs."""
    if isinstance(selectors, SelectorSet) and selectors.keep_text:
        return [(key, selectors.matcher(key)) for key in selectors]
    if isinstance(selectors, Mapping):
        return [*selectors.items()]
    try:
        return [(key, selector) for key, selector in selectors]
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"selectors are a mapping, or pairs of key and selector, found {shortened(selectors)}"
        ) from error


def _keys(within: Any) -> frozenset[Any]:
    """Read the keys of `within`."""
    if isinstance(within, (str, bytes)):
        raise ArgumentError(f"within is {shortened(within)}: expected several keys", hint="write within=[key]")
    try:
        return frozenset(within)
    except TypeError as error:
        raise ArgumentError(f"within is {shortened(within)}: expected several keys") from error
