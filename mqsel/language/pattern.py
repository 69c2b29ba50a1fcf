"""LIKE patterns taken apart, for the optimizer, the machine and Spark. Follows language §4 and §5.

The escape takes the meaning from `_`, `%` and itself; before anything else, and at the end, it stands for itself.
"""

from __future__ import annotations

from collections.abc import Sequence

Segment = list[str | None]  # characters; None is `_`, any one of them


def segments(pattern: str, escape: str | None) -> list[Segment]:
    """Split a pattern at its runs of `%`: *k* runs make *k* + 1 segments, of which the first and last may be empty."""
    found: list[Segment] = [[]]
    escaped = False
    for at, character in enumerate(pattern):
        if escaped:
            found[-1].append(character)
            escaped = False
        elif character == escape:
            escaped = pattern[at + 1 : at + 2] in ("_", "%", escape)
            if not escaped:
                found[-1].append(character)
        elif character == "_":
            found[-1].append(None)
        elif character != "%":
            found[-1].append(character)
        elif found[-1] or len(found) == 1:
            found.append([])
    return found


_SHAPES = {(True,): "exact", (True, False): "prefix", (False, True): "suffix", (False, True, False): "contains"}


def shape(parts: Sequence[Segment]) -> tuple[str, str]:
    """Return what a pattern is, from its segments: its shape, and the text that must be there.

    Returns: "exact", "prefix" (of any text: `%` alone), "suffix" or "contains" and the text; else "pattern" and "".
    """
    text = [character for part in parts for character in part if character is not None]
    if len(text) < sum(map(len, parts)):
        return "pattern", ""
    filled = tuple(map(bool, parts))
    if not text:
        return "exact" if len(parts) == 1 else "prefix", ""
    found = _SHAPES.get(filled)
    return (found, "".join(text)) if found else ("pattern", "")
