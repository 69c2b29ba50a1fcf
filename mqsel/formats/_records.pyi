from collections.abc import Iterable
from typing import Any, final

from mqsel.formats._json import Decoder
from mqsel.formats.records import RecordReader
from mqsel.machine._values import Record

@final
class RecordLines(Decoder):
    slow: RecordReader
    def __new__(cls, names: Iterable[str], slow: RecordReader) -> RecordLines: ...
    def __call__(self, line: str | bytes) -> Record | dict[str, Any]: ...
