from typing import Any, final

__pyx_capi__: dict[str, object]

@final
class Batch:
    def __new__(cls, names: list[str], others: list[str | None], batch: object, fold: list[bool]) -> Batch: ...

@final
class RowMessage:
    def __new__(cls, batch: Batch) -> RowMessage: ...
    def get(self, name: str, default: object = None) -> Any: ...
