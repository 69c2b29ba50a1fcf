from collections.abc import Iterable
from typing import NamedTuple, final

class Chunk(NamedTuple):
    values: int
    nulls: int
    low: bytes | None
    high: bytes | None
    is_dictionary: bool
    codec: int
    start: int
    size: int

def chunks(footer: bytes, places: Iterable[int]) -> list[list[Chunk | None]] | None: ...

class Page(NamedTuple):
    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int
    levels: int
    size: int

def page_at(data: memoryview, start: int) -> Page | None: ...

@final
class Picked:
    width: int
    data: bytearray
    ends: bytearray
    valid: bytearray
    rows: int
    def __init__(self, width: int, is_nullable: bool, rows: int) -> None: ...
    def learn(self, data: memoryview, count: int) -> bool: ...
    def take(self, data: memoryview, page: Page, wanted: memoryview, start: int) -> bool: ...
