from collections.abc import Iterable
from typing import NamedTuple

class Chunk(NamedTuple):
    values: int
    nulls: int
    low: bytes | None
    high: bytes | None
    is_dictionary: bool

def chunks(footer: bytes, places: Iterable[int]) -> list[list[Chunk | None]] | None: ...
