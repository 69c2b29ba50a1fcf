"""Data: JSON, YAML, HCL and Bicep as tables of keys and values, and the keys that have selectors.

A file becomes tables whose values are texts with their places, lists, or tables. What a key means is a row of `_KEYS`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mqsel.carets import Span
from mqsel.inventory.camel import destination_of, of_uri
from mqsel.inventory.entries import EXPRESSION, PLACEHOLDERS, Entry, Source
from mqsel.inventory.kinds import KINDS
from mqsel.inventory.pieces import HOLE, Once, Text, inserted, joined
from mqsel.inventory.trees import Node, check_depth, errors_of, is_template, trees_of


class Table:
    """An object of keys and values, in order.

    Attributes:
        pairs: keys, each with a `Text`, a list or a table.
        start: where it begins in the file.
    """

    def __init__(self, pairs: list[tuple[str, Any]], start: int) -> None:
        self.pairs = pairs
        self.start = start

    @Once
    def keys(self) -> frozenset[str]:
        """The keys as they are written."""
        return frozenset(key for key, _ in self.pairs)

    @Once
    def texts(self) -> dict[str, str]:
        """The texts by key, in small letters, with ``…`` for each part that is not known."""
        texts = {key.lower(): value.value for key, value in self.pairs if isinstance(value, Text)}
        return {key: value.replace(HOLE, "…") for key, value in texts.items() if value.strip(HOLE)}

    @Once
    def destinations(self) -> dict[str, str]:
        """The first destination under each of the nearest parts in front of its key; under "" of all."""
        first: dict[str, str] = {}
        for name, value in self.texts.items():
            if value and _DESTINATIONS.fullmatch(name):
                first.setdefault("", value)
                parts = name.split(".")
                for length in range(max(1, len(parts) - _NEAREST), len(parts)):
                    first.setdefault(".".join(parts[:length]), value)
        return first


def read(source: Source, kind: str, _: object) -> Iterator[Entry]:
    """Yield the entries of a file of data."""
    grammar = {"bicep": "bicep", "terraform": "hcl", "yaml": "yaml"}.get(kind, "json")
    errors: list[Node] = []
    places: list[int] = []
    for root in trees_of(source, grammar):
        check_depth(root)
        for entry in of_tables(source, value_of(source, root, grammar), kind):
            places += [entry.text.span[0]] if entry.text is not None else []
            yield entry
        errors += errors_of(root)
    # Bicep grows faster than its grammar, and of a template the grammar sees a part.
    places.sort()
    if grammar == "bicep":
        errors = [error for error in errors if _is_lost(source, (error.start_byte, error.end_byte), places)]
    elif is_template(source) and not _is_lost(source, (0, len(source.content)), places):
        errors = []
    for error in errors[:1]:
        yield source.damage(kind, error.start_byte, f"damaged {_SPOKEN[grammar]}: what else there is was read")


def _is_lost(source: Source, span: Span, places: list[int]) -> bool:
    """Report whether a selector may stand in a part of a file, besides those that were read there."""
    start, stop = span
    return len(_FILTERS.findall(source.content, start, stop)) > bisect_left(places, stop) - bisect_left(places, start)


_FILTERS = re.compile(r"(?i)(?:selector|sql-?filter|sqlexpression)[\"']?[ \t]*[:=][ \t]*[^\s{\[]")
_SPOKEN = {"bicep": "Bicep", "hcl": "HCL", "yaml": "YAML", "json": "JSON"}


# ---- trees to tables ---------------------------------------------------------------------------------------------

_Convert = Callable[[Source, Node, str], Any]


def value_of(source: Source, node: Node, grammar: str) -> Any:
    """Return what a node stands for: a text, a list or a table."""
    convert = _CONVERT[grammar].get(node.type)
    if convert is not None:
        return convert(source, node, grammar)
    children = [one for one in node.named_children if one.type not in _UNREAD]
    if len(children) == 1:
        value = value_of(source, children[0], grammar)
        anchor = node.named_children[0]
        if anchor.type == "anchor" and isinstance(value, Text):  # those of tables would grow with each use
            source.anchors[source.content[anchor.start_byte + 1 : anchor.end_byte]] = value
        return value
    if not children:
        return source.text(node.start_byte, node.end_byte)
    return [value_of(source, one, grammar) for one in children]


_UNREAD = {"comment", "tag", "anchor", "block_start", "block_end", "yaml_directive"}


def _table(source: Source, node: Node, grammar: str) -> Table:
    """Return pairs: nodes with a key and a value, and blocks of HCL with their labels."""
    pairs: list[tuple[str, Any]] = []
    for one in node.named_children:
        if one.type == "block":
            labels = [part for part in one.named_children if part.type in ("identifier", "string_lit")]
            body = next((part for part in one.named_children if part.type == "body"), None)
            if body is not None and labels:
                table = _table(source, body, grammar)
                if len(labels) > 1:
                    table.pairs.append(("\0label", value_of(source, labels[-1], grammar)))
                pairs.append((source.content[labels[0].start_byte : labels[0].end_byte], table))
            continue
        nested = one.named_children[0] if one.type == "object_property" and one.named_children else one
        if nested.type == "resource_declaration" and nested.named_children:  # of Bicep, also within another
            name, value = nested.named_children[0], value_of(source, nested.named_children[-1], grammar)
            if isinstance(value, Table):
                value.pairs.append(("\0label", source.text(name.start_byte, name.end_byte)))
            pairs.append(("resource", value))
            continue
        key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
        parts = [part for part in one.named_children if part.type not in _UNREAD]
        if one.type == "object_elem":
            key, value = one.child_by_field_name("key"), one.child_by_field_name("val")
        if key is None and len(parts) > 1:
            key, value = parts[0], parts[-1]
        if key is None or value is None or value.type == "type" or one.type not in _PAIRS:
            if one.type in _WITHIN:  # what is left of a damaged file
                pairs.append(("", value_of(source, one, grammar)))
            continue
        name = value_of(source, key, grammar)
        is_variable = one.type == "object_property" and value.type == "identifier"
        worth = _hole(source, value) if is_variable else value_of(source, value, grammar)
        pairs.append((name.value if isinstance(name, Text) else "", worth))
    return Table(pairs, node.start_byte)


_PAIRS = {
    *("pair", "block_mapping_pair", "flow_pair", "attribute", "object_elem", "object_property"),
    *("parameter_declaration", "variable_declaration"),  # of Bicep
}
_WITHIN = {"ERROR", "object", "array", "block_mapping", "flow_mapping", "block_node", "document"}


def _list(source: Source, node: Node, grammar: str) -> list[Any]:
    return [value_of(source, one, grammar) for one in node.named_children if one.type not in _UNREAD]


def _quoted(writing: str) -> _Convert:
    """Return what reads a string between marks; what is interpolated in it is a hole."""

    def convert(source: Source, node: Node, _: str) -> Text:
        start, stop = node.start_byte + 1, max(node.start_byte + 1, node.end_byte - 1)
        parts: list[Text] = []
        for one in node.named_children:
            if one.type in ("interpolation", "template_interpolation", "template_directive"):
                parts += [source.text(start, one.start_byte).decoded(writing), _hole(source, one)]
                start = one.end_byte
        return joined([*parts, source.text(start, max(start, stop)).decoded(writing)])

    return convert


def _hole(source: Source, node: Node, _: str = "") -> Text:
    return source.text(node.start_byte, node.end_byte).replaced(HOLE)


def _nested(source: Source, node: Node, grammar: str) -> Text:
    template = next((one for one in node.named_children if one.type == "quoted_template"), node)
    text: Text = _quoted("hcl")(source, template, grammar)
    return text


def _plain(source: Source, node: Node, _: str) -> Text:
    return source.text(node.start_byte, node.end_byte).decoded("yaml plain")


def _block(source: Source, node: Node, _: str, until: int = -1) -> Text:
    """Return a block of YAML or a heredoc: lines without their indent; after ``>`` they are one line.

    Args:
        until: where the lines end, if not with the node.
    """
    content = source.content
    last = node.end_byte if until < 0 else until
    head = content.find("\n", node.start_byte, last)
    if head < 0:
        return source.text(node.end_byte, node.end_byte)
    is_folded = content[node.start_byte] == ">"
    lines: list[tuple[int, int]] = []
    at = head + 1
    for line in content[at:last].splitlines(keepends=True):
        lines.append((at, at + len(line.rstrip("\r\n"))))
        at += len(line)
    written = [content[start:stop] for start, stop in lines if content[start:stop].strip()]
    indent = min([len(one) - len(one.lstrip()) for one in written], default=0)
    made: list[Text] = []
    for number, (start, stop) in enumerate(lines):
        if number:
            end = lines[number - 1][1]
            made.append(source.text(end, start).replaced(" " if is_folded else "\n"))
        made.append(source.text(min(start + indent, stop), stop))
    text = joined(made).stripped()
    return text if is_folded else text.decoded("margin")


def _heredoc(source: Source, node: Node, grammar: str) -> Text:
    template = next((one for one in node.named_children if one.type == "heredoc_template"), node)
    names = [one for one in template.named_children if one.type == "heredoc_identifier"]
    body = _block(source, template, grammar, names[-1].start_byte if len(names) > 1 else template.end_byte)
    return Text(re.sub(r"(?<!\$)\$\{[^}]{0,500}\}", lambda match: HOLE * len(match[0]), body.value), body.pieces)


def _expression(source: Source, node: Node, grammar: str) -> Any:
    children = node.named_children
    if len(children) == 1 and children[0].type in ("literal_value", "template_expr", "collection_value"):
        return value_of(source, children[0], grammar)
    if len(children) == 1 and children[0].type == "variable_expr":
        return _name(source, children[0], grammar)
    return _hole(source, node)


def _name(source: Source, node: Node, _: str) -> Text:
    return source.text(node.start_byte, node.end_byte)


def _alias(source: Source, node: Node, grammar: str) -> Text:
    return source.anchors.get(source.content[node.start_byte + 1 : node.end_byte]) or _name(source, node, grammar)


_CONVERT: dict[str, dict[str, _Convert]] = {
    "json": {"document": _list, "object": _table, "array": _list, "string": _quoted("json"), "ERROR": _table},
    "yaml": {
        "stream": _list,
        "block_mapping": _table,
        "flow_mapping": _table,
        "block_sequence": _list,
        "flow_sequence": _list,
        "double_quote_scalar": _quoted("yaml"),
        "single_quote_scalar": _quoted("yaml quoted"),
        "plain_scalar": _plain,
        "block_scalar": _block,
        "alias": _alias,
        "ERROR": _table,
    },
    "hcl": {
        "body": _table,
        "object": _table,
        "tuple": _list,
        "expression": _expression,
        "string_lit": _quoted("hcl"),
        "template_expr": lambda source, node, grammar: (
            _heredoc(source, node, grammar)
            if source.content.startswith("<<", node.start_byte)
            else _nested(source, node, grammar)
        ),
        "literal_value": lambda source, node, grammar: (
            value_of(source, node.named_children[0], grammar)
            if node.named_children and node.named_children[0].type == "string_lit"
            else _name(source, node, grammar)
        ),
        "ERROR": _table,
    },
    "bicep": {
        "infrastructure": _table,
        "object": _table,
        "array": _list,
        "string": lambda source, node, grammar: (
            source.text(node.start_byte + 3, max(node.start_byte + 3, node.end_byte - 3)).decoded("lines")
            if source.content.startswith("'''", node.start_byte)
            else _quoted("bicep")(source, node, grammar)
        ),
        "identifier": _name,
        "member_expression": _hole,
        "call_expression": _hole,
        "binary_expression": _hole,
        "ternary_expression": _hole,
        "ERROR": _table,
    },
}

# ---- keys that have selectors ------------------------------------------------------------------------------------


class _Key(NamedTuple):
    """What a key means.

    Attributes:
        name: of the key, in small letters; matched whole.
        kind: of the entry; empty for the kind of the file.
        read: yields the entries of its value.
    """

    name: re.Pattern[str]
    kind: str
    read: Callable[[Source, str, Any, list[tuple[str, Table]]], Iterator[Entry]]


_Trail = list[tuple[str, Table]]


def of_tables(source: Source, value: Any, kind: str, trail: _Trail | None = None) -> Iterator[Entry]:
    """Yield the entries of tables, lists and what is in them."""
    trail = trail or []
    if isinstance(value, list):
        for one in value:
            yield from of_tables(source, one, kind, trail)
    elif isinstance(value, Table):
        for key, one in value.pairs:
            inside = [*trail, (key, value)]
            row = next((row for row in _KEYS if row.name.fullmatch(key.lower())), None)
            if key.lower() == "value" and row is None:  # of a pair of name and value, as environments have them
                row = _ANY_KEY if _ANY_KEY.name.fullmatch(value.texts.get("name", "").lower()) else None
            taken = [*row.read(source, _kind(row, kind), one, inside)] if row else []
            yield from taken
            if isinstance(one, (Table, list)):
                if not taken:
                    yield from of_tables(source, one, kind, inside)
            elif not taken and "elector=" in one.value:
                yield from of_uri(source, one, _key(inside))
    elif isinstance(value, Text) and "elector=" in value.value:
        yield from of_uri(source, value, _key(trail) if trail else "")


def _kind(row: _Key, kind: str) -> str:
    """Return the kind of an entry: that of the file, if it is one of the same brokers."""
    return kind if not row.kind or KINDS[row.kind].dialect == KINDS[kind].dialect != "JMS" else row.kind


_NEAREST = 3  # parts of a key in front of its last, which may have a destination and a selector
_KEY_NAMES = ("name", "\0label", "id", "rulename", "binding", "bindingkey")
_DESTINATIONS = re.compile(
    r"(?:.*[._-])?(?:destinations?|destinationname|destination[._-]name|queue(?:[._-]?name)?|topic(?:[._-]?name)?|"
    r"subscription(?:[._-]?(?:name|id))?|address|bindingkey|jms\.destination)"
)


def _key(trail: _Trail) -> str:
    """Return what a value belongs to: the name that stands nearest, or the keys above it."""
    for _, table in reversed(trail):
        texts = table.texts
        for one in _KEY_NAMES:
            if texts.get(one):
                return texts[one]
    return ".".join([key for key, _ in trail if key])


def _destination(trail: _Trail) -> str:
    prefix = trail[-1][0].lower().rpartition(".")[0]
    near = trail[-1][1].destinations.get(prefix, "")
    return near or next((table.destinations[""] for _, table in trail[-2::-1] if table.destinations), "")


def _of_text(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    if isinstance(value, Text):
        text = value.stripped()
        reason = ""
        if text.value.startswith("[[") and kind == "azure":
            text = text.decoded("arm")
        elif text.value.startswith("[") and text.value.endswith("]") and kind == "azure":
            reason, text = EXPRESSION, text.replaced(HOLE)
        if text.value in ("null", "~") and value.pieces[0].written in ((), ("yaml plain",)):
            return
        yield from source.entry(kind, _key(trail), _destination(trail), text, reason)


# Keys that end in selector and select something else than messages.
_OTHERS = re.compile(
    r"(?:.*[._-])?(?:label|field|node|pod|namespace|object|css|query|dom|xpath|element|resource|service|match|color|"
    r"date|time|file|image|region|version|key|column|row|tag|id|list|item|method|type|volume|host|peer|erlang|component)"
    r"[._-]?selector"
)
# Keys that nothing else has, and places where a selector is one of messages if it can be a selector at all.
_SURE = re.compile(r"(?:.*[._-])?(?:jms|mq|consumer)?[._-]?message[._-]?selector|(?:.*[._-])?jms[._-]?selector")
_NEAR = re.compile(r".*(?:jms|mq|consumer|subscription|listener|incoming)[\w.-]{0,100}selector", re.DOTALL)
# A selector of messages compares with a literal, or has a test of its own: two names with a sign between them, `a=b` or
# `a > b`, are labels of Kubernetes and styles. Those, paths and expressions have signs that no selector has.
_HELD = re.compile(r"'[^']*'|\"[^\"]*\"")
_LITERAL = rf"(?:['\"{HOLE}]|[-+]?\.?\d|(?:TRUE|FALSE)\b)"
_TEST = re.compile(
    rf"[=<>]\s*{_LITERAL}|(?:['\"{HOLE}]|(?<![\w.])[\d.]{{1,40}}|\b(?:TRUE|FALSE))\s*[=<>]|\bLIKE\b|\bIN\s*\(|\bBETWEEN\b|"
    r"\bIS\s+(?:NOT\s+)?NULL\b",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"^\s*[.*/>$]|[\[\]{}:;#@~?^|&`\\]|[=!]==|=>|=~|^[^(]*,|\)[^()]*,")


def is_selector(text: str) -> bool:
    """Report whether a text can be a selector of messages."""
    bare = _HELD.sub(lambda match: match[0][0] * 2, PLACEHOLDERS.sub(HOLE, text))
    return _FOREIGN.search(bare) is None and _TEST.search(bare) is not None


def _of_any_key(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of a key that ends in selector, if that can be one of messages."""
    last, owner = trail[-1]
    uri = trail[-2][1].texts.get("uri", "") if len(trail) > 1 and trail[-2][0] == "parameters" else ""
    if last in ("selector", "messageSelector") and isinstance(value, Text) and destination_of(uri):
        yield from source.entry("camel", _key(trail), destination_of(uri), value)
        return
    name = (owner.texts["name"] if last.lower() == "value" else last).lower()
    if not isinstance(value, Text) or _OTHERS.fullmatch(name):
        return
    path = ".".join([*[key for key, _ in trail[:-1]], name]).lower()
    is_kubernetes = any({"apiversion", "kind"} <= table.texts.keys() for _, table in trail)
    is_known = not value.value.strip(HOLE) or PLACEHOLDERS.fullmatch(value.value.strip()) is not None
    is_config = kind in ("yaml", "properties", "connect") and not is_kubernetes and "{{" not in value.value
    if (
        _SURE.fullmatch(name)
        or kind == "ems"
        or (is_selector(value.value) and not is_kubernetes)
        or (is_known and is_config)
        or (_NEAR.fullmatch(path) and not is_kubernetes and re.fullmatch(r"\s*\w+\s*", value.value))
    ):
        kind = "connect" if path.endswith("jms.message.selector") else kind
        kind = {"bicep": "json", "terraform": "json", "azure": "json"}.get(kind, kind)
        yield from _of_text(source, kind, value, trail)


