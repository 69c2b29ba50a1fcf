from typing import Any

def verify(
    code: tuple[int, ...], slot_count: int, constants: tuple[Any, ...], exact: int, pattern: type
) -> tuple[int, int]: ...
