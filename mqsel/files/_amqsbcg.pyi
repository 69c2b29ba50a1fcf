from collections.abc import Callable, Mapping
from typing import final

from mqsel.errors import FileError
from mqsel.files._dumps import Text
from mqsel.formats.mqmd import Field

@final
class Amqsbcg(Text):
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
