from typing import final

from mqsel.machine._vm import Machine

__pyx_capi__: dict[str, object]

@final
class Batch:
    def __new__(cls, machine: Machine, batch: object) -> Batch: ...
