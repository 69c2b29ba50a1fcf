"""What tests of Arrow columns have in common."""

from __future__ import annotations

from typing import Any

import pytest

import mqsel
from mqsel.columns import _answers

pa = pytest.importorskip("pyarrow")


def truths(matcher: mqsel.Matcher, batch: Any) -> list[mqsel.Truth]:
    return list(map(mqsel.Truth, _answers.truths(matcher, batch)))


class Producer:
    """What offers one side of the interface and nothing else."""

    def __init__(self, kind: str, inside: Any) -> None:
        self.kind = kind
        self.inside = inside

    def __getattr__(self, name: str) -> Any:
        if name == self.kind:
            return lambda requested_schema=None: self.give(requested_schema)
        raise AttributeError(name)

    def give(self, requested_schema: Any) -> Any:
        if isinstance(self.inside, Exception):
            raise self.inside
        return getattr(self.inside, self.kind)(requested_schema) if hasattr(self.inside, self.kind) else self.inside
