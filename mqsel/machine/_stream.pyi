from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, final

from mqsel.errors import MqselError
from mqsel.machine._vm import Machine

_M = TypeVar("_M")

@final
class Selection(Iterator[_M]):
    seen: int
    selected: int
    skipped: int
    failures: list[MqselError]
    decode: Callable[[Any], Any] | None
    def __new__(
        cls,
        machine: Machine,
        messages: Iterable[_M],
        skipping: bool = False,
        decode: Callable[[Any], Any] | None = None,
    ) -> Selection[_M]: ...
    def __iter__(self) -> Selection[_M]: ...
    def __next__(self) -> _M: ...
    def __length_hint__(self) -> int: ...
    def close(self) -> None: ...
