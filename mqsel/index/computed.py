"""The attributes of an index that are computed tests: how they are named, and what they read.

The value of such an attribute is what the test is for a message, so its name has all that computing it needs: the text
of the test, its dialect and, in the order in which the text reads them, the attributes that are its properties. Knows
no index and no message.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mqsel.carets import shortened
from mqsel.errors import MqselError, ProgramError
from mqsel.language.computed import evaluator
from mqsel.language.dialect import departed
from mqsel.language.nodes import Computed, unparse
from mqsel.language.parser import parse
from mqsel.names import parted
from mqsel.values import Truth

Evaluate = Callable[[Sequence[Any]], Truth]


def attribute_of(test: Computed) -> str:
    """Return the name of the attribute that a computed test is; its identifiers are attributes."""
    names = [one.name for one in test.identifiers]
    return json.dumps([unparse(test.expression, test.dialect), *test.dialect.departures(), names]) + " as test"


@functools.lru_cache(4096)
def _read(name: str) -> tuple[Evaluate, tuple[str, ...]]:
    """Return what computes the test that an attribute is, and the attributes that are its properties."""
    try:
        text, preset, changes, names = json.loads(parted(name)[0])
        test = parse(text, departed(preset, changes).replace(max_length=None))
        if isinstance(test, Computed) and len(test.identifiers) == len(names):
            return evaluator(test), tuple(names)
    except (TypeError, ValueError, AttributeError, RecursionError, MqselError):
        pass  # what no set has written
    raise ProgramError(f"{shortened(name)} is no computed test of this mqsel", hint="save the set again")


def computed_among(names: Sequence[str], first: int = 0) -> dict[int, tuple[Evaluate, tuple[int, ...]]]:
    """Return by their places the attributes that are computed tests: what computes each, and the places that it reads.

    Args:
        names: of attributes.
        first: the place from which on tests are looked for.

    Raises: ProgramError: no test of this version, or one that lacks a property.
    """
    found: dict[int, tuple[Evaluate, tuple[int, ...]]] = {}
    places: Mapping[str, int] = {}
    for place in range(first, len(names)):
        if parted(names[place])[2] == "test":
            evaluate, read = _read(names[place])
            places = places or {name: at for at, name in enumerate(names)}
            if not places.keys() >= {*read}:
                raise ProgramError(f"the set lacks a property of {shortened(names[place])}", hint="save the set again")
            found[place] = evaluate, tuple([places[name] for name in read])
    return found
