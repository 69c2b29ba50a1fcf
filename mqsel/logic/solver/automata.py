"""Finds a text that some LIKE patterns match and others do not: what decides whether two of them can meet.

A pattern is an automaton whose states are the places in it that a text may have reached; the product of some, inverted
ones among them, is walked from the empty text on, those texts first that lack least. Every state that is left out is
one from which no text is accepted, so a walk that ends without a text is a proof. Follows language §5, LIKE.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from heapq import heappop, heappush, nsmallest
from typing import NamedTuple, cast

from mqsel.logic.sets import Pattern, Texts, has_text, is_like
from mqsel.logic.solver.budget import Budget, UndecidedError

OF_STRING = 100_000  # steps of the search for one string: a quarter of a second
_OF_STATE = 2  # steps for a state of a product, and one more for each automaton of it
_LOOKED_AT = 64  # listed strings, and patterns, that are looked at in one step

_OF_SCAN = 100_000  # steps to compare one text with all patterns
_SCANNED = 32  # characters of a text that a pattern is compared with in one step
_SHORT = 30  # characters of patterns of which the shortest text is found
_FEW = 20  # patterns that are left out
# Stand where a pattern takes any character: the first that nothing else asks for.
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def unconfirmed() -> UndecidedError:
    """Return the error that the machine and the formulas disagree, which is a defect of one of them."""
    return UndecidedError("the matchers do not confirm the message that was found")


class _Automaton(NamedTuple):
    """A pattern: a bit of a state is the number of characters of the pattern that are behind.

    Attributes:
        own: for each character of the pattern, the places where it alone leads on.
        steps: and those where it, or any, does.
        any: the places where any character leads on.
        runs: the places where a `%` stands.
        end: the last place.
    """

    own: dict[str, int]
    steps: dict[str, int]
    any: int
    runs: int
    end: int

    def after(self, state: int, character: str) -> int:
        state = (state & self.steps.get(character, self.any)) << 1 | state & self.runs
        # From the last `%` that is reached every text is accepted that is accepted from a place before it.
        last = state & self.runs
        if last:
            kept = last.bit_length() - 1
            state = state >> kept << kept
        return state

    def wanted(self, state: int) -> list[str]:
        """List the characters that lead on from some place of *state* and not from all, by their first such place.

        Each is asked for once, not each place: a state of a long pattern has as many as that has characters.
        """
        found = [(places & -places, one) for one, own in self.own.items() if (places := state & own)]
        return [one for _, one in sorted(found)]


@functools.lru_cache(1024)
def _automaton(pattern: Pattern) -> _Automaton:
    characters = tuple([one for segment in pattern for one in segment])
    any_one = sum(1 << place for place, one in enumerate(characters) if one is None)
    own = dict.fromkeys([one for one in characters if one is not None], 0)
    for place, one in enumerate(characters):
        if one is not None:
            own[one] |= 1 << place
    steps = {one: places | any_one for one, places in own.items()}
    runs = place = 0
    for segment in pattern[:-1]:
        place += len(segment)
        runs |= 1 << place
    return _Automaton(own, steps, any_one, runs, 1 << len(characters))


class Strings(NamedTuple):
    """Strings that are in some sets: in all of *likes*, and not among those left out.

    Attributes:
        points: all there are, if they are listed; then nothing else is said.
        likes: sets that are not negated and have patterns.
        others: texts that are left out.
        unlikes: patterns whose texts are left out.
    """

    points: frozenset[str] | None
    likes: frozenset[Texts]
    others: frozenset[str]
    unlikes: frozenset[Pattern]


NO_STRINGS = Strings(frozenset(), frozenset(), frozenset(), frozenset())
ALL_STRINGS = NO_STRINGS._replace(points=None)


def meet_strings(strings: Strings, texts: Texts) -> Strings:
    """Keep the strings that are in *texts*."""
    if strings.points is not None:
        # Of a contract they may be 100,000, which are not looked at one by one for a set without patterns.
        points = strings.points - texts.points if texts.negated else strings.points & texts.points
        if texts.patterns:
            points = frozenset([one for one in strings.points if has_text(texts, one)])
        return strings if len(points) == len(strings.points) else NO_STRINGS._replace(points=points)
    if texts.negated:
        return strings._replace(
            others=strings.others | texts.points,  # type: ignore[operator]
            unlikes=strings.unlikes | texts.patterns,
        )
    if texts.patterns:
        return strings._replace(likes=strings.likes | {texts})
    return NO_STRINGS._replace(points=_those_in(strings, cast("frozenset[str]", texts.points)))


def meet_both(first: Strings, second: Strings) -> Strings:
    """Keep the strings that are in both."""
    if second.points is not None:
        first, second = second, first
    if first.points is not None:
        return first._replace(points=_those_in(second, first.points))
    return Strings(None, first.likes | second.likes, first.others | second.others, first.unlikes | second.unlikes)


def _those_in(strings: Strings, texts: frozenset[str]) -> frozenset[str]:
    if strings.points is not None:
        return texts & strings.points
    if strings.likes or strings.unlikes:
        return frozenset([one for one in texts if is_string_in(one, strings)])
    return texts - strings.others


def is_string_in(text: str, strings: Strings) -> bool:
    """Report whether a string is among *strings*."""
    if strings.points is not None:
        return text in strings.points
    return (
        text not in strings.others
        and all(has_text(one, text) for one in strings.likes)
        and not any(is_like(text, one) for one in strings.unlikes)
    )


def some_strings(strings: Strings, most: int, budget: Budget) -> list[str]:
    """Return up to *most* strings; fewer only if there are no more.

    Raises: UndecidedError.
    """
    if strings.points is not None:
        return nsmallest(most, strings.points, key=lambda one: (len(one), one))
    found: list[str] = []
    while len(found) < most:
        text = a_string(strings, budget)
        if text is None:
            break
        found.append(text)
        strings = strings._replace(others=strings.others | {text})
    return found


def a_string(strings: Strings, budget: Budget) -> str | None:
    """Return one of *strings*; None if there is none.

    Raises: UndecidedError: that takes more than `OF_STRING`, or than the budget has.
    """
    budget.spend((len(strings.points or ()) + len(strings.others) + len(strings.unlikes)) // _LOOKED_AT)
    result, steps = _string_and_steps(strings)
    budget.spend_once(strings, steps)
    if isinstance(result, UndecidedError):
        raise UndecidedError(*result.args)  # one that is remembered would keep every frame that it was raised through
    return result


@functools.lru_cache(4096)
def _string_and_steps(strings: Strings) -> tuple[str | UndecidedError | None, int]:
    budget = Budget(OF_STRING)
    result = _find_string(strings, budget)
    return result, budget.steps - budget.left


def _find_string(strings: Strings, budget: Budget) -> str | UndecidedError | None:
    if strings.points is not None:
        return min(strings.points, key=lambda one: (len(one), one), default=None)
    if not strings.likes:  # a letter rather than the text without characters, which looks like a mistake
        letter = next((one for one in LETTERS if is_string_in(one, strings)), None)
        if letter is not None:
            return letter
    for likes in strings.likes:
        for text in sorted(cast("frozenset[str]", likes.points), key=len):
            if is_string_in(text, strings):
                return text
    # What is left are texts that match a pattern of each. They begin and end as all of these do; what stands between
    # follows each other, if it may: the shortest text of two with five segments is found in 6 ms, of more in any time.
    firsts = [min(likes.patterns, key=repr) for likes in sorted(strings.likes, key=repr)]
    front, back = _overlaid(one[0] for one in firsts), _overlaid(one[-1][::-1] for one in firsts)
    if front is None or back is None:
        if all(len(likes.patterns) == 1 for likes in strings.likes):
            return None
    elif sum(len(segment) for one in (*firsts, *strings.unlikes) for segment in one) > _SHORT:
        middles = [[one for segment in pattern[1:-1] for one in segment] for pattern in firsts]
        for between in (middles, middles[::-1]):
            characters = itertools.chain(front, *between, back[::-1])
            text = "".join([LETTERS[0] if one is None else one for one in characters])
            of_scan = len(text) * (len(strings.likes) + len(strings.unlikes)) // _SCANNED
            budget.count(of_scan)
            if of_scan <= _OF_SCAN and is_string_in(text, strings):
                return text
    groups = [[_automaton(one) for one in likes.patterns] for likes in strings.likes]
    if len(strings.unlikes) > _FEW:  # a text that is found without looking at them is often none of theirs
        found = _walk(groups, [], strings.others, budget)
        if found is None or (isinstance(found, str) and is_string_in(found, strings)):
            return found
    return _walk(groups, [_automaton(one) for one in strings.unlikes], strings.others, budget)


def _overlaid(pieces: Iterable[tuple[str | None, ...]]) -> list[str | None] | None:
    """Return what the longest of some pieces of patterns is where all begin a text; None if no text has them all."""
    overlaid: list[str | None] = []
    for piece in pieces:
        for place, character in enumerate(piece):
            if place == len(overlaid):
                overlaid.append(character)
            elif overlaid[place] is None:
                overlaid[place] = character
            elif character not in (None, overlaid[place]):
                return None
    return overlaid


_Trie = dict[str, "_Trie"]  # of texts that are left out; one ends where "" is


def _trie(texts: Iterable[str]) -> _Trie:
    root: _Trie = {}
    for text in texts:
        node = root
        for character in text:
            node = node.setdefault(character, {})
        node[""] = {}
    return root


def _walk(
    groups: list[list[_Automaton]], unlikes: list[_Automaton], others: Iterable[str], budget: Budget
) -> str | UndecidedError | None:
    """Find a text that one automaton of each group accepts, none of *unlikes* does, and that is not left out."""
    outside: _Trie = {}
    likes = [one for group in groups for one in group]
    bounds = [0]
    for group in groups:
        bounds.append(bounds[-1] + len(group))
    slices = [slice(low, high) for low, high in itertools.pairwise(bounds)]
    number = itertools.count()
    states = (1,) * (len(likes) + len(unlikes))
    seen: set[tuple[object, ...]] = set()
    heap: list[tuple[int, int, str, tuple[int, ...], _Trie]] = [(0, next(number), "", states, _trie(others))]
    automata = [*likes, *unlikes]
    of_state = _OF_STATE + len(automata)
    while heap:
        _, _, text, states, node = heappop(heap)
        if (
            "" not in node
            and all(any(state & one.end for state, one in zip(states[at], likes[at], strict=True)) for at in slices)
            and not any(state & one.end for state, one in zip(states[len(likes) :], unlikes, strict=True))
        ):
            return text
        budget.count(len(automata))
        wanted = dict.fromkeys(one for a, state in zip(automata, states, strict=True) for one in a.wanted(state))
        wanted.update(dict.fromkeys(one for one in node if one))
        # One stands for all others: it does what any of them does.
        other = next((one for one in LETTERS if one not in wanted), None) or beyond(wanted)
        for character in (*wanted, other):
            budget.count(of_state)
            if budget.left < 0:
                return UndecidedError(
                    f"the search of a string for the LIKE patterns reached its limit of {budget.steps:,} steps"
                )
            after = tuple([one.after(state, character) for one, state in zip(automata, states, strict=True)])
            if any(state & one.end & one.runs for state, one in zip(after[len(likes) :], unlikes, strict=True)):
                continue
            missing = 0
            for at in slices:
                left = [
                    one.end.bit_length() - state.bit_length()
                    for state, one in zip(after[at], likes[at], strict=True)
                    if state
                ]
                if not left:
                    break
                missing += min(left)
            else:
                below = node.get(character, outside)
                place = (after, id(below))
                if place not in seen:
                    seen.add(place)
                    heappush(heap, (len(text) + 1 + missing, next(number), text + character, after, below))
    return None


def beyond(characters: Iterable[str]) -> str:
    """Return a character that is none of *characters*."""
    taken = set(characters)
    points = (point for point in itertools.count(0xC0) if not 0xD800 <= point < 0xE000)
    return next(chr(point) for point in points if chr(point) not in taken)
