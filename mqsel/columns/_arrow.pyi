from typing import Any, final

__pyx_capi__: dict[str, object]

@final
class Batch:
    def __new__(
        cls,
        asked: tuple[list[str], list[bytes], list[bytes | None], list[bool], dict[str, int]],
        batch: object,
        schema_kept: object = None,
    ) -> Batch: ...

@final
class RowMessage:
    def __new__(cls, batch: Batch) -> RowMessage: ...
    def get(self, name: str, default: object = None) -> Any: ...
    def items(self) -> list[tuple[str, Any]]: ...
