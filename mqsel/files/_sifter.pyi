from collections.abc import Callable
from typing import Any, final

from mqsel.errors import MqselError
from mqsel.files._splitters import Splitter
from mqsel.formats import Decoder
from mqsel.machine._vm import Machine

@final
class Sifter:
    lines: int
    messages: int
    selected: int
    unknown: int
    skipped: int
    is_over: bool
    def __new__(
        cls,
        machine: Machine,
        decoder: Decoder,
        judge: Callable[[bytes], int],
        complain: Callable[[int, MqselError], Any],
        note: Callable[[int, bytes], None],
        watch: Callable[[bytes], None] | None,
        path: bytes | None,
        *,
        invert: bool = False,
        counting: bool = False,
        raising: bool = False,
        limit: int = -1,
        reads: int = -1,
        apart: bool = False,
        placed: bool = False,
        counter: Callable[[bytes | None, bool | None], None] | None = None,
        runs: Callable[[int, int, bytes, int], Any] | None = None,
    ) -> Sifter: ...
    def missing(self) -> dict[str, int]: ...
    def sift(self, unit: memoryview | bytes | Splitter) -> list[Any]: ...

def gathered(block: bytes | bytearray, before: int, places: bytes, size: int) -> bytes: ...