_OF_RABBITMQ = ("rabbit_version", "rabbitmq_version", "vhost", "routing_key", "destination_type")


def _of_argument(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of an argument of AMQP: which of two brokers has it, the file's other keys tell."""
    if isinstance(value, Text):
        is_rabbit = not all(table.keys.isdisjoint(_OF_RABBITMQ) for _, table in trail)
        kind = "rabbitmq" if is_rabbit and kind == "broker-j" else kind
        texts = trail[-2][1].texts if len(trail) > 1 else {}
        binding = texts.get("bindingkey") or texts.get("routing_key") or ""
        key = binding or texts.get("destination") or _key(trail)
        destination = texts.get("destination") or texts.get("queue") or _destination(trail)
        yield from source.entry(kind, key, destination, value)


def _of_sql(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of a SQL filter: its text, or an object that has it."""
    if isinstance(value, Table):
        for key, one in value.pairs:
            if key.lower() in ("sqlexpression", "expression") and isinstance(one, Text):
                yield from _of_azure(source, kind, one, [*trail, (key, value)])
    else:
        yield from _of_azure(source, kind, value, trail)


def _of_azure(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of an expression; the action of a rule has one, too, which is no filter."""
    if isinstance(value, Text) and not any(key.lower().endswith("action") for key, _ in trail):
        text, reason = value, ""
        path = _azure_name(trail)
        if text.value.startswith("[[") and kind == "azure":
            text = text.decoded("arm")
        elif text.value.startswith("[") and text.value.endswith("]") and kind == "azure" and _ARM.match(text.value):
            reason, text = EXPRESSION, text.replaced(HOLE)
        if text.value != "null":
            for entry in source.entry(kind, path, _azure_destination(trail), text, reason):
                yield entry._replace(rules=_broken(trail))


def _of_expression(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of an expression of a filter: charts of Superset and Grafana have expressions, too."""
    name, owner = trail[-1]
    is_sure = trail[-2:][0][0].lower().endswith("filter") or "filtertype" in owner.texts
    if is_sure or (name.lower() != "sqlexpression" and isinstance(value, Text) and is_selector(value.value)):
        yield from _of_azure(source, kind, value, trail)


def _broken(trail: _Trail) -> tuple[str, ...]:
    """Return the rules of lint that the place of a filter breaks: the emulator of Service Bus has types of its own."""
    is_emulator = any(key.lower() == "userconfig" for key, _ in trail)
    types = {table.texts["filtertype"].lower() for _, table in trail if "filtertype" in table.texts}
    return ("dropped-filter",) if is_emulator and types - {"sql", "correlation"} else ()


_ARM = re.compile(r"\[\s*[A-Za-z]\w*\s*\(")


def _azure_name(trail: _Trail) -> str:
    return _known_name(_key(trail)).rpartition("/")[2]


def _known_name(name: str) -> str:
    """Return a name of a template: of an expression what stands in apostrophes, which are its parts in their order."""
    if not name.startswith("[") or not name.endswith("]"):
        return name
    return "".join([part for part in re.findall(r"'([^']*)'", name) if "{" not in part])


_RESOURCE = re.compile(r".*/topics/([^/]+)(?:/subscriptions/([^/]+))?(?:/rules/.*)?", re.IGNORECASE | re.DOTALL)


def _azure_destination(trail: _Trail) -> str:
    """Return topic and subscription of a rule: what its id, its name, or the objects around it say."""
    own = {key: value for _, table in reversed(trail[-3:]) for key, value in table.texts.items()}
    found = _RESOURCE.fullmatch(own.get("id", "")) or _RESOURCE.fullmatch(own.get("subscription_id", ""))
    if found:
        return "/".join(filter(None, found.groups()))
    name = _known_name(own.get("name", ""))
    if name.count("/") >= 2:
        return "/".join(name.split("/")[-3:-1])
    names = [own[one] for one in ("topic_name", "subscription_name") if own.get(one)] or [
        own[one] for one in ("subscription_id",) if own.get(one)
    ]
    if names:
        return "/".join(names)
    around = [
        table.texts.get("name", "")
        for key, table in trail
        if not table.keys.isdisjoint(("Rules", "Subscriptions", "resource"))
        or re.fullmatch(r"(?i)(?:.*/)?(?:topics|subscriptions)", table.texts.get("type", ""))
    ]
    return "/".join(filter(None, around)) or _destination(trail)


# Fields of a correlation filter and the properties of the system that they are.
_SYSTEM = {
    "contenttype": "ContentType",
    "correlationid": "CorrelationId",
    "label": "Label",
    "subject": "Label",
    "messageid": "MessageId",
    "replyto": "ReplyTo",
    "replytosessionid": "ReplyToSessionId",
    "sessionid": "SessionId",
    "to": "To",
}


def _of_correlation(source: Source, kind: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of a correlation filter, written as the selector that it stands for."""
    if not isinstance(value, Table):
        return
    made: list[Text] = []
    for key, one in value.pairs:
        name = key.lower().replace("_", "")
        if name in _SYSTEM and isinstance(one, Text):
            made += _test(f"sys.{_SYSTEM[name]}", one)
        elif name in ("properties", "applicationproperties") and isinstance(one, Table):
            for called, text in one.pairs:
                if isinstance(text, Text):
                    regular = re.fullmatch(r"[A-Za-z]\w*", called)
                    made += _test(called if regular else f"[{called.replace(']', ']]')}]", text)
    if made:
        for entry in source.entry(kind, _azure_name(trail), _azure_destination(trail), joined(made[1:])):
            yield entry._replace(rules=_broken(trail))


def _test(name: str, value: Text) -> list[Text]:
    """Return `` AND `` and a test of one property, in pieces; nothing of a field that is null."""
    if not value.pieces or value.value == "null":
        return []
    start, stop = value.span
    doubled = [
        inserted("''", value.place_of(at)) if c == "'" else value[at : at + 1] for at, c in enumerate(value.value)
    ]
    inside = joined(doubled) if "'" in value.value else value
    return [inserted(" AND ", start), inserted(f"{name} = '", start), inside, inserted("'", stop)]


# A statement ends in a semicolon; its source, the fourth group, comes before its selector.
_KCQL = re.compile(
    r"\bWITHJMSSELECTOR\s*(?:=\s*)?(?:`([^`]*)`|'([^']*(?:''[^']*)*)'(?=\s*(?:$|;|WITH|[A-Z]))|([^;\n`]+))"
    r"|\bFROM\s+([^\s;]+)|;",
    re.IGNORECASE,
)


def _of_kcql(source: Source, _: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entries of statements of KCQL: what stands behind WITHJMSSELECTOR."""
    if not isinstance(value, Text):
        return
    destination = ""
    for match in _KCQL.finditer(value.value):
        group = match.lastindex
        if group is None:
            destination = ""
        elif group == 4:
            destination = destination or match[4].strip("`")
        else:
            text = value[match.start(group) : match.end(group)]
            text = text.decoded("doubled '") if group == 2 else text
            yield from source.entry("connect", _key(trail), destination, text)


def _of_subscription(source: Source, _: str, value: Any, trail: _Trail) -> Iterator[Entry]:
    """Yield the entry of a subscription of Spring Cloud Stream for RocketMQ, which otherwise has tags."""
    if isinstance(value, Text) and value.value.startswith("sql:"):
        yield from source.entry("rocketmq", _key(trail[:-1]) or trail[-1][0], "", value[4:])


_ANY_KEY = _Key(re.compile(r"(?:.*[._-])?[^\W_]*selector"), "", _of_any_key)
_KEYS = (
    _Key(re.compile(r"sqlfilter|sql_filter"), "azure", _of_sql),
    _Key(re.compile(r"\w*sqlexpression"), "azure", _of_expression),
    _Key(re.compile(r"correlationfilter|correlation_filter"), "azure", _of_correlation),
    _Key(re.compile(r"rjms_selector"), "rabbitmq-jms", _of_argument),
    _Key(re.compile(r"x-filter-jms-selector|x-jms-selector|jms-selector"), "broker-j", _of_argument),
    _Key(re.compile(r"rabbitmq:sql-filter|sql-filter|x-stream-filter-sql"), "rabbitmq", _of_argument),
    _Key(re.compile(r"(?:.*\.)?kcql"), "connect", _of_kcql),
    _Key(re.compile(r"(?:.*\.)?subscription"), "rocketmq", _of_subscription),
    _ANY_KEY,
)
