"""Constructs of selectors at any size, and the calls that search, explain and rewrite them; run, it times them all.

`python tests/growing.py DIALECT… --size 1000 [--bar 2]` prints the processor time of each call that takes more than the
bar, and of the slowest. A call that takes twice the bar is stopped.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

import mqsel
from mqsel.analysis.compare.audit import audit
from mqsel.analysis.compare.changes import selection_change
from mqsel.analysis.compare.migrate import portable
from mqsel.analysis.compare.relation import Related, related
from mqsel.analysis.compare.search import as_selector
from mqsel.analysis.lint import fixed
from mqsel.errors import MqselError
from mqsel.language.dialect import PRESETS
from mqsel.logic.solver.budget import budget_of_many

Unit = Callable[[int], str]


def chain(joint: str, unit: Unit, opening: str = "", closing: str = "") -> Callable[[int], str]:
    """Return what joins units until the selector has its size."""

    def text(size: int) -> str:
        pieces: list[str] = []
        left = size - len(opening) - len(closing)
        while left > 0:
            pieces.append(unit(len(pieces)))
            left -= len(pieces[-1]) + len(joint)
        return opening + joint.join(pieces) + closing

    return text


def nest(opening: str, core: str, closing: str) -> Callable[[int], str]:
    """Return what nests a core as deep as the size asks for."""

    def text(size: int) -> str:
        depth = max(1, (size - len(core)) // (len(opening) + len(closing)))
        return opening * depth + core + closing * depth

    return text


CONSTRUCTS: dict[str, Callable[[int], str]] = {
    "sum of properties": chain(" + ", lambda at: f"b{at}", "a = "),
    "product of properties": chain(" * ", lambda at: f"b{at}", "a > "),
    "sum of constants": chain(" + ", lambda at: f"{at}", "a = "),
    "sum of one property": chain(" + ", lambda _: "a", "a < "),
    "differences": chain(" OR ", lambda at: f"a{at} - b{at} = {at}"),
    "sums joined by AND": chain(" AND ", lambda at: f"a{at} + a{at + 1} = {at}"),
    "divisions": chain(" AND ", lambda at: f"a{at % 5} / {at + 1} > {at}"),
    "= of one by OR": chain(" OR ", lambda at: f"a = {at}"),
    "= of strings by OR": chain(" OR ", lambda at: f"a = 's{at}'"),
    "= of many by OR": chain(" OR ", lambda at: f"a{at} = {at}"),
    "= of many by AND": chain(" AND ", lambda at: f"a{at} = {at}"),
    "<> of one by AND": chain(" AND ", lambda at: f"a <> {at}"),
    "<> of one by OR": chain(" OR ", lambda at: f"a <> {at}"),
    "<> of strings by AND": chain(" AND ", lambda at: f"a <> 's{at}'"),
    "<> of many by OR": chain(" OR ", lambda at: f"a{at} <> {at}"),
    "< by AND": chain(" AND ", lambda at: f"a < {at}"),
    "< of many by OR": chain(" OR ", lambda at: f"a{at} < {at}"),
    "BETWEEN by OR": chain(" OR ", lambda at: f"a BETWEEN {3 * at} AND {3 * at + 1}"),
    "NOT BETWEEN by AND": chain(" AND ", lambda at: f"a NOT BETWEEN {3 * at} AND {3 * at + 1}"),
    "LIKEs by AND": chain(" AND ", lambda at: f"a LIKE '%x{at}%'"),
    "LIKEs by OR": chain(" OR ", lambda at: f"a LIKE '%x{at}%'"),
    "NOT LIKEs by AND": chain(" AND ", lambda at: f"a NOT LIKE '%x{at}%'"),
    "LIKEs of many by AND": chain(" AND ", lambda at: f"a{at} LIKE '%x{at}%'"),
    "LIKE of many %": chain("%", lambda _: "a", "a LIKE '%", "%'"),
    "LIKE of many % and _": chain("%", lambda at: f"_{at % 10}", "a LIKE '", "'"),
    "LIKE of a long pattern": chain("", lambda _: "abcdefghij", "a LIKE '", "%'"),
    "LIKE and a long string": chain("", lambda _: "ab", "b LIKE '%a%b%a_b' AND b <> '", "'"),
    "IS NULL by AND": chain(" AND ", lambda at: f"a{at} IS NULL"),
    "IS NOT NULL by OR": chain(" OR ", lambda at: f"a{at} IS NOT NULL"),
    "IN, long": chain(", ", lambda at: f"'s{at}'", "a IN (", ")"),
    "IN, repeated": chain(", ", lambda at: f"'s{at % 7}'", "a IN (", ")"),
    "INs by OR": chain(" OR ", lambda at: f"a IN ('s{at}', 't{at}')"),
    "INs by AND": chain(" AND ", lambda at: f"a IN ('s', 't', 'u{at}')"),
    "NOT INs of many by OR": chain(" OR ", lambda at: f"a{at} NOT IN ('s{at}', 't{at}')"),
    "NOTs": nest("NOT (", "a = 1", ")"),
    "NOTs and ORs": nest("NOT (b = 2 OR ", "a = 1", ")"),
    "parentheses": nest("(", "a = 1", ")"),
    "AND and OR nested": nest("(a = 1 AND (b = 2 OR ", "c = 3", "))"),
    "ORs by AND": chain(" AND ", lambda at: f"(a{at} = {at} OR b{at} = 's{at}')"),
    "ORs of shared by AND": chain(" AND ", lambda at: f"(a{at % 7} = {at} OR b{at % 5} <> {at} OR c = 's{at}')"),
    "ANDs by OR": chain(" OR ", lambda at: f"(a = {at} AND b = {at})"),
    "ANDs of many by OR": chain(" OR ", lambda at: f"(a{at} = {at} AND b{at} > {at})"),
    "names of other case": chain(" OR ", lambda at: f"{'color' if at % 2 else 'Color'}{at // 2} = 1"),
    "names of one in many cases": chain(
        " OR ",
        lambda at: (
            "".join(one.upper() if at >> place & 1 else one for place, one in enumerate("abcdefghijkl")) + " = 1"
        ),
    ),
    "arithmetic nest": nest("(1 + ", "a", ")"),
    "signs": nest("-(", "a", ")"),
    "pairs by AND": chain(" AND ", lambda at: f"a{at} < a{at + 1}"),
    "pairs by OR": chain(" OR ", lambda at: f"a{at} = b{at}"),
    "pairs <> by AND": chain(" AND ", lambda at: f"a{at} <> b{at}"),
    "a circle of pairs": chain(" AND ", lambda at: f"a{at % 9} <= a{(at + 1) % 9}"),
    "long string": chain("", lambda _: "x", "a = '", "'"),
    "booleans": chain(" AND ", lambda at: f"a{at} = TRUE"),
    "headers": chain(" OR ", lambda at: f"JMSPriority = {at % 10} AND JMSType = 't{at}'"),
}
for _name, _row in {  # functions of single products
    "lower": "LOWER(a{at}) = 's{at}'",
    "upper, one": "UPPER(a) = 'S{at}'",
    "contains": "a{at} CONTAINS 's{at}'",
    "starts": "a STARTSWITH 's{at}'",
    "abs": "ABS(a{at}) > {at}",
    "mod": "a % {at} = 1",
    "xpath": "XPATH 'a{at}'",
    "regex": "REGEX('^a{at}', b)",
    "length": "LENGTH(a{at}) = {at}",
    "string": "STRING(a{at}) = '{at}'",
    "exists": "EXISTS(a{at})",
    "sys": "sys.Label = 's{at}'",
    "properties": "p.subject = 's{at}'",
    "unix": "a{at} > UTC()",
}.items():
    for _joint in ("AND", "OR"):
        CONSTRUCTS[f"{_name} by {_joint}"] = chain(f" {_joint} ", lambda at, row=_row: row.replace("{at}", str(at + 1)))  # type: ignore[misc]

MESSAGE = {"a": 1, "a1": 2, "b1": "x", "c": True, "color": "red"}
GIVEN = {"a": {"type": "int32", "required": True}, "b": {"values": ["x", "y"]}}


# What is asked of a selector: of the text, its dialect, and another one to compare it with.
CALLS: dict[str, Callable[[str, mqsel.Dialect, mqsel.Dialect], object]] = {
    "relation": lambda text, own, _: mqsel.relation(text, f"({text}) OR z = 1", dialect=own),
    "satisfiable": lambda text, own, _: mqsel.satisfiable(text, dialect=own),
    "contradiction": lambda text, own, _: mqsel.satisfiable(f"({text}) AND z = 1 AND z = 2", dialect=own),
    "difference": mqsel.difference,
    "gap": lambda text, own, _: mqsel.gap([text], dialect=own),
    "audit": lambda text, own, _: audit([("1", text), ("2", f"({text}) AND z = 1"), ("3", "a = 1")], dialect=own),
    "lint": lambda text, own, _: mqsel.lint(text, own),
    "lint --given": lambda text, own, _: mqsel.lint(text, own, given=GIVEN),
    "lint --fix": lambda text, own, _: fixed(text, own),
    "explain": lambda text, own, _: mqsel.compile(text, dialect=own).explain(MESSAGE),
    "why": lambda text, own, _: mqsel.compile(text, dialect=own).why([MESSAGE] * 3),
    "migrate": mqsel.migrate,
    "migrate --portable": lambda text, own, to: portable(text, own, (to, PRESETS["QPID_CPP"], PRESETS["RABBITMQ"])),
    "change": lambda text, own, _: selection_change(
        as_selector(text, own), as_selector(f"({text}) AND z > 1 OR y < 2", own), 0, {}, {}
    ),
    "given": lambda text, own, _: mqsel.relation("a = 1", "b = 'x'", dialect=own, given=text),
    "set": lambda text, own, _: mqsel.SelectorSet({"1": text, "2": f"({text}) OR z = 1"}, dialect=own),
}

# What is asked of ten selectors together, each of a tenth of the size.
OF_TEN: dict[str, Callable[[list[str], mqsel.Dialect, mqsel.Dialect], object]] = {
    "gap of ten": lambda texts, own, _: mqsel.gap(texts, dialect=own),
    "audit of ten": lambda texts, own, _: audit([*enumerate(texts)], dialect=own, once=True),
    "diff of ten": lambda texts, own, _: diff([(one, f"{one} OR y = 1") for one in texts], own),
    "set of ten": lambda texts, own, _: mqsel.SelectorSet(dict(enumerate(texts)), dialect=own),
}


def diff(pairs: list[tuple[str, str]], dialect: mqsel.Dialect) -> list[Related]:
    """Relate pairs as `mqsel diff` of two files does."""
    budget = budget_of_many(2 * len(pairs))
    return [
        related(as_selector(old, dialect), as_selector(new, dialect), None, budget.share(budget.left // 2))
        for old, new in pairs
    ]


def of_dialect(name: str) -> tuple[mqsel.Dialect, mqsel.Dialect]:
    """Return a dialect without its limits of length and depth, and one to compare it with or migrate to."""
    own, to = [PRESETS[one].replace(max_length=None) for one in (name, "JMS" if name != "JMS" else "ARTEMIS")]
    return own, to


class StoppedError(BaseException):
    """The call took twice what it may."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise StoppedError


