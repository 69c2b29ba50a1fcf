"""What messages are like: names, types and domains, or a selector that is TRUE of every message.

A `Contract` narrows the messages that comparisons search: what it says of the properties that selectors read is a
formula beside theirs, and each message that is found is checked by it. Headers have their types and domains in any
contract: *Jakarta Messaging 3.1*, §3.4 and §3.8.1.1; *IBM MQ 9.4, Message descriptor fields as properties*.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mqsel.analysis.explain.account import Held, take_column
from mqsel.arguments import check_word, iterated
from mqsel.carets import quoted, shortened, type_name
from mqsel.columns.lookup import column_of, laid_out, names_of, type_of
from mqsel.errors import ArgumentError, FileError, MqselError, PropertyTypeError
from mqsel.formats.amqp import NAMINGS
from mqsel.formats.jms import JMS
from mqsel.formats.jsonl import fault_of_json, plain, typed
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import Identifier
from mqsel.language.selector import Selector, as_text, read_selector
from mqsel.logic.formulas import Compared, Formula, Relation, all_of, any_of, leaf
from mqsel.logic.intervals import DOUBLE, FLOAT, INT64
from mqsel.logic.needs import needs
from mqsel.logic.sets import NOTHING, PROPERTY, Floats, Values, has_value, unite
from mqsel.logic.solver import Message
from mqsel.logic.solver.domains import only
from mqsel.machine._values import Record
from mqsel.names import DESCRIPTOR, HEADER_DOMAINS, JMS_SYNONYMS, MQMD_TYPES, by_casefold, look_up, spellings
from mqsel.notebook import code, page, table
from mqsel.values import APPROXIMATE, CLASS_NAMES, TYPES, Float32

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

MAX_VALUES = 20  # of one property, that a contract of messages lists
_COMMON = 2  # messages that have each of them, on average: else they are names of things, not a domain
PRESENT = PROPERTY._replace(null=False)  # what a property can be that is there
_MOST = sys.float_info.max
_CUT = 80  # characters of a value that are counted: longer ones are not told apart

_TYPES = {row.name: row for row in TYPES if row.kind != "null"}
_FIELDS = ("type", "values", "least", "greatest", "nan", "required")


class Property(NamedTuple):
    """What a contract says about one property.

    Attributes:
        types: The types that its value may have, names in `mqsel.values.TYPES`; empty for any type.
        values: The only values that it may have; empty for any value.
        least: The smallest number that it may be; None for no bound.
        greatest: The greatest number that it may be; None for no bound.
        nan: Whether a number may be NaN, if `values` is empty.
        required: Whether every message has the property.
    """

    types: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    least: int | float | None = None
    greatest: int | float | None = None
    nan: bool = False
    required: bool = False

    def allowed(self) -> Values:
        """Return the set of its values; NULL is in where it may be missing."""
        if self is _ABSENT:
            return _ABSENT_VALUES
        if self.values:
            many = [only(value) for value in self.values]
        else:
            many = [self._lane(name) for name in self.types or tuple(_TYPES)]
        (made,) = unite(many)  # points, intervals and whole lanes: nothing with patterns
        return made._replace(null=not self.required)

    def _lane(self, name: str) -> Values:
        row = _TYPES[name]
        low = -math.inf if self.least is None else self.least
        high = math.inf if self.greatest is None else self.greatest
        match row.kind:
            case "exact":
                first, last = max(low, row.range[0]), min(high, row.range[1])
                return NOTHING._replace(integers=((math.ceil(first), math.floor(last)),) if first <= last else ())
            case "approximate":
                axis = FLOAT if row.bits == 32 else DOUBLE
                first, last = [float(Float32(one)) if axis is FLOAT else float(one) for one in (low, high)]
                first = axis.after(first) if first < low else first
                last = axis.before(last) if last > high else last
                floats = Floats(((first, last),) * (first <= last), nan=self.nan)
                return NOTHING._replace(floats32=floats) if row.bits == 32 else NOTHING._replace(floats64=floats)
            case "boolean":
                return NOTHING._replace(booleans=(True, True))
            case "bytes":
                return NOTHING._replace(bytes=PROPERTY.bytes)
        return NOTHING._replace(strings=PROPERTY.strings)

    def words(self) -> str:
        """Return what is expected, for people."""
        if self.values:
            shown = [quoted(one) if isinstance(one, str) else str(plain(one)) for one in self.values[:MAX_VALUES]]
            more = len(self.values) - len(shown)
            return f"one of {', '.join(shown)}{f' or {more:,} more, which the contract lists' * (more > 0)}"
        bounds = [f"at least {self.least}"] * (self.least is not None)
        bounds += [f"at most {self.greatest}"] * (self.greatest is not None)
        return ", ".join([" or ".join(self.types) or "any type", *bounds])

    def as_dict(self) -> dict[str, Any]:
        """Return it as what JSON holds."""
        is_one = len(self.types) == 1
        found: dict[str, Any] = {}
        if self.types:
            found["type"] = self.types[0] if is_one else [*self.types]
        if self.values:
            pairs = [(CLASS_NAMES[type(one)], _bare(plain(one))) for one in self.values]
            usual = self.types[0] if is_one else ""
            found["values"] = [one if kind in (usual, *_WRITTEN) else {kind: one} for kind, one in pairs]
        bounds = [(name, getattr(self, name)) for name in ("least", "greatest")]  # JSON has no infinite number
        found |= {name: bound for name, bound in bounds if bound is not None and math.isfinite(bound)}
        return found | {name: True for name in ("nan", "required") if getattr(self, name)}


_WRITTEN = ("string", "boolean", "int64")  # types whose values JSON holds as they are


def _bare(value: Any) -> Any:
    """Return a number without its class, which JSON does not have."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return int(value) if isinstance(value, int) else float(value)


