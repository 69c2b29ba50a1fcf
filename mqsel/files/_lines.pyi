from collections.abc import Callable
from typing import Any, final

from typing_extensions import disjoint_base

from mqsel.formats._json import Decoder
from mqsel.machine._vm import Machine

@disjoint_base
class Sifter:
    messages: int
    selected: int
    unknown: int
    skipped: int
    is_over: bool
    def __new__(
        cls,
        machine: Machine,
        *_: object,
        invert: bool = False,
        counting: bool = False,
        raising: bool = False,
        limit: int = -1,
        apart: bool = False,
    ) -> Sifter: ...
    def missing(self) -> dict[str, int]: ...

@final
class Lines(Sifter):
    lines: int
    def __new__(
        cls,
        machine: Machine,
        decoder: Decoder,
        judge: Callable[[bytes, int], Any],
        *,
        invert: bool = False,
        counting: bool = False,
        raising: bool = False,
        limit: int = -1,
        apart: bool = False,
    ) -> Lines: ...
    def sift(self, block: memoryview | bytes) -> list[Any]: ...
