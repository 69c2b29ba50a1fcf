"""Errors of columns: each wording that is used more than once."""

from __future__ import annotations

from collections.abc import Iterable

from mqsel.carets import type_name
from mqsel.errors import ArgumentError, MqselError, PropertyTypeError


def with_extra(extra: str) -> str:
    """Return the command that installs an extra from where mqsel came from: no index of packages has it."""
    import json  # noqa: PLC0415 (for errors alone)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (likewise)
    from urllib.parse import unquote  # noqa: PLC0415 (likewise)

    try:
        origin = json.loads(distribution("mqsel").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    where = str(origin.get("url", ""))
    if "vcs_info" in origin:
        where = f"{origin['vcs_info'].get('vcs', 'git')}+{where}@{origin['vcs_info'].get('commit_id', 'HEAD')}"
    if origin.get("dir_info", {}).get("editable"):
        return f"pip install -e '{unquote(where.removeprefix('file://'))}[{extra}]'"
    if where:
        return f"pip install 'mqsel[{extra}] @ {where}'"
    return f"pip install '/path/to/mqsel[{extra}]', with the clone or the wheel that mqsel came from"


def not_a_batch(value: object, found: str = "") -> ArgumentError:
    what = type_name(value)
    hint = "build one with pyarrow.table({name: values, …}); for dicts and tuples use filter"
    if what == "LazyFrame":
        hint = "collect() it, or use select, which takes it as it is"
    elif what.endswith(("Dataset", "Scanner")):
        hint = "take dataset.scanner(columns=[…]).to_reader()"
    return ArgumentError(
        f"found a Python {what}{f' ({found})' if found else ''}: expected an Arrow record batch, table or struct array",
        hint=hint,
    )


def check_names(names: Iterable[str]) -> None:
    """Refuse names with U+0000, which end there in Arrow's C data interface, so that another column would be read.

    Raises: ArgumentError: there is one.
    """
    for name in names:
        if "\0" in name:
            raise ArgumentError(
                f"found {name!r}: the name of a column ends at U+0000 in Arrow's C data interface",
                hint="rename the column; or take filter or matches, which read it from dicts and tuples",
            )


def not_a_column(name: str, arrow_type: str, remedy: str) -> PropertyTypeError:
    return PropertyTypeError(
        f"column '{name}' has the Arrow type {arrow_type}: expected bool, int8 to int64, uint8 to uint64, float, "
        "double, string, binary or null",
        name=name,
        value_type=arrow_type,
        hint=remedy,
    )


def damaged_column(name: str, found: str, index: int | None = None) -> PropertyTypeError:
    return PropertyTypeError(
        f"column '{name}' is damaged, {found}: expected Arrow data as its type lays them out",
        name=name,
        index=index,
        hint="check the program that built the batch; batch.validate(full=True) reports more",
    )


def package_missing(what: str, package: str, extra: str) -> MqselError:
    return MqselError(f"{what} needs {package}, which is not installed", hint=with_extra(extra))
