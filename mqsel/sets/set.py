"""Find which of many selectors select a message: `SelectorSet`.

A `SelectorSet` is a mapping of keys to selectors. Its reader reads a message once, and asks an index over the normal
forms of all selectors. The result is that of a loop over Matchers, which `scan` is. This module reads selectors into
the reader, and answers questions by key. `mqsel.sets.file` writes and reads files.
"""

from __future__ import annotations

import copyreg
import functools
import os
import pickle
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, cast

from mqsel import formats
from mqsel.arguments import check_count
from mqsel.carets import shortened, type_name
from mqsel.columns._kernel import Kernel
from mqsel.errors import ArgumentError, MqselError, SelectorError
from mqsel.index._index import Index
from mqsel.index._reader import DeliveryStream, MessageReader, alone, changing, match_rows, no_key
from mqsel.language.checker import MatchOption
from mqsel.language.computed import clock_held
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect, core_of
from mqsel.language.selector import read_anew
from mqsel.logic.formulas import Any as AnyOf
from mqsel.machine.origin import selector_of
from mqsel.machine.schema import Schema, SchemaLike, as_schema
from mqsel.machine.sections import Buffer, Texts
from mqsel.matcher import Matcher, Message, check_stream
from mqsel.matcher import compile as compiled
from mqsel.names import ANY_CASE, parted
from mqsel.sets import file
from mqsel.sets.choice import EngineChoice
from mqsel.sets.file import Contents
from mqsel.sets.reading import Formulas
from mqsel.sets.receiving import HeaderDecoder, PropertyDecoder, QueueManager

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from typing_extensions import Self

    from mqsel.analysis.compare.gaps import Gap
    from mqsel.analysis.compare.search import Given
    from mqsel.analysis.explain import Explanation
    from mqsel.columns.declared import Decimals, Timestamps

K = TypeVar("K", bound=Hashable)
_M = TypeVar("_M")
Selectors = Mapping[K, str | Matcher] | Iterable[tuple[K, str | Matcher]]

# Matchers that `scan` keeps: some kilobytes each.
_SCANNED = 10_000
_NAMED = 5  # faulty selectors in a warning
# Places without a key that a set keeps before it closes the gaps, beside as many as it has keys.
_GAPS = 1024


class _Given(NamedTuple):
    """Selectors as they were given.

    Attributes:
        texts: by key.
        own: by key, dialects that are not the usual one.
        usual: the dialect of the others.
    """

    texts: dict[Any, str]
    own: dict[Any, Dialect]
    usual: Dialect


def left_out(faulty: Sequence[tuple[object, MqselError]]) -> str:
    """Return a warning of selectors that are left out, the first of them with their errors."""
    named = "; ".join(f"{shortened(key)}: {error.message}" for key, error in faulty[:_NAMED])
    few = "1 faulty selector is" if len(faulty) == 1 else f"{len(faulty):,} faulty selectors are"
    return f"{few} left out: {named}{'; …' * (len(faulty) > _NAMED)}"


