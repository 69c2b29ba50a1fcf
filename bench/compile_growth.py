"""How compiling grows: `python bench/compile_growth.py [--only PART] [--json FILE]`.

Every construct of the grammar at 10 KB, 100 KB and 1 MB of text: seconds of CPU, the exponent of the growth from the
second size to the third (1 is linear), and the memory that compiling took at most. Each figure comes from a process of
its own, which asserts the program's answer, or the error's class, before its time counts. `!` marks an exponent above
1.15.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mqsel
from mqsel import matcher
from mqsel.errors import SelectorError, SelectorLimitError, SelectorSyntaxError, SelectorTypeError
from mqsel.language.selector import read_selector

SIZES = (10_000, 100_000, 1_000_000)
BAR = 1.15
LIMITLESS = mqsel.IBM_MQ.replace(max_length=None)
RUNS, ENOUGH = 5, 2.0  # the best of so many runs, or of those that began within so many seconds

Unit = Callable[[int], str]
Text = Callable[[int], str]
MESSAGE = {"a": "x", "b": 1, "c": True, "d": 2.5}
T, F, U = mqsel.Truth.TRUE, mqsel.Truth.FALSE, mqsel.Truth.UNKNOWN


def chain(joint: str, unit: Unit, opening: str = "", closing: str = "") -> Text:
    """Join units until the text has its size."""

    def text(size: int) -> str:
        pieces: list[str] = []
        left = size - len(opening) - len(closing)
        while left > 0:
            pieces.append(unit(len(pieces)))
            left -= len(pieces[-1]) + len(joint)
        return opening + joint.join(pieces) + closing

    return text


def nested(depth: int, opening: Unit, closing: Unit, core: Text) -> Text:
    """Put a core of the size into *depth* levels."""

    def text(size: int) -> str:
        before = "".join([opening(level) for level in range(depth)])
        return before + core(size) + "".join([closing(level) for level in reversed(range(depth))])

    return text


def filled(opening: str, closing: str, filling: str = "x") -> Text:
    """Fill one token."""
    return lambda size: opening + filling * (size // len(filling)) + closing


def copies(unit: str) -> Unit:
    return lambda _: unit


ANDS, ORS = chain(" AND ", lambda i: f"b <> {i + 2}"), chain(" OR ", lambda i: f"b = {i + 2}")
STRINGS = chain(", ", lambda i: f"'s{i}'", "a IN (", ")")

# Name -> (text by size, its answer to MESSAGE or the class of its error, dialects).
CONSTRUCTS: dict[str, tuple[Text, mqsel.Truth | type[SelectorError], str]] = {
    "AND of =": (ANDS, T, "JMS IBM_MQ IBM_JMS"),
    "OR of =": (ORS, F, "JMS IBM_MQ IBM_JMS"),
    "AND of properties": (chain(" AND ", lambda i: f"p{i} = {i}"), U, "JMS"),
    "AND of bare names": (chain(" AND ", copies("c")), T, "JMS"),
    "AND of TRUE": (chain(" AND ", copies("TRUE")), T, "JMS"),
    "AND of constants": (chain(" AND ", lambda i: f"{i} = {i}"), T, "JMS"),
    "AND of <": (chain(" AND ", lambda i: f"{i}.5 > b"), F, "JMS"),
    "AND of bounds": (chain(" AND ", lambda i: f"b >= {-i} AND b <= {i + 1}"), T, "JMS"),
    "AND of hexadecimals": (chain(" AND ", lambda i: f"b <> 0x{i + 2:X}"), T, "JMS"),
    "AND of NOT": (chain(" AND ", lambda i: f"NOT b = {i + 2}"), T, "JMS"),
    "AND of NOT IN": (chain(" AND ", lambda i: f"a NOT IN ('s{i}')"), T, "JMS"),
    "AND of OR": (chain(" AND ", lambda i: f"(b = {i + 2} OR b IS NOT NULL)"), T, "JMS IBM_MQ IBM_JMS"),
    "OR of AND": (chain(" OR ", lambda i: f"b = {i} AND c = FALSE"), F, "JMS IBM_MQ IBM_JMS"),
    "OR of strings": (chain(" OR ", lambda i: f"a='s{i}'"), F, "JMS IBM_MQ"),
    "OR of = and IN": (chain(" OR ", lambda i: f"a='v{i}' OR a IN ('w')"), F, "JMS"),
    "NOT OR of strings": (chain(" OR ", lambda i: f"a='s{i}'", "NOT (", ")"), T, "JMS"),
    "OR of cases": (chain(" OR ", lambda i: f"a = 's{i % 5000}' AND b = {i}"), F, "JMS IBM_JMS"),
    "OR of byte strings": (chain(" OR ", lambda i: f'a = "0x{i:08X}"'), F, "IBM_MQ"),
    "OR of BETWEEN": (chain(" OR ", lambda i: f"b BETWEEN {i + 2} AND {i + 9}"), F, "JMS IBM_MQ"),
    "AND of NOT BETWEEN": (chain(" AND ", lambda i: f"b NOT BETWEEN b + {i + 1} AND d * 2"), T, "JMS IBM_MQ"),
    "OR of LIKE": (chain(" OR ", lambda i: f"a LIKE '{i}%{i}_'"), F, "JMS IBM_MQ"),
    "OR of ESCAPE": (chain(" OR ", lambda i: f"a NOT LIKE '{i}!%%' ESCAPE '!'"), T, "JMS"),
    "OR of IS NULL": (chain(" OR ", copies("a IS NULL")), F, "JMS"),
    "OR of divisions": (chain(" OR ", lambda i: f"b / (b + {i}) = {i + 2}"), F, "JMS IBM_MQ IBM_JMS"),
    "AND of divisions": (chain(" AND ", lambda i: f"(n = {i} OR b / b = 1)"), T, "JMS TIBCO_EMS"),
    "IN": (STRINGS, F, "JMS IBM_MQ"),
    "IN of one string": (chain(", ", copies("'x'"), "a IN (", ")"), T, "JMS"),
    "+": (chain(" + ", copies("b"), "0 < "), T, "JMS IBM_MQ"),
    "-": (chain(" - ", lambda i: f"{i}", "b > b - "), T, "JMS"),
    "*": (chain(" * ", copies("b"), "1 = "), T, "JMS"),
    "/": (chain(" / ", copies("d"), "1 < "), F, "JMS IBM_JMS"),
    "+ of constants": (chain(" + ", lambda i: f"{i}", "b <> "), T, "JMS"),
    "+ of products": (chain(" + ", copies("b * (b - 2)"), "0 > "), T, "JMS"),
    "signs": (chain(" + ", copies("- - -b"), "0 > "), T, "JMS"),
    "400 (": (nested(400, copies("("), copies(")"), ANDS), T, "JMS"),
    "240 signs": (nested(240, copies("-("), lambda i: ")" if i else ") > 0", chain(" + ", copies("b"))), T, "JMS"),
    "240 NOT, AND in OR": (
        nested(240, lambda i: f"NOT (b={i + 2} {'AND' if i % 2 else 'OR'} ", copies(")"), ANDS),
        F,
        "JMS IBM_MQ IBM_JMS",
    ),
    "160 NOT (NOT": (
        nested(160, copies("NOT (NOT "), copies(")"), chain(" AND ", copies("b = 1"), "(", ")")),
        T,
        "JMS",
    ),
    "400 AND in AND": (nested(400, copies("(b = 1 AND "), copies(")"), ANDS), T, "JMS"),
    "400 AND before AND": (nested(400, copies("("), copies(" AND b = 1)"), ANDS), T, "JMS"),
    "400 AND in OR": (
        nested(400, lambda i: f"(b = {i + 2} {'AND' if i % 2 else 'OR'} ", copies(")"), ORS),
        F,
        "JMS IBM_JMS",
    ),
    "many groups, 100 deep": (
        chain(" AND ", lambda i: "(b = 1 AND (b = 2 OR " * 50 + f"b <> {i + 2}" + "))" * 50),
        T,
        "JMS IBM_MQ IBM_JMS",
    ),
    "a group = TRUE": (chain(" AND ", lambda i: f"(b = 1 AND NOT (b = {i + 2} OR b = 0)) = TRUE"), T, "JMS"),
    "long string": (filled("a = '", "'"), F, "JMS"),
    "long string of ''": (filled("a = '", "'", "''"), F, "JMS"),
    "long pattern": (filled("a LIKE '", "'", "%x_"), F, "JMS"),
    "long pattern of escapes": (filled("a LIKE '", "' ESCAPE '!'", "!%"), F, "JMS"),
    "long name": (filled("", " IS NULL"), T, "JMS"),
    "long name beyond ASCII": (filled("", " IS NULL", "é"), T, "JMS"),
    "long white space": (filled("b =", "1", " \n"), T, "JMS"),
    "long number": (filled("b <> ", ".5", "0"), T, "JMS"),
    # errors, as far to the right as they can stand
    "no operand": (chain(" AND ", lambda i: f"b = {i}", "", " AND"), SelectorSyntaxError, "JMS"),
    "no operator": (chain(" AND ", lambda i: f"b = {i}", "", " b contains 5"), SelectorSyntaxError, "JMS"),
    "a number in IN": (chain(", ", lambda i: f"'s{i}'", "a IN (", ", b)"), SelectorSyntaxError, "JMS"),
    "no closing )": (chain(" AND ", lambda i: f"b = {i}", "("), SelectorSyntaxError, "JMS"),
    "no closing '": (filled("a = '", "", "''"), SelectorSyntaxError, "JMS"),
    "letters behind a number": (filled("b = 5", ""), SelectorSyntaxError, "JMS"),
    "a number too long": (filled("b = ", "", "9"), SelectorSyntaxError, "JMS"),
    "a word for an operator": (filled("b ", " 5"), SelectorSyntaxError, "JMS"),
    "a header of no such name": (filled("JMS", " = 5"), SelectorSyntaxError, "JMS IBM_MQ"),
    "types that differ": (chain(" AND ", lambda i: f"b = {i}", "", " AND 'x' = 5"), SelectorTypeError, "JMS"),
    "a value alone": (chain(" + ", copies("b")), SelectorTypeError, "JMS"),
    "nested too deep": (filled("", "b", "("), SelectorLimitError, "JMS"),
}
NAMES = {"JMS": mqsel.JMS, "IBM_MQ": LIMITLESS, "IBM_JMS": mqsel.IBM_JMS, "TIBCO_EMS": mqsel.TIBCO_EMS}


def measure(name: str, dialect: mqsel.Dialect, size: int) -> tuple[float, float]:
    """Compile one construct: seconds of CPU, and megabytes it took beyond what the process had before."""
    text, want, _ = CONSTRUCTS[name]
    selector = text(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, taken = time.process_time(), []
    while not taken or (len(taken) < RUNS and time.process_time() - began < ENOUGH):
        start = time.process_time()
        found = answer(selector, dialect)
        taken.append(time.process_time() - start)
        assert found == want, (name, dialect, size, found)
        if len(taken) == 1:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return min(taken), (peak - before) / 1024


def answer(selector: str, dialect: mqsel.Dialect) -> mqsel.Truth | type:
    """Compile, not from the cache, and evaluate MESSAGE; or write the error out, which must be short."""
    read_selector.cache_clear()
    try:
        compiled = matcher._compile.__wrapped__(selector, dialect, None, True)
    except SelectorError as error:
        return type(error) if len(str(error)) < 2000 else type(str(error))
    return compiled.evaluate(MESSAGE)


def row(name: str, dialect: str) -> dict[str, Any]:
    figures = []
    for size in SIZES:
        command = [sys.executable, __file__, "--measure", name, dialect, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        figures.append([float(figure) for figure in done.stdout.split()])
    seconds = [figure[0] for figure in figures]
    return {
        "construct": name,
        "dialect": dialect,
        "seconds": seconds,
        "exponent": math.log10(seconds[-1] / seconds[-2]),
        "megabytes": [figure[1] for figure in figures],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="constructs with this in their name")
    parser.add_argument("--json", type=Path, help="save every figure")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, dialect, size = options.measure
        print(*measure(name, NAMES[dialect], int(size)))
        return
    print(f"| {'construct':25} | dialect   |   10 KB, s |  100 KB, s |    1 MB, s | exponent | 1 MB, MB |")
    print(f"| {'-' * 25} | --------- | ---------: | ---------: | ---------: | -------: | -------: |")
    rows = []
    for name, (_, _, dialects) in CONSTRUCTS.items():
        for dialect in dialects.split() if options.only in name else ():
            found = row(name, dialect)
            rows.append(found)
            seconds = " | ".join([f"{taken:10.4f}" for taken in found["seconds"]])
            most = f"{found['exponent']:7.2f}{'!' if found['exponent'] > BAR else ' '}"
            print(f"| {name:25} | {dialect:9} | {seconds} | {most} | {found['megabytes'][-1]:8.0f} |", flush=True)
    print(f"\nhighest exponent {max(found['exponent'] for found in rows):.2f}, bar {BAR}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
