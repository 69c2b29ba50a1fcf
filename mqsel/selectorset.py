"""Many selectors at once: which of them select a message.

A `SelectorSet` is a mapping of keys to selectors. It reads a message once and asks an index over the normal forms of
all selectors; what it answers is what a loop over Matchers answers, and `scan` is that loop. Owns what stands beside
the index: keys, texts, dialects, match options, and how a set travels.

Longer than 500 lines because a mapping that travels has many methods, each of a few lines.
"""

from __future__ import annotations

import functools
import mmap
import os
import pickle
import threading
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, cast

from mqsel import formats
from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.errors import ArgumentError, FileError, ProgramError, SelectorError, shortened, type_name
from mqsel.index._deliveries import Deliveries, match_rows
from mqsel.index._index import Index
from mqsel.index._reading import NOT_READ, Reader
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import IBM_MQ, SINCE_1, Dialect, as_dialect
from mqsel.language.formulas import Formula
from mqsel.language.normal import Writer
from mqsel.language.selector import Selector, read_anew
from mqsel.machine import sections
from mqsel.machine.origin import check_source
from mqsel.machine.schema import Schema, SchemaLike, as_schema
from mqsel.machine.sections import Texts, keys_of, packed, packed_keys
from mqsel.matcher import Matcher, Message, check_stream
from mqsel.matcher import compile as compiled
from mqsel.names import spellings
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
    """Reads selectors one by one: iterated over once, it gives where each is TRUE, and keeps what matters beside.

    As a context it says of which selector a complaint of the index is.

    Args:
        keys: of the selectors, in order.
        given: their texts and dialects.

    Attributes:
        options: the match options among them, by key.
    """

    def __init__(self, keys: Collection[K], given: _Given) -> None:
        self._keys = keys
        self._given = given
        self._key: Any = None
        self.options: dict[K, MatchOption] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Formula]:
        texts, own, usual = self._given
        dialect: Dialect | None = None
        seen: set[str] = set()
        begun: dict[Dialect, tuple[Writer, dict[str, tuple[Formula, MatchOption | None]]]] = {}
        for key in self._keys:
            self._key = key
            text, wanted = texts[key], own.get(key, usual)
            if wanted is not dialect:
                dialect = wanted
                writer, known = begun.setdefault(dialect, (Writer(dialect), {}))
            found = known.get(text)
            if found is None:
                selector = _selector(key, text, dialect)
                rules = dialect.headers
                names = {name: _spelled(read, rules) for name, read in selector.names.items()}
                found = writer.true_of(selector, names), selector.match_option
                if text not in seen:  # most texts stand there once: the collector would walk what is kept of them
                    seen.add(text)
                elif len(known) < _KNOWN:
                    known[text] = found
                if len(seen) > 4 * _KNOWN:
                    seen.clear()
                    known.clear()
            formula, option = found
            if option is not None:
                self.options[key] = option
            yield formula

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ArgumentError):
            raise ArgumentError(
                f"the selector of {shortened(self._key)} cannot be in a set: {error.message}", hint=error.hint
            ) from error


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
        self._lock = threading.RLock()
        self.changes = 0
        self._set_up(Index(), {}, [], None, Texts())
        self.update(selectors)

    def _set_up(self, index: Index, placed: dict[K, int] | None, keys: list[Any], column: Any, texts: Texts) -> None:
        self._texts = texts
        self._own: dict[int, Dialect] = {}  # by place: dialects that are not that of the set
        self._options: dict[int, MatchOption] = {}  # by place
        self._matchers: dict[int, Matcher] = {}  # by place: some that `scan` made
        self._kernel: Kernel | str | None = None  # of all selectors, or why there is none
        self._kernel_changes = -1  # of which state
        self._kernel_rows = 0  # matched since
        self._batches = "index: no batch so far"
        self._placed = placed
        self._begin(index, self.schema, keys, column)

    @property
    def _places(self) -> dict[K, int]:
        """Places by key: made when they are first asked for, because to match nobody needs them."""
        if self._placed is None:
            with self._lock:
                if self._placed is None:
                    keys = self._all_keys()
                    self._placed = dict(zip(keys, range(len(keys)), strict=True))
        return self._placed

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

    def _write(self, given: _Given) -> None:
        """Put selectors into the set: all or none. New ones are read one by one as the index takes them in."""
        texts = given.texts
        with self._lock:
            places = self._places
            old = {key: places[key] for key in texts if key in places}
            fresh = [key for key in texts if key not in old]
            replacing = _Formulas(old, given)
            formulas = [*replacing]
            if formulas:
                with replacing:
                    Index().add(range(len(formulas)), formulas)  # what it refuses it refuses before anything is removed
            start = self._size()
            new = dict(zip(fresh, range(start, start + len(fresh)), strict=True))
            adding = _Formulas(fresh, given)
            with adding:
                self._change([], fresh, [*new.values()], adding)
            try:
                self._places.update(new)
            except BaseException:  # what a key says when it is compared
                for key, place in new.items():
                    self._places.pop(key, None)
                    self._remove(place)
                raise
            if old:
                self._change([*old.values()], [], [*old.values()], formulas)
                for place in old.values():
                    self._forget(place)
            written = {**new, **old}
            if self.keep_text:
                for key, place in written.items():
                    self._texts[place] = texts[key]
            self._own.update({written[key]: dialect for key, dialect in given.own.items()})
            for found in (adding.options, replacing.options):
                self._options.update({written[key]: option for key, option in found.items()})
            self.changes += 1

    def _forget(self, place: int) -> None:
        for table in (self._own, self._options, self._matchers):
            if place in table:
                del table[place]

    # ---- the mapping -------------------------------------------------------------------------------------------------

    def _place(self, key: Any) -> int:
        try:
            return self._places[key]
        except TypeError as error:
            raise _no_key(key) from error

    def __getitem__(self, key: K) -> str:
        with self._lock:
            place = self._place(key)
            self._texts_wanted("show")
            return self._texts[place]

    def __setitem__(self, key: K, selector: str | Matcher) -> None:
        self._write(self._taken([(key, selector)]))

    def __delitem__(self, key: K) -> None:
        with self._lock:
            place = self._place(key)
            del self._places[key]
            self._remove(place)
            self._forget(place)
            if self.keep_text:
                self._texts[place] = ""
            self.changes += 1
            if self._size() > 2 * len(self._places) + _GAPS:
                self._close_gaps()

    def _close_gaps(self) -> None:
        left = [*self._places.values()]
        if len(left) == self._size():
            return
        renumbered = dict(zip(left, range(len(left)), strict=True))
        places = [renumbered.get(place, -1) for place in range(self._size())]
        # The places of a key change in one step; what is found by a place is looked up under the lock.
        self._renumber(places, [*self._places], dict(zip(self._places, range(len(left)), strict=True)))
        if self.keep_text:
            self._texts = Texts.of([self._texts[place] for place in left])
        self._own = {renumbered[place]: one for place, one in self._own.items()}
        self._options = {renumbered[place]: one for place, one in self._options.items()}
        self._matchers = {renumbered[place]: one for place, one in self._matchers.items()}

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._places)

    def popitem(self) -> tuple[K, str]:
        """Remove the last key, as a dict does, and give it and its text.

        Raises: KeyError: the set is empty. ArgumentError: the texts were not kept.
        """
        with self._lock:
            key = next(reversed(self), None)
            if key is None and not self._places:
                raise KeyError("the set is empty")
            return cast("K", key), self.pop(cast("K", key))

    def __len__(self) -> int:
        return self._size() if self._placed is None else len(self._placed)

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._places
        except TypeError as error:
            raise _no_key(key) from error

    def clear(self) -> None:
        with self._lock:
            self._set_up(Index(), {}, [], None, Texts())
            self.changes += 1

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
        with self._lock:
            place = self._place(key)
            self._texts_wanted("compile")
            return self._compiled(place)

    def _compiled(self, place: int) -> Matcher:
        return compiled(self._texts[place], dialect=self._own.get(place, self.dialect), schema=self.schema)

    def _texts_wanted(self, verb: str) -> None:
        if not self.keep_text:
            raise ArgumentError(
                f"this set did not keep the texts of its selectors: it cannot {verb} them",
                hint="make it with keep_text=True",
            )

    @property
    def properties(self) -> tuple[str, ...]:
        """Names of the properties that its selectors read, or have read, in order of first reading."""
        return tuple(dict.fromkeys(name.partition(" ")[0] for name in self._index().names))

    # ---- messages ----------------------------------------------------------------------------------------------------

    def _collected(self, within: Any) -> list[K]:
        """Read the keys of `within`, which may be an iterator."""
        if isinstance(within, (str, bytes)) or not isinstance(within, Iterable):
            raise ArgumentError(f"within is {shortened(within)}: expected several keys", hint="write within=[key]")
        return [*within]

    def _allowed(self, within: list[K]) -> bytes:
        """Make a bitmap of the places of some keys."""
        places = self._places
        return self.bitmap([places[key] for key in within if key in self])

    def bitmap(self, places: Iterable[int]) -> bytes:
        """Write a set of places as bits."""
        bits = bytearray((self._size() + 7) // 8)
        for place in places:
            if place >> 3 < len(bits):  # else it has been renumbered, and whoever asks will ask again
                bits[place >> 3] |= 1 << (place & 7)
        return bytes(bits)

    def dialects(self) -> list[tuple[int, Dialect]]:
        """List the dialects of all selectors, by place."""
        with self._lock:
            return [(place, self._own.get(place, self.dialect)) for place in self._places.values()]

    def match_options(self) -> dict[int, MatchOption]:
        """Give the match options of the selectors that are one, by place."""
        with self._lock:
            return dict(self._options)

    def scan(self, message: Message) -> list[K]:
        """Give what `match` gives, by running every selector as a Matcher: slow, and right by itself.

        Raises: as `match`; ArgumentError: the texts were not kept.
        """
        self._texts_wanted("run")
        with self._lock:
            matchers = [(key, self._kept(place)) for key, place in self._places.items()]
        return [key for key, matcher in matchers if matcher.matches(message)]

    def _kept(self, place: int) -> Matcher:
        matcher = self._matchers.get(place) or self._compiled(place)
        if len(self._matchers) < _SCANNED:
            self._matchers[place] = matcher
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

    def decoder(self, format: str, **options: Any) -> formats.Decoder:  # noqa: A002 (the word of the command line)
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
        with self._lock:
            self._close_gaps()  # then places are positions
            found, reason = match_rows(self, batch, self._kernel_for)
            self._batches = "kernel" if reason is None else f"index: {reason}"
            return found

    def _kernel_for(self, rows: int) -> Kernel | str:
        """Give what runs all selectors over columns, or say why the index is faster for a batch of so many rows."""
        if self._kernel_changes != self.changes:
            self._kernel, self._kernel_changes, self._kernel_rows = None, self.changes, 0
        self._kernel_rows += rows
        if isinstance(self._kernel, str):
            return self._kernel
        if not 0 < len(self) <= _TOGETHER:
            return f"{len(self):,} selectors"
        if not self.keep_text:
            return "the texts were not kept"
        if rows < _LEAST_ROWS:
            return f"a batch of {rows:,} rows"
        if self._kernel is None:
            if self._kernel_rows < _PAID * len(self):
                return f"{self._kernel_rows:,} rows since the set changed"
            try:
                self._kernel = self._together()
                if self._kernel.count > _MOST_PARTS:
                    self._kernel = f"{self._kernel.count:,} distinct parts of selectors"
            except (TooLargeError, SelectorError, ProgramError) as reason:  # the texts of a file may be damaged
                self._kernel = str(reason).partition("\n")[0]
        if isinstance(self._kernel, Kernel) and rows < self._kernel.count // _PARTS_A_ROW:
            return f"a batch of {rows:,} rows"
        return self._kernel

    def _together(self) -> Kernel:
        """Make one kernel of all selectors, by position."""
        places = self._places
        texts = {key: self._texts[place] for key, place in places.items()}
        own = {key: self._own[place] for key, place in places.items() if place in self._own}
        formulas = _Formulas(places, _Given(texts, own, self.dialect))
        return Kernel(tuple(formulas), self._index().names, True)

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
        with self._lock:
            index = self._index()
            found = index.stats()
            longest = [(what, count, self._keys_at(places)) for what, count, places in found["longest"]]
        for name in index.names:
            first, _, others = name.partition(" ")
            if others:
                longest = [(what.replace(name, first, 1), count, keys) for what, count, keys in longest]
        return {**found, "longest": longest, "names": len(index.names), "batches": self._batches}

    # ---- travelling --------------------------------------------------------------------------------------------------

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        wrap = pickle.PickleBuffer if protocol >= 5 else bytes
        with self._lock:
            header, parts = self._parts()
            keys = [*self._places]
            column = packed_keys(keys)
            if column is not None:
                keys, parts = [], [*column, *parts]
            return _unpickled, (type(self), header, keys, [wrap(one) for one in parts])

    def _parts(self) -> tuple[dict[str, Any], list[sections.Buffer]]:
        """Give what the set consists of, but for its keys: what JSON takes, and arrays."""
        self._close_gaps()
        header = {
            "dialect": self.dialect._asdict(),
            "schema": self.schema,
            "keep_text": self.keep_text,
            "own": [(place, one._asdict()) for place, one in self._own.items()],
            "options": [(place, one.name, one.identifier.hex()) for place, one in self._options.items()],
        }
        texts = self._texts.listed(len(self)) if self.keep_text else []
        return header, [*packed(texts), *self._index().to_buffers()]

    def _load(self, header: dict[str, Any], keys: list[Any], parts: list[Any]) -> None:
        """Become what `_parts` told.

        Args:
            keys: if there are none, the first three parts are theirs.
        """
        column = None
        if not keys:
            column = keys_of(*[memoryview(one) for one in parts[:3]])
            keys, parts = [NOT_READ] * len(column), parts[3:]
        self.dialect = Dialect(**{**SINCE_1, **header["dialect"]})
        schema = header["schema"]
        self.schema = None if schema is None else Schema(*map(tuple, schema))
        self.keep_text = header["keep_text"]
        self._lock = threading.RLock()
        self.changes = 0
        texts = Texts(*parts[:2])
        if len(texts) != (len(keys) if self.keep_text else 0):
            raise ProgramError(f"there are {len(keys)} keys and {len(texts)} texts", hint="save the set again")
        self._set_up(Index.from_buffers(parts[2:]), None, keys, column, texts)
        self._own = {place: Dialect(**{**SINCE_1, **one}) for place, one in header["own"]}
        self._options = {place: MatchOption(name, bytes.fromhex(one)) for place, name, one in header["options"]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file, for `open`; one that is there is replaced in one step, so it may be in use.

        Raises: ArgumentError: a key that is neither a str nor an int. FileError: the file cannot be written.
        """
        with self._lock:
            header, parts = self._parts()
            column = packed_keys([*self])
            if column is None:
                key = next(key for key in self if type(key) not in (str, int))
                raise ArgumentError(
                    f"the key {shortened(key)} is a Python {type_name(key)}: a file has keys that are str or int",
                    hint="pickle the set, or number its selectors",
                )
            pieces = sections.written(header, [*column, *parts])
            target = Path(path)
            beside = target.with_name(f"{target.name}.{os.getpid()}.new")
            try:
                try:
                    with beside.open("wb") as file:
                        file.writelines(pieces)
                    beside.replace(target)
                finally:
                    beside.unlink(missing_ok=True)
            except OSError as error:
                raise FileError(f"the file cannot be written: {error.strerror}", path=os.fspath(path)) from error

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file that `save` wrote: it is mapped, so all processes of a host share it, and read where it is used.

        Raises: FileError: it cannot be read, is no such file, or is damaged.
        """
        name = os.fspath(path)
        try:
            with Path(name).open("rb") as file:
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except OSError as error:
            raise FileError(f"the file cannot be read: {error.strerror}", path=name) from error
        except ValueError as error:  # mmap takes no empty file
            raise FileError("the file is empty", path=name, hint="write it with SelectorSet.save") from error
        made: Self = cls.__new__(cls)
        try:
            header, parts = sections.opened(data)
            made._load(header, [], parts)
        except ProgramError as error:
            raise FileError(error.message, path=name, hint=error.hint) from error
        except (LookupError, TypeError, ValueError) as error:  # what no save has written
            raise FileError("the header of the file is damaged", path=name, hint="save it again") from error
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
        with self._lock:
            places = self._places.items()
            held = {key: (self._texts[place], self._own.get(place, self.dialect)) for key, place in places}
            return held, self.dialect, self.schema

    def __repr__(self) -> str:
        count = f"{len(self):,} selector{'' if len(self) == 1 else 's'}"
        return f"<mqsel.SelectorSet of {count}, {self.dialect!r}>"


def _unpickled(made: type[SelectorSet[Any]], header: dict[str, Any], keys: list[Any], parts: list[Any]) -> Any:
    found = made.__new__(made)
    try:
        found._load(header, keys, parts)  # noqa: SLF001 (of its own class)
    except ProgramError:
        raise
    except (LookupError, TypeError, ValueError) as error:  # what no pickling has written
        raise ProgramError("the pickle of a SelectorSet is damaged", hint="pickle it again") from error
    return found


# ---- arguments -------------------------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def _spelled(name: str, rules: str) -> str:
    """Name a property by all its spellings: dialects may differ on what is one property."""
    return " ".join(spellings(name, rules))


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


def _no_key(key: object) -> ArgumentError:
    return ArgumentError(f"the key {shortened(key)} has no hash: expected what can be the key of a dict")