class SelectorSet(MutableMapping[K, str], Generic[K]):
    """Many selectors by key. `match` returns the keys of the selectors that select a message, in order of insertion.

    A set is a mutable mapping of keys to texts. Keys are hashable, as in a dict. Threads may share a set, and change it
    while others match: each result is that of the set before a change or after it. A set can be pickled and saved.

    Args:
        selectors: A mapping of keys to selectors, or an iterable of (key, selector) pairs. A selector is a str, or a
            `Matcher`, which keeps its own dialect. The default is no selectors.
        dialect: The `Dialect`, or its name, for selectors that are str. The default is IBM_MQ.
        schema: The layout of messages that are sequences, as for `mqsel.compile`. The default is None: mappings.
        keep_text: Whether to keep the texts (default True). Without them the set takes less memory, but can't show,
            explain or scan its selectors.

    Attributes:
        dialect: The dialect of selectors that were given as str.
        schema: The layout of messages that are sequences, or None.
        keep_text: Whether the set has the texts.

    Raises: the errors of `update`.
    """

    def __init__(
        self,
        selectors: Selectors[K] = (),
        *,
        dialect: Dialect | str = IBM_MQ,
        schema: SchemaLike | None = None,
        keep_text: bool = True,
    ) -> None:
        laid_out = None if schema is None else as_schema(schema)
        self._hold(Contents(as_dialect(dialect), laid_out, bool(keep_text), [], None, Texts(), {}, {}, Index()))
        self.update(selectors)

    @classmethod
    def from_inventory(
        cls,
        paths: str | os.PathLike[str] | Iterable[Any],
        *,
        kind: str | None = None,
        columns: Mapping[str, str] | None = None,
        dialect: Dialect | str | None = None,
        schema: SchemaLike | None = None,
        keep_text: bool = True,
        errors: Literal["raise", "skip"] = "raise",
    ) -> SelectorSet[str]:
        """Return the set of the selectors that mqsel finds in files: MQSC scripts, configurations, source code.

        The key is that of the entry. If several entries have one key, the key is ``KEY@FILE:LINE:COLUMN``.

        Args:
            paths: Files and folders, as for `mqsel.inventory.read`; or entries that you have read.
            kind: The file type, as for `mqsel.inventory.read`.
            columns: The names of columns in CSV and JSON, as for `mqsel.inventory.read`.
            dialect: The `Dialect`, or its name, for all selectors. The default is None: each selector has the dialect
                of its file type, and the set has the most frequent one.
            schema: The layout of messages that are sequences, as for `SelectorSet`.
            keep_text: Whether to keep the texts, as for `SelectorSet`.
            errors: "raise" (default): raise an error for the first selector that is invalid or incomplete. "skip":
                leave these selectors out, with a warning that counts them.

        Raises: FileError: if a file can't be read, or a selector is incomplete, for example because a program builds
            it.
            SelectorError: if a selector is invalid. The error has its ``key``.
            ArgumentError: if an argument of `mqsel.inventory.read` is invalid.
        """
        keyed = import_module("mqsel.inventory.keyed")  # a row below: it reads files, of which a set knows nothing
        made, faulty = keyed.selector_set(
            cls,
            paths,
            kind=kind,
            columns=columns,
            dialect=None if dialect is None else as_dialect(dialect),
            errors=errors,
            schema=schema,
            keep_text=keep_text,
        )
        if faulty:
            warnings.warn(left_out(faulty), stacklevel=2)
        return cast("SelectorSet[str]", made)

    def _hold(self, contents: Contents) -> None:
        """Begin with what a set consists of."""
        self.dialect, self.schema, self.keep_text = contents.dialect, contents.schema, contents.keep_text
        self._reader: MessageReader[K] = MessageReader()
        if type(self).match is SelectorSet.match:
            # A method of Python around it takes 0.04 us, where a match among 1,000 equalities takes 0.12.
            self.match = self._reader.match  # type: ignore[method-assign]
        self._choice = EngineChoice(self)
        self._begin(contents)

    def _begin(self, contents: Contents) -> None:
        self._reader.begin(
            contents.formulas,
            contents.schema,
            contents.keys,
            contents.column,
            contents.texts,
            contents.own,
            contents.options,
        )
        self._reader.facts = (self.dialect, self.schema, self.keep_text)
        self._reader.singly = _run_singly if self.keep_text else None
        self._note_order(self.dialect, *contents.own.values())

    def _note_order(self, *dialects: Dialect | None) -> None:
        """Note whether some dialect takes neither NaN nor -0.0 from a message."""
        self._reader.has_order |= any(one is not None and core_of(one).has_greatest for one in dialects)

    @property
    def changes(self) -> int:
        """The number of times that the set was changed."""
        return self._reader.changes

    @property
    def _places(self) -> dict[K, int]:
        """Places by key: read when they are first asked for, because to match nobody needs them."""
        return self._reader.places()

    # ---- reading selectors -------------------------------------------------------------------------------------------

    def _taken(self, pairs: Iterable[tuple[K, str | Matcher]], faulty: dict[K, SelectorError] | None = None) -> _Given:
        """Return selectors as people pass them, checked.

        Args:
            faulty: gets an error for each key whose selector is neither a str nor a Matcher; without it that raises.
        """
        texts: dict[K, str] = {}
        own: dict[K, Dialect] = {}
        for key, selector in pairs:
            try:
                hash(key)
            except (TypeError, ValueError) as error:
                raise no_key(key) from error
            for mapping in (own, texts, faulty or {}):  # the last selector of a key counts
                mapping.pop(key, None)
            if isinstance(selector, Matcher):
                selector_of(selector.program)
                texts[key] = selector.selector
                if selector.dialect != self.dialect:
                    own[key] = selector.dialect
            elif isinstance(selector, str):
                texts[key] = str.__str__(selector)
            elif faulty is None:
                raise ArgumentError(f"the selector of {shortened(key)} is {_not_a_selector(selector)}")
            else:
                faulty[key] = SelectorError(f"the selector is {_not_a_selector(selector)}")
                faulty[key].key = key
        return _Given(texts, own, self.dialect)

    @changing
    def _write(self, given: _Given) -> None:
        """Put selectors into the set: all or none. They are read one by one as the index takes them in."""
        texts, own = given.texts, given.own
        places = self._places
        old = {key: places[key] for key in texts if key in places}
        fresh = [key for key in texts if key not in old]
        keys = [*old, *fresh]
        if not keys:
            return
        written = [*old.values(), *range(self._reader.size, self._reader.size + len(fresh))]
        formulas = Formulas(keys, *given)
        self._note_order(*own.values())
        try:
            self._reader.put(
                [*old.values()],
                written,
                fresh,
                formulas,
                [texts[key] for key in keys] if self.keep_text else None,
                [own.get(key) for key in keys],
            )
        except ArgumentError as error:
            raise ArgumentError(
                f"the selector of {shortened(formulas.key)} cannot be in a set: {error.message}", hint=error.hint
            ) from error

    # ---- the mapping -------------------------------------------------------------------------------------------------

    def _place(self, key: Any) -> int:
        try:
            return self._places[key]
        except (TypeError, ValueError) as error:  # the latter of a memoryview
            raise no_key(key) from error

    @alone
    def __getitem__(self, key: K) -> str:
        place = self._place(key)
        self._texts_wanted("show")
        return self._reader.texts[place]

    def __setitem__(self, key: K, selector: str | Matcher) -> None:
        self._write(self._taken([(key, selector)]))

    def __delitem__(self, key: K) -> None:
        self._delete(key)
        if self._reader.size > 2 * len(self) + _GAPS:
            self._close_gaps()

    @changing
    def _delete(self, key: K) -> None:
        self._reader.drop(key, self._place(key))

    @changing
    def _close_gaps(self) -> None:
        """Let places be positions of keys. They change in one step; what is found by a place is looked up alone."""
        left = [*self._places.values()]
        if len(left) == self._reader.size:
            return
        renumbered = dict(zip(left, range(len(left)), strict=True))
        self._reader.renumber(
            [renumbered.get(place, -1) for place in range(self._reader.size)],
            [*self._places],
            dict(zip(self._places, range(len(left)), strict=True)),
            Texts(behind=[self._reader.texts[place] for place in left] if self.keep_text else []),
            {renumbered[place]: one for place, one in self._reader.own.items() if one is not None},
            {renumbered[place]: one for place, one in self._reader.options.items() if one is not None},
        )

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._places)

    @alone
    def popitem(self) -> tuple[K, str]:
        """Remove the last key and return it with its text, as a dict does.

        Raises: KeyError: if the set is empty. ArgumentError: if the set has no texts (``keep_text=False``).
        """
        key = next(reversed(self), None)
        if key is None and not self._places:
            raise KeyError("the set is empty")
        return cast("K", key), self.pop(cast("K", key))

    def __len__(self) -> int:
        return self._reader.living

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._places
        except (TypeError, ValueError) as error:
            raise no_key(key) from error

    @changing
    def clear(self) -> None:
        """Remove all selectors."""
        self._begin(Contents(self.dialect, self.schema, self.keep_text, [], None, Texts(), {}, {}, Index()))

    def update(  # type: ignore[override]
        self, selectors: Selectors[K] = (), /, **more: str | Matcher
    ) -> None:
        """Add selectors, and replace those with the same keys. If one selector is invalid, the set stays as it is.

        Args:
            selectors: A mapping of keys to selectors, or an iterable of (key, selector) pairs.
            more: Further selectors, by keys that are Python names.

        Raises: SelectorError: if a selector is invalid. The error has the ``key`` of the first one.
            ArgumentError: if a key is not hashable, or a selector is neither a str nor a Matcher.
        """
        pairs = [*_pairs(selectors), *more.items()]
        self._write(self._taken(pairs))

    def admit(self, selectors: Selectors[K]) -> dict[K, SelectorError]:
        """Add the selectors that are valid, and replace those with the same keys. Invalid selectors change nothing.

        Args:
            selectors: A mapping of keys to selectors, or an iterable of (key, selector) pairs.

        Returns: a dict of the errors of invalid selectors, by key. A value that is neither a str nor a Matcher is one
            of them.

        Raises: ArgumentError: if a key is not hashable, or *selectors* is neither a mapping nor pairs.
        """
        faulty: dict[K, SelectorError] = {}
        given = self._taken(_pairs(selectors), faulty)
        for key, text in given.texts.items():
            try:
                read_anew(text, given.own.get(key, given.usual))
            except SelectorError as error:
                error.key = key
                faulty[key] = error.with_traceback(None)
        for key in faulty:
            given.texts.pop(key, None)
            given.own.pop(key, None)
        self._write(given)
        return faulty

    def matcher(self, key: K) -> Matcher:
        """Return the selector of a key as a `Matcher`, with its dialect and the schema of the set.

        Args:
            key: A key of the set.

        Raises: KeyError: if the set has no such key. ArgumentError: if the set has no texts (``keep_text=False``).
        """
        return self._compiled(*self._selector(key))

    @alone
    def _selector(self, key: K) -> tuple[str, Dialect]:
        place = self._place(key)
        self._texts_wanted("compile")
        return self._at(place)

    def _at(self, place: int) -> tuple[str, Dialect]:
        """Return the text and the dialect of a place."""
        return self._reader.texts[place], self._reader.own.get(place) or self.dialect

    def _compiled(self, text: str, dialect: Dialect) -> Matcher:
        return compiled(text, dialect=dialect, schema=self.schema)

    def _texts_wanted(self, verb: str) -> None:
        if not self.keep_text:
            raise ArgumentError(
                f"this set did not keep the texts of its selectors: it cannot {verb} them",
                hint="make it with keep_text=True",
            )

    @property
    def properties(self) -> tuple[str, ...]:
        """Names of the properties that its selectors read, or have read, in order of first reading."""
        read = [parted(name) for name in self._reader.index.names]
        return tuple(dict.fromkeys(name.removesuffix(ANY_CASE) for name, _, kind in read if kind != "test"))

    @property
    def in_any_case(self) -> tuple[str, ...]:
        """Those of them that count without regard to case."""
        read = dict.fromkeys(parted(name)[0] for name in self._reader.index.names)
        return tuple(name.removesuffix(ANY_CASE) for name in read if name.endswith(ANY_CASE))

    # ---- messages ----------------------------------------------------------------------------------------------------

    def match(self, message: Any, *, within: Iterable[K] | None = None, now: int | None = None) -> list[K]:
        """Return the keys of the selectors that select *message*, as a list in order of insertion.

        Args:
            message: One message: a mapping, a sequence that the schema lays out, a Spark Row, a namedtuple, a `Record`,
                or a value that `decoder` returned.
            within: A collection of keys. Only these selectors are run; a key that is not in the set is ignored. The
                default is None: all selectors.
            now: The time that UTC() returns, in milliseconds since 1970. The default is the time of this call.

        Raises: PropertyTypeError: if *message* is not a message, or if a property that a selector reaches has a value
            that no property can have; in a set without texts, if any property that the set reads has such a value.
            ArgumentError: if *within* is not a collection of keys.
        """
        return self._reader.match(message, within=within, now=now)

    def match_into(self, message: Any, found: Any, *, now: int | None = None) -> int:
        """Write the positions of the selectors that match into an array. Use it if thousands of selectors match.

        Args:
            message: One message, as for `match`.
            found: A writable array of uint32, for example from array or NumPy, with one dimension. It needs room for as
                many positions as can match; the size of the set is always enough. It gets ascending positions in
                ``list(self)``.
            now: The time that UTC() returns, as for `match`.

        Returns: how many selectors select the message. The rest of *found* is unchanged.

        Raises: the errors of `match`. ArgumentError: if *found* is no such array, or too small.
        """
        if now is None and not self._reader.reads_clock:
            return self._matched_into(message, found)
        with clock_held(now):
            return self._matched_into(message, found)

    def _matched_into(self, message: Any, found: Any) -> int:
        while (count := self._reader.match_into(message, found)) < 0:
            self._close_gaps()  # then places are positions
        return count

    @alone
    def dialects(self) -> list[tuple[int, Dialect]]:
        """List the dialects of all selectors, by place."""
        return [(place, self._reader.own.get(place) or self.dialect) for place in self._places.values()]

    @alone
    def match_options(self) -> dict[int, MatchOption]:
        """Return the match options of the selectors that are one, by place."""
        return {place: one for place, one in self._reader.options.items() if one is not None}

    def scan(self, message: Message) -> list[K]:
        """Return the same keys as `match`, by running each selector as a Matcher. It is slow; use it to check `match`.

        Args:
            message: One message, as for `match`.

        Raises: the errors of `match`. ArgumentError: if the set has no texts (``keep_text=False``).
        """
        self._texts_wanted("run")
        return _run_singly(self._reader, message, None)

    def filter(
        self,
        messages: Iterable[_M],
        *,
        errors: Literal["raise", "skip"] = "raise",
        format: formats.FormatName | None = None,  # noqa: A002 (the word of the command line)
        now: int | None = None,
        **options: Any,
    ) -> DeliveryStream[_M, K]:
        """Iterate over (message, keys) for each message in *messages* that at least one selector selects.

        Args: *messages*, *errors*, *format*, *now* and *options* are those of `Matcher.filter`.

        Returns: an iterator, which counts ``seen``, ``selected`` and ``skipped``, and keeps the first errors in
            ``failures``.

        Raises: the errors of `Matcher.filter`.
        """
        check_stream(messages, errors, format, options)
        decode = None if format is None else self.decoder(format, **options)
        return DeliveryStream(self._reader, messages, errors == "skip", decode, now)

    def decoder(self, format: str, **options: Any) -> Callable[[Any], Any]:  # noqa: A002 (the word of the command line)
        """Return a callable that turns one message in bytes into a value that `match` of this set takes.

        It follows the rules of a queue manager, as `Matcher.decoder` does. Two threads must not share it.

        Args:
            format: The format of the messages, as for `filter`.
            options: Options of the format, as for `filter`.

        Raises: ArgumentError: if there is no such format or option, or if the format can't be read by case-insensitive
            names.
        """
        if "identifier" in options:
            raise ArgumentError("a set takes no identifier: each of its selectors may have its own")
        make: Callable[..., formats.Decoder] = functools.partial(formats.decoder, format, **options)
        make((), in_any_case=self.in_any_case)
        row = formats.row_of(format)
        if row.has_naming and "naming" not in options:
            return HeaderDecoder(self, self._reader, make).decode
        if not row.has_mqmd:
            return PropertyDecoder(self, self._reader, make).decode
        return QueueManager(self, self._reader, make, options.get("invalid_names")).decode

    def match_batch(
        self,
        batch: object,
        *,
        now: int | None = None,
        decimals: Decimals | None = None,
        timestamps: Timestamps | None = None,
    ) -> pa.ListArray:
        """Return for each row of an Arrow batch the positions of the selectors that select it.

        Properties are columns, as for a Matcher. Changes of the set wait until the batch is done.

        Args: *batch*, *now*, *decimals* and *timestamps* are those of `Matcher.match_batch`.

        Returns: a ListArray of shape (rows,): lists of uint32, ascending positions in ``list(self)``. A row is null if
            a product's documentation doesn't define the result of a selector.

        Raises: the errors of `Matcher.match_batch`.
        """
        if decimals is not None or timestamps is not None:
            from mqsel.columns.declared import declared  # noqa: PLC0415 (for these alone)

            spelled = (one for name in self._reader.index.names for one in parted(name)[:2])
            names = [one.removesuffix(ANY_CASE) for one in spelled if one]
            batch = declared(batch, names, "folded", decimals, timestamps)
        if now is None and not self._reader.reads_clock:
            return self._matched(batch)
        with clock_held(now):
            return self._matched(batch)

    @alone
    def _matched(self, batch: object) -> pa.ListArray:
        self._close_gaps()  # then places are positions
        lists, _ = match_rows(self._reader, batch, self._choice.kernel_for, self._choice.learn)
        return lists

    @property
    def clauses(self) -> int:
        """The number of distinct parts of the selectors, if each OR is taken apart."""
        return self._reader.index.clauses

    def together(self, most: int | None = None) -> tuple[Kernel, int]:
        """Return a kernel that runs the selectors over columns, and the number of clauses that it has.

        Args:
            most: The greatest number of selectors, which are chosen at random. The default is None: all, by position.

        Raises: TooLargeError: if the selectors are too many for one kernel.
            SelectorError, ProgramError: if the text of a selector in a file is damaged.
        """
        if most is not None:
            check_count("most", most, "a count of selectors, or None")
        places = self._places
        keys = [*places]
        if most is not None and most < len(keys):
            keys = Random(most).sample(keys, most)  # noqa: S311 (no secret)
        own = {key: one for key in keys if (one := self._reader.own.get(places[key])) is not None}
        texts = {key: self._reader.texts[places[key]] for key in keys}
        formulas = (*Formulas(keys, texts, own, self.dialect),)
        clauses = {part for one in formulas for part in (one.parts if isinstance(one, AnyOf) else (one,))}
        try:
            return Kernel(formulas, self._reader.index.names, self._reader.has_order), len(clauses)
        except KeyError as error:
            raise SelectorError(f"the text of a selector is damaged: the index has no property {error}") from error

    def explain(self, key: K, message: Message) -> Explanation:
        """Explain why the selector of a key selects *message*, or doesn't: the truth of each part.

        Args:
            key: A key of the set.
            message: One message, as for `match`.

        Raises: KeyError: if the set has no such key. ArgumentError: if the set has no texts (``keep_text=False``).
        """
        return self.matcher(key).explain(message)

    def gap(self, *, given: Given = None) -> Gap:
        """Return a message that no selector of the set selects, and a selector for all such messages.

        Args:
            given: What you know about the messages, as for `mqsel.relation`. The default is None.

        Raises: the errors of `mqsel.gap`.
        """
        from mqsel.analysis.compare.gaps import gap  # noqa: PLC0415 (matching needs none of it)

        return gap([self.matcher(key) for key in self], given=given)

    @alone
    def stats(self) -> dict[str, Any]:
        """Return figures about the set and its index, as a dict.

        Returns: ``selectors`` is their number. ``units`` is the number of distinct parts that an OR may join, and
            ``shared`` says how many of them several selectors have. ``postings`` is the number of entries that a search
            may look at, and ``reached`` says by which kinds of tests. ``longest`` lists the postings that are slowest
            to search: the test, the number of entries, some keys. ``bytes`` is the size of the index by part.
            ``segments`` are its parts, and ``tail`` counts the selectors that are run one by one. ``names`` is the
            number of properties that are read. ``batches`` says how `match_batch` matched the last rows: "kernel" (all
            selectors over columns), or "index: " and the reason.
        """
        index = self._reader.index
        figures = index.stats()
        longest = [(what, count, self._reader.keys_at(places)) for what, count, places in figures["longest"]]
        for name in index.names:
            first, more, _ = parted(name)
            if more:
                longest = [(what.replace(name, first, 1), count, keys) for what, count, keys in longest]
        return {**figures, "longest": longest, "names": len(index.names), "batches": self._choice.batches}

    # ---- travelling --------------------------------------------------------------------------------------------------

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        wrap = pickle.PickleBuffer if protocol >= 5 else bytes
        header, keys, parts = self._parts()
        return _unpickled, (type(self), header, keys, [wrap(one) for one in parts])

    @alone
    def _parts(self) -> tuple[dict[str, Any], list[K], list[Buffer]]:
        """Return what the set consists of, without gaps."""
        self._close_gaps()
        reader = self._reader
        return file.parts(
            Contents(
                self.dialect,
                self.schema,
                self.keep_text,
                [*self._places],
                None,
                reader.texts,
                reader.own,
                reader.options,
                reader.index,
            )
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file, which `open` reads. An existing file is replaced in one step, so it may be in use.

        Args:
            path: A str or path-like object.

        Raises: ArgumentError: if a key is neither a str nor an int.
            FileError: if the file can't be written, or the path leads to something that is not a regular file.
        """
        file.save(path, *self._parts())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file that `save` wrote. A file of a megabyte or more is mapped into memory (sets §3).

        Args:
            path: A str or path-like object.

        Raises: FileError: if the file can't be read, was not written by `save`, or is damaged.
        """
        opened: Self = cls.__new__(cls)
        opened._hold(file.opened(path))
        return opened

    def copy(self) -> Self:
        """Return a copy of the set. A change of one doesn't change the other."""
        made: Self = pickle.loads(pickle.dumps(self, 5))  # noqa: S301 (its own bytes)
        return made

    __copy__ = copy

    def __or__(self, other: Selectors[K]) -> Self:
        made = self.copy()
        made.update(other)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SelectorSet):
            return NotImplemented
        if self is other or not (self.keep_text and other.keep_text):
            return self is other
        return self._identity() == other._identity()

    __hash__ = None  # type: ignore[assignment]

    def _identity(self) -> tuple[Any, ...]:
        held = {key: (text, own or self.dialect) for key, text, own in self._reader.held()}
        return held, self.dialect, self.schema

    def __repr__(self) -> str:
        count = f"{len(self):,} selector{'' if len(self) == 1 else 's'}"
        return f"<mqsel.SelectorSet of {count}, {self.dialect!r}>"


