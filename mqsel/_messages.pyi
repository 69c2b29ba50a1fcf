from collections.abc import Iterable
from typing import Any, final

import pyarrow as pa  # type: ignore[import-untyped]

from mqsel.formats._decoder import Decoder
from mqsel.machine._vm import Machine

UNREAD: int
ABSENT: int
INVALID: int

@final
class MessageColumn:
    rows: int
    def __new__(cls, column: pa.Array) -> MessageColumn: ...

def truths(
    machines: Iterable[Machine], decoder: Decoder, messages: MessageColumn, *, raising: bool = False
) -> bytes: ...
def values(decoder: Decoder, messages: MessageColumn, *, raising: bool = False) -> list[list[Any]]: ...
