"""A selector as one Catalyst SQL text, exact in three values.

A condition is two texts: its truth, and whether it is ERR ("the complete selector is false"), which no Catalyst value
can say. Rules for texts: every literal has its type; no sub-expression can raise, whatever is evaluated first and
whether ANSI is on; no text depends on a setting of the session; what a reader of files or a cache is given of a text,
or of its negation, keeps every row that it should. What has no exact text is refused with its reason. Follows
language §1 and §5, spark §4.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from mqsel.carets import quoted
from mqsel.language.checker import evaluate, truth_of
from mqsel.language.dialect import core_of
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Computed,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
    unparse,
    walk,
)
from mqsel.language.operators import BOUNDS, FAILING, OPERATORS
from mqsel.language.pattern import Segment, segments, shape
from mqsel.language.selector import Selector
from mqsel.logic.formulas import NEVER
from mqsel.logic.normal import ALL_PARTS, normal
from mqsel.spark.columns import VALUE, Case, PropertySource, Steps, is_writable, looked_up, text_literal
from mqsel.values import APPROXIMATE, EXACT, Float32, Truth, arithmetic, negate

# Spark 4.3 parses 100 levels of parentheses in its default stack and not 200. A chain of tests it rebuilds as deep as
# it is long, and walks it recursively: 900 overflow a stack, 1,000 are more code than Java takes. A queue manager
# refuses more than 100.
MAX_DEPTH = 60
MAX_LENGTH = 24_000
MAX_TESTS = 100
MAX_CASES = 150  # combinations of types in one test: two properties of any connector, and no three


class Condition(NamedTuple):
    """A condition as Catalyst text.

    Attributes:
        sql: its truth: true, false, or NULL for UNKNOWN; anything where it is ERR.
        err: whether it is ERR: never NULL; empty where it cannot be.
        readable: `sql` with NaN left out by comparisons with infinity, which readers of files understand, instead of
            isnan; empty where nothing is to be written so.
        bound: TRUE in every row and opaque to readers: joined to `readable`, whose negation must not reach them.
        mismatch: whether evaluating it meets a value of another kind: never NULL; empty where it does not, and for
            whoever does not ask.
    """

    sql: str
    err: str
    readable: str = ""
    bound: str = ""
    mismatch: str = ""


class NoTranslation(Exception):  # noqa: N818 (an answer, not an error)
    """Why a condition has no exact Catalyst text."""


def condition(selector: Selector, sources: Mapping[str, PropertySource], *, has_types: bool = False) -> Condition:
    """Translate *selector*, a part of one perhaps.

    Args:
        sources: for each property, where it is read.
        has_types: write where types differ, too.

    Raises: NoTranslation: with the reason.
    """
    if selector.match_option is not None and selector.match_option.matches_any:
        return Condition("true", "")
    selector = selector.of_core()
    depth: dict[int, int] = {}
    for part in selector.order:
        depth[id(part)] = 1 + max((depth[id(child)] for child in children(part)), default=0)
    if depth[id(selector.node)] > MAX_DEPTH:
        raise NoTranslation(f"nested more than {MAX_DEPTH} deep")
    if tests(selector) > MAX_TESTS:
        raise NoTranslation(f"more than {MAX_TESTS} tests")
    made = _Translator(selector, sources, has_types=has_types).condition(selector.node)
    if not has_types:
        made = made._replace(mismatch="")
    if len(made.sql) + len(made.err) + len(made.mismatch) > MAX_LENGTH:
        raise NoTranslation(f"its expression is longer than {MAX_LENGTH:,} characters")
    if max(_nesting(made.sql), _nesting(made.err), _nesting(made.mismatch)) > MAX_DEPTH:
        raise NoTranslation(f"its expression is nested more than {MAX_DEPTH} deep")
    return made


def tests(selector: Selector) -> int:
    """Count the tests of a selector; BETWEEN is two."""
    classes = [type(part) for part in selector.order]
    return max(1, sum(classes.count(one) for one in (Comparison, Between, Between, In, Like, IsNull)))


def final(made: Condition) -> str:
    """Return the three-valued text of a condition whose ERR is the end: FALSE.

    Of an OR readers take all operands or none, so that there it is `readable`.
    """
    if made.err:
        return f"{_negated(made.err)} AND {_at(made.sql, _AND)}"
    return f"({made.readable}) AND {made.bound}" if made.bound and _strength(made.sql) == _OR else made.sql


# ---- texts -----------------------------------------------------------------------------------------------------------

UNKNOWN = "CAST(NULL AS BOOLEAN)"
_TOKEN = re.compile(r"'[^']*'|`[^`]*`|[()=<>]|\b(?:CASE|END|AND|OR|NOT|IS|IN)\b")
_OR, _AND, _NOT, _PREDICATE, _PRIMARY = range(5)
_STRENGTHS = {"OR": _OR, "AND": _AND, "NOT": _NOT, **dict.fromkeys(("=", "<", ">", "IS", "IN"), _PREDICATE)}


@functools.lru_cache(1024)  # names of columns are asked for again and again
def _strength(text: str) -> int:
    """Return how strongly the weakest operator outside parentheses binds."""
    depth, weakest = 0, _PRIMARY
    for token in _TOKEN.findall(text):
        if token in ("(", "CASE"):
            depth += 1
        elif token in (")", "END"):
            depth -= 1
        elif depth == 0 and token in _STRENGTHS:
            weakest = min(weakest, _STRENGTHS[token])
    return weakest


def _nesting(text: str) -> int:
    depth = deepest = 0
    for token in _TOKEN.findall(text):
        if token in ("(", "CASE"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in (")", "END"):
            depth -= 1
    return deepest


def _at(text: str, strength: int) -> str:
    return text if _strength(text) >= strength else f"({text})"


def _negated(text: str) -> str:
    return f"NOT {_at(text, _NOT)}"


def _either(*texts: str) -> str:
    """Join texts that are never NULL by OR; an empty one is false."""
    kept = list(dict.fromkeys(text for text in texts if text))
    return "true" if "true" in kept else kept[0] if len(kept) == 1 else " OR ".join(kept)


def both(*texts: str) -> str:
    """Join texts by AND; an empty one is true."""
    kept = list(dict.fromkeys(text for text in texts if text))
    return kept[0] if len(kept) == 1 else " AND ".join([_at(text, _AND) for text in kept])


# ---- values ----------------------------------------------------------------------------------------------------------

_NARROW = tuple(name for name in EXACT if name != "int64")
_NUMBERS = (*EXACT, *APPROXIMATE)
_LITERALS = {"exact": "int64", "approximate": "float64", "string": "string", "boolean": "boolean", "bytes": "bytes"}


class _Value(NamedTuple):
    """An operand.

    Attributes:
        type: that of a property, "null", or "poison": a number whose every comparison is a type mismatch.
        sql: its text; for the arithmetic of int64 NULL also where it overflows.
        nulls: texts one of which is NULL just where the value is; of a field also the structs that it lies in, as
            the statistics of ORC know of no row whose struct is NULL.
        err: where computing it is ERR; never NULL.
        wide: for the arithmetic of int64, the exact text, by way of decimals; else empty.
        literal: the value of a literal.
        is_column: it is what a row has.
        is_known: it is a column or a field as it is: a reader understands a comparison with it.
        steps: of what is read from a column that a reader understands: how that is compared.
        asked: as that of a `PropertySource`.
        mismatch: of a condition: as that of a `Condition`.
    """

    type: str
    sql: str
    nulls: tuple[str, ...] = ()
    err: str = ""
    wide: str = ""
    literal: int | float | str | None = None
    is_column: bool = False
    is_known: bool = False
    steps: Steps | None = None
    asked: str = ""
    mismatch: str = ""

    @property
    def text(self) -> str:
        return f"coalesce({self.sql}, {self.wide})" if self.wide else self.sql


def _is_null(*values: _Value) -> str:
    """Return the text of whether one of *values* is NULL; empty where none can be."""
    if any(value.type == "null" for value in values):
        return "true"
    return _either(*[f"{_at(text, _PRIMARY)} IS NULL" for value in values for text in value.nulls])


def _is_not_null(*values: _Value) -> str:
    """Return the text of whether none of *values* is NULL; empty where none can be."""
    if any(value.type == "null" for value in values):
        return "false"
    return both(*[f"{_at(text, _PRIMARY)} IS NOT NULL" for value in values for text in value.nulls])


def _settled(answer: str, *values: _Value) -> str:
    """Return *answer*, and NULL where one of *values* is."""
    present = _is_not_null(*values)
    return f"CASE WHEN {present} THEN {answer} END" if present else answer


def _double(number: float) -> str:
    if not math.isfinite(number):
        return _NAN if math.isnan(number) else _INFINITY if number > 0 else _MINUS_INFINITY
    return f"{number!r}D"


def _single(number: float) -> str:
    return f"{float(Float32(number))!r}F"


def _long(number: int) -> str:
    return f"{number}L"


def _wide(value: _Value) -> str:
    """Write an integer operand as a decimal without overflow."""
    if value.literal is not None:
        return f"CAST({_long(int(value.literal))} AS DECIMAL(19,0))"
    return f"CAST({value.wide or value.sql} AS DECIMAL(19,0))"


def _wrapped(decimal: str) -> str:
    """Wrap a decimal of at most 38 digits around as Java's long does."""
    offset = "9223372036854775808BD"
    return f"CAST(pmod({decimal} + {offset}, 18446744073709551616BD) - {offset} AS BIGINT)"


