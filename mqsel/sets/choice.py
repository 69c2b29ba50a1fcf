"""Which engine matches the rows of a batch: the index, row by row, or a kernel of all selectors, block by block.

The choice depends only on times that this set measured. The index begins. A kernel of some selectors then runs over the
same rows; from it the times to run and to build a kernel of all are estimated. That is built once it would have saved
as much time. From then on batches of about as many rows are matched by the faster of the two. Knows no key and no row.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import NamedTuple, Protocol

from mqsel.columns._kernel import Kernel, TooLargeError
from mqsel.errors import ProgramError, SelectorError

# Selectors of the kernel that is tried first: enough that the start of a block does not dominate its time.
SAMPLE = 64
# Runs of the kernel before it is compared: another process may have slowed down the first.
_RUNS = 2

Trial = Callable[[Kernel], int | str]


class Batched(Protocol):
    """A set of selectors.

    Attributes:
        changes: how often it was changed.
        keep_text: whether there is what a kernel is built of.
        clauses: distinct parts of selectors that an OR may join.
    """

    keep_text: bool

    @property
    def changes(self) -> int: ...

    @property
    def clauses(self) -> int: ...

    def __len__(self) -> int: ...

    def together(self, most: int | None = None) -> tuple[Kernel, int]:
        """Return a kernel of all selectors, or of some, and how many clauses those have."""


class _Sample(NamedTuple):
    """A kernel of some selectors.

    Attributes:
        kernel: what runs them.
        share: how many times as many clauses all selectors have.
        building: nanoseconds it took.
    """

    kernel: Kernel
    share: float
    building: int


class EngineChoice:
    """Chooses by what was measured since the set changed.

    Attributes: batches: how the last rows were matched: "kernel", or "index: " and why.
    """

    def __init__(self, selectors: Batched) -> None:
        self.batches = "index: no batch so far"
        self._weak = weakref.ref(selectors)  # a set in a cycle would wait for the collector
        self._changes = -1
        self._deciding = 0  # nanoseconds that the last sample took, of whatever state of the set

    @property
    def _selectors(self) -> Batched:
        selectors = self._weak()
        assert selectors is not None  # it asks
        return selectors

    def _renew(self) -> None:
        changes = self._selectors.changes
        if self._changes != changes:
            self._changes = changes
            self._kernel: Kernel | str | None = None  # or why there is none
            self._sample: _Sample | None = None
            self._spent = self._saved = 0  # nanoseconds of the index, and of them what a kernel would have saved
            # By the number of binary digits of the rows, the least nanoseconds a row: of the index, and of the kernel.
            self._index: dict[int, float] = {}
            self._kernels: dict[int, list[float]] = {}
            self._forecasts: dict[int, float] = {}  # likewise, of a kernel that is not there yet

    def kernel_for(self, rows: int) -> Kernel | str:
        """Return what runs all selectors over so many rows, or why the index does."""
        self._renew()
        kernel, size = self._kernel, rows.bit_length()
        if not isinstance(kernel, Kernel):
            return kernel or f"a kernel has not paid for itself in {self._spent / 1e6:,.1f} ms"
        runs = self._kernels.get(size, [])
        if size not in self._index:
            return f"the first batch of about {rows:,} rows"
        if len(runs) >= _RUNS and min(runs) >= self._index[size]:
            return f"it was faster with about {rows:,} rows"
        return kernel

    def learn(self, rows: int, reason: str | None, taken: int, trial: Trial) -> None:
        """Note the time that some rows took.

        Args:
            reason: why the index matched them, or None.
            taken: nanoseconds.
            trial: runs a kernel over the same rows, and returns nanoseconds, or why it refuses them.
        """
        self._renew()
        self.batches = "kernel" if reason is None else f"index: {reason}"
        size = rows.bit_length()
        if reason is None:
            self._kernels.setdefault(size, []).append(taken / max(rows, 1))
            return
        self._index[size] = min(taken / max(rows, 1), self._index.get(size, taken))
        self._spent += taken
        if self._kernel is None and self._spent >= self._deciding:
            try:
                self._consider(rows, taken, trial)
            except (TooLargeError, SelectorError, ProgramError) as error:  # the texts of a file may be damaged
                self._kernel = str(error).partition("\n")[0]
        if isinstance(self._kernel, str):
            self.batches = f"index: {self._kernel}"

    def _consider(self, rows: int, taken: int, trial: Trial) -> None:
        """Build a kernel of all selectors, if it would have saved what it takes to build."""
        if not len(self._selectors):
            self._kernel = "no selectors"
        elif not self._selectors.keep_text:
            self._kernel = "the texts were not kept"
        else:
            sample = self._sample = self._sample or self._sampled()
            size = rows.bit_length()
            if size not in self._forecasts:
                run = trial(sample.kernel)
                if isinstance(run, str):
                    self.batches = f"index: {run}"
                    return
                self._forecasts[size] = run * sample.share / max(rows, 1)
            self._saved += max(0, taken - round(self._forecasts[size] * rows))
            if self._saved > sample.building * sample.share:
                self._kernel, _ = self._selectors.together()

    def _sampled(self) -> _Sample:
        start = time.perf_counter_ns()
        kernel, clauses = self._selectors.together(SAMPLE)
        self._deciding = time.perf_counter_ns() - start
        return _Sample(kernel, max(1.0, self._selectors.clauses / max(1, clauses)), self._deciding)