class Breach(NamedTuple):
    """One way in which a message violates a contract.

    Attributes:
        name: The property.
        what: "missing", "unknown", "type", "value" or "selector".
        sentence: A sentence with the value that was found, and the values that the contract expects.
    """

    name: str
    what: str
    sentence: str


class Contract:
    """What you know about your messages: their properties, types and values. Functions take it as ``given=``.

    Args:
        properties: A mapping of names to a `Property`, a type name, a list of the only values, or a mapping with some
            of type (a name, or a list of names), values, least, greatest, nan, required. The default is None: none.
        others: Whether a message may have further properties (default True). Headers are always allowed.
        selector: A selector that is TRUE for every message. The default is empty: none.
        dialect: The `Dialect`, or its name, of *selector*. The default is IBM_MQ.

    Attributes:
        properties: The properties by name, each a `Property`.
        others: Whether a message may have further properties.
        selector: The selector that has been read, or None.

    Raises: ArgumentError: if the description of a property is invalid. SelectorError: if *selector* is invalid.
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        *,
        others: bool = True,
        selector: str = "",
        dialect: Dialect | str = IBM_MQ,
    ) -> None:
        if properties is not None and not isinstance(properties, Mapping):
            raise ArgumentError(f"properties are {shortened(properties)}: expected a mapping of names")
        self.properties = {name: _property(name, one) for name, one in (properties or {}).items()}
        self.others = bool(others)
        self._sets: dict[tuple[str, str], tuple[Property | None, Values]] = {}
        self.selector: Selector | None = None
        if selector is not None and (text := as_text(selector)):
            self.selector = read_selector(text, as_dialect(dialect))

    def __reduce__(self) -> tuple[Any, ...]:
        text, dialect = ("", IBM_MQ) if self.selector is None else (self.selector.text, self.selector.dialect)
        return _made, (self.properties, self.others, text, dialect)

    @classmethod
    def of(cls, messages: Iterable[Mapping[str, Any]], *, values: bool = True) -> Contract:
        """Return a contract that each of the messages conforms to.

        Args:
            messages: An iterable of mappings of names to values.
            values: Whether the contract lists values and bounds (default True), or only types and required properties.

        Raises: ArgumentError: if *messages* is not an iterable of mappings.
        """
        seen = Observed()
        for message in iterated(messages, "an iterable of messages"):
            seen.take(message)
        return seen.contract(values=bool(values))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Contract:
        """Read a contract from a JSON file, such as ``mqsel contract`` writes.

        Args:
            path: A str or path-like object.

        Raises: FileError: if the file can't be read, or has no valid contract. ArgumentError: if *path* is not a path.
        """
        name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
        if not isinstance(name, str):
            raise ArgumentError(f"the contract is {shortened(path)}: expected a path")
        try:
            found = json.loads(Path(name).read_text(encoding="utf-8-sig"))
        except OSError as error:
            hint = "mqsel contract FILE… writes one" if isinstance(error, FileNotFoundError) else None
            raise FileError(f"the contract cannot be read: {error.strerror}", path=name, hint=hint) from error
        except (ValueError, RecursionError) as error:
            raise FileError(f"the contract is broken JSON: {fault_of_json(error)}", path=name) from error
        try:
            return cls.from_dict(found)
        except MqselError as error:
            raise FileError(error.message, path=name, hint=error.hint) from error

    @classmethod
    def from_dict(cls, found: Any) -> Contract:
        """Return the contract that `as_dict` described.

        Args:
            found: The dict.

        Raises: ArgumentError: if *found* is no such dict. SelectorError: if its selector is invalid.
        """
        if not isinstance(found, dict) or not found.keys() <= {"properties", "others", "selector", "dialect"}:
            raise ArgumentError(
                f"found {shortened(found)}: expected an object with properties, others, selector, dialect",
                hint="mqsel contract FILE writes one",
            )
        others, selector = found.get("others", True), found.get("selector", "")
        if type(others) is not bool or type(selector) is not str:
            raise ArgumentError("a contract has true or false as others, and a text as selector")
        return cls(found.get("properties"), others=others, selector=selector, dialect=found.get("dialect", IBM_MQ))

    def as_dict(self) -> dict[str, Any]:
        """Return the contract as a dict that can be written as JSON."""
        fields: dict[str, Any] = {"properties": {name: one.as_dict() for name, one in self.properties.items()}}
        if not self.others:
            fields["others"] = False
        if self.selector is not None:
            fields |= {"selector": self.selector.text, "dialect": self.selector.dialect.departures()[0]}
        return fields

    def _repr_html_(self) -> str:
        rows = [
            (code(name), "always" if one.required else "", escape(one.words())) for name, one in self.properties.items()
        ]
        others = "further properties may be there" if self.others else "no other property may be there"
        selector = [] if self.selector is None else [f"of every message is TRUE: {code(self.selector.text)}"]
        return page([others, *selector], table(("property", "", "what it is"), rows))

    # ---- what it says ------------------------------------------------------------------------------------------------

    def property(self, name: str, naming: str) -> Property | None:
        """Return what the contract says about a property; None if it may be anything.

        Args:
            name: The name of the property.
            naming: Whose names headers have: the field ``headers`` of a dialect.
        """
        said = look_up(self.properties, name, naming)
        if said is not None:
            return said
        header = header_of(name, naming)
        if header is not None:
            return header
        return None if self.others or name.startswith(OF_DESCRIPTOR) else _ABSENT

    def _known(self, name: str, naming: str) -> tuple[Property | None, Values]:
        """Return what is said of a property, and the set of its values, which takes long where there are many."""
        if (name, naming) not in self._sets:
            own = self.property(name, naming)
            self._sets[name, naming] = own, PROPERTY if own is None else own.allowed()
        return self._sets[name, naming]

    def domain(self, name: str, naming: str) -> Values:
        """Return the set of values that a property may have.

        Args:
            name: The name of the property.
            naming: Whose names headers have: the field ``headers`` of a dialect.
        """
        said, allowed = self._known(name, naming)
        if said is not None:
            return allowed
        return PROPERTY if self.selector is None else (needs(self.selector.formulas.true) or {}).get(name, PROPERTY)

    def bound(self, names: Iterable[str], naming: str) -> tuple[list[Formula], Callable[[Message], bool]]:
        """Return what a contract says for selectors.

        Args:
            names: that they read.
            naming: how they spell one property: see `mqsel.names.spellings`.

        Returns: formulas that are true of every message of the contract, and what reports whether a message keeps it.
        """
        names = [*names]
        spelled = by_casefold(names) if naming == "folded" else {}
        own = [spellings(name, naming)[0] for name, one in self.properties.items() if one.required]
        own += () if self.selector is None else self.selector.names.values()
        read = dict.fromkeys([*names, *(spelled.get(one.casefold(), one) for one in own)])
        formulas = [] if self.selector is None else [self.selector.formulas.true]
        allowed: dict[str, Values] = {}
        for name in read:
            said, values = self._known(name, naming)
            if said is not None:
                allowed[name] = values
                formulas.append(leaf(Identifier(name), allowed[name]))
        pairs = [(one, field) for one, field in (SAME_FIELDS.items() if naming == "mqi" else ()) if one in read]
        pairs = [(one, field) for one, field in pairs if field in read]
        formulas += [_is_same(*pair) for pair in pairs]

        def allows(message: Message) -> bool:
            if not all(has_value(values, message.get(name)) for name, values in allowed.items()):
                return False
            if any(message.get(one) != message.get(field) for one, field in pairs):
                return False
            return self.selector is None or self.selector.machine.matches(message)

        return formulas, allows

    def breaches(self, message: Mapping[str, Any], naming: str = "mqi") -> list[Breach]:
        """Return the ways in which a message violates the contract, as a list of `Breach`; empty if it conforms.

        Args:
            message: A mapping of names to values.
            naming: Whose names headers have: the field ``headers`` of a dialect. The default is "mqi", that of IBM_MQ.

        Raises: ArgumentError: if *message* is not a message, or there is no such naming.
        """
        check_word("naming", naming, NAMINGS)
        found = []
        values = {name: value for name, value in _held(message) if value is not None}
        names = {spellings(name, naming)[0]: value for name, value in values.items()}
        for name, said in self.properties.items():
            if said.required and spellings(name, naming)[0] not in names:
                found.append(Breach(name, "missing", f"{name} is missing"))
        for name, value in names.items():
            own, allowed = self._known(name, naming)
            if own is _ABSENT:
                found.append(Breach(name, "unknown", f"{name} is no property of the contract"))
            elif own is not None and not has_value(allowed, value):
                kind = CLASS_NAMES[type(value)]
                what = "value" if kind in (own.types or _TYPES) else "type"
                shown = kind if what == "type" else quoted(value) if type(value) is str else shortened(plain(value))
                found.append(Breach(name, what, f"{name} is {shown}: expected {own.words()}"))
        if self.selector is not None and not self.selector.machine.matches(message):
            found.append(Breach("", "selector", "the selector of the contract is not TRUE"))
        return found


def _made(properties: Mapping[str, Property], others: bool, selector: str, dialect: Dialect) -> Contract:
    """Return a contract that was pickled."""
    return Contract(properties, others=others, selector=selector, dialect=dialect)


_ABSENT = Property()
_ABSENT_VALUES = NOTHING._replace(null=True)


def _property(name: Any, given: Any) -> Property:
    """Read what is said of a property.

    Raises: ArgumentError.
    """
    if not isinstance(name, str):
        raise ArgumentError(f"the contract has {shortened(name)} for a name: expected a str")
    if isinstance(given, Property):  # of a pickle, too
        given = dict(zip(_FIELDS, given, strict=True))
    if isinstance(given, str):
        given = {"type": given}
    if isinstance(given, (list, tuple, set, frozenset)):
        given = {"values": [*given]}
    if not isinstance(given, Mapping) or not given.keys() <= set(_FIELDS):
        raise ArgumentError(
            f"the contract has {shortened(given)} for {name}: expected a type, a list of values, or an object",
            hint=f'write {{"type": "int32", "least": 0}}; it may have {", ".join(_FIELDS)}',
        )
    kinds = given.get("type", [])
    types = (kinds,) if isinstance(kinds, str) else tuple(kinds) if isinstance(kinds, (list, tuple)) else (kinds,)
    unknown = [one for one in types if not isinstance(one, str) or one not in _TYPES]
    if unknown:
        raise ArgumentError(
            f"the contract has the type {shortened(unknown[0])} for {name}: expected {', '.join(_TYPES)}"
        )
    listed = given.get("values", [])
    if not isinstance(listed, (list, tuple)):
        raise ArgumentError(f"the contract has the values {shortened(listed)} for {name}: expected a list")
    least, greatest = bounds = [given.get("least"), given.get("greatest")]
    for bound in bounds:
        if bound is not None and not (type(bound) in (int, float) and (abs(bound) <= _MOST or abs(bound) == math.inf)):
            raise ArgumentError(f"the contract has the bound {shortened(bound)} for {name}: expected a number")
    nan, required = truths = [given.get(one, False) for one in ("nan", "required")]
    for truth in truths:
        if type(truth) is not bool:
            raise ArgumentError(f"the contract has {shortened(truth)} for {name}: expected true or false")
    return Property(types, tuple([_value(name, one, types) for one in listed]), least, greatest, nan, required)


def _value(name: str, given: Any, types: tuple[str, ...]) -> Any:
    """Read one of the values of a property: of its type where it has one, else of the type that it names or is."""
    try:
        if isinstance(given, dict):
            return typed(name, given)
        if isinstance(given, bytes) or CLASS_NAMES.get(type(given)) in types:
            return given
        if len(types) == 1:
            return typed(name, {types[0]: given})
    except PropertyTypeError as error:
        raise ArgumentError(f"the contract lists {shortened(given)} for {name}: {error.message}") from error
    is_long = type(given) is int and not INT64.first <= given <= INT64.last
    if type(given) in CLASS_NAMES and given is not None and not is_long:
        return given
    shown = shortened(given) if is_long else f"a Python {type_name(given)}"
    raise ArgumentError(f"the contract lists {shown} for {name}: expected a value of a property")


# ---- headers ---------------------------------------------------------------------------------------------------------

# Names of the fields of the descriptor, and of those that IBM's JMS makes of them: every message of IBM MQ has them.
OF_DESCRIPTOR = (DESCRIPTOR, "JMS_IBM_")
# Names of JMS for a field of the message descriptor, whose value both have.
SAME_FIELDS = {
    name: DESCRIPTOR + places[0].path.removeprefix("MQMD/")
    for name, places in JMS.items()
    if places[0].conversion == "as typed" and places[0].path.startswith("MQMD/")
}


def header_of(name: str, naming: str) -> Property | None:
    """Return what a header is in every message; None for the name of something else."""
    kind = JMS_SYNONYMS.get(name) if naming != "sections" else None
    if naming == "mqi":
        field = SAME_FIELDS.get(name, name)
        kind = kind or (MQMD_TYPES.get(field.removeprefix(DESCRIPTOR)) if field.startswith(DESCRIPTOR) else None)
    if kind is None:
        return None
    domain = HEADER_DOMAINS.get(name)
    if isinstance(domain, range):
        return Property((kind,), (), domain[0], domain[-1])
    return Property((kind,), domain or ())


def _is_same(name: str, field: str) -> Formula:
    """Return the formula that two names are of one field."""
    one, other = Identifier(name), Identifier(field)
    neither = all_of([leaf(one, _ABSENT_VALUES), leaf(other, _ABSENT_VALUES)])
    return any_of([neither, Relation(one, other, Compared.EQUAL | Compared.SAME)])


# ---- of messages -----------------------------------------------------------------------------------------------------


def _held(message: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return names and values of a message, each of the class of its type.

    Raises: PropertyTypeError: a value that no property can have. ArgumentError: it is no message.
    """
    if not isinstance(message, Mapping):
        raise ArgumentError(f"found {shortened(message)}: expected a mapping of names to values")
    values = [*message.values()]
    if all(type(name) is str for name in message) and all(type(value) in CLASS_NAMES for value in values):
        return zip(message, values, strict=True)
    record = Record([*message])
    record.fill(values)
    return zip(record.keys(), record.as_tuple(), strict=True)