def _wrapped_int(long: str) -> str:
    """Wrap a BIGINT around as Java's int does."""
    return f"CAST(shiftright(shiftleft({long}, 32), 32) AS INT)"


def _as_long(value: _Value) -> str:
    """Write an integer operand as a BIGINT, NULL where it overflowed."""
    return value.sql if value.type == "int64" else f"CAST({value.sql} AS BIGINT)"


def _as(value: _Value, promoted: str) -> str:
    """Write a number in the type that it is promoted to."""
    if value.literal is not None and promoted in APPROXIMATE:
        return _double(float(value.literal)) if promoted == "float64" else _single(value.literal)  # type: ignore[arg-type]
    if value.type == promoted or (promoted in EXACT and value.type in EXACT):
        return value.text
    return f"CAST({value.text} AS {'DOUBLE' if promoted == 'float64' else 'FLOAT'})"


def _promoted(left: _Value, right: _Value) -> str:
    """Return the type of Java's binary promotion (language §5)."""
    for promoted in ("float64", "float32", "int64"):
        if promoted in (left.type, right.type):
            return promoted
    return "int32"


_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
_INFINITY = "CAST('Infinity' AS DOUBLE)"
_MINUS_INFINITY = "CAST('-Infinity' AS DOUBLE)"
_NAN = "CAST('NaN' AS DOUBLE)"
_ENDS = {"float64": ("0D", _INFINITY), "float32": ("0F", "CAST('Infinity' AS FLOAT)")}  # a zero, and what none exceeds


