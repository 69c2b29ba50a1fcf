from array import array
from collections.abc import Iterable
from typing import Any, final

from typing_extensions import disjoint_base

from mqsel.formats._decoder import Decoder
from mqsel.formats.mqrfh2 import Note
from mqsel.machine._values import Record

@disjoint_base
class Folders(Decoder): ...

@final
class MQDecoder(Folders):
    def __new__(
        cls,
        names: Iterable[str],
        *,
        strip: bool = False,
        ccsid: int | None = None,
        never: bool = False,
        identifier: tuple[str, bytes] | None = None,
        everything: bool = False,
    ) -> MQDecoder: ...
    def __call__(self, raw: object) -> Record | bool: ...
    def properties(self, raw: object) -> dict[str, Any]: ...
    def inspect(
        self, raw: object
    ) -> tuple[
        dict[str, Any],
        list[str],
        array[int],
        list[Note],
        list[tuple[str, int, int]],
    ]: ...
