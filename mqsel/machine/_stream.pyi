from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

from mqsel.errors import MqselError
from mqsel.machine._vm import Machine

@final
class Selection(Iterator[Any]):
    seen: int
    selected: int
    skipped: int
    failures: list[MqselError]
    decode: Callable[[Any], Any] | None
    def __new__(
        cls,
        machine: Machine,
        messages: Iterable[Any],
        skipping: bool = False,
        decode: Callable[[Any], Any] | None = None,
    ) -> Selection: ...
    def __iter__(self) -> Selection: ...
    def __next__(self) -> Any: ...
    def close(self) -> None: ...
