from typing_extensions import Self, disjoint_base

from mqsel.carets import Span
from mqsel.language.dialect import Dialect
from mqsel.language.selector import Selector
from mqsel.machine.opcodes import Constant

BUILD: str

def encode_spans(spans: list[Span]) -> bytes: ...
def note_source(program: Verified, selector: Selector) -> None: ...

@disjoint_base
class Verified:
    @property
    def text(self) -> str: ...
    @property
    def dialect(self) -> Dialect: ...
    @property
    def slots(self) -> tuple[str, ...]: ...
    @property
    def constants(self) -> tuple[Constant, ...]: ...
    @property
    def words(self) -> bytes: ...
    @property
    def span_table(self) -> bytes: ...
    @property
    def exact(self) -> int: ...
    @property
    def value_depth(self) -> int: ...
    @property
    def truth_depth(self) -> int: ...
    @property
    def source(self) -> Selector | None: ...
    def __new__(
        cls,
        text: str,
        dialect: Dialect,
        slots: tuple[str, ...],
        constants: tuple[Constant, ...],
        words: bytes,
        span_table: bytes,
        exact: int,
    ) -> Self: ...
