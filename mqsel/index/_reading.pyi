from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import GenericAlias
from typing import Any, Generic, ParamSpec, TypeVar, final

from typing_extensions import disjoint_base

from mqsel.index._index import Index
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import Dialect
from mqsel.machine._values import Record
from mqsel.machine.schema import Schema
from mqsel.machine.sections import Texts

_K = TypeVar("_K", bound=Hashable)
_P = ParamSpec("_P")
_T = TypeVar("_T")

NOT_READ: object
GONE: object

@disjoint_base
class Reader(Generic[_K]):
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def __new__(cls, *_: object, **__: object) -> Any: ...
    def match(
        self, message: Mapping[str, Any] | Sequence[Any] | Record | Received, *, within: Iterable[_K] | None = None
    ) -> list[_K]: ...
    changes: int
    @property
    def _placed(self) -> dict[_K, int] | None: ...
    @property
    def _texts(self) -> Texts: ...
    @property
    def _own(self) -> dict[int, Dialect | None]: ...
    @property
    def _options(self) -> dict[int, MatchOption | None]: ...
    def _index(self) -> Index: ...
    def _size(self) -> int: ...
    def _living(self) -> int: ...
    def _keys_at(self, places: list[int]) -> list[_K]: ...
    def _place_keys(self) -> dict[_K, int]: ...
    def _begin(
        self,
        index: Index,
        schema: Schema | None,
        keys: list[Any],
        column: Any,
        texts: Texts,
        own: dict[int, Dialect | None],
        options: dict[int, MatchOption | None],
    ) -> None: ...
    def _put(
        self,
        removed: list[int],
        places: list[int],
        fresh: list[_K],
        formulas: Any,
        texts: list[str] | None,
        own: list[Dialect | None],
    ) -> None: ...
    def _drop(self, key: _K, place: int) -> None: ...
    def _renumber(
        self,
        places: list[int],
        keys: list[_K],
        placed: dict[_K, int],
        texts: Texts,
        own: dict[int, Dialect | None],
        options: dict[int, MatchOption | None],
    ) -> None: ...

def alone(method: Callable[_P, _T]) -> Callable[_P, _T]: ...
def changing(method: Callable[_P, _T]) -> Callable[_P, _T]: ...

@final
class Table: ...

@final
class Positions:
    def __new__(cls, reading: Reading, names: Iterable[str], types: Iterable[str | None] = ()) -> Positions: ...

@final
class Reading:
    def __new__(cls, table: Table) -> Reading: ...

@final
class Received:
    def __new__(cls, message: object, shown: Callable[[], tuple[bytes, list[int]]]) -> Received: ...
