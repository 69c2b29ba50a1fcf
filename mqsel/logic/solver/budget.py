"""The steps that the answer to one question may take: one budget, whichever part of the search spends it.

A step is the work of about 2.5 microseconds. Steps are counted and no clock is read, so an answer does not depend on
how busy the machine is. Each part of the search pays before it makes values.
"""

from __future__ import annotations

from collections.abc import Hashable

STEPS = 400_000  # of one question: about a second of processor time
OF_SELECTOR = 4_000  # more for each selector of a question about many
OF_SEARCH = 200_000  # of one search among several of a question
OF_LEAF = 4  # for a leaf of a formula that is looked at


class UndecidedError(Exception):
    """The steps that are allowed did not suffice; says for what."""


class Budget:
    """Counts the steps of a question, or of a share of it.

    Attributes:
        steps: how many are allowed.
        left: how many of them are left; negative if the budget is used up.
        paid: remembered results that this question has paid for.
    """

    def __init__(self, steps: int = STEPS, whole: Budget | None = None) -> None:
        self.steps = steps
        self.left = steps
        self.paid: set[Hashable] = set() if whole is None else whole.paid
        self._whole = whole

    def share(self, steps: int = OF_SEARCH) -> Budget:
        """Return a budget of so many steps, or of those that are left; they count here, too."""
        return Budget(max(0, min(steps, self.left)), self)

    def spend(self, steps: int) -> None:
        """Count steps that are about to be taken.

        Raises: UndecidedError: the budget does not have them.
        """
        self.count(steps)
        if self.left < 0:
            raise UndecidedError(f"the search reached its limit of {self.steps:,} steps")

    def count(self, steps: int) -> None:
        """Count steps that were taken."""
        self.left -= steps
        if self._whole is not None:
            self._whole.count(steps)

    def spend_once(self, result: Hashable, steps: int) -> None:
        """Count the steps of a result that the process remembers, the first time that a question needs it.

        Each question pays alike, whether an earlier one has computed the result or not.

        Raises: UndecidedError: the budget does not have them.
        """
        self.spend(1 if result in self.paid else 1 + steps)
        self.paid.add(result)


def budget_of_many(selectors: int) -> Budget:
    """Return the budget of a question about some selectors."""
    return Budget(STEPS + OF_SELECTOR * selectors)
