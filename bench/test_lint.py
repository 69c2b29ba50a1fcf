"""Lint and layout of a selector that nobody has read yet."""

from __future__ import annotations

import pytest
import workloads

import mqsel
from mqsel.language.format import formatted
from mqsel.language.selector import read_selector

SELECTORS = workloads.selectors()
FINDINGS = {"W2": 0, "W6": 0, "W7": 4}


@pytest.mark.parametrize("name", FINDINGS)
def test_lint(benchmark, name):
    """Read a selector and look at it with every rule."""
    text = SELECTORS[name]

    def cold():
        read_selector.cache_clear()
        return mqsel.lint(text)

    assert len(cold()) == FINDINGS[name]
    benchmark.group = f"{name} lint"
    benchmark(cold)


@pytest.mark.parametrize("name", FINDINGS)
def test_layout(benchmark, name):
    """Lay a selector out, which reads what it wrote."""
    selector = read_selector(SELECTORS[name], mqsel.IBM_MQ)

    def cold():
        read_selector.cache_clear()
        return formatted(selector)

    assert mqsel.compile(cold()).program.code == mqsel.compile(SELECTORS[name]).program.code
    benchmark.group = f"{name} layout"
    benchmark(cold)
