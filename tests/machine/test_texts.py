"""Strings, IN and LIKE in the machine, against the oracle."""

from __future__ import annotations

import itertools
import math
import random
import time

import pytest
from running import JMS, truth
from volumes import volume

import mqsel


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    """Match naively, by recursion: language §5, LIKE, word by word."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == escape:
        if rest and rest[0] in ("_", "%", escape):
            head, rest = rest[0], rest[1:]
        return text[:1] == head and like(text[1:], rest, escape)
    if head == "%":
        return any(like(text[start:], rest, escape) for start in range(len(text) + 1))
    return bool(text) and head in ("_", text[0]) and like(text[1:], rest, escape)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# Pairs of code points of every width, among them some that are equal in their low 8 or 16 bits.
ALPHABETS = [
    "ab",
    "éÿ",
    "aé",
    "aš",
    "Āȁ",
    "é€",
    "a\U00010061",
    "š\U00010161",
    "\U0001f600\U0001f601",
    "\0\n",
    "\ud800\udc00",
]


@pytest.mark.parametrize("letters", ALPHABETS, ids=ascii)
def test_every_short_pattern(letters: str) -> None:
    """Invariant: LIKE in the machine = the naive matcher, for all patterns to 4 and texts to 4 code points."""
    texts = ["".join(points) for size in range(5) for points in itertools.product(letters, repeat=size)]
    for size in range(5 if letters == "ab" else 4):
        for points in itertools.product(letters + "%_", repeat=size):
            pattern = "".join(points)
            found = list(mqsel.compile(f"x LIKE {quoted(pattern)}").filter({"x": text} for text in texts))
            unlike = list(
                mqsel.compile(f"x NOT LIKE {quoted(pattern)}", optimize=False).filter({"x": t} for t in texts)
            )

            assert [message["x"] for message in found] == [text for text in texts if like(text, pattern)], pattern
            assert len(found) + len(unlike) == len(texts)


@pytest.mark.parametrize("escape", ["!", "%", "_", "a", "'"])
def test_every_short_pattern_with_an_escape(escape: str) -> None:
    """Invariant: LIKE … ESCAPE in the machine = the naive matcher, also where the escape is a wildcard or a letter."""
    letters = sorted({"a", "%", "_", escape})
    texts = ["".join(points) for size in range(4) for points in itertools.product(letters, repeat=size)]
    for size in range(5):
        for points in itertools.product(letters, repeat=size):
            pattern = "".join(points)
            matcher = mqsel.compile(f"x LIKE {quoted(pattern)} ESCAPE {quoted(escape)}")
            found = [message["x"] for message in matcher.filter({"x": text} for text in texts)]

            assert found == [text for text in texts if like(text, pattern, escape)], pattern


def test_a_text_is_found_wherever_it_stands() -> None:
    """Invariant: LIKE '%text%' is `text in string`, for short strings of every length and of any letters."""
    rng = random.Random(8)
    for _ in range(3000):
        letters = rng.choice(("ab", "a\x00", "\x00\x01\x80\xff", "\x7f\xff\xfe", "a\u0101\u0100"))
        wanted = "".join(rng.choices(letters, k=rng.randint(1, rng.choice((2, 4, 12)))))
        strings = ["".join(rng.choices(letters, k=rng.randint(0, 40))) for _ in range(4)]
        at = rng.randint(0, len(strings[0]))
        strings.append(strings[0][:at] + wanted + strings[0][at:])
        matches = mqsel.compile(f"s LIKE '%{wanted}%'", dialect=JMS).matches

        assert [matches({"s": each}) for each in strings] == [wanted in each for each in strings]


def test_like_of_any_strings() -> None:
    """Invariant: LIKE in the machine = the naive matcher, for strings of every kind; `=` and IN = equality."""
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    letters = st.sampled_from([*"ab%_!'", "é", "š", "€", "\U0001f600", "\U00010061", "\ud800", "\0", "\n"])
    piece = st.lists(letters, max_size=8).map("".join)

    @hypothesis.settings(deadline=None, max_examples=volume(1500, smoke=150))
    @hypothesis.given(
        piece,
        piece,
        st.lists(letters | st.just("%"), max_size=6).map("".join),
        st.sampled_from([None, "!", "%", "a", "€"]),
    )
    def check(text: str, middle: str, pattern: str, escape: str | None) -> None:
        tail = "" if escape is None else f" ESCAPE {quoted(escape)}"
        # A pattern drawn alone hardly ever matches: put the text's own pieces into it.
        for one in (pattern, text[:2] + pattern, pattern + text[-2:], f"%{middle}%", text[:1] + "%" + text[1:]):
            for value in (text, text + middle, middle + text + middle):
                wanted = like(value, one, escape)
                answers = [
                    truth(f"x LIKE {quoted(one)}{tail}", {"x": value}, optimize=optimize) for optimize in (True, False)
                ]
                assert answers == ["TRUE" if wanted else "FALSE"] * 2, (value, one, escape)
                assert truth(f"x NOT LIKE {quoted(one)}{tail}", {"x": value}) == ("FALSE" if wanted else "TRUE")
        equal = "TRUE" if text == middle else "FALSE"
        assert truth(f"x = {quoted(middle)}", {"x": text}) == equal
        assert truth("x = y", {"x": text, "y": middle}) == equal
        assert truth(f"x IN ({quoted(middle)}, {quoted(middle + text + 'z')})", {"x": text}) == equal

    check()


@pytest.mark.parametrize("size", [1, 8, 9, 200])
def test_in_lists_of_every_length(size: int) -> None:
    """Short lists are searched, long ones hashed: both find every member, of any width, and nothing else."""
    choices = [chr(point) * 2 for point in itertools.islice(itertools.cycle((97, 233, 353, 0x10061)), size)]
    choices = [f"{choice}{number}" for number, choice in enumerate(choices)]
    matcher = mqsel.compile(f"x IN ({', '.join(map(quoted, choices))})", dialect=JMS)
    twin = mqsel.compile(f"x NOT IN ({', '.join(map(quoted, choices))})", dialect=JMS)
    for choice in choices:
        fresh = "".join(list(choice))
        assert matcher.matches({"x": fresh})
        assert not twin.matches({"x": fresh})
        assert not matcher.matches({"x": fresh + "x"})
        assert twin.matches({"x": fresh[1:]})
    for value in (None, 5, b"aa0", True):
        assert not matcher.matches({"x": value})
        assert not twin.matches({"x": value})


def test_like_is_never_exponential() -> None:
    """Patterns that ruin a backtracking matcher take no longer than length times pattern."""
    text = "a" * 20_000
    for pattern in (
        "%a" * 500 + "%b",
        "%" * 1000 + "b",
        "%a_" * 500 + "b%",
        "%_" * 400 + "%b",
        ("%" + "a" * 40) * 20 + "b",
    ):
        assert truth(f"x LIKE {quoted(pattern)}", {"x": text}) == "FALSE"


def test_what_a_dict_does_not_have_at_its_beginning_costs_a_probe() -> None:
    """A dict of a million other keys is not searched for the place of a property, nor is one of a million gaps."""
    wide = {f"k{number}": number for number in range(1_000_000)} | {"a": 2}
    gaps = dict(wide)
    for name in wide:
        if name != "a":
            del gaps[name]
    matcher = mqsel.compile("a = 1")
    for message in (wide, gaps):
        least = math.inf
        for _ in range(3):
            began = time.process_time()
            assert list(matcher.filter([message] * 20_000)) == []
            least = min(least, time.process_time() - began)

        assert least < 0.3  # a search of all took 150 µs a message, 3 s
