from collections.abc import Callable, Mapping
from typing import IO

from mqsel.errors import FileError
from mqsel.files.dumps import Piece
from mqsel.formats.mqmd import Field

__pyx_capi__: dict[str, object]

class Splitter:
    path: str
    is_over: bool
    def read(self, stream: IO[bytes]) -> bool: ...
    def take(self) -> Piece | FileError | None: ...

class Framed(Splitter):
    def __new__(cls, path: str, most: int) -> Framed: ...

class Qload(Splitter):
    def __new__(
        cls,
        path: str,
        most: int,
        fields: Mapping[bytes, tuple[Field, str]],
        read: Callable[[int, bytes, str], Piece | FileError],
    ) -> Qload: ...

class Amqsbcg(Splitter):
    def __new__(
        cls,
        path: str,
        most: int,
        most_data: int,
        between: int,
        fields: Mapping[str, Field],
        second: Mapping[str, str],
        begin: Callable[[str, int, bytes], object],
        nothing: Callable[[str, bytes], FileError | None],
    ) -> Amqsbcg: ...
