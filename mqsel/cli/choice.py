"""Which findings of lint are reported: what was chosen, less what comments silence, and what a baseline knows."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable

from mqsel.analysis.lint import RULES, Finding
from mqsel.cli import baseline
from mqsel.cli.arguments import Options
from mqsel.cli.output import complain
from mqsel.cli.selectors import Given
from mqsel.errors import MqselError
from mqsel.files.configuration import Configuration, known_rules


class RuleChoice:
    """What is reported of each selector. The command line wins over the configuration.

    Args:
        configuration: of the project.
        select, ignore: the rules of the command line; None where it has none.
        path: of a baseline, or empty.

    Attributes:
        known: how many findings were left out because the baseline has them.
    """

    def __init__(
        self,
        configuration: Configuration,
        select: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        path: str = "",
    ) -> None:
        codes = configuration.select if select is None else select
        ignored = configuration.ignore if ignore is None else ignore
        self._codes = {rule.code for rule in RULES if codes is None or rule.code in codes} - {*ignored}
        self._configuration = configuration
        self._path = path
        self._left = baseline.read(path) if path else {}
        self.known = 0

    def rules(self, one: Given) -> set[str]:
        """Return the rules that report something of a selector, whatever the baseline has."""
        entry = one.entry
        if entry is None:
            return self._codes
        codes = self._codes - self._configuration.ignored(entry.file)
        return codes if entry.silenced is None else codes - {*entry.silenced} if entry.silenced else set()

    def looked_by(self, one: Given) -> set[str] | None:
        """Return the rules by which a selector is looked at, those that comments silence included; None for all."""
        silenced = None if one.entry is None else one.entry.silenced
        return None if silenced is not None and not silenced else self.rules(one) | {*(silenced or ())}

    def edited(self, one: Given) -> set[str]:
        """Return the rules whose edits are wanted."""
        return self.rules(one) - {*+self._known(one)}

    def chosen(self, one: Given, findings: list[Finding]) -> list[Finding]:
        """Return the findings of a selector that are reported; complain of comments that silence nothing."""
        self._complain(one, findings)
        rules = self.rules(one)
        known = self._known(one)
        chosen = []
        for finding in findings:
            if finding.code in rules and known[finding.code] > 0:
                known[finding.code] -= 1
                self.known += 1
            elif finding.code in rules:
                chosen.append(finding)
        return chosen

    def _known(self, one: Given) -> Counter[str]:
        """Return the findings of a selector that the baseline has, but for those that have been met."""
        return self._left.get(known_as(one, self._path), Counter()) if self._left else Counter()

    def _complain(self, one: Given, findings: list[Finding]) -> None:
        silenced = None if one.entry is None else one.entry.silenced
        if silenced is None:
            return
        found = {finding.code for finding in findings}
        if not silenced and not found:
            complain(f"{one.where}: mqsel: ignore silences nothing here")
        for code in silenced:
            try:
                known_rules([code])
            except MqselError as error:
                complain(error, f"{one.where}: mqsel: ignore[{code}]: ")
            else:
                if code not in found and code in self._codes:
                    complain(f"{one.where}: mqsel: ignore[{code}] silences nothing here")


def known_as(one: Given, path: str) -> tuple[str, str]:
    """Return what the baseline of a path calls a selector."""
    return baseline.known_as("" if one.entry is None else one.entry.file, path, one.text, one.dialect)


def add_choice(options: Options) -> None:
    """Add the options for which findings are reported."""
    options.add_argument(
        "--select",
        action="extend",
        type=_codes,
        metavar="RULE,…",
        help="report only these rules (default: all)",
    )
    options.add_argument(
        "--ignore", action="extend", type=_codes, metavar="RULE,…", help="leave out these rules (default: none)"
    )
    options.add_argument(
        "--baseline",
        default="",
        metavar="FILE",
        help="leave out findings in FILE (default: configuration)",
    )
    options.add_argument(
        "--write-baseline", default="", metavar="FILE", help="write the findings to FILE, for --baseline"
    )
    options.add_argument("--exit-zero", action="store_true", help="end with exit code 0, even if there are findings")


def _codes(text: str) -> tuple[str, ...]:
    try:
        return known_rules(code.strip() for code in text.split(",") if code.strip())
    except MqselError as error:
        raise argparse.ArgumentTypeError(f"{error.message}: {error.hint}") from None
