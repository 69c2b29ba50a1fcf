from typing import Any, final

from mqsel.machine._values import Record

@final
class Decoder:
    names: tuple[str, ...]
    record: Record
    def __new__(cls, names: tuple[str, ...] | list[str]) -> Decoder: ...
    def __call__(self, line: str | bytes) -> Record | dict[str, Any]: ...
