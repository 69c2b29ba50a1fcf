from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

from mqsel.formats._decoder import Decoder

PROPERTY_TYPES: dict[str, str]

def unescaped(text: bytes) -> str | None: ...
def read_text(text: bytes, kind: str) -> Any: ...

@final
class ArtemisDecoder(Decoder):
    def __new__(
        cls,
        names: Iterable[str],
        sources: Sequence[tuple[str, str | None]],
        slow: Callable[[bytes, Sequence[str]], dict[str, Any]],
    ) -> ArtemisDecoder: ...
