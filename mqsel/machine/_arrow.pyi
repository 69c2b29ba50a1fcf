from typing import final

from mqsel.machine._vm import Machine

@final
class Batch:
    def __new__(cls, machine: Machine, batch: object) -> Batch: ...
