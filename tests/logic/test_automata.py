"""Automata of LIKE patterns say what the oracle's LIKE says, alone and met with each other."""

from __future__ import annotations

import itertools
import random

import oracle
import pytest
from volumes import volume

from mqsel.language.pattern import segments
from mqsel.logic import sets
from mqsel.logic.sets import Pattern, Texts
from mqsel.logic.solver import automata
from mqsel.logic.solver.automata import ALL_STRINGS
from mqsel.logic.solver.budget import Budget, UndecidedError

MEETINGS = volume(500, smoke=100)
TEXTS = ["".join(one) for size in range(6) for one in itertools.product("abz%", repeat=size)]


def pattern(written: str) -> Pattern:
    return tuple(map(tuple, segments(written, "!")))


def like(*written: str, negated: bool = False, points: tuple[str, ...] = ()) -> Texts:
    return Texts(frozenset(points), frozenset(map(pattern, written)), negated)


def random_pattern(rng: random.Random) -> str:
    return "".join(rng.choice(("a", "b", "%", "_", "ab", "!%")) for _ in range(rng.randrange(1, 5)))


def test_is_like() -> None:
    """Invariant: a pattern matches a text just where the oracle's LIKE does."""
    rng = random.Random("like")
    for _ in range(300):
        written = random_pattern(rng)
        for text in rng.sample(TEXTS, 60):
            assert sets.is_like(text, pattern(written)) == oracle._like(text, written, "!"), (text, written)


def test_meetings() -> None:
    """Invariant: what is found is in all sets that meet, and where less is found than asked for, nothing else is."""
    rng = random.Random("meetings")
    empty = 0
    for _ in range(MEETINGS):
        wanted = []
        for _ in range(rng.randrange(1, 4)):
            written = [random_pattern(rng) for _ in range(rng.randrange(3))]
            points = tuple(rng.sample(TEXTS[:40], rng.randrange(3)))
            wanted.append((written, points, rng.random() < 0.5))
        met = ALL_STRINGS
        for written, points, negated in wanted:
            met = automata.meet_strings(met, like(*written, negated=negated, points=points))
        found = automata.some_strings(met, 2, Budget())

        def is_in(text: str, wanted: list[tuple[list[str], tuple[str, ...], bool]] = wanted) -> bool:
            return all(
                (text in points or any(oracle._like(text, one, "!") for one in written)) != negated
                for written, points, negated in wanted
            )

        assert all(map(is_in, found)), (wanted, found)
        assert len(set(found)) == len(found)
        assert all(automata.is_string_in(text, met) == is_in(text) for text in rng.sample(TEXTS, 20)), wanted
        if len(found) < 2:
            inside = {text for text in TEXTS if is_in(text)}
            assert inside <= {*found}, (wanted, found, inside)
            empty += 1

    assert empty > MEETINGS / 20


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([like("a%"), like("%b")], "ab"),
        ([like("%ab%"), like("%bc%"), like("%ca%")], "abcab"),
        ([like("a%"), like("b%")], None),
        ([like("%_a"), like("%ba%b")], None),
        ([like("a_c%x_"), like("ab%_y")], "abcxy"),
        ([like("a%b"), like("b%a", "a%b")], "ab"),
        ([like("_"), like("__")], None),
        ([like("a%"), like("a%", negated=True)], None),
        ([like("a_%"), like("a%z", "ab%", negated=True)], "aa"),
        ([like("%a%", "%b%", negated=True), like("__")], "cc"),
        ([like(points=("",), negated=True), like("%_", negated=True)], None),
        ([like("\ud800%"), like("%x")], "\ud800x"),
    ],
)
def test_what_meets(wanted: list[Texts], found: str | None) -> None:
    """The text is a short one; there is none where beginnings, ends or lengths exclude each other."""
    met = ALL_STRINGS
    for one in wanted:
        met = automata.meet_strings(met, one)

    text = automata.a_string(met, Budget())
    assert (text is None) == (found is None)
    assert text is None or found is None or len(text) <= len(found)


def test_long_patterns_meet_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: long patterns with `%` meet, unless their beginnings or their ends exclude each other, in no steps."""
    monkeypatch.setattr(automata, "OF_STRING", 0)
    rng = random.Random("long patterns")
    met = 0
    for _ in range(MEETINGS // 5):
        written = ["%".join(random_text(rng) for _ in range(rng.randrange(12, 25))) for _ in range(rng.randrange(2, 4))]
        strings = ALL_STRINGS
        for one in written:
            strings = automata.meet_strings(strings, like(one))
        text = automata.a_string(strings, Budget())
        if text is not None:
            assert all(oracle._like(text, one, "!") for one in written), (text, written)
        else:
            begin = [one.partition("%")[0] + "%" for one in written]
            end = ["%" + one.rpartition("%")[2] for one in written]
            exclude = [
                not any(all(oracle._like(text, one, "!") for one in ends) for text in TEXTS) for ends in (begin, end)
            ]
            assert any(exclude), written
        met += text is not None

    assert MEETINGS / 40 < met < MEETINGS / 5


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice("ab_") for _ in range(rng.randrange(1, 3)))


def test_a_walk_that_is_too_long_is_not_decided() -> None:
    """What would take long is an answer of its own, given in time, and again from memory."""
    met = ALL_STRINGS
    for number in range(12):
        written = f"%{number:02}" * 6
        met = automata.meet_strings(met, like(f"{written}%"))
    for negated in range(8):
        met = automata.meet_strings(met, like(f"%{negated}_" * 4, negated=True))
    for _ in range(2):
        with pytest.raises(UndecidedError, match=f"limit of {automata.OF_STRING:,} steps"):
            automata.a_string(met, Budget())


def test_the_alphabet_is_never_used_up() -> None:
    """Where every ordinary letter is left out, another character is found."""
    met = ALL_STRINGS
    for point in [chr(number) for number in range(0x20, 0x180)]:
        met = automata.meet_strings(met, like(points=(point,), negated=True))
    met = automata.meet_strings(met, like("_"))

    text = automata.a_string(met, Budget())
    assert text is not None and len(text) == 1 and not 0x20 <= ord(text) < 0x180


@pytest.mark.volume
def test_work_has_an_end() -> None:
    """Many patterns, or long ones, are decided or given up after so many moves: a thousand took six minutes."""
    many = frozenset(like(f"%{number}%") for number in range(1000))
    with pytest.raises(UndecidedError, match="its limit of"):
        automata.a_string(ALL_STRINGS._replace(likes=many, unlikes=frozenset({pattern("_" * 2_000 + "%")})), Budget())
    long = ALL_STRINGS._replace(likes=frozenset({like("a%" + "(" * 2000)}))
    assert [len(text) for text in automata.some_strings(long, 2, Budget())] == [2001, 2002]


def test_a_character_is_asked_for_by_its_first_place() -> None:
    """Each character that a state stands before, once, as the pattern has them; none for places that take any."""
    made = automata._automaton(pattern("ab_ca%b"))
    assert made.wanted(0b111111) == ["a", "b", "c"]
    assert made.wanted(0b010100) == ["a"]
    assert made.wanted(0b100010) == ["b"]
