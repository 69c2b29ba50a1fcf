"""The rules of lint for people: a list of them, one of them explained, and their descriptions in SARIF."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from typing import Any

from mqsel.analysis.lint import RULES, Rule, lint
from mqsel.carets import cut_piece
from mqsel.files.configuration import known_rules
from mqsel.language.dialects import SOURCES

_WIDTH = max(len(rule.code) for rule in RULES)
_SHOWN = 60  # characters of an example
_LINK = re.compile(r"\[(.*?)\]\((https://.*?)\)")

LISTED = "\n".join(f"{rule.code:{_WIDTH}}  {rule.severity}: {rule.about}" for rule in RULES)


def explained(code: str) -> str:
    """Return what a rule finds and why, with an example, and the document behind it.

    Raises: MqselError: there is no such rule.
    """
    (code,) = known_rules([code])
    rule = next(one for one in RULES if one.code == code)
    title = _LINK.sub(r"\1", SOURCES[rule.source])
    return "\n".join(
        [
            f"{rule.code}: {rule.severity}",
            f"{rule.about}. {rule.why}",
            "",
            *(f"  {name:9} {text}" for name, text in _example(rule)),
            "",
            f"source: {title}",
            _address(rule),
        ]
    )


def described(rule: Rule) -> dict[str, Any]:
    """Return a rule as SARIF describes it."""
    text = f"{rule.about}. {rule.why}"
    rows = _example(rule)
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.about},
        "fullDescription": {"text": text},
        "help": {
            "text": "\n".join([text, *(f"{name}: {shown}" for name, shown in rows)]),
            "markdown": "\n".join([f"{text}\n", *(f"* {name}: `{shown}`" for name, shown in rows)]),
        },
        "helpUri": page(rule) or _address(rule),
        "defaultConfiguration": {"level": rule.severity},
    }


def page(rule: Rule) -> str | None:
    """Return the address of a rule's section on the project's site; None: the project has no site yet.

    The site's address is `Documentation` of ``[project.urls]`` in pyproject.toml, as it was installed (*Core metadata
    specifications*, Project-URL).
    """
    rows = [row for one in distributions(name="mqsel") for row in one.metadata.get_all("Project-URL") or []]
    site = next((row.partition(", ")[2] for row in rows if row.lower().startswith("documentation,")), None)
    return site and f"{site.rstrip('/')}/reference/rules.html#{rule.code}"


def _address(rule: Rule) -> str:
    found = _LINK.search(SOURCES[rule.source])
    assert found is not None  # a test holds each row to it
    return found[2]


def _example(rule: Rule) -> list[tuple[str, str]]:
    found, instead, dialect, contract = rule.example
    findings = [] if rule.is_of_place else lint(found, dialect, given=contract or None)
    sentence = next((one.sentence for one in findings if one.code == rule.code), rule.says)
    return [
        ("dialect", dialect),
        *[("contract", contract)] * bool(contract),
        ("example", cut_piece(found, _SHOWN)),
        ("reported", sentence),
        ("instead", cut_piece(instead, _SHOWN)),
    ]