def _run_singly(reader: MessageReader[K], message: Message, within: list[K] | None) -> list[K]:
    """Return the keys of the selectors that select a message, by running one after the other.

    Raises: PropertyTypeError: no message, or a property that a selector comes to has no property value.
    """
    usual, schema, _ = reader.facts
    wanted = None if within is None else {*within}
    return [
        key
        for key, text, own in reader.held()
        if (wanted is None or key in wanted) and _scanned(text, own or usual, schema).matches(message)
    ]


@functools.lru_cache(_SCANNED)
def _scanned(text: str, dialect: Dialect, schema: Schema | None) -> Matcher:
    return compiled(text, dialect=dialect, schema=schema)


def _reduced_reader(reader: MessageReader[Any]) -> tuple[Any, ...]:
    """Pickle the reader of a set as that set: `SelectorSet.match` is a method of its reader, which it may outlive."""
    selectors = SelectorSet.__new__(SelectorSet)
    selectors.dialect, selectors.schema, selectors.keep_text = reader.facts
    selectors._reader = reader  # noqa: SLF001 (of its own class)
    return getattr, (selectors, "_reader")


copyreg.pickle(MessageReader, _reduced_reader)


def _unpickled(kind: type[SelectorSet[Any]], header: dict[str, Any], keys: list[Any], parts: list[Any]) -> Any:
    selectors = kind.__new__(kind)
    selectors._hold(file.unpickled(header, keys, parts))  # noqa: SLF001 (of its own class)
    return selectors


# ---- arguments -------------------------------------------------------------------------------------------------------


def _not_a_selector(value: object) -> str:
    return f"a Python {type_name(value)}: expected a str or a Matcher"


def _pairs(selectors: Any) -> list[tuple[Any, Any]]:
    """List keys and selectors of a mapping, or of pairs."""
    if isinstance(selectors, SelectorSet):
        return [(key, selectors.matcher(key)) for key in selectors]
    if isinstance(selectors, Mapping):
        return [*selectors.items()]
    try:
        return [(key, selector) for key, selector in selectors]
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"found {shortened(selectors)}: expected a mapping of keys to selectors, or pairs of them"
        ) from error
