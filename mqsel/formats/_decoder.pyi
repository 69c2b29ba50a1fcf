from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import disjoint_base

from mqsel.machine._values import Record

__pyx_capi__: dict[str, object]

@disjoint_base
class Decoder:
    names: tuple[str, ...]
    record: Record
    unread: Mapping[str, int]
    noted: int
    def __new__(cls, names: Iterable[str], *_: object, **__: object) -> Decoder: ...
    def __call__(self, message: Any) -> Any: ...