def _divided(operator: str, left: _Value, right: _Value, promoted: str) -> tuple[str, str]:
    """Divide integers, or compute the remainder: the text, and where it is ERR for want of a divisor."""
    over = right.literal
    dividend = left.text if promoted == "int64" and left.type == "int64" else f"CAST({left.text} AS BIGINT)"
    if over == 0:
        return "CAST(NULL AS BIGINT)", _is_not_null(left) or "true"
    if over is not None and over != -1:
        return f"({dividend} {'div' if operator == '/' else operator} {_long(int(over))})", ""
    divisor = right.text if promoted == "int64" and right.type == "int64" else f"CAST({right.text} AS BIGINT)"
    missing = "" if over else f"coalesce({both(f'{divisor} = 0L', _is_not_null(left))}, false)"
    if operator == "%":  # of -1 it is zero: nothing overflows
        found = f"({dividend} % (CASE WHEN {divisor} <> 0L THEN {divisor} END))"
        return _wrapped_int(found) if promoted == "int32" else found, missing
    if promoted == "int32":
        # The quotient of two ints is a long: nothing overflows before it is wrapped.
        return _wrapped_int(f"({dividend} div (CASE WHEN {divisor} <> 0L THEN {divisor} END))"), missing
    negative = _wrapped(f"0BD - CAST({dividend} AS DECIMAL(19,0))")
    if over == -1:
        return negative, ""
    quotient = f"{dividend} div (CASE WHEN {divisor} NOT IN (0L, -1L) THEN {divisor} END)"
    return f"coalesce({quotient}, CASE WHEN {divisor} = -1L THEN {negative} END)", missing


def _remainder(left: str, right: str, promoted: str) -> str:
    """Compute the remainder of floats or doubles: by a zero it is NaN, which Spark has NULL or an error for."""
    zero, nan = _ENDS[promoted][0], _NAN if promoted == "float64" else f"CAST({_NAN} AS FLOAT)"
    finite = f"{left} % (CASE WHEN {right} <> {zero} THEN {right} END)"
    return f"coalesce({finite}, CASE WHEN {right} = {zero} AND {left} IS NOT NULL THEN {nan} END)"


def _divided_double(left: str, right: str, divisor: float | None) -> str:
    """Divide doubles by IEEE. By a zero is to multiply by the infinity of its sign; NaN and zero make NaN of it."""
    if divisor is not None and divisor != 0:
        return f"({left} / {right})"
    infinity = f"CASE CAST({right} AS STRING) WHEN '-0.0' THEN {_MINUS_INFINITY} ELSE {_INFINITY} END"
    if divisor is not None:
        return f"({left} * {_MINUS_INFINITY if str(divisor) == '-0.0' else _INFINITY})"
    finite = f"{left} / (CASE WHEN {right} <> 0D THEN {right} END)"
    return f"coalesce({finite}, {left} * (CASE WHEN {right} = 0D THEN {infinity} END))"


# ---- LIKE ------------------------------------------------------------------------------------------------------------


def _spelled(segment: Segment) -> str:
    """Spell a part of a pattern as a regular expression; a class stands for what has a meaning outside of one."""
    out = ""
    for character in segment:
        if character is None:
            out += "."
        elif character.isalnum() or character in " _-:;,/=<>!@#%~":
            out += character
        elif character in ".*+?(){}|$":
            out += f"[{character}]"
        else:
            out += f"\\x{{{ord(character):X}}}"
    return out


def _distances(segment: Segment) -> tuple[str, str, str]:
    """Return the _ before a part, what is searched, and the _ behind: those are passed once, not at each place."""
    places = [at for at, character in enumerate(segment) if character is not None]
    first, last = (places[0], places[-1] + 1) if places else (len(segment), len(segment))
    return _spelled(segment[:first]), _spelled(segment[first:last]), _spelled(segment[last:])


