from collections.abc import Callable, Iterable
from typing import Any, final

from mqsel.columns._kernel import Kernel
from mqsel.machine._values import Record

DIFFERENT: int
LONG: int

@final
class PropertyTally:
    def __new__(cls) -> PropertyTally: ...

@final
class RecordBlock:
    def __new__(cls, count: int) -> RecordBlock: ...

@final
class Tally:
    def __new__(
        cls,
        names: tuple[tuple[str, str], ...],
        kernel: Kernel | str,
        slots: tuple[str, ...],
        search: Callable[[Record], Iterable[int]],
        count: int,
    ) -> Tally: ...
    def watch(
        self, record: Record, names_of: Callable[[bytes], tuple[str, ...]], answered: Callable[[bytes, bool], None]
    ) -> None: ...
    def count(self, data: bytes | None, answer: bool | None) -> None: ...
    def take(self, record: Record, layout: tuple[str, ...] | None) -> int: ...
    def take_decoded(self, record: Record, names: Callable[[], tuple[str, ...]]) -> int: ...
    def take_properties(self, record: Record, layout: tuple[str, ...] | None) -> int: ...
    def counts(self) -> tuple[int, list[int], list[tuple[Any, ...]]]: ...

def rows_of(block: RecordBlock) -> int: ...
