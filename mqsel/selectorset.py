"""Many selectors at once: which of them select a message.

A `SelectorSet` is a mapping of keys to selectors. It reads a message once and asks an index over the normal forms of
all selectors; what it answers is what a loop over Matchers answers, and `scan` is that loop. Owns what stands beside
the index: keys, texts, dialects, match options, and how a set travels.

Longer than 500 lines because a mapping that travels has many methods, each of a few lines.
"""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, cast

from mqsel import formats
from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.errors import ArgumentError, FileError, ProgramError, SelectorError, shortened, type_name
from mqsel.index._deliveries import Deliveries, match_rows
from mqsel.index._index import Index
from mqsel.index._reading import NOT_READ, Reader, alone, changing
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import IBM_MQ, SINCE_1, Dialect, as_dialect
from mqsel.language.selector import Selector, read_anew
from mqsel.logic.formulas import Formula
from mqsel.logic.normal import Writer
from mqsel.machine import sections
from mqsel.machine.origin import check_source
from mqsel.machine.program import VERSION, dialect_of
from mqsel.machine.schema import Schema, SchemaLike, as_schema
from mqsel.machine.sections import Texts, keys_of, packed, packed_keys
from mqsel.matcher import COMPARED, Matcher, Message, check_stream
from mqsel.matcher import compile as compiled
from mqsel.names import converted, joined, parted, spellings
from mqsel.receiving import PropertyDecoder, QueueManager

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from typing_extensions import Self

    from mqsel.analysis.explain import Explanation

K = TypeVar("K", bound=Hashable)
_M = TypeVar("_M")
Selectors = Mapping[K, str | Matcher] | Iterable[tuple[K, str | Matcher]]

# Matchers that `scan` keeps: some kilobytes each.
_SCANNED = 10_000
# Selectors that are remembered while many are read: a set may have copies of few.
_KNOWN = 256
# Batches go by the kernel where the selectors have so many distinct parts at most (measured: 500 to 800 selectors of
# their own, any number of copies), and a batch so many rows at least, and one for so many parts.
_MOST_PARTS = 3_000
_TOGETHER = 2_000  # selectors of which that is tried
_LEAST_ROWS = 100
_PARTS_A_ROW = 4
# Rows a selector after which a set that did not change gets a kernel: making it takes 50 to 300 us a selector, which
# so many rows, of which each is then half a microsecond faster, pay for.
_PAID = 256
# Places without a key that a set keeps before it closes the gaps, beside as many as it has keys.
_GAPS = 1024
# What reading a header that nobody has written ends in; a deep one is a RecursionError.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
_OPTIONS = {name: name for name in COMPARED}


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


class _Formulas(Generic[K]):
    """Reads selectors one by one: iterated over once, it yields where each is TRUE, and keeps its match option.

    Args:
        keys: of the selectors, in order.
        given: their texts and dialects.

    Attributes:
        key: of the selector that was read last.
        options: of each that was read its match option, or None.
    """

    def __init__(self, keys: Collection[K], given: _Given) -> None:
        self._keys = keys
        self._given = given
        self.key: Any = None
        self.options: list[MatchOption | None] = []

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Formula]:
        texts, own, usual = self._given
        dialect: Dialect | None = None
        seen: set[str] = set()
        begun: dict[Dialect, dict[str, tuple[Formula, MatchOption | None]]] = {}
        writer = Writer()
        for key in self._keys:
            self.key = key
            text, wanted = texts[key], own.get(key, usual)
            if wanted is not dialect:
                dialect = wanted
                known = begun.setdefault(dialect, {})
            found = known.get(text)
            if found is None:
                selector = _selector(key, text, dialect)
                names = {name: _spelled(read, selector.naming) for name, read in selector.names.items()}
                found = writer.true_of(selector, names), selector.match_option
                if text not in seen:  # most texts stand there once: the collector would walk what is kept of them
                    seen.add(text)
                elif len(known) < _KNOWN:
                    known[text] = found
                if len(seen) > 4 * _KNOWN:
                    seen.clear()
                    known.clear()
            formula, option = found
            self.options.append(option)
            yield formula


