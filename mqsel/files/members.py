"""Properties that messages of JSON have inside a member, where no selector reads them: found, with a command for jq.

Management interfaces and clients of brokers write the properties of a message as an object, as a list of pairs, or as
text, into a member of the message, and the messages into a list. Reads no file. Follows formats §8.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

_DEEP = 6  # members inside members that are looked at
_ITEMS = 20  # of a list that are looked at
_MESSAGES = 100  # of a file that are looked at
_LIST = "[]"  # in a path: each item of a list


class _Container(NamedTuple):
    """A place inside a message that has properties.

    Attributes:
        path: the members that lead to it.
        filter: what makes it an object with the properties, in the language of jq; empty if it is one.
    """

    path: tuple[str, ...]
    filter: str = ""


def inside(start: bytes, names: Iterable[str], path: str, *, in_any_case: bool) -> tuple[str, str] | None:
    """Report the properties that none of the first messages has, but a member of some.

    Args:
        start: the first lines of the file.
        names: of properties that a selector reads.
        path: of the file, "-" for stdin; empty if the message is no file.

    Returns: what was found, and a command that writes the messages with these properties at the top; None for nothing.
    """
    fold = str.casefold if in_any_case else str
    messages = [*_objects(start)]
    top = {fold(name) for message in messages for name in message}
    wanted = {fold(name): name for name in names if fold(name) not in top}
    counts = dict.fromkeys(wanted, 0)
    containers: dict[str, _Container] = {}
    for message in messages if wanted else ():
        found: dict[str, _Container] = {}
        for container, keys in sorted(_containers(message, ()), key=lambda row: len(row[0].path)):
            there = set(map(fold, keys))
            for key in wanted:
                if key in there:
                    found.setdefault(key, container)
        for key, container in found.items():
            counts[key] += 1
            containers.setdefault(f"{key} {container}", container)
    if not containers:
        return None
    import shlex  # noqa: PLC0415 (slow to import, and rarely needed)

    first = max(counts, key=lambda key: counts[key])
    words = ".".join(next(one.path for text, one in containers.items() if text.startswith(f"{first} "))).replace(
        ".[]", _LIST
    )
    number = len(messages)
    those = f"{counts[first]} of {'the first ' * (number == _MESSAGES)}{number} message{'s' * (number > 1)}"
    what = f"{wanted[first]} is inside {words} of {those}"
    hint = f"jq -c '{_program([*containers.values()])}'{'' if path == '-' else f' {shlex.quote(path)}'}"
    if not path:
        hint = f"""write the content of {words} as MESSAGE: {{"{wanted[first]}": …}}"""
    return f"{what}: a selector reads the properties at the top", hint


def _objects(start: bytes) -> Iterator[dict[str, Any]]:
    import json  # noqa: PLC0415 (likewise)

    for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n", _MESSAGES)[:_MESSAGES]:
        if line.lstrip()[:1] == b"{":
            with suppress(ValueError, RecursionError):  # cut off, or broken: reported when the message is read
                yield json.loads(line)


def _containers(value: Any, path: tuple[str, ...]) -> Iterator[tuple[_Container, Iterable[str]]]:
    """Yield the places of a value that may have properties, each with their names."""
    import json  # noqa: PLC0415 (likewise)

    if len(path) > _DEEP:
        return
    if isinstance(value, dict):
        if path:
            yield _Container(path, _typed(value)), value
        for name, member in value.items():
            yield from _containers(member, (*path, name))
    elif isinstance(value, str) and value[:1] == "{":
        with suppress(ValueError, RecursionError):
            yield _Container(path, "fromjson"), [*json.loads(value)]
    elif isinstance(value, list) and value:
        yield from _of_list(value[:_ITEMS], path)


def _of_list(items: list[Any], path: tuple[str, ...]) -> Iterator[tuple[_Container, Iterable[str]]]:
    if all(isinstance(item, str) for item in items):
        yield _Container(path, "[_nwise(2) | select(.[0]) | {(.[0]): .[1]}] | add"), items[::2]
        return
    objects = [item for item in items if isinstance(item, dict)]
    for word in ("key", "name", "Key", "Name"):
        if objects and all(isinstance(item.get(word), str) for item in objects) and len(objects[0]) <= 3:
            yield _Container(path, "from_entries"), [item[word] for item in objects]
            return
    for item in objects:
        yield from _containers(item, (*path, _LIST))


def _typed(members: dict[str, Any]) -> str:
    """Return what reads values that have their types beside them, as in Amazon SQS and SNS; empty for plain values."""
    for value, kind in (("StringValue", "DataType"), ("stringValue", "dataType"), ("Value", "Type")):
        if members and all(isinstance(member, dict) and value in member for member in members.values()):
            return f'map_values(if .{kind} | startswith("Number") then .{value} | tonumber else .{value} end)'
    return ""


def _program(containers: list[_Container]) -> str:
    """Write the filter of jq that puts the properties of containers to the top of each message."""
    path = containers[0].path
    depth = len(path) - path[::-1].index(_LIST) if _LIST in path else 0
    messages = _access(path[:depth])
    parts = ["."]
    for container in dict.fromkeys(containers):
        if container.path[:depth] == path[:depth] and len(container.path) > depth:
            access = _access(container.path[depth:])
            empty = "[]" if container.filter[:1] in ("[", "f") and container.filter != "fromjson" else '"{}"'
            empty = "{}" if container.filter[:3] == "map" else empty
            parts.append(f"({access} // {empty} | {container.filter})" if container.filter else access)
    # A file that is one array has the messages as its items.
    return f"[.] | flatten[] | {messages + ' | ' if depth else ''}{' + '.join(parts)}"


def _access(path: tuple[str, ...]) -> str:
    """Write the access to a member of a member in the language of jq."""
    from mqsel.formats.jsonl import json_text  # noqa: PLC0415 (likewise)

    steps = [
        "[]?" if step == _LIST else f".{step}" if step.isidentifier() and step.isascii() else f".[{json_text(step)}]"
        for step in path
    ]
    return "".join(steps).replace("'", "\\u0027")
