from collections.abc import Iterable
from typing import Any, final

from mqsel.formats._decoder import Decoder
from mqsel.formats.inspection import Inspection
from mqsel.machine._values import Record

@final
class AMQPDecoder(Decoder):
    naming: str | None
    def __new__(cls, names: Iterable[str], *, naming: str | None = None) -> AMQPDecoder: ...
    def __call__(self, raw: object) -> Record: ...
    def inspect(self, raw: object) -> Inspection: ...

@final
class WholeAMQPDecoder(Decoder):
    def __new__(cls, names: Iterable[str], *, naming: str | None = None) -> WholeAMQPDecoder: ...
    def __call__(self, raw: object) -> dict[str, Any]: ...