def measure(
    dialect: str, size: int, most: float, calls: Iterable[str], constructs: Iterable[str]
) -> Iterator[tuple[str, str, float]]:
    """Yield each construct that a dialect accepts, each call, and the processor seconds that the call took."""
    own, to = of_dialect(dialect)
    signal.signal(signal.SIGPROF, _stop)
    for construct in constructs:
        text, tenth = [CONSTRUCTS[construct](one) for one in (size, size // 10)]
        try:
            mqsel.compile(text, dialect=own)
        except MqselError:
            continue
        for call in calls:
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, most)
            try:
                if call in CALLS:
                    CALLS[call](text, own, to)
                else:
                    OF_TEN[call]([f"({tenth}) OR z = {number}" for number in range(10)], own, to)
            except (StoppedError, MqselError):
                pass
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            yield construct, call, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialects", nargs="+")
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--bar", type=float, default=2.0)
    parser.add_argument("--calls", nargs="+", default=[*CALLS, *OF_TEN])
    parser.add_argument("--constructs", nargs="+", default=[*CONSTRUCTS])
    chosen = parser.parse_args()
    for dialect in chosen.dialects:
        slowest = ("", "", 0.0)
        for row in measure(dialect, chosen.size, 2 * chosen.bar, chosen.calls, chosen.constructs):
            slowest = max(slowest, row, key=lambda one: one[2])
            if row[2] > chosen.bar:
                print(json.dumps([dialect, chosen.size, *row]), flush=True)
        print(json.dumps([dialect, chosen.size, "slowest", *slowest]), flush=True)


if __name__ == "__main__":
    main()
