"""Which subscription of an inventory gets which message: what a snapshot holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqsel.carets import shortened
from mqsel.errors import ArgumentError
from mqsel.inventory.keyed import Paths
from mqsel.sets.set import SelectorSet


def deliveries(inventory: Paths | SelectorSet[str], messages: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return which messages each subscription gets, by names.

    Args:
        inventory: Files or folders with selectors, as `SelectorSet.from_inventory` takes them, or a `SelectorSet`.
        messages: A mapping of names to messages.

    Returns: a dict with all keys, in their order. Each has a list of the names of its messages, which may be empty.

    Raises: the errors of `SelectorSet.from_inventory` and `SelectorSet.match`.
    """
    if not isinstance(messages, Mapping):
        raise ArgumentError(f"messages are {shortened(messages)}: expected a mapping of names to messages")
    selectors = inventory if isinstance(inventory, SelectorSet) else SelectorSet.from_inventory(inventory)
    got: dict[str, list[str]] = {key: [] for key in selectors}
    for name, message in messages.items():
        for key in selectors.match(message):
            got[key].append(name)
    return got