_REPLACEMENT = "\ufffd"


def _readable(column: str, *texts: str) -> str:
    """Write a column as it is compared with texts: only they tell bytes that are no UTF-8 from what stands for them."""
    return f"make_valid_utf8({column})" if any(_REPLACEMENT in text for text in texts) else column


def _asked(value: _Value, texts: list[str]) -> str:
    """Write what the catalog may be asked of a column of directories that is one of some texts; empty if nothing.

    An empty text is beside them, which no directory has: from an equality Spark would conclude that the exact test
    is TRUE, and ask for the negation, too. Of a long list it asks for a range.
    """
    return f"{value.asked} IN ({', '.join([*texts, text_literal('')])})" if value.asked and len(texts) < 100 else ""


def days_of(text: str) -> int | None:
    """Return the days since 1970 of a date as Spark writes it, ``2026-01-31``; None of any other text.

    Of a year before 1 or after 9999 it is None, too: such a text is compared as a text.
    """
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return dt.date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        return None


def is_date(text: str) -> bool:
    """Report whether Spark writes some date so; one outside the years 1 to 9999 has more digits or a sign."""
    return days_of(text) is not None or bool(re.fullmatch("(0000|-[0-9]{4,7}|[+][0-9]{5,7})-[0-9]{2}-[0-9]{2}", text))


_EPOCH = dt.date(1970, 1, 1).toordinal()


def _listed(value: _Value, choices: Iterable[str], *, negated: bool) -> str:
    """Write whether a string is one of some texts. What is read from a date is compared with dates as a date."""
    steps, dates, plain = value.steps, [], []
    for choice in dict.fromkeys(choices):
        days = None if steps is None else days_of(choice)
        if steps is not None and days is not None:
            dates.append(steps.constant(days))
        elif is_writable(choice):
            plain.append(choice)
    conditions = [_one_of(steps.sql, dates, negated=negated)] if steps is not None and dates else []
    if plain:
        texts = [text_literal(choice) for choice in plain]
        conditions.append(_one_of(_readable(value.sql, *plain), texts, negated=negated))
        conditions[-1] = conditions[-1] if negated else both(_asked(value, texts), conditions[-1])
    if not conditions:
        return _settled("true" if negated else "false", value)
    return both(*conditions) if negated else _either(*conditions)


def _one_of(column: str, constants: Sequence[str], *, negated: bool) -> str:
    if len(constants) == 1:
        return f"{_at(column, _PRIMARY)} {'<>' if negated else '='} {constants[0]}"
    return f"{column} {'NOT ' if negated else ''}IN ({', '.join(constants)})"


_FUNCTIONS = {"prefix": "startswith", "suffix": "endswith", "contains": "contains"}


def _like(value: _Value, node: Like) -> str:
    """Write LIKE as the cheapest function that is exact.

    The regular expression never goes back into a part it has found: each part lies as far left as it can, which is
    enough, so that no text takes longer than its length times the pattern's.
    """
    parts = segments(node.pattern, node.escape)
    if not all(is_writable(character) for part in parts for character in part if character is not None):
        return _settled("false", value)
    column = _readable(value.sql, _REPLACEMENT if any(None in part for part in parts) else node.pattern)
    found, text = shape(parts)
    if found == "exact":
        return f"{column} = {text_literal(text)}"
    if text:
        return f"{_FUNCTIONS[found]}({column}, {text_literal(text)})"
    if found == "prefix":
        return _settled("true", value)
    body = _spelled(parts[0])
    for part in parts[1:-1]:
        before, core, behind = _distances(part)
        body += before + (f"(?>.*?{core})" if core else "") + behind
    if len(parts) > 1 and parts[-1]:
        before, core, behind = _distances(parts[-1])
        body += f"{before}.*{core}{behind}"
    # (?!.) is the end of the text, which $ is not.
    end = "" if len(parts) > 1 and not parts[-1] else "(?!.)"
    return f"rlike({column}, {text_literal(f'(?s)^{body}{end}')})"


# ---- the tree --------------------------------------------------------------------------------------------------------

_IS_FALSE = Condition("false", "")
_CONSTANTS = {
    Truth.TRUE: Condition("true", ""),
    Truth.FALSE: _IS_FALSE,
    Truth.UNKNOWN: Condition(UNKNOWN, ""),
    Truth.ERR: Condition("false", "true"),
}


def _mismatch(other: Truth, *values: _Value, err: str = "") -> Condition:
    """Write what a test is where types differ, *other*, and UNKNOWN where a value is NULL."""
    if any(value.type == "null" for value in values):
        return Condition(UNKNOWN, err)
    differ = both(_is_not_null(*values), err and _negated(err)) or "true"
    if other is Truth.UNKNOWN:
        return Condition(UNKNOWN, err, mismatch=differ)
    if other is Truth.ERR:
        err = _either(err, _is_not_null(*values) or "true")
    return Condition(_settled("true" if other is Truth.TRUE else "false", *values), err, mismatch=differ)


