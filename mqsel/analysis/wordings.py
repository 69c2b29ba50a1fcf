"""What lint, explain and why say alike: each sentence that is used more than once. Owns no rule."""

from __future__ import annotations

from mqsel.language.nodes import quote


def unquoted(name: str) -> str:
    return f"{name} is the name of a property here: if a text is meant, write {quote(name)}"


def missing_is_not_unequal(name: str, test: str = "…") -> str:
    return f"what is missing is not unequal either: {test} OR {name} IS NULL selects it"


def divided_by_zero(where: str = "") -> str:
    said = f"an integer is divided by zero{' ' * bool(where)}{where}: the complete selector is false"
    return f"{said} there" if where else said
