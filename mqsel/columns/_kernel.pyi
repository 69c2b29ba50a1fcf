from typing import final

from mqsel.logic.formulas import Formula

__pyx_capi__: dict[str, object]

class TooLargeError(Exception): ...

@final
class Kernel:
    slots: tuple[str, ...]
    count: int
    def __new__(cls, formulas: tuple[Formula, ...], slots: tuple[str, ...], has_order: bool = False) -> Kernel: ...
