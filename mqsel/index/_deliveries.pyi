from collections.abc import Callable, Hashable, Iterable, Iterator
from types import GenericAlias
from typing import Any, Generic, TypeVar, final

import pyarrow as pa  # type: ignore[import-untyped]

from mqsel.columns._arrow import Batch
from mqsel.columns._kernel import Kernel
from mqsel.errors import MqselError
from mqsel.index._reader import MessageReader

_K = TypeVar("_K", bound=Hashable)
_M = TypeVar("_M")

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
def trial(reader: MessageReader[Any], batch: Batch, kernel: Kernel) -> int | str: ...
