from collections.abc import Iterable
from typing import Any

from typing_extensions import disjoint_base

from mqsel.formats._decoder import Decoder
from mqsel.machine._values import Record

__pyx_capi__: dict[str, object]

@disjoint_base
class JSONDecoder(Decoder):
    def __new__(cls, names: Iterable[str], *_: object) -> JSONDecoder: ...
    def __call__(self, line: str | bytes) -> Record | dict[str, Any]: ...

def property_names(line: bytes) -> tuple[str, ...] | None: ...

class WholeJSONDecoder(Decoder):
    def __call__(self, line: str | bytes) -> dict[str, Any]: ...
