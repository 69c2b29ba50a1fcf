from collections.abc import Callable, Mapping
from typing import final

from mqsel.errors import FileError
from mqsel.files._dumps import Text
from mqsel.files.dumps import Piece
from mqsel.formats.mqmd import Field

@final
class Qload(Text):
    def __new__(
        cls,
        path: str,
        most: int,
        fields: Mapping[bytes, tuple[Field, str]],
        read: Callable[[int, bytes, str], Piece | FileError],
    ) -> Qload: ...
