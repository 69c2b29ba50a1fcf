import re
from collections.abc import Callable, Mapping
from typing import IO, Protocol, final

from typing_extensions import disjoint_base

from mqsel.errors import FileError
from mqsel.files.dumps import Piece
from mqsel.formats.mqmd import Field

class _LineReader(Protocol):
    def take(self, number: int, line: bytes) -> Piece | FileError | None: ...
    def end(self) -> Piece | FileError | None: ...

@disjoint_base
class Splitter:
    path: str
    is_over: bool
    def __new__(cls, path: str, most: int, *_: object) -> Splitter: ...
    def read(self, stream: IO[bytes]) -> bool: ...
    def take(self) -> Piece | FileError | None: ...

@final
class Framed(Splitter):
    def __new__(cls, path: str, most: int, alone: re.Pattern[bytes]) -> Framed: ...

@final
class Received(Splitter):
    def __new__(cls, path: str, most: int) -> Received: ...
    def receive(self, messages: list[bytes]) -> None: ...

@final
class LongLine(Splitter):
    skipped: int
    def __new__(cls, path: str, most: int, skipped: int) -> LongLine: ...
    def take(self) -> FileError: ...

@disjoint_base
class Lines(Splitter):
    def __new__(cls, path: str, most: int, *_: object) -> Lines: ...

@final
class Printed(Lines):
    def __new__(cls, path: str, most: int, reader: _LineReader) -> Printed: ...

@final
class Qload(Lines):
    def __new__(
        cls,
        path: str,
        most: int,
        fields: Mapping[bytes, tuple[Field, str]],
        read: Callable[[int, bytes, str], Piece | FileError],
    ) -> Qload: ...
