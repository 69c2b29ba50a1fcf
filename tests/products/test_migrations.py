"""Translations select, in the engines of the products themselves, what the selectors did in the products they leave."""

from __future__ import annotations

import random
from typing import Any

import pytest
from migrating import condition, decision, messages
from products import engines
from products.typed import BROKERS, KINDS, is_sent
from volumes import volume

import mqsel
from mqsel.analysis.compare.canonical import Refused, canonical, names_of, view
from mqsel.analysis.compare.migrate import Migrated, _Migration, migrate
from mqsel.language.dialect import PRESETS
from mqsel.language.selector import read_selector
from mqsel.values import CLASS_NAMES

COUNT = volume(150, smoke=150)  # of each engine
SOURCES = ("JMS", "TIBCO_EMS", "IBM_MQ")
UNPROVED = Migrated("not decided")
# What adapters of engines have of a message that lacks it: such messages are left out.
ALWAYS = {"JMSTimestamp": 5}


def _sent(message: dict[str, Any], preset: str) -> dict[str, tuple[str, Any]]:
    """Return a canonical message as an engine takes it."""
    named = {name: (CLASS_NAMES[type(value)], value) for name, value in view(message, preset).items()}
    return {name: (KINDS.get(kind, kind), value) for name, (kind, value) in named.items()}


@pytest.mark.brokers
@pytest.mark.parametrize("preset", [name for name in BROKERS if name != "QPID_CPP"])
def test_translations(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: an engine selects a canonical message by a translation if the source selects it by the selector."""
    explained = _Migration.unproved
    # What is read there, but not proved to mean the same, is not sent: half of the time would go to saying why.
    monkeypatch.setattr(
        _Migration, "unproved", lambda one, kinds: UNPROVED if any(one.trees.values()) else explained(one, kinds)
    )
    rng = random.Random(f"translations {preset}")
    cases, wanted, texts = [], [], 0
    while texts < COUNT:
        source = rng.choice(SOURCES)
        text = condition(rng)
        try:
            found = migrate(text, source, preset)
        except mqsel.SelectorError:
            continue
        if not found:
            continue
        texts += 1
        own = mqsel.compile(text, dialect=source)
        tree = canonical(read_selector(text, PRESETS[source]))
        assert not isinstance(tree, Refused)
        names = names_of(tree)
        for drawn in messages(rng, names, dict(found.assumes), 8, has_bytes=False):
            message = {**{name: value for name, value in ALWAYS.items() if name in names}, **drawn}
            sent = _sent(message, preset)
            if all(is_sent(BROKERS[preset], *one) for one in sent.values()):
                cases.append((found.text, sent))
                wanted.append(((text, source), decision(own, source, message)))
    answers = engines.ask(BROKERS[preset], cases)
    wrong = [
        f"{case} of {sent}: {want} there, the engine {answer} by {translation!r}"
        for (translation, sent), (case, want), answer in zip(cases, wanted, answers, strict=True)
        if (answer == "T") is not want
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)}\n" + "\n".join(wrong[:20])
    assert {want for _, want in wanted} == {True, False}