class Observed:
    """What messages were like: counts that add up.

    Attributes:
        messages: how many.
        skipped: how many could not be read.
        lines: of the input, blank ones included.
        note: unused; see `mqsel.files.run.work.Job`.
        held: for each name, what messages have of it.
        with_nan: the names of which one is NaN.
    """

    note = None

    def __init__(self) -> None:
        self.messages = self.skipped = self.lines = 0
        self.held: defaultdict[str, Held] = defaultdict(Held)
        self.with_nan: set[str] = set()

    def take(self, message: Mapping[str, Any]) -> None:
        """Count a message.

        Raises: PropertyTypeError: it has a value that no property can have.
        """
        for name, value in _held(message):
            if isinstance(value, float) and math.isnan(value):
                self.with_nan.add(name)
            if value is not None:
                self.held[name].take(CLASS_NAMES[type(value)], value)
        self.messages += 1

    def take_batch(self, batch: pa.RecordBatch, fixed: Mapping[str, Any]) -> None:
        """Count the rows of a batch; a column of a type that no property has is passed over.

        Args:
            fixed: values that all rows have alike, of properties that are no columns.
        """
        import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

        rows = batch.to_struct_array()
        for name in names_of(rows.type):
            column = column_of(rows, name, "any")
            if column is not None and type_of(column.type) in _TYPES and column.null_count < len(column):
                column = laid_out(column)
                take_column(column, self.held[name])
                if type_of(column.type) in APPROXIMATE and pc.any(pc.is_nan(column)).as_py():
                    self.with_nan.add(name)
        for name, value in fixed.items():
            if value is not None and name not in rows.type.names:
                held = self.held[name]
                held.take(CLASS_NAMES[type(value)], value)
                held.types[CLASS_NAMES[type(value)]] += len(rows) - 1
        self.messages += len(rows)

    def add(self, other: Observed) -> None:
        """Add what was counted elsewhere."""
        self.messages += other.messages
        self.skipped += other.skipped
        self.lines += other.lines
        self.with_nan |= other.with_nan
        for name, held in other.held.items():
            self.held[name].add(held)

    def contract(self, *, values: bool = True) -> Contract:
        """Return the contract that all these messages keep.

        Args:
            values: whether it lists values and bounds.
        """
        made = {name: self._property(name, held, values) for name, held in sorted(self.held.items())}
        return Contract(made, others=False)

    def _property(self, name: str, held: Held, is_whole: bool) -> Property:
        present = sum(held.types.values())
        types = tuple([one for one in _TYPES if one in held.types])
        made = Property(types, nan=name in self.with_nan, required=present == self.messages)
        domain = HEADER_DOMAINS.get(name)
        if not is_whole:
            return made
        if isinstance(domain, range):
            return made._replace(least=min(domain[0], held.least or 0), greatest=max(domain[-1], held.greatest or 0))
        listed = [_TYPES[kind].python(value) for kind, value in held.values]  # columns have no classes of ours
        if domain is not None and set(listed) <= set(domain):
            return made._replace(values=domain)
        is_short = all(len(one) < _CUT for one in listed if isinstance(one, (str, bytes)))
        is_few = held.is_open and len(listed) <= MAX_VALUES and len(listed) * _COMMON <= present
        if is_few and is_short and not made.nan and types != ("boolean",):
            return made._replace(values=tuple(sorted(listed, key=lambda one: (type(one).__name__, one))))
        return made._replace(least=_bare(held.least), greatest=_bare(held.greatest))
