"""What lint finds, what it does not, and that an edit changes no answer."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from conftest import VECTORS_ROOT, dialects_of, is_shown, json_lines, message_of, shared
from strategies import DIALECTS, LETTERS, random_case, to_message

import mqsel
from mqsel.analysis.lint import RULES, Rule, fixed, lint
from mqsel.carets import cut_piece
from mqsel.errors import SelectorError
from mqsel.language.dialect import PRESETS, Dialect
from mqsel.language.dialects import SOURCES
from mqsel.language.selector import read_selector
from mqsel.values import Float32

VECTORS = json_lines(VECTORS_ROOT / "analysis" / "lint.jsonl")
PAGE = (VECTORS_ROOT.parent.parent / "mqsel" / "analysis" / "RULES.md").read_text(encoding="utf-8")
MANY = " OR ".join(f"a{n} = {n} AND NOT (b = 'x{n}')" for n in range(60))


def test_vectors_are_well_formed() -> None:
    """Each has a unique id that begins with a rule, its keys in order, and known codes."""
    codes = {rule.code for rule in RULES}
    for vector in VECTORS:
        assert list(vector) == [
            key
            for key in ("id", "source", "dialect", "selector", "given", "findings", "says", "fixed")
            if key in vector
        ]
        assert vector["id"].split(".")[1] in codes
        assert {code for code, _ in vector["findings"]} <= codes
    assert len({vector["id"] for vector in VECTORS}) == len(VECTORS)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors(vector: dict[str, Any]) -> None:
    """A vector has these findings, at these pieces of the text, and no other; the first of its rule ends so."""
    text, (_, dialect) = vector["selector"], next(dialects_of(vector["dialect"]))
    findings = lint(text, dialect, given=vector.get("given"))

    assert [[one.code, text[slice(*one.span)]] for one in findings] == [
        [code, piece or text] for code, piece in vector["findings"]
    ]
    if "says" in vector:
        sentence = next(one.sentence for one in findings if one.code == _rule(vector))
        assert is_shown(f"…{vector['says']}", sentence)
    assert fixed(text, dialect) == vector.get("fixed", text)


OF_TEXTS = [rule for rule in RULES if not rule.is_of_place]  # tests/inventory has the others


@pytest.mark.parametrize("rule", OF_TEXTS, ids=lambda rule: rule.code)
def test_every_rule_has_both_sides(rule: Any) -> None:
    """For each rule there is a vector in which it finds something, and one of its own in which it does not."""
    found = {rule.code in [code for code, _ in vector["findings"]] for vector in VECTORS if _rule(vector) == rule.code}

    assert found == {True, False}


def _rule(vector: dict[str, Any]) -> str:
    return str(vector["id"].split(".")[1])


def test_the_page_lists_the_rules() -> None:
    """The table of RULES.md has the rules of the code, and says of each whether a vector has a correction."""
    can_be_fixed = {_rule(vector) for vector in VECTORS if "fixed" in vector}
    rows = []
    for rule in RULES:
        fix = "yes" if rule.code in can_be_fixed else ""
        found, instead = [f"`{cut_piece(text, 60)}`" for text in rule.example[:2]]
        rows.append(f"| `{rule.code}` | {rule.severity} | {fix} | {rule.about} | {found} | {instead} |")

    assert PAGE.endswith("\n".join(rows) + "\n"), "\n".join(rows)


@pytest.mark.parametrize("rule", OF_TEXTS, ids=lambda rule: rule.code)
def test_examples(rule: Rule) -> None:
    """A rule finds something in its example, and nothing in what stands there instead; its document is known."""
    given = rule.example.given or None
    found, instead = [[one.code for one in lint(text, rule.example.dialect, given=given)] for text in rule.example[:2]]

    assert rule.code in found
    assert rule.code not in instead
    assert {code for code in instead if code not in found} <= {"missing-excluded"}
    assert SOURCES[rule.source].count("](https://") == 1
    assert rule.why.endswith(".")


def test_edits_of_some_rules() -> None:
    """Only the rules that are named change the text."""
    text = "a LIKE 'b' AND c = 1 AND c = 1"
    assert fixed(text) == "a = 'b' AND c = 1"
    assert fixed(text, rules={"repeated"}) == "a LIKE 'b' AND c = 1"
    assert fixed(text, rules=()) == text


def test_findings_in_order_with_sentences() -> None:
    """Findings come in the order of the text; a sentence has no place left open, and no full stop."""
    for vector in VECTORS:
        findings = lint(vector["selector"], PRESETS[vector["dialect"]], given=vector.get("given"))
        assert [finding.span for finding in findings] == sorted(finding.span for finding in findings)
        for finding in findings:
            assert "{" not in finding.sentence
            assert not finding.sentence.endswith(".")


def test_dialects_by_name() -> None:
    """A dialect may be given by its name; what is none is one clear error."""
    assert [one.code for one in lint("order-id = 'x'", "artemis")] == ["name-with-hyphen"]
    with pytest.raises(mqsel.ArgumentError, match="there is no dialect 'x'"):
        lint("a = 1", "x")


# ---- soundness -------------------------------------------------------------------------------------------------------


def assert_same_answers(text: str, other: str, dialect: Dialect, messages: list[dict[str, Any]]) -> None:
    """Hold two selectors against each other, ERR told from FALSE."""
    one, more = [mqsel.compile(each, dialect=dialect) for each in (text, other)]
    for message in messages:
        assert one.truth(message) == more.truth(message), (text, other, message)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LETTERS)
def test_edits_change_no_answer_of_random_selectors(name: str) -> None:
    """Invariant: what --fix makes of a selector is as TRUE, FALSE, UNKNOWN and ERR of any message, and has no edit."""
    rng = random.Random(16)
    changed = 0
    for _ in range(60):
        text, properties = random_case(rng, name)
        joined = f"({text}) {rng.choice(('AND', 'OR'))} ({text})" if rng.random() < 0.3 and len(text) < 5000 else text
        made = fixed(joined, DIALECTS[name])
        changed += made != joined
        more = [to_message(random_case(rng, name)[1]) for _ in range(5)]
        assert_same_answers(joined, made, DIALECTS[name], [{}, to_message(properties), *more])
        assert [finding.edits for finding in lint(made, DIALECTS[name]) if finding.edits] == []
    assert changed > 10


def test_edits_change_no_answer_of_vectors() -> None:
    """Invariant: no vector of the language has another outcome once it is fixed."""
    for path in sorted(VECTORS_ROOT.glob("*.jsonl")):
        for vector in json_lines(path):
            if len(vector["selector"]) > 1000:
                continue  # those of limits
            for _, dialect in dialects_of(vector["dialect"]):
                made = fixed(vector["selector"], dialect)
                if made != vector["selector"]:
                    assert_same_answers(vector["selector"], made, dialect, [message_of(vector["properties"])])


_VALUES: list[Any] = [None, True, False, "", "a", "b", "ab", "abc", b"a", -1, 0, 1, 2, 3, 4, 0.5, 2.5, Float32(1.5)]
_VALUES += [-1e300, 1e300, -(2**63), 2**63 - 1, float("nan"), 2**53, 2**53 + 1, 2.0**53]
_KINDS = {"number": (int, float), "string": str, "boolean": bool}


def _test(rng: random.Random) -> str:
    """Write a test of x with small constants."""
    sign = rng.choice(("=", "<>", "<", "<=", ">", ">="))
    number = rng.choice(("0", "1", "2", "3", "0.5", "2.5", "-1", "9007199254740993"))
    text = rng.choice(("'a'", "'b'", "'ab'"))
    form = rng.choice(
        (
            f"x {sign} {number}",
            f"x {sign} {number}",
            f"{number} {sign} x",
            f"x {rng.choice(('=', '<>'))} {text}",
            f"x {rng.choice(('=', '<>'))} {rng.choice(('TRUE', 'FALSE'))}",
            f"x {rng.choice(('', 'NOT '))}BETWEEN {number} AND {rng.choice(('1', '2', '2.5', '4'))}",
            f"x {rng.choice(('', 'NOT '))}IN ({text}, 'abc')",
            f"x {rng.choice(('', 'NOT '))}LIKE {rng.choice(('a%', '%b', 'a_', '%', 'ab'))!r}",
            f"x IS {rng.choice(('', 'NOT '))}NULL",
            "x",
        )
    )
    return f"NOT ({form})" if rng.random() < 0.25 else form


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["IBM_MQ", "IBM_JMS", "JMS", "IBM_JAVA_CLIENT"])
def test_what_sets_say_is_so(name: str) -> None:
    """Invariant: of every value, what is never TRUE is not, what is always TRUE is, and what adds nothing does not."""
    rng = random.Random(16)
    dialect = DIALECTS[name]
    seen: dict[str, int] = {}
    for _ in range(600):
        word = rng.choice((" AND ", " OR "))
        tests = [_test(rng) for _ in range(rng.choice((2, 2, 3)))]
        text = word.join(tests)
        truths = {id(value): mqsel.compile(text, dialect=dialect).evaluate({"x": value}) for value in _VALUES}
        for finding in lint(text, dialect):
            seen[finding.code] = seen.get(finding.code, 0) + 1
            said = finding.sentence
            if finding.code == "never-true":
                kinds = next((kind for word, kind in _KINDS.items() if f"never TRUE for a {word}" in said), object)
                assert not any(truths[id(value)] for value in _VALUES if _is_of(value, kinds)), (text, said)
            elif finding.code == "always-true":
                kinds = next((kind for word, kind in _KINDS.items() if f"for every {word}" in said), object)
                # An ERR of a test before these is another matter.
                named = mqsel.compile(said.partition(" is TRUE for every ")[0], dialect=dialect)
                for value in _VALUES:
                    truth = named.matches({"x": value})
                    assert truth or repr(value) == "nan" or not _is_of(value, kinds), (text, said, value)
            elif finding.code in ("implied", "repeated"):
                # The same with the test left out, as the sentence says.
                start, stop = finding.span
                rest = [one for one in tests if text[start:stop] not in one]
                if len(rest) == len(tests) - 1:
                    other = mqsel.compile(word.join(rest), dialect=dialect)
                    for value in _VALUES:
                        assert bool(truths[id(value)]) == other.matches({"x": value}), (text, said, value)
    assert min(seen[code] for code in ("never-true", "always-true", "implied", "repeated")) > 20


def _is_of(value: object, kinds: Any) -> bool:
    return isinstance(value, kinds) and (isinstance(value, bool) == (kinds is bool) or kinds is object)


def test_pairs_of_numbers_are_all_found() -> None:
    """Of two comparisons with numbers, those that exclude, cover or imply each other are told, and no others."""
    signs, numbers = ("=", "<>", "<", "<=", ">", ">="), (1, 2, 3)
    points = (0, 1, 1.5, 2, 2.5, 3, 4)
    for (sign, a), (other, b), word in product(product(signs, numbers), product(signs, numbers), ("AND", "OR")):
        text = f"x {sign} {a} {word} x {other} {b}"
        one, more = [{p for p in points if mqsel.compile(part).matches({"x": p})} for part in text.split(f" {word} ")]
        expected = set()
        if word == "AND" and not one & more:
            expected.add("never-true")
        elif word == "OR" and one | more == set(points):
            expected.add("always-true")
        if one == more:
            expected.add("repeated")
        elif (one < more or more < one) and "never-true" not in expected:
            expected.add("implied")
        found = {finding.code for finding in lint(text)} - {"missing-excluded"}
        assert found == expected, text


# ---- many tests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [MANY, MANY.replace("AND", "OR"), f"NOT ({MANY})", MANY.replace("OR", "AND NOT c OR")])
def test_parentheses_that_ibm_recommends(text: str) -> None:
    """More than 100 tests get parentheses; the program is the same, and no chain is longer than ten."""
    made = fixed(text)
    one, more = [mqsel.compile(each).program for each in (text, made)]
    longest = max(len(getattr(node, "operands", ())) for node in read_selector(made, mqsel.IBM_MQ).order)

    assert made.replace("(", "").replace(")", "") == text.replace("(", "").replace(")", "")
    assert (one.code, one.constants, one.slots) == (more.code, more.constants, more.slots)
    assert longest <= 10
    assert [finding.edits for finding in lint(made) if finding.code == "many-tests"] == [()]


def test_parentheses_that_have_no_room() -> None:
    """A selector near the greatest length is not made longer than that."""
    text = " OR ".join(f"abcdefghijklmno = {n}" for n in range(10_000, 10_400))[:10_238]
    text = text[: text.rindex(" OR ")]

    assert fixed(text) == text
    assert lint(text)[-1].code == "many-tests" or lint(text)[0].code == "many-tests"


# ---- any text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LETTERS)
def test_any_text_is_looked_at(name: str) -> None:
    """Invariant: of any text lint gives findings and raises nothing; "invalid" is what does not compile."""
    rng = random.Random(16)
    for _ in range(150):
        text = random_case(rng, name)[0]
        at, count = rng.randrange(len(text) + 1), rng.choice((0, 1, 1, 3))
        text = text[:at] + rng.choice(("", "'", "(", " OR x = y", "\x00", "--", " 0x", "%")) + text[at + count :]
        findings = lint(text, DIALECTS[name])
        try:
            read_selector(text, DIALECTS[name])
        except SelectorError:
            assert [finding.code for finding in findings] == ["invalid"]
        else:
            assert "invalid" not in [finding.code for finding in findings]


def test_deep_and_long_selectors() -> None:
    """Neither 500 parentheses nor 3,000 tests of one property are too much."""
    limitless = mqsel.IBM_MQ.replace(max_length=None)
    assert [finding.code for finding in lint("NOT (" * 251 + "a = 1" + ")" * 251)] == ["invalid"]
    assert [finding.code for finding in lint("NOT (" * 249 + "a = 1" + ")" * 249)] == ["missing-excluded"]
    chain = " OR ".join(f"a = '{n}'" for n in range(3_000))
    assert [finding.code for finding in lint(chain, limitless)] == ["many-tests", "text-of-digits"]
    repeats = lint(" OR ".join(["a = 1"] * 3_000), limitless)
    assert [finding.code for finding in repeats] == ["many-tests", *["repeated"] * 2_999]
    deep = "".join(f"(a{n} > 1 AND b{n} < 2 OR " for n in range(400)) + "c = 5" + ")" * 400
    assert [finding.code for finding in lint(deep, limitless)] == ["many-tests"]


# ---- what people wrote -----------------------------------------------------------------------------------------------


# By rule the numbers of those that have a warning, all of which do not say what was meant, or nothing.
WILD = {
    "and-before-or": "134 211",
    "blank-at-an-end": "318",
    "constant-part": "121 258",  # OR 1=1
    "header-spelling": "355",
    "header-value": "164 193 209 226 288 375",
    "implied": "339 364",
    "like-regular-expression": "256",
    "like-without-wildcard": "268 362",
    "mixed-kinds": "268",
    "name-case": "351",
    "never-true": "129 131",
    "octal-number": "268",  # 02.0 beside 003 and 005
    "two-minus-signs": "360",
    "unquoted-text": "44 96 100 122 150 208 226 324",
}


def test_wild_selectors() -> None:
    """Of valid selectors that people wrote these have warnings, and no others."""
    found: dict[str, list[str]] = {}
    for vector in json_lines(shared("vectors", "wild-selectors.jsonl")):
        if vector["valid_jms"] is True and vector["id"] != "wild-335":  # TRUE = 'TRUE' is a type error (language §4)
            for finding in lint(vector["selector"], mqsel.JMS if vector["context"] == "JMS" else mqsel.IBM_JAVA_CLIENT):
                if finding.severity != "note":
                    found.setdefault(finding.code, []).append(vector["id"].removeprefix("wild-"))

    assert {code: " ".join(dict.fromkeys(ids)) for code, ids in sorted(found.items())} == WILD


def test_a_thousand_repeats_are_fixed_at_once() -> None:
    """Edits of one rule are proved together; where they are not the same selector together, one by one."""
    assert fixed(" AND ".join(["a = 1"] * 100)) == "a = 1"
    assert "AND" not in fixed(" AND ".join(["a=1"] * 1200))
    assert fixed("a > 1 AND a > 2 OR b > 3 AND b > 3") == "a > 2 OR b > 3"
