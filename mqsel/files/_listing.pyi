from collections.abc import Iterable
from typing import final

from mqsel.files.listing import Form
from mqsel.formats.inspection import Row

@final
class Lister:
    lines: int
    def __new__(cls, form: Form) -> Lister: ...
    def block(self, block: memoryview | bytes, limit: int) -> list[tuple[int, str | bytes]]: ...
    def rows(self, rows: Iterable[Row], is_first: bool) -> str: ...
