from collections.abc import Iterable
from typing import Any, final

from mqsel.formats._json import JSONDecoder
from mqsel.formats.records import RecordReader
from mqsel.machine._values import Record

@final
class RecordDecoder(JSONDecoder):
    slow: RecordReader
    def __new__(cls, names: Iterable[str], slow: RecordReader) -> RecordDecoder: ...
    def __call__(self, message: Any) -> Record | dict[str, Any]: ...