def _computed(null: Truth, *operands: _Value) -> _Value:
    """Return what arithmetic makes of operands, but for its text; of no type where each of them is a number.

    Args:
        null: what it yields for NULL; where that is ERR nothing is left that makes the result NULL.
    """
    err = _either(*[one.err for one in operands], _is_null(*operands) if null is Truth.ERR else "")
    if any(one.type == "null" for one in operands):
        return _Value("null", "NULL", err=err)
    nulls = () if null is Truth.ERR else tuple(dict.fromkeys(text for one in operands for text in one.nulls))
    return _Value("" if all(one.type in _NUMBERS for one in operands) else "poison", "", nulls, err)


class _Translator:
    """Translates the nodes of one tree."""

    def __init__(self, selector: Selector, sources: Mapping[str, PropertySource], *, has_types: bool) -> None:
        self.selector = selector
        self.has_types = has_types
        self.names = selector.names
        self.has_order = core_of(selector.dialect).has_greatest
        self.sources = dict(sources)

    def condition(self, node: Node) -> Condition:
        match node:
            case And() | Or() if node.rule != "kleene":
                raise NoTranslation("AND and OR of another kind")
            case And(operands) | Or(operands):
                return self.junction([self.condition(one) for one in operands], is_and=isinstance(node, And))
            case Not(operand):
                made = self.condition(operand)
                return Condition(_negated(made.sql), made.err, mismatch=made.mismatch)
            case Literal(value=value):
                return _CONSTANTS[Truth(int(bool(value)))]
            case Computed():
                raise NoTranslation(f"{quoted(unparse(node, node.dialect))} is computed")
        names = dict.fromkeys(self.names[part.name] for part in walk(node) if isinstance(part, Identifier))
        if not names:
            differs = self.has_types and normal(self.selector.part(node), ALL_PARTS).mismatch is not NEVER
            return _CONSTANTS[truth_of(evaluate(node))]._replace(mismatch="true" * differs)
        varying = [self.sources[name] for name in names if not self.sources[name].type]
        if math.prod(len(source.cases) + 1 for source in varying) > MAX_CASES:
            named = " and ".join([f"'{source.name}'" for source in varying])
            raise NoTranslation(f"{named} have a type of their own in each row: more than {MAX_CASES} cases")
        return self.varying(node, varying)

    def varying(self, node: Node, sources: list[PropertySource]) -> Condition:
        """Translate a predicate once for each combination of types that properties may have; each is looked up once."""
        if not sources:
            return self.predicate(node)
        source, *others = sources
        assert source.shared is not None
        held, inner = source.shared
        variable = f"`mqsel: {len(others)}`"  # within the lambda function of one property stand those of others

        def of(case: Case) -> Condition:
            sql = case.sql.replace(VALUE, variable)
            self.sources[source.name] = PropertySource(source.name, case.type, sql, inner.raw)
            return self.varying(node, others)

        made = [(case.tag, of(case)) for case in inner.cases]
        missing = of(Case("", "null", "NULL"))
        self.sources[source.name] = source

        def chosen(part: Callable[[Condition], str], otherwise: str) -> str:
            branches = " ".join([f"WHEN {text_literal(tag)} THEN {part(one)}" for tag, one in made])
            chosen = f"CASE {inner.sql.replace(VALUE, variable)} {branches} ELSE {otherwise} END"
            return looked_up(held, chosen, variable) if branches else otherwise

        err = mismatch = ""
        if missing.err or any(one.err for _, one in made):
            err = chosen(lambda one: one.err or "false", missing.err or "false")
        if self.has_types and any(one.mismatch for _, one in made):
            mismatch = chosen(lambda one: one.mismatch or "false", "false")
        return Condition(chosen(lambda one: one.sql, missing.sql), err, mismatch=mismatch)

    def junction(self, operands: list[Condition], *, is_and: bool) -> Condition:
        """Join conditions; what stands behind a decisive one is not evaluated, so its ERR does not count."""
        word = " AND " if is_and else " OR "
        strength = _AND if is_and else _OR

        def together(texts: list[str]) -> str:
            return word.join([_at(text, strength) for text in texts]) if len(texts) > 1 else texts[0]

        def written(some: list[Condition]) -> str:
            return together([one.sql for one in some])

        err = ""
        waiting: list[Condition] = []  # the conditions before the last ERR found, from the right
        for one in reversed(operands):
            if one.err:
                # What is behind is reached where neither it nor what follows is decisive.
                reached = err and both(self.open(written([one, *waiting[::-1]]), is_and=is_and), err)
                err = _either(one.err, reached)
                waiting = []
            elif err:
                waiting.append(one)
        if err and waiting:
            err = both(self.open(written(waiting[::-1]), is_and=is_and), err)
        bound = next((one.bound for one in operands if one.bound), "")
        readable = together([one.readable or one.sql for one in operands]) if bound else ""
        mismatch = ""
        for one in reversed(operands) if self.has_types else ():
            if mismatch:
                mismatch = both(self.open(one.sql, is_and=is_and), one.err and _negated(one.err), mismatch)
            mismatch = _either(one.mismatch, mismatch)
        return Condition(written(operands), err, readable, bound, mismatch)

    def open(self, sql: str, *, is_and: bool) -> str:
        return f"coalesce({sql}, true)" if is_and else f"NOT coalesce({sql}, false)"

    def predicate(self, node: Node) -> Condition:
        match node:
            case Identifier():
                value = self.value(node)
                return Condition(value.sql, "") if value.type == "boolean" else _mismatch(node.other, value)
            case Comparison(has_greatest=True):
                raise NoTranslation("NaN is greater than every number")
            case Comparison(operator, left, right):
                return self.compare(operator, self.value(left), self.value(right), node.other)
            case Between():
                return self.between(node)
            case In(negated, identifier) | Like(negated, identifier):
                value = self.value(identifier)
                if value.type != "string":
                    return _mismatch(node.other, value)
                if isinstance(node, Like):
                    sql = _like(value, node)
                    return Condition(_negated(sql) if negated else sql, "")
                return Condition(_listed(value, node.choices, negated=negated), "")
            case IsNull(negated, identifier):
                value = self.value(identifier)
                if value.type == "null":
                    return Condition("false" if negated else "true", "")
                return Condition(_is_not_null(value) if negated else _is_null(value), "")
        raise AssertionError(node)

    def compare(self, operator: str, left: _Value, right: _Value, other: Truth) -> Condition:
        made = self.compared(operator, left, right, other)
        # What is on the left is computed first.
        behind = right.mismatch and both(left.err and _negated(left.err), right.mismatch)
        return made._replace(mismatch=_either(left.mismatch, behind, made.mismatch))

    def compared(self, operator: str, left: _Value, right: _Value, other: Truth) -> Condition:
        err = _either(left.err, right.err)
        if left.type in _NUMBERS and right.type in _NUMBERS:
            for one, beside, sign in ((left, right, operator), (right, left, OPERATORS[operator].mirrored)):
                if one.steps is not None and beside.literal is not None:
                    return self.stepped(sign, one, one.steps, beside)._replace(err=err)
            return self.numbers(operator, left, right)._replace(err=err)
        if operator in ("=", "<>") and left.type == right.type and left.type in ("string", "boolean", "bytes"):
            for one, beside in ((left, right), (right, left)):
                if isinstance(one.literal, str) and (beside.steps is not None or not is_writable(one.literal)):
                    return Condition(_listed(beside, [one.literal], negated=operator == "<>"), err)
            if left.type == "string":
                # Two texts that differ may be one when read.
                said = [one.literal for one in (left, right) if isinstance(one.literal, str)] or [_REPLACEMENT]
                texts = [one.sql if one.literal is not None else _readable(one.sql, *said) for one in (left, right)]
                pairs = ((left, right), (right, left)) if operator == "=" else ()
                asked = [_asked(one, [other.sql]) for one, other in pairs if other.literal is not None]
                return Condition(both(*asked, f"{_at(texts[0], _PRIMARY)} {operator} {_at(texts[1], _PRIMARY)}"), err)
            return Condition(f"{_at(left.sql, _PRIMARY)} {operator} {_at(right.sql, _PRIMARY)}", err)
        return _mismatch(other, left, right, err=err)

    def numbers(self, operator: str, left: _Value, right: _Value) -> Condition:
        """Compare by IEEE: to Spark NaN equals itself and is greater than any other number."""
        if left.literal is not None and right.literal is None:
            return self.numbers(OPERATORS[operator].mirrored, right, left)
        promoted = _promoted(left, right)
        if right.literal is not None and math.isnan(float(right.literal)):
            return Condition(_settled("true" if operator == "<>" else "false", left), "")
        a, b = _as(left, promoted), _as(right, promoted)
        sql = f"{a} {operator} {b}"
        may_be = [one.type in APPROXIMATE and one.literal is None for one in (left, right)]
        if left.is_column and may_be[0] and right.literal is not None:
            return self.column_and_literal(operator, a, right, promoted, is_known=left.is_known and a == left.sql)
        if left.is_column and right.is_column and any(may_be):
            # From an equality Spark concludes that one column may stand for the other, though one is 0.0, one -0.0.
            sql = {"=": f"{a} <= {b} AND {a} >= {b}", "<>": f"{a} < {b} OR {a} > {b}"}.get(operator, sql)
        if operator == "<>":
            return Condition(f"{sql} OR (isnan({a}) AND isnan({b}))" if all(may_be) else sql, "")
        if operator == "=":
            wrong = left if all(may_be) else None
        else:
            greater = right if operator in ("<", "<=") else left
            wrong = greater if may_be[greater is right] else None
        if wrong is None:
            return Condition(sql, "")
        text, other = (a, right) if wrong is left else (b, left)
        present = _is_not_null(other)
        return Condition(f"{sql} AND NOT {f'(isnan({text}) AND {present})' if present else f'isnan({text})'}", "")

    def stepped(self, operator: str, value: _Value, steps: Steps, literal: _Value) -> Condition:
        """Compare what is read from a column with a literal, so that a reader is given a comparison of the column."""
        made = self.numbers(operator, value, literal)
        number = literal.literal
        assert isinstance(number, int | float)
        if value.type in APPROXIMATE:
            # What is read is rounded: beside the test stands a weaker one of the column.
            if not math.isfinite(number):
                return made
            lowest, highest = (Fraction(number) + sign * abs(Fraction(number)) / (1 << 20) for sign in (-1, 1))
            low, high = math.floor(lowest * steps.units[0]) - 1, math.ceil(highest * steps.units[0]) + 1
            ends = [(">=", low)] * (operator in ("=", ">", ">=")) + [("<=", high)] * (operator in ("=", "<", "<="))
            tests = [f"{steps.sql} {sign} {steps.constant(end)}" for sign, end in ends if steps.constant(end)]
            return Condition(both(made.sql, *tests), "")
        if isinstance(number, float):
            if not abs(number) < 1 << 53:
                return made
            whole = math.floor(number)
            if whole != number:
                operator = {">=": ">", "<": "<=", "=": "", "<>": ""}.get(operator, operator)
            number = whole
        numerator, denominator = steps.units
        # Of the column's values, that with the least units at which the number is reached, and the one after it.
        low, high = (-(-one * numerator // denominator) for one in (number, number + 1))
        least, next_one = steps.constant(low), steps.constant(high)
        if not operator or not least or not next_one:
            return made
        text = {
            ">=": f"{steps.sql} >= {least}",
            "<": f"{steps.sql} < {least}",
            ">": f"{steps.sql} >= {next_one}",
            "<=": f"{steps.sql} < {next_one}",
            "=": f"{steps.sql} >= {least} AND {steps.sql} < {next_one}",
            "<>": f"{steps.sql} < {least} OR {steps.sql} >= {next_one}",
        }[operator]
        if high == low + 1:
            text = f"{steps.sql} {operator} {least}"
        if steps.read is None:
            return Condition(text, "")
        first, last = map(steps.constant, steps.read)
        return Condition(both(made.sql, _either(text, f"{steps.sql} < {first}", f"{steps.sql} > {last}")), "")

    def column_and_literal(
        self, operator: str, column: str, literal: _Value, promoted: str, *, is_known: bool
    ) -> Condition:
        """Compare a column of floats with a literal, such that a reader may be given the text or its negation.

        Statistics leave NaN out: no negation may leave NaN to be found by them, so that isnan, which no reader
        understands, stands beside every comparison. In statistics, dictionaries and Bloom filters -0.0 is less than
        0.0, and Spark takes a column that equals a literal for the literal: a zero is a range.
        """
        value = _as(literal, promoted)
        tests = [f"{column} {operator} {value}"]
        if literal.literal == 0:
            low, high = (_as(literal._replace(literal=zero), promoted) for zero in (-0.0, 0.0))
            tests = {
                "=": [f"{column} <= {high}", f"{column} >= {low}"],
                "<>": [f"{column} < {low}", f"{column} > {high}"],
                "<=": [f"{column} <= {high}"],
                ">=": [f"{column} >= {low}"],
            }.get(operator, tests)
        if operator == "<>":
            return Condition(" OR ".join([*tests, f"isnan({column})"]), "")
        sql = " AND ".join([*tests, f"NOT isnan({column})"])
        if not is_known:
            return Condition(sql, "")
        zero, infinity = _ENDS[promoted]
        readable = " AND ".join([*tests, f"{column} <= {infinity}"])
        return Condition(sql, "", readable, f"coalesce(nanvl({column}, {zero}) <= {infinity}, true)")

    def between(self, node: Between) -> Condition:
        def compared(operand: _Value, *bounds: _Value) -> Condition:
            pairs = zip(BOUNDS[node.negated], bounds, strict=True)
            tests = [self.compare(sign, operand, bound, node.other) for sign, bound in pairs]
            return self.junction(tests, is_and=not node.negated)

        values = [self.value(part) for part in (node.operand, node.low, node.high)]
        made = compared(*values)
        if node.null is None:
            return made
        # All three values are computed before one of them is looked at.
        present = _is_not_null(*values)
        late = compared(*[value._replace(err="") for value in values]).err
        fault = _either(*[value.err for value in values])
        err = _either(fault, late and both(present, late))
        mismatch = made.mismatch and both(present, fault and _negated(fault), made.mismatch)
        if not present:
            return made._replace(err=err, mismatch=mismatch)

        def settled(text: str) -> str:
            return _either(_is_null(*values), text) if node.negated else both(present, text)

        return Condition(settled(made.sql), err, made.readable and settled(made.readable), made.bound, mismatch)

    # ---- operands --------------------------------------------------------------------------------------------------

    def value(self, node: Node) -> _Value:
        match node:
            case Literal():
                return self.literal(node)
            case Identifier(name):
                source = self.sources[self.names[name]]
                if source.type == "null":
                    return _Value("null", "NULL")
                if self.has_order and source.type in ("float32", "float64"):
                    raise NoTranslation(f"'{name}' may be NaN or -0.0, which this dialect does not take")
                nulls = (*(source.within or ()), source.sql)
                is_known = source.within is not None and source.sql == source.raw
                found = _Value(source.type, source.sql, nulls, is_column=True, is_known=is_known)
                return found._replace(steps=source.steps, asked=source.asked)
            case Sign(operator, operand, _, null):
                return self.sign(operator, self.value(operand), null)
            case Arithmetic(rule="narrow"):
                raise NoTranslation("arithmetic of 32 bits")
            case Arithmetic(operators, operands, _, null):
                total = self.value(operands[0])
                for operator, operand in zip(operators, operands[1:], strict=True):
                    total = self.arithmetic(operator, total, self.value(operand), null)
                    if len(total.text) > MAX_LENGTH:
                        raise NoTranslation(f"its expression is longer than {MAX_LENGTH:,} characters")
                return total
        made = self.condition(node)
        nulls = () if made.sql in ("true", "false") else (f"({made.sql})",)
        return _Value("boolean", f"({made.sql})", nulls, made.err, mismatch=made.mismatch)

    def literal(self, node: Literal) -> _Value:
        named = _LITERALS[node.kind]
        match node.value:
            case bool(truth):
                return _Value(named, "true" if truth else "false")
            case int(number) | float(number):
                return self.number(number)
            case str(text):
                return _Value(named, text_literal(text) if is_writable(text) else "", literal=text)
        return _Value(named, f"X'{bytes(node.value).hex()}'")

    def number(self, number: int | float) -> _Value:
        if isinstance(number, int):
            return _Value("int64", _long(number), literal=number)
        return _Value("float64", _double(number), literal=number)

    def sign(self, operator: str, operand: _Value, null: Truth) -> _Value:
        base = _computed(null, operand)
        if base.type:
            return base
        if operand.literal is not None:
            return operand if operator == "+" else self.number(negate(operand.literal))  # type: ignore[arg-type]
        promoted = "int32" if operand.type in _NARROW else operand.type
        made = operand._replace(type=promoted, nulls=base.nulls, err=base.err, is_known=False, steps=None)
        if promoted == "int32":
            long = f"CAST({operand.sql} AS BIGINT)"
            return made._replace(sql=_wrapped_int(f"-{long}" if operator == "-" else long))
        if operator == "+":
            return made
        if promoted == "int64":
            return made._replace(sql=f"try_subtract(0L, {operand.sql})", wide=_wrapped(f"0BD - {_wide(operand)}"))
        return made._replace(sql=f"(-{operand.sql})", is_column=False)

    def arithmetic(self, operator: str, left: _Value, right: _Value, null: Truth) -> _Value:
        base = _computed(null, left, right)
        if base.type:
            return base
        promoted = _promoted(left, right)
        if left.literal is not None and right.literal is not None:
            constant = arithmetic(operator, left.literal, right.literal)  # type: ignore[arg-type]
            if constant is not None:
                return self.number(constant)
        made = base._replace(type=promoted)
        if promoted in APPROXIMATE:
            if operator == "%":
                return made._replace(sql=_remainder(_as(left, promoted), _as(right, promoted), promoted))
            if operator != "/":
                return made._replace(sql=f"({_as(left, promoted)} {operator} {_as(right, promoted)})")
            divisor = None if right.literal is None else float(right.literal)
            if promoted == "float64":
                return made._replace(sql=_divided_double(_as(left, promoted), _as(right, promoted), divisor))
            # Spark divides doubles only. 53 >= 2 * 24 + 2 bits: rounding that quotient gives the one of the floats.
            a, b = (f"CAST({_as(one, promoted)} AS DOUBLE)" for one in (left, right))
            return made._replace(sql=f"CAST({_divided_double(a, b, divisor)} AS FLOAT)")
        if operator in FAILING:
            sql, missing = _divided(operator, left, right, promoted)
            return made._replace(sql=sql, err=_either(base.err, missing))
        if promoted == "int32":
            return made._replace(sql=_wrapped_int(f"{_as_long(left)} {operator} {_as_long(right)}"))
        exact = _wrapped(f"{_wide(left)} {operator} {_wide(right)}")
        return made._replace(sql=f"{_TRY[operator]}({_as_long(left)}, {_as_long(right)})", wide=exact)
