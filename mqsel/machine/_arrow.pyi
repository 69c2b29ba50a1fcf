from collections.abc import Iterable
from typing import final

import pyarrow as pa  # type: ignore[import-untyped]

from mqsel.machine._vm import Machine

@final
class Batch:
    def __new__(cls, machine: Machine, batch: object) -> Batch: ...

def truths(machine: Machine, batch: object) -> bytes: ...
def match_batch(machine: Machine, batch: object) -> pa.BooleanArray: ...
def truth_batch(machine: Machine, columns: Iterable[object], names: Iterable[str]) -> pa.BooleanArray: ...