def _selector(key: object, text: str, dialect: Dialect) -> Selector:
    try:
        return read_anew(text, dialect)
    except SelectorError as error:
        error.key = key
        raise


class SelectorSet(Reader[K], MutableMapping[K, str], Generic[K]):
    """Selectors by key, in order of insertion; `match` gives the keys of those that select a message.

    A mapping of keys to texts. A key is what a dict takes. Threads may share a set, and change it while others match:
    every answer is that of the set before a change or after it.

    Args:
        selectors: a mapping of keys to selectors, or pairs; a selector is a text, or a Matcher, which brings its
            dialect.
        dialect: how the texts are read.
        schema: the layout of messages that are sequences, as for `compile`.
        keep_text: without the texts, which are kept as they are given, a set cannot show, explain or scan its
            selectors.

    Attributes: dialect, schema, keep_text: as given.

    Raises: what `update` raises.
    """

    def __init__(
        self,
        selectors: Selectors[K] = (),
        *,
        dialect: Dialect | str = IBM_MQ,
        schema: SchemaLike | None = None,
        keep_text: bool = True,
    ) -> None:
        self.dialect = as_dialect(dialect)
        self.schema = None if schema is None else as_schema(schema)
        self.keep_text = bool(keep_text)
        self._set_up(Index(), [], None, Texts(), {}, {})
        self.update(selectors)

    def _set_up(
        self,
        index: Index,
        keys: list[Any],
        column: Any,
        texts: Texts,
        own: dict[int, Dialect | None],
        options: dict[int, MatchOption | None],
    ) -> None:
        self._matchers: dict[tuple[str, Dialect], Matcher] = {}  # some that `scan` made
        # Of the state of so many changes: what runs all selectors, or why there is nothing; rows matched since.
        self._kernel: tuple[int, Kernel | str | None, int] = -1, None, 0
        self._batches = "index: no batch so far"
        self._begin(index, self.schema, keys, column, texts, own, options)

    @property
    def _places(self) -> dict[K, int]:
        """Places by key: read when they are first asked for, because to match nobody needs them."""
        placed = self._placed
        return self._place_keys() if placed is None else placed

    # ---- reading selectors -------------------------------------------------------------------------------------------

    def _taken(self, pairs: Iterable[tuple[K, str | Matcher]]) -> _Given:
        """Take selectors as people give them."""
        texts: dict[K, str] = {}
        own: dict[K, Dialect] = {}
        for key, selector in pairs:
            try:
                hash(key)
            except TypeError as error:
                raise _no_key(key) from error
            own.pop(key, None)
            if isinstance(selector, Matcher):
                check_source(selector.program)
                texts[key] = selector.selector
                if selector.dialect != self.dialect:
                    own[key] = selector.dialect
            elif isinstance(selector, str):
                texts[key] = str.__str__(selector)
            else:
                raise ArgumentError(
                    f"the selector of {shortened(key)} is a Python {type_name(selector)}: expected a str or a Matcher"
                )
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
        written = [*old.values(), *range(self._size(), self._size() + len(fresh))]
        formulas = _Formulas(keys, given)
        try:
            self._put(
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
        except TypeError as error:
            raise _no_key(key) from error

    @alone
    def __getitem__(self, key: K) -> str:
        place = self._place(key)
        self._texts_wanted("show")
        return self._texts[place]

    def __setitem__(self, key: K, selector: str | Matcher) -> None:
        self._write(self._taken([(key, selector)]))

    def __delitem__(self, key: K) -> None:
        self._delete(key)
        if self._size() > 2 * len(self) + _GAPS:
            self._close_gaps()

    @changing
    def _delete(self, key: K) -> None:
        self._drop(key, self._place(key))

    @changing
    def _close_gaps(self) -> None:
        """Let places be positions of keys. They change in one step; what is found by a place is looked up alone."""
        left = [*self._places.values()]
        if len(left) == self._size():
            return
        renumbered = dict(zip(left, range(len(left)), strict=True))
        self._renumber(
            [renumbered.get(place, -1) for place in range(self._size())],
            [*self._places],
            dict(zip(self._places, range(len(left)), strict=True)),
            Texts(behind=[self._texts[place] for place in left] if self.keep_text else []),
            {renumbered[place]: one for place, one in self._own.items() if one is not None},
            {renumbered[place]: one for place, one in self._options.items() if one is not None},
        )

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._places)

    def popitem(self) -> tuple[K, str]:
        """Remove the last key, as a dict does, and give it and its text.

        Raises: KeyError: the set is empty. ArgumentError: the texts were not kept.
        """
        return self._popitem()

    @alone
    def _popitem(self) -> tuple[K, str]:
        key = next(reversed(self), None)
        if key is None and not self._places:
            raise KeyError("the set is empty")
        return cast("K", key), self.pop(cast("K", key))

    def __len__(self) -> int:
        return self._living()

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._places
        except TypeError as error:
            raise _no_key(key) from error

    @changing
    def clear(self) -> None:
        self._set_up(Index(), [], None, Texts(), {}, {})

    def update(  # type: ignore[override]
        self, selectors: Selectors[K] = (), /, **more: str | Matcher
    ) -> None:
        """Add selectors, or replace those of the same keys: all of them, or none where one is faulty.

        Raises: SelectorError: the first faulty one; it names its ``key``. ArgumentError: a key without a hash, or a
            selector that is neither a str nor a Matcher.
        """
        pairs = [*_pairs(selectors), *more.items()]
        self._write(self._taken(pairs))

    def admit(self, selectors: Selectors[K]) -> dict[K, SelectorError]:
        """Add the valid ones of *selectors*, or replace those of the same keys; the others change nothing.

        Returns: the errors of those by key.

        Raises: ArgumentError: as `update`.
        """
        faulty: dict[K, SelectorError] = {}
        given = self._taken(_pairs(selectors))
        for key, text in given.texts.items():
            try:
                _selector(key, text, given.own.get(key, given.usual))
            except SelectorError as error:
                faulty[key] = error.with_traceback(None)
        for key in faulty:
            del given.texts[key]
            given.own.pop(key, None)
        self._write(given)
        return faulty

    def matcher(self, key: K) -> Matcher:
        """Give the selector of a key as a Matcher, with its dialect and the set's schema.

        Raises: KeyError: no such key. ArgumentError: the texts were not kept.
        """
        return self._compiled(*self._selector(key))

    @alone
    def _selector(self, key: K) -> tuple[str, Dialect]:
        place = self._place(key)
        self._texts_wanted("compile")
        return self._at(place)

    def _at(self, place: int) -> tuple[str, Dialect]:
        """Return the text and the dialect of a place."""
        return self._texts[place], self._own.get(place) or self.dialect

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
        return tuple(dict.fromkeys(parted(name)[0] for name in self._index().names))

    # ---- messages ----------------------------------------------------------------------------------------------------

    def _collected(self, within: Any) -> list[K]:
        """Read the keys of `within`, which may be an iterator."""
        if isinstance(within, (str, bytes)) or not isinstance(within, Iterable):
            raise ArgumentError(f"within is {shortened(within)}: expected several keys", hint="write within=[key]")
        return [*within]

    def _allowed(self, within: list[K]) -> bytes:
        """Make a bitmap of the places of some keys."""
        places = self._places
        try:
            return self.bitmap([place for place in map(places.get, within) if place is not None])
        except TypeError as error:
            key = next(key for key in within if not _has_hash(key))
            raise _no_key(key) from error

    def bitmap(self, places: Iterable[int]) -> bytes:
        """Write a set of places as bits."""
        bits = bytearray((self._size() + 7) // 8)
        for place in places:
            if place >> 3 < len(bits):  # else it has been renumbered, and whoever asks will ask again
                bits[place >> 3] |= 1 << (place & 7)
        return bytes(bits)

    @alone
    def dialects(self) -> list[tuple[int, Dialect]]:
        """List the dialects of all selectors, by place."""
        return [(place, self._own.get(place) or self.dialect) for place in self._places.values()]

    @alone
    def match_options(self) -> dict[int, MatchOption]:
        """Return the match options of the selectors that are one, by place."""
        return {place: one for place, one in self._options.items() if one is not None}

    def scan(self, message: Message) -> list[K]:
        """Give what `match` gives, by running every selector as a Matcher: slow, and right by itself.

        Raises: as `match`; ArgumentError: the texts were not kept.
        """
        self._texts_wanted("run")
        return [key for key, text, dialect in self._held() if self._kept(text, dialect).matches(message)]

    @alone
    def _held(self) -> list[tuple[K, str, Dialect]]:
        """List the keys, texts and dialects of all selectors."""
        return [(key, *self._at(place)) for key, place in self._places.items()]

    def _kept(self, text: str, dialect: Dialect) -> Matcher:
        matcher = self._matchers.get((text, dialect))
        if matcher is None:
            matcher = self._compiled(text, dialect)
            if len(self._matchers) < _SCANNED:
                self._matchers[text, dialect] = matcher
        return matcher

    def filter(
        self,
        messages: Iterable[_M],
        *,
        errors: Literal["raise", "skip"] = "raise",
        format: formats.FormatName | None = None,  # noqa: A002 (the word of the command line)
        **options: Any,
    ) -> Deliveries[_M, K]:
        """Iterate over (message, keys) for those of *messages* that a selector selects.

        Args: as for `Matcher.filter`.

        Returns: an iterator that counts ``seen``, ``selected`` and ``skipped``, and keeps the first errors as
            ``failures``.
        """
        check_stream(messages, errors, format, options)
        decode = None if format is None else self.decoder(format, **options)
        return Deliveries(self, messages, errors == "skip", decode)

    def decoder(self, format: str, **options: Any) -> Callable[[Any], Any]:  # noqa: A002 (the word of the command line)
        """Make a callable that turns one raw message into what `match` of this set takes.

        As for a Matcher: a queue manager compares the identifier of a match option instead of running the selector, and
        shows a message with an invalid name to no selector of a dialect with its names. Not for two threads at a time.

        Args: as for `filter`.

        Raises: ArgumentError: no such format or option.
        """
        if "identifier" in options:
            raise ArgumentError("a set takes no identifier: each of its selectors may have its own")
        formats.decoder(format, (), **options)
        if not formats.FORMATS[format].has_mqmd:
            return PropertyDecoder(self, functools.partial(formats.decoder, format, **options)).decode
        return QueueManager(self, format, options).decode

    def match_batch(self, batch: object) -> pa.ListArray:
        """Give for each row of a batch which selectors select it. Its columns are the properties, as for a Matcher.

        Args:
            batch: as for `Matcher.match_batch`.

        Returns: shape (rows,): lists of uint32, rising: positions in ``list(self)``. Changes of the set wait meanwhile.

        Raises: as `Matcher.match_batch`.
        """
        return self._matched(batch)

    @alone
    def _matched(self, batch: object) -> pa.ListArray:
        self._close_gaps()  # then places are positions
        lists, reason = match_rows(self, batch, self._kernel_for)
        self._batches = "kernel" if reason is None else f"index: {reason}"
        return lists

    def _kernel_for(self, rows: int) -> Kernel | str:
        """Return what runs all selectors over columns, or why the index is faster for a batch of so many rows."""
        changes, kernel, matched = self._kernel
        if changes != self.changes:
            kernel, matched = None, 0
        matched += rows
        self._kernel = self.changes, kernel, matched
        if isinstance(kernel, str):
            return kernel
        if not 0 < len(self) <= _TOGETHER:
            return f"{len(self):,} selectors"
        if not self.keep_text:
            return "the texts were not kept"
        if rows < _LEAST_ROWS:
            return f"a batch of {rows:,} rows"
        if kernel is None:
            if matched < _PAID * len(self):
                return f"{matched:,} rows since the set changed"
            kernel = self._together()
            self._kernel = self.changes, kernel, matched
        if isinstance(kernel, Kernel) and rows < kernel.count // _PARTS_A_ROW:
            return f"a batch of {rows:,} rows"
        return kernel

    def _together(self) -> Kernel | str:
        """Return one kernel of all selectors, by position, or why there is none."""
        places = self._places
        try:
            texts = {key: self._texts[place] for key, place in places.items()}
            own = {key: dialect for key, place in places.items() if (dialect := self._own.get(place)) is not None}
            kernel = Kernel(tuple(_Formulas(places, _Given(texts, own, self.dialect))), self._index().names)
        except (TooLargeError, SelectorError, ProgramError) as reason:  # the texts of a file may be damaged
            return str(reason).partition("\n")[0]
        return kernel if kernel.count <= _MOST_PARTS else f"{kernel.count:,} distinct parts of selectors"

    def explain(self, key: K, message: Message) -> Explanation:
        """Say of every part of a selector what it was for *message*, and why.

        Raises: KeyError: no such key. ArgumentError: the texts were not kept.
        """
        return self.matcher(key).explain(message)

    def stats(self) -> dict[str, Any]:
        """Tell how many selectors there are, and how they are reached.

        Returns: ``selectors``; ``units``, the distinct parts of them that an OR may join, and how many are ``shared``;
            ``postings``, what a search may have to look at, and by what it is ``reached``; the ``longest`` lists of
            postings, which are the slowest to search: what each is for, how many it has, some of its keys; ``bytes`` of
            the index by part, ``segments``, and the ``tail`` that is run one by one; ``names``, the properties that are
            read; ``batches``, how the last rows of `match_batch` were matched: "kernel", all selectors over columns, or
            "index: " and why.
        """
        return self._stats()

    @alone
    def _stats(self) -> dict[str, Any]:
        index = self._index()
        found = index.stats()
        longest = [(what, count, self._keys_at(places)) for what, count, places in found["longest"]]
        for name in index.names:
            first, others, kind = parted(name)
            if others:
                shown = converted(first, kind) if kind else first
                longest = [(what.replace(name, shown, 1), count, keys) for what, count, keys in longest]
        return {**found, "longest": longest, "names": len(index.names), "batches": self._batches}

    # ---- travelling --------------------------------------------------------------------------------------------------

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        wrap = pickle.PickleBuffer if protocol >= 5 else bytes
        header, keys, parts = self._parts()
        column = packed_keys(keys)
        if column is not None:
            keys, parts = [], [*column, *parts]
        return _unpickled, (type(self), header, keys, [wrap(one) for one in parts])

    @alone
    def _parts(self) -> tuple[dict[str, Any], list[K], list[sections.Buffer]]:
        """Return what the set consists of: what JSON takes, its keys, and arrays."""
        self._close_gaps()
        header = {
            "version": VERSION,
            "dialect": self.dialect.departures(),
            "schema": self.schema,
            "keep_text": self.keep_text,
            "own": [(place, one.departures()) for place, one in self._own.items() if one is not None],
            "options": [(place, one.name, one.identifier.hex()) for place, one in self.match_options().items()],
        }
        texts = self._texts.listed(len(self)) if self.keep_text else []
        return header, [*self._places], [*packed(texts), *self._index().to_buffers()]

    def _load(self, header: dict[str, Any], keys: list[Any], parts: list[Any]) -> None:
        """Become what `_parts` returned.

        Args:
            keys: if there are none, the first three parts are theirs.
        """
        column = None
        if not keys:
            column = keys_of(*[memoryview(one) for one in parts[:3]])
            keys, parts = [NOT_READ] * len(column), parts[3:]
        version = header.get("version", "0.2.0")
        self.dialect = _dialect_of(version, header["dialect"])
        schema = header["schema"]
        self.schema = None if schema is None else as_schema(Schema(*map(tuple, schema)))
        self.keep_text = bool(header["keep_text"])
        texts, index = Texts(*parts[:2]), Index.from_buffers(parts[2:])
        if not len(index) == len(keys) == index.places or len(texts) != (len(keys) if self.keep_text else 0):
            raise ProgramError(
                f"there are {len(keys)} keys, {len(texts)} texts and {len(index)} formulas", hint="save the set again"
            )
        own: dict[int, Dialect | None] = {
            _place_of(place, keys): _dialect_of(version, one) for place, one in header["own"]
        }
        options: dict[int, MatchOption | None] = {
            _place_of(place, keys): MatchOption(_OPTIONS[name], bytes.fromhex(one))
            for place, name, one in header["options"]
        }
        self._set_up(index, list(keys), column, texts, own, options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file, for `open`; one that is there is replaced in one step, so it may be in use.

        Raises: ArgumentError: a key that is neither a str nor an int. FileError: the file cannot be written, or the
            path is that of something else than a regular file.
        """
        header, keys, parts = self._parts()
        column = packed_keys(keys)
        if column is None:
            key = next(key for key in keys if type(key) not in (str, int))
            raise ArgumentError(
                f"the key {shortened(key)} is a Python {type_name(key)}: a file has keys that are str or int",
                hint="pickle the set, or number its selectors",
            )
        sections.save(path, sections.written(header, [*column, *parts]))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file that `save` wrote. One of a megabyte or more is mapped: see `mqsel/README.md`, §3.

        Raises: FileError: it cannot be read, is no such file, or is damaged.
        """
        data = sections.read(path)
        made: Self = cls.__new__(cls)
        try:
            header, parts = sections.opened(data)
            made._load(header, [], parts)
        except ProgramError as error:
            raise FileError(error.message, path=os.fspath(path), hint=error.hint) from error
        except _DAMAGE as error:  # what no save has written
            raise FileError("the header of the file is damaged", path=os.fspath(path), hint="save it again") from error
        return made

    def copy(self) -> Self:
        """Give a set of the same selectors that changes by itself."""
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
        return {key: (text, dialect) for key, text, dialect in self._held()}, self.dialect, self.schema

    def __repr__(self) -> str:
        count = f"{len(self):,} selector{'' if len(self) == 1 else 's'}"
        return f"<mqsel.SelectorSet of {count}, {self.dialect!r}>"


def _unpickled(made: type[SelectorSet[Any]], header: dict[str, Any], keys: list[Any], parts: list[Any]) -> Any:
    found = made.__new__(made)
    try:
        found._load(header, keys, parts)  # noqa: SLF001 (of its own class)
    except ProgramError:
        raise
    except _DAMAGE as error:  # what no pickling has written
        raise ProgramError("the pickle of a SelectorSet is damaged", hint="pickle it again") from error
    return found


def _dialect_of(version: str, written: Any) -> Dialect:
    """Return a dialect from the header of a set; before 0.3.0 it was all fields by name."""
    return Dialect(**{**SINCE_1, **written}) if isinstance(written, dict) else dialect_of(version, *written)


# ---- arguments -------------------------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def _spelled(name: str, rules: str) -> str:
    """Return a property by all its spellings: dialects may differ on what is one property.

    Raises: ArgumentError: the name would be taken for two spellings.
    """
    text = joined(name, rules)
    if parted(text) != (*spellings(name, rules), "", "")[:3]:
        raise ArgumentError(
            f"the name {shortened(name)} reads as two spellings of one property, or as a conversion: expected another"
        )
    return text


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


def _place_of(place: object, keys: list[Any]) -> int:
    """Return a place that a header names.

    Raises: LookupError: there is none.
    """
    if type(place) is not int or not 0 <= place < len(keys):
        raise LookupError(place)
    return place


def _has_hash(key: object) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _no_key(key: object) -> ArgumentError:
    return ArgumentError(f"the key {shortened(key)} has no hash: expected what can be the key of a dict")
