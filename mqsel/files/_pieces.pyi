from collections.abc import Callable
from typing import Any, final

from mqsel.errors import MqselError
from mqsel.files._dumps import Splitter
from mqsel.files._lines import Sifter
from mqsel.formats._mq import Decoder
from mqsel.machine._vm import Machine

@final
class Pieces(Sifter):
    def __new__(
        cls,
        machine: Machine,
        decoder: Decoder,
        complain: Callable[[int, MqselError], Any],
        note: Callable[[int, bytes], None],
        path: bytes | None,
        *,
        invert: bool = False,
        counting: bool = False,
        raising: bool = False,
        limit: int = -1,
        apart: bool = False,
    ) -> Pieces: ...
    def sift(self, splitter: Splitter) -> list[Any]: ...
