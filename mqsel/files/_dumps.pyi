from typing import IO, final

from typing_extensions import disjoint_base

from mqsel.errors import FileError
from mqsel.files.dumps import Piece

__pyx_capi__: dict[str, object]

@disjoint_base
class Splitter:
    path: str
    is_over: bool
    def __new__(cls, path: str, most: int, *_: object) -> Splitter: ...
    def read(self, stream: IO[bytes]) -> bool: ...
    def take(self) -> Piece | FileError | None: ...

@final
class Framed(Splitter):
    def __new__(cls, path: str, most: int) -> Framed: ...

@disjoint_base
class Text(Splitter):
    def __new__(cls, path: str, most: int, *_: object) -> Text: ...
