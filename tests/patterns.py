"""Collects every regular expression of the package, and looks for those that take more than linear time.

`collect` imports all modules and notes which patterns they compile; `in_functions` finds the patterns that functions
use. `ambiguity` builds the automaton of a pattern and looks for two loops that can share the same characters: a pattern
without such loops is linear, because every place of the text has one way to be read.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

try:
    from re import _constants as codes
    from re import _parser as parser
except ImportError:  # before Python 3.11
    import sre_constants as codes
    import sre_parse as parser

PACKAGE = Path(__file__).parent.parent / "mqsel"
_CALLS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}


class Use(NamedTuple):
    """A pattern of the package.

    Attributes:
        where: module and line, or the module whose import compiles it.
        pattern, flags: as `re.compile` takes them.
        ways: the methods by which it is applied. `match` tries one place of a text, `fullmatch` may fail at its end;
            any other method tries every place.
    """

    where: str
    pattern: str | bytes
    flags: int
    ways: frozenset[str]


def modules() -> list[str]:
    """Return the names of all modules of the package, those that are compiled among them."""
    files = sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")])
    parts = (file.relative_to(PACKAGE.parent).with_suffix("").parts for file in files)
    names = [".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts]
    return [name for name in dict.fromkeys(names) if not name.endswith("__main__")]


def collect() -> list[Use]:
    """Return the patterns that modules compile when they are imported; needs a process that has imported none."""
    uses: list[Use] = []
    compile_pattern = re._compile  # type: ignore[attr-defined]

    def note(pattern: Any, flags: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") in ("re", "functools"):
            frame = frame.f_back  # type: ignore[assignment]
        file = frame.f_code.co_filename
        is_ours = file.startswith((str(PACKAGE), "<frozen importlib"))  # compiled modules have no frame
        if is_ours and isinstance(pattern, (str, bytes)):
            uses.append(Use(current, pattern, int(flags), frozenset({"search"})))
        return compile_pattern(pattern, flags)

    re._compile = note  # type: ignore[attr-defined]
    try:
        for current in modules():
            importlib.import_module(current)
    finally:
        re._compile = compile_pattern  # type: ignore[attr-defined]
    return uses


class Source(NamedTuple):
    """A module of the package, as its source has it."""

    name: str
    tree: ast.Module


def sources() -> list[Source]:
    """Return the modules that are written in Python."""
    return [
        Source(
            ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"),
            ast.parse(file.read_text(encoding="utf-8")),
        )
        for file in sorted(PACKAGE.rglob("*.py"))
        if file.stem != "__main__"
    ]


def ways(files: list[Source]) -> dict[tuple[str, str], set[str]]:
    """Return by modules and names of variables how their patterns are applied; `match` at a place is like `search`."""
    found: dict[tuple[str, str], set[str]] = {}
    for file in files:
        homes = {
            name.asname or name.name: (node.module or "", name.name)
            for node in ast.walk(file.tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for node in ast.walk(file.tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS):
                continue
            method, value = node.func.attr, node.func.value
            name = value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
            home = homes.get(name, (file.name, name))
            found.setdefault(home, set()).add("search" if method == "match" and len(node.args) > 1 else method)
    return found


def written() -> tuple[list[Use], list[str]]:
    """Return the patterns that stand in the sources, and the places of those that only a call knows."""
    uses, unknown = [], []
    files = sources()
    applied = ways(files)
    for name, tree in files:
        scope = vars(importlib.import_module(name))
        named = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
                continue
            kind = node.func.attr
            place = {"sub": 4, "subn": 4, "split": 3}.get(kind, 1 if kind == "compile" else 2)
            flags = [*[word.value for word in node.keywords if word.arg == "flags"], *node.args[place : place + 1]]
            try:
                pattern, flag = [
                    eval(compile(ast.Expression(part), name, "eval"), scope)
                    for part in (node.args[0], *(flags or [ast.Constant(0, lineno=1, col_offset=0)]))
                ]
            except NameError:
                unknown.append(f"{name}: {ast.unparse(node.args[0])}")
                continue
            if isinstance(pattern, re.Pattern):
                pattern, flag = pattern.pattern, pattern.flags
            label = named.get(id(node), "")
            kinds = applied.get((name, label), {"search"}) if kind == "compile" else {kind}
            uses.append(Use(f"{name}.{label}" if label else name, pattern, int(flag), frozenset(kinds)))
    return uses, unknown


# ---- the automaton ---------------------------------------------------------------------------------------------------

_COMMON = "\0\t\n\r aZ0_5-.'\"\\\x7f\xe9\u0661\u4e00\U0001f600"
Check = Callable[[str, str], bool]  # whether an edge may be taken between two characters; "" for the ends


def _is_word(character: str, *, is_ascii: bool) -> bool:
    return bool(re.match(r"(?a)\w" if is_ascii else r"\w", character)) if character else False


def _in_category(category: Any, character: str, *, is_ascii: bool) -> bool:
    name = str(category).lower().removeprefix("category_").removeprefix("uni_")
    is_not = name.startswith("not_")
    letter = {"digit": r"\d", "space": r"\s", "word": r"\w"}[name.removeprefix("not_")]
    return bool(re.match(f"(?a){letter}" if is_ascii else letter, character)) != is_not


def _accepts(op: Any, value: Any, character: str, flags: int, *, is_ascii: bool) -> bool:
    """Report whether an element of a pattern that takes one character takes this one."""
    if op is codes.ANY:
        return bool(flags & re.DOTALL) or character != "\n"
    if op is codes.IN:
        is_not = value[0][0] is codes.NEGATE
        return any(_accepts(*item, character, flags, is_ascii=is_ascii) for item in value[is_not:]) != is_not
    if op is codes.CATEGORY:
        return _in_category(value, character, is_ascii=is_ascii)
    spellings = {character, character.lower(), character.upper()} if flags & re.IGNORECASE else {character}
    codepoints = [ord(one) for one in spellings if len(one) == 1]
    if op is codes.RANGE:
        return any(value[0] <= one <= value[1] for one in codepoints)
    return (value in codepoints) == (op is codes.LITERAL)


def _characters(parsed: Any) -> Iterator[int]:
    """Yield the characters that a pattern names, and those next to them."""
    for op, value in parsed:
        if op in (codes.LITERAL, codes.NOT_LITERAL):
            yield value
        elif op is codes.RANGE:
            yield from (max(value[0] - 1, 0), *value, value[1] + 1)
        elif op is codes.IN:
            yield from _characters(value)
        elif op is codes.BRANCH:
            for branch in value[1]:
                yield from _characters(branch)
        elif op is codes.SUBPATTERN:
            yield from _characters(value[3])
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            yield from _characters(value[2])
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _characters(value[1])


class Automaton:
    """The places of a pattern that take a character each, and which may follow which.

    The place 0 is before the pattern, and takes any character if the pattern may begin anywhere. The place 1 is its
    end.
    """

    def __init__(self, use: Use) -> None:
        parsed = parser.parse(use.pattern, use.flags)
        self.flags = parsed.state.flags
        self.is_ascii = isinstance(use.pattern, bytes) or bool(self.flags & re.ASCII)
        top = 0x100 if isinstance(use.pattern, bytes) else sys.maxunicode + 1
        named = {chr(one) for one in _characters(parsed) if one < top}
        self.alphabet = sorted(named | {one for one in _COMMON if ord(one) < top})[:400]
        self.takes: list[frozenset[str]] = [frozenset(self.alphabet), frozenset()]
        self.edges: dict[int, list[tuple[int, tuple[Check, ...]]]] = {0: []}
        if use.ways - {"match", "fullmatch"}:
            self.edges[0].append((0, ()))
        self.looks: list[set[str]] = []
        self._steps: dict[tuple[int, str, str], list[int]] = {}
        ends = self._add(parsed, [(0, ())], self.flags)
        whole = (lambda _, after: after == "",) if "fullmatch" in use.ways else ()
        self._join(ends, 1, whole)
        self.alphabet = self._classes()
        self.has_checks = any(checks for edges in self.edges.values() for place, checks in edges if place != 1)

    def _classes(self) -> list[str]:
        """Return one character of each class that no place and no look distinguishes."""
        kinds = [
            (
                *(one in takes for takes in [*self.takes, *self.looks]),
                one == "\n",
                _is_word(one, is_ascii=self.is_ascii),
            )
            for one in self.alphabet
        ]
        return [*dict(zip(reversed(kinds), reversed(self.alphabet), strict=True)).values()]

    def _join(self, ends: Any, place: int, more: tuple[Check, ...] = ()) -> None:
        for start, checks in ends:
            self.edges.setdefault(start, []).append((place, (*checks, *more)))

    def _add(self, parsed: Any, ends: list[Any], flags: int) -> list[Any]:
        """Add a part behind the places *ends*; return the places that it ends in, with what holds there."""
        for op, value in parsed:
            ends = self._add_element(op, value, ends, flags)
        return ends

    def _add_element(self, op: Any, value: Any, ends: list[Any], flags: int) -> list[Any]:
        if op is codes.SUBPATTERN:
            return self._add(value[3], ends, (flags | value[1]) & ~value[2])
        if op is codes.BRANCH:
            return [end for branch in value[1] for end in self._add(branch, ends, flags)]
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self._repeat(value, ends, flags)
        if op is codes.AT:
            check = self._boundary(value, flags)
            return [(start, (*checks, check)) for start, checks in ends]
        if op in (codes.ASSERT, codes.ASSERT_NOT):
            check = self._look(op, value, flags)
            return ends if check is None else [(start, (*checks, check)) for start, checks in ends]
        if op is codes.GROUPREF:  # the same text again: as a loop over anything it would be found for all
            return ends
        place = len(self.takes)
        self.takes.append(
            frozenset(one for one in self.alphabet if _accepts(op, value, one, flags, is_ascii=self.is_ascii))
        )
        self._join(ends, place)
        return [(place, ())]

    def _repeat(self, value: Any, ends: list[Any], flags: int) -> list[Any]:
        least, most, body = value
        is_endless = most is codes.MAXREPEAT or most > 1000
        results = list(ends) if least == 0 else []
        copies = max(min(least, 3), 1) if is_endless else min(most, 4)
        for number in range(copies):
            first = len(self.takes)
            begins = ends
            ends = self._add(body, ends, flags)
            if number + 1 >= min(least, copies):
                results += ends
            if is_endless and number == copies - 1:
                firsts = [(place, checks) for place, checks in self._begins(begins, first)]
                for (start, some), (place, more) in product(ends, firsts):
                    if start >= first:
                        self.edges.setdefault(start, []).append((place, (*some, *more)))
        return list(dict.fromkeys(results))

    def _begins(self, begins: Any, first: int) -> list[Any]:
        """Return the places from *first* on that follow what is before a repeat, with what holds there."""
        starts = {start: len(checks) for start, checks in begins}
        return [
            (place, checks[starts[start] :])
            for start in starts
            for place, checks in self.edges.get(start, ())
            if place >= first
        ]

    def _boundary(self, value: Any, flags: int) -> Check:
        name = str(value)
        if "BEGINNING" in name:
            has_lines = flags & re.MULTILINE and "STRING" not in name
            return lambda before, _: before == "" or bool(has_lines and before == "\n")
        if "END" in name:
            has_lines = flags & re.MULTILINE and "STRING" not in name
            return lambda _, after: after == "" or (after == "\n" and bool(has_lines))
        is_not, is_ascii = "NON" in name, self.is_ascii
        return lambda before, after: (
            (_is_word(before, is_ascii=is_ascii) != _is_word(after, is_ascii=is_ascii)) != is_not
        )

    def _look(self, op: Any, value: Any, flags: int) -> Check | None:
        """Return what a look at the character before or after asks; None where it asks for more than that."""
        direction, body = value
        accepted: set[str] = set()
        beyond = (lambda _, after: after != "") if direction > 0 else None  # it may fail
        for branch in body[0][1][1] if len(body) == 1 and body[0][0] is codes.BRANCH else [body]:
            if len(branch) != 1 or branch[0][0] not in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
                return beyond
            accepted |= {one for one in self.alphabet if _accepts(*branch[0], one, flags, is_ascii=self.is_ascii)}
        is_wanted = op is codes.ASSERT
        self.looks.append(accepted)
        if direction < 0:
            return lambda before, _: (before in accepted) == is_wanted
        return lambda _, after: (after in accepted) == is_wanted

    # ---- questions ---------------------------------------------------------------------------------------------------

    def steps(self, place: int, before: str, character: str) -> list[int]:
        """Return the places that take a character behind another."""
        found = self._steps.get((place, before, character))
        if found is None:
            found = self._steps[place, before, character] = [
                after
                for after, checks in self.edges.get(place, ())
                if character in self.takes[after] and all(check(before, character) for check in checks)
            ]
        return found

    def certain(self) -> set[int]:
        """Return the places behind which the pattern fits, whatever follows."""
        around = [*self.alphabet, ""]
        found = set()
        for start, edges in self.edges.items():
            ends = [checks for place, checks in edges if place == 1]
            is_rest = any(place == start and not checks for place, checks in edges) and not (
                set(self.alphabet) - self.takes[start]
            )
            if ends and (
                is_rest
                or all(
                    any(all(check(before, after) for check in checks) for checks in ends)
                    for before in self.alphabet
                    for after in around
                    # A character behind which nothing may follow is no character of this place.
                    if before in self.takes[start]
                    and any(all(check(before, one) for check in checks) for _, checks in edges for one in around)
                )
            ):
                found.add(start)
        return found

    def reach(self) -> dict[int, set[int]]:
        """Return for each place those that it leads to."""
        result = {}
        for start in self.edges:
            seen, todo = set(), [start]
            while todo:
                for after, _ in self.edges.get(todo.pop(), ()):
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
            result[start] = seen
        return result


def ambiguity(use: Use) -> tuple[str, str] | None:
    """Return a text by whose repeats a pattern takes more than linear time: what comes before, and what repeats.

    Two loops are looked for, of which the second follows the first, and a word that the first repeats, that leads from
    the first to the second, and that the second repeats. A text of n such words has n places to go from one to the
    other. For the place before a pattern that may begin anywhere it is the same: it is tried at each of the words.
    """
    if "fullmatch" in use.ways and use.ways - {"match", "fullmatch"}:
        apart = (use.ways - {"fullmatch"}, frozenset({"fullmatch"}))
        return next(filter(None, (ambiguity(use._replace(ways=ways)) for ways in apart)), None)
    automaton = Automaton(use)
    reach = automaton.reach()
    loops = [place for place, places in reach.items() if place in places]
    certain = automaton.certain()
    for first, second in product(loops, repeat=2):
        if second not in reach[first] or second == 0:
            continue
        shared = [one for one in automaton.alphabet if one in automaton.takes[first] & automaton.takes[second]]
        for last in shared if automaton.has_checks else [""][: len(shared)]:
            for word in _shared(automaton, reach, (first, second), last):
                if not _is_certain(automaton, certain, (first, second), word):
                    return _way(automaton, first), word
    return None


def _is_certain(automaton: Automaton, certain: set[int], loops: tuple[int, int], word: str) -> bool:
    """Report whether an attempt that leaves a loop for another succeeds, so that the loop is not tried again.

    An attempt that begins anywhere has to succeed with all that it has read: a shorter match would leave the rest to be
    read again by the next attempt.
    """
    first, second = loops
    results = []
    for leaves in range(len(word)):
        places, last, is_over, recent = {first}, word[leaves - 1], False, False
        for number, character in enumerate(word[leaves:] + word * 3):
            places = {after for place in places for after in automaton.steps(place, last, character)}
            places -= {first} if number == 0 or first == 0 else set()
            last = character
            is_over |= bool(first and places & certain)
            recent |= number >= len(word) * 2 and bool(places & certain)
        results += [is_over or recent] * (second in places)
    return bool(results) and all(results)


def _shared(automaton: Automaton, reach: dict[int, set[int]], loops: tuple[int, int], end: str) -> Iterator[str]:
    """Yield words that go from a loop to itself, to another, and from that to itself, on different ways."""
    first, second = loops
    goals = (first, second, second)
    todo = [((first, first, second), end, first != second, "")]
    seen = {todo[0][:3]}
    while todo:
        places, last, differs, word = todo.pop(0)
        if len(word) > 40:
            continue
        for character in automaton.alphabet:
            for after in product(
                *(
                    [
                        one
                        for one in automaton.steps(place, last, character)
                        if one == goal or goal in reach.get(one, ())
                    ]
                    for place, goal in zip(places, goals, strict=True)
                )
            ):
                parted = differs or after[0] != after[1]
                if after == goals and parted and end in ("", character):
                    yield word + character
                state = (after, character if end else "", parted)
                if state not in seen:
                    seen.add(state)
                    todo.append((after, character, parted, word + character))


def _way(automaton: Automaton, goal: int) -> str:
    """Return a text that leads to a place."""
    todo, seen = [(0, "", "")], {0}
    while todo:
        place, last, text = todo.pop(0)
        if place == goal:
            return text
        for after, checks in automaton.edges.get(place, ()):
            if after in seen:
                continue
            for character in automaton.alphabet:
                if character in automaton.takes[after] and all(check(last, character) for check in checks):
                    seen.add(after)
                    todo.append((after, character, text + character))
                    break
    return ""


# ---- attacks ---------------------------------------------------------------------------------------------------------


def samples(parsed: Any, alphabet: list[str], flags: int) -> Iterator[str]:
    """Yield texts of a pattern, of each of its parts, and last of the whole: what an attacker would repeat."""
    whole = ""
    for op, value in parsed:
        text = ""
        if op is codes.SUBPATTERN:
            *parts, text = ["", *samples(value[3], alphabet, flags)]
            yield from parts
        elif op is codes.BRANCH:
            for branch in value[1]:
                *parts, text = ["", *samples(branch, alphabet, flags)]
                yield from (*parts, text)
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            *parts, text = ["", *samples(value[2], alphabet, flags)]
            yield from (*parts, text)
            text *= min(max(value[0], 1), 9)
        elif op in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
            text = next((one for one in alphabet if _accepts(op, value, one, flags, is_ascii=False)), "")
            yield text
        whole += text
    yield whole


def attack(use: Use, size: int, seconds: float) -> str:
    """Return what is repeated in a text for which a pattern takes longer than *seconds*; empty if there is none."""
    pattern = re.compile(use.pattern, use.flags)
    automaton = Automaton(use)
    parsed = parser.parse(use.pattern, use.flags)
    for word in dict.fromkeys(samples(parsed, automaton.alphabet, automaton.flags)):
        if not word:
            continue
        text: Any = word * (size // len(word)) + "\x01"
        if isinstance(use.pattern, bytes):
            text = text.encode("latin-1", "replace")
        start = time.process_time()
        if use.ways & {"match", "fullmatch"}:
            pattern.match(text)
            pattern.fullmatch(text)
        if use.ways - {"match", "fullmatch"}:
            sum(1 for _ in pattern.finditer(text))
        if time.process_time() - start > seconds:
            return word
    return ""


# What `mqsel.analysis.lint.rules_of_products` finds in the spans of literals.
_OF_LITERALS = {".*", ".*0[xX].*", "[^0-9.]*[0-9]+[fFdD]", ".*[_xX].*"}


# Rows of tables, which are compiled where no name tells how they are applied, are applied to whole names.
def _is_of_names(pattern: Any) -> bool:
    from mqsel.files import amqsbcg
    from mqsel.inventory import data, markup, recognition

    rows = [row.name for row in (*recognition._SIGNS, *data._KEYS)] + [row.element for row in markup._PLACES]
    rows += [row[1] for row in (*amqsbcg._VALUES.values(), *amqsbcg._SECOND.values())]
    return pattern in {row.pattern for row in rows if row is not None} | _OF_LITERALS


# Patterns that are not refused although two of their loops share characters, each with the reason.
EXCUSED = {
    "mqsel.inventory.recognition._STRINGS": "each attempt fits: it ends at a quote or with the text",
    "mqsel.analysis.lint.rules_of_products._COMMENT": "is applied at one place of a text, where it always fits",
    "mqsel.cli.rules._LINK": "reads texts of this package",
    "mqsel.inventory.expressions._HEAD": "is applied at one place of a text block",
    "mqsel.inventory.trees._PART": "each match goes on where the last one ended, and the last one is not repeated",
    "mqsel.language.dialects": "reads texts of this package",
}


_MOST = 0.5  # seconds of the processor for a text of 50 kB, which takes some milliseconds if a pattern is linear


def main(size: int) -> None:
    """Print the patterns that are not linear: by their structure, and if *size* is given by the time that they take."""
    compiled = collect()
    uses, unknown = written()
    known = {use.pattern for use in uses}
    uses += [use for use in compiled if use.pattern not in known and "(?P<space>" not in str(use.pattern)]
    for use in dict.fromkeys(uses):
        applied = use._replace(ways=frozenset({"fullmatch"})) if _is_of_names(use.pattern) else use
        found = use.where not in EXCUSED and (attack(applied, size, _MOST) if size else ambiguity(applied))
        if found:
            print(f"{use.where}: {use.pattern!r}: repeat {found!r}")
    for place in sorted(set(unknown)):
        print(f"only a call knows {place}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
