from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, final

from mqsel.errors import MqselError
from mqsel.machine._values import Record
from mqsel.machine.schema import Schema

_K = TypeVar("_K", bound=Hashable)
_M = TypeVar("_M")

__pyx_capi__: dict[str, object]
NOT_READ: object

class Reader(Generic[_K]):
    def __new__(cls, *_: object, **__: object) -> Any: ...
    def match(
        self, message: Mapping[str, Any] | Sequence[Any] | Record | Received, *, within: Iterable[_K] | None = None
    ) -> list[_K]: ...
    def _index(self) -> Any: ...
    def _size(self) -> int: ...
    def _all_keys(self) -> list[_K]: ...
    def _begin(self, index: object, schema: Schema | None, keys: list[Any], column: object = None) -> None: ...
    def _change(self, removed: list[int], fresh: list[_K], places: list[int], formulas: list[Any]) -> None: ...
    def _remove(self, place: int) -> None: ...
    def _renumber(self, places: list[int], keys: list[_K], placed: dict[_K, int]) -> None: ...

@final
class Received:
    def __new__(cls, message: object, shown: Callable[[], tuple[bytes, list[int]]]) -> Received: ...

@final
class Deliveries(Generic[_M, _K]):
    seen: int
    selected: int
    skipped: int
    failures: list[MqselError]
    decode: Callable[[Any], Any] | None
    def __new__(
        cls,
        reader: Reader[_K],
        messages: Iterable[_M],
        skipping: bool = False,
        decode: Callable[[Any], Any] | None = None,
    ) -> Deliveries[_M, _K]: ...
    def __iter__(self) -> Iterator[tuple[_M, list[_K]]]: ...
    def __next__(self) -> tuple[_M, list[_K]]: ...
    def close(self) -> None: ...
