from typing import final

__pyx_capi__: dict[str, object]

@final
class Batch:
    def __new__(cls, names: list[str], others: list[str | None], batch: object) -> Batch: ...
