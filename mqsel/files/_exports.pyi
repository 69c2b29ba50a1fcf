from typing import final

from mqsel.files._splitters import Splitter

@final
class Elements(Splitter):
    def __new__(cls, path: str, most: int, *_: object) -> Elements: ...

@final
class JsonLines:
    def __new__(cls, has_objects: bool) -> JsonLines: ...
    @property
    def is_complete(self) -> bool: ...
    def take(self, data: bytes) -> bytes: ...
