from collections.abc import Sequence
from typing import Any, final

from typing_extensions import disjoint_base

from mqsel.machine.program import Program
from mqsel.machine.schema import Schema, SchemaLike

__pyx_capi__: dict[str, object]

@final
class Layout:
    def __new__(cls, machine: Machine, names: Sequence[str], types: Sequence[str | None] = ()) -> Layout: ...

@disjoint_base
class Machine:
    @property
    def program(self) -> Program: ...
    @property
    def schema(self) -> Schema | None: ...
    def __new__(cls, program: Program, schema: SchemaLike | None = None) -> Machine: ...
    def matches(self, message: object) -> bool: ...
    def truth(self, message: object) -> int: ...
    def read(self, message: object) -> dict[str, tuple[str, Any]]: ...
