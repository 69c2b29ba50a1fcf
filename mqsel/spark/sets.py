"""A set of selectors on the executors: the file that Spark brings to each of them once, and what is asked of it there.

The driver saves a set under the name of its content, and Spark hands the file to every executor that runs a task of it;
the Python workers of a host map it. What travels with a task is the name. Knows columns of Arrow and sets; no SQL.
Follows spark §9 and §13.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqsel.errors import DecodeError
from mqsel.language.selector import Selector, read_selector
from mqsel.machine.sections import MAGIC
from mqsel.selectorset import SelectorSet
from mqsel.spark.ship import by_types, read_anyhow

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import SparkSession

KEYS = {str: "string", int: "bigint"}  # what keys are, and the type of a column of them
_SEPARATORS = "\x1f\x1e\x1d\x1c\x01\x02\x03\x04"

# ---- on the driver ---------------------------------------------------------------------------------------------------


@functools.cache
def _folder(_process: int) -> tempfile.TemporaryDirectory[str]:
    """Make where the files stand that Spark is asked for as long as the application runs."""
    return tempfile.TemporaryDirectory(prefix="mqsel-")


def saved(selectors: SelectorSet[Any]) -> Path:
    """Save a set under the name of its content; two sets that are alike are one file.

    Raises: ArgumentError: a key that is neither a str nor an int.
    """
    folder = Path(_folder(os.getpid()).name)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        written = Path(scratch) / "set"
        selectors.save(written)
        digest = hashlib.sha256()
        with written.open("rb") as content:
            for block in iter(lambda: content.read(1 << 20), b""):
                digest.update(block)
        path = folder / f"mqsel-{digest.hexdigest()[:32]}.set"
        if not path.exists():
            written.replace(path)
    return path


def is_saved(path: Path) -> bool:
    """Tell whether a file begins as those of `SelectorSet.save` do."""
    with suppress(OSError), path.open("rb") as content:
        return content.read(len(MAGIC)) == MAGIC
    return False


def hand_out(path: Path, session: SparkSession) -> None:
    """Ask Spark to bring a file to every executor, once."""
    if "connect" in type(session).__module__:
        session.addArtifact(str(path), file=True)
    else:
        session.sparkContext.addFile(str(path))


def separator(keys: Iterable[Any]) -> str:
    """Give a character that stands in no key, and for itself in a regular expression; empty where there is none.

    Spark copies the texts of an array one by one out of Arrow's memory. A text for a row, which it splits, costs half
    (*measured*).
    """
    taken: set[str] = set()
    for key in keys:
        if not isinstance(key, str):
            return ""
        taken.update(key)
    return next((one for one in _SEPARATORS if one not in taken), "")


def read(selectors: SelectorSet[Any]) -> Iterator[Selector]:
    """Yield the selectors of a set.

    Raises: ArgumentError: it kept no texts.
    """
    for text, (_, dialect) in zip(selectors.values(), selectors.dialects(), strict=True):
        yield read_selector(text, dialect)


# ---- on the executors ------------------------------------------------------------------------------------------------


@functools.lru_cache(16)
def opened(name: str) -> SelectorSet[Any]:
    """Open a set that Spark brought; a worker does so once.

    In a stream of Spark Connect Spark puts it into the folder of the stream's own session, and names that above it to
    the worker (*measured*). Whichever of these has the name has the content.
    """
    from pyspark import SparkFiles  # noqa: PLC0415 (optional)

    path = Path(SparkFiles.get(name))
    within = () if path.exists() else path.parent.glob(f"*/{name}")
    return SelectorSet.open(next(iter(within), path))


@functools.lru_cache(16)
def _keys(name: str) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 (optional)

    keys = list(opened(name))
    return pa.array(keys, pa.int64() if keys and isinstance(keys[0], int) else pa.string())


@functools.lru_cache(64)
def _read(options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(options)
    return found


def keys_of_rows(name: bytes, options: str, columns: Sequence[pa.Array]) -> pa.Array:
    """Give for each row of a batch the keys of the selectors that select it.

    Args:
        name: of the file.
        options: JSON of the ``layout`` of the columns, see `mqsel.spark.ship.evaluate`, and of the ``separator``: keys
            are joined by it, and null where there are none; empty to give lists.
    """
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

    chosen = _read(options)
    selectors, layout = opened(name.decode()), chosen["layout"]
    places = read_anyhow(lambda one: by_types(selectors.match_batch, layout, one), columns)
    keys = _named(_keys(name.decode()), places)
    if not chosen["separator"]:
        return keys
    joined = pc.binary_join(keys, chosen["separator"])
    return pc.if_else(pc.greater(pc.list_value_length(keys), 0), joined, None)


def keys_of_messages(name: bytes, options: str, columns: Sequence[pa.Array]) -> pa.ListArray:
    """Give for each raw message of a batch the keys of the selectors that select it: none where it cannot be read."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    chosen = _read(options)
    selectors = opened(name.decode())
    decode = selectors.decoder("mq", **chosen["decoder"])
    found: list[list[Any]] = []
    for raw in columns[0].to_pylist():
        try:
            found.append([] if raw is None else selectors.match(decode(raw)))
        except DecodeError:
            if chosen["raising"]:
                raise
            found.append([])
    return pa.array(found, pa.list_(_keys(name.decode()).type))


def _named(keys: pa.Array, places: pa.ListArray) -> pa.ListArray:
    """Put keys for their places."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    offsets = places.offsets
    return pa.ListArray.from_arrays(offsets, keys.take(places.values))
