from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import GenericAlias
from typing import Any, Generic, ParamSpec, TypeVar, final

import pyarrow as pa  # type: ignore[import-untyped]

from mqsel.columns._arrow import Batch
from mqsel.columns._kernel import Kernel
from mqsel.errors import ArgumentError, MqselError
from mqsel.index._index import Index
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import Dialect
from mqsel.machine._values import Record
from mqsel.machine.schema import Schema
from mqsel.machine.sections import Texts

_K = TypeVar("_K", bound=Hashable)
_M = TypeVar("_M")
_P = ParamSpec("_P")
_T = TypeVar("_T")

NOT_READ: object
GONE: object

@final
class MessageReader(Generic[_K]):
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    facts: Any
    reports: bool
    has_order: bool
    singly: Callable[[MessageReader[Any], Any, list[Any] | None], list[Any]] | None
    def __new__(cls) -> MessageReader[Any]: ...
    @property
    def changes(self) -> int: ...
    @property
    def index(self) -> Index: ...
    @property
    def size(self) -> int: ...
    @property
    def living(self) -> int: ...
    @property
    def texts(self) -> Texts: ...
    @property
    def own(self) -> dict[int, Dialect | None]: ...
    @property
    def options(self) -> dict[int, MatchOption | None]: ...
    def match(
        self,
        message: Mapping[str, Any] | Sequence[Any] | Record | Received,
        *,
        within: Iterable[_K] | None = None,
        now: int | None = None,
    ) -> list[_K]: ...
    def match_into(self, message: Mapping[str, Any] | Sequence[Any] | Record | Received, found: Any) -> int: ...
    @property
    def reads_clock(self) -> bool: ...
    def bitmap(self, places: Iterable[int]) -> bytes: ...
    def keys_at(self, places: list[int]) -> list[_K]: ...
    def held(self) -> list[tuple[_K, str, Dialect | None]]: ...
    def places(self) -> dict[_K, int]: ...
    def begin(
        self,
        index: Index,
        schema: Schema | None,
        keys: list[Any],
        column: Any,
        texts: Texts,
        own: dict[int, Dialect | None],
        options: dict[int, MatchOption | None],
    ) -> None: ...
    def put(
        self,
        removed: list[int],
        places: list[int],
        fresh: list[_K],
        formulas: Any,
        texts: list[str] | None,
        own: list[Dialect | None],
    ) -> None: ...
    def drop(self, key: _K, place: int) -> None: ...
    def renumber(
        self,
        places: list[int],
        keys: list[_K],
        placed: dict[_K, int],
        texts: Texts,
        own: dict[int, Dialect | None],
        options: dict[int, MatchOption | None],
    ) -> None: ...

def has_hash(key: object) -> bool: ...
def no_key(key: object) -> ArgumentError: ...
def alone(method: Callable[_P, _T]) -> Callable[_P, _T]: ...
def changing(method: Callable[_P, _T]) -> Callable[_P, _T]: ...

@final
class SpellingTable: ...

@final
class Positions:
    def __new__(cls, reading: MessageReading, names: Iterable[str], types: Iterable[str | None] = ()) -> Positions: ...

@final
class MessageReading:
    def __new__(cls, table: SpellingTable) -> MessageReading: ...

@final
class Room:
    def __new__(cls, found: object) -> Room: ...

@final
class Received:
    def __new__(cls, message: object, shown: Callable[[], tuple[bytes, list[int]]]) -> Received: ...

@final
class DeliveryLists:
    def __new__(cls, rows: int) -> DeliveryLists: ...

@final
class PresentColumns:
    def __new__(cls, batch: Batch, count: int, start: int, stop: int) -> PresentColumns: ...

@final
class DeliveryStream(Generic[_M, _K]):
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    seen: int
    selected: int
    skipped: int
    failures: list[MqselError]
    decode: Callable[[Any], Any] | None
    def __new__(
        cls,
        reader: MessageReader[_K],
        messages: Iterable[_M],
        skipping: bool = False,
        decode: Callable[[Any], Any] | None = None,
        now: int | None = None,
    ) -> DeliveryStream[_M, _K]: ...
    def __iter__(self) -> Iterator[tuple[_M, list[_K]]]: ...
    def __next__(self) -> tuple[_M, list[_K]]: ...
    def close(self) -> None: ...

def match_rows(
    reader: MessageReader[Any],
    batch: object,
    kernel_for: Callable[[int], Kernel | str],
    learn: Callable[[int, str | None, int, Callable[[Kernel], int | str]], None] | None = None,
) -> tuple[pa.ListArray, str | None]: ...
def match_totals(
    reader: MessageReader[Any], batch: object, kernel_for: Callable[[int], Kernel | str]
) -> tuple[int, list[int]]: ...
def trial(reader: MessageReader[Any], batch: Batch, kernel: Kernel) -> int | str: ...
