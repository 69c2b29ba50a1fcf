"""A set of selectors on the executors: how it is sent there, and the functions that search it.

It is pickled with the function that searches it: so it exists as long as a query may need it, and leaves no file. A set
too large for that is saved under the name of its content. Spark copies the file to every executor that runs a task of
it, the Python workers of a host map it, and only the name is pickled. Knows columns of Arrow and sets; no SQL.
Follows spark §9 and §13.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqsel.errors import DecodeError, MqselError, UndocumentedError
from mqsel.language.selector import Selector, read_selector
from mqsel.machine.sections import MAGIC
from mqsel.sets.set import SelectorSet
from mqsel.spark.ship import by_types, options_of, read_anyhow

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import SparkSession

KEYS = {str: "string", int: "bigint"}  # what keys are, and the type of a column of them
# Bytes of a set that travels with a function: some 20,000 selectors. A function of more than 1 MB becomes a broadcast,
# of which a file stays on the driver until the application ends (*measured*).
_CARRIED = 900_000
_FILE = b"mqsel-"  # the name of a file begins so, and no compressed set

# ---- on the driver ---------------------------------------------------------------------------------------------------


@functools.cache
def _folder(_process: int) -> tempfile.TemporaryDirectory[str]:
    """Create the folder of the files that Spark is asked for as long as the application runs."""
    return tempfile.TemporaryDirectory(prefix="mqsel-")


def shipped(selectors: SelectorSet[Any], session: SparkSession) -> bytes:
    """Return what `opened` takes on an executor: the set itself, or the name of the file that Spark brings there.

    Raises: ArgumentError: a key that is neither a str nor an int.
    """
    from pyspark import cloudpickle  # noqa: PLC0415 (optional)

    carried = zlib.compress(cloudpickle.dumps(selectors, 5), 1)  # type: ignore[no-untyped-call]
    if len(carried) <= _CARRIED:
        return carried
    path = _saved(selectors)
    if "connect" in type(session).__module__:
        session.addArtifact(str(path), file=True)
    else:
        session.sparkContext.addFile(str(path))
    return path.name.encode()


def _saved(selectors: SelectorSet[Any]) -> Path:
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
        path = folder / f"{_FILE.decode()}{digest.hexdigest()[:32]}.set"
        if not path.exists():
            written.replace(path)
    return path


def is_saved(path: Path) -> bool:
    """Report whether a file begins as those of `SelectorSet.save` do."""
    with suppress(OSError), path.open("rb") as content:
        return content.read(len(MAGIC)) == MAGIC
    return False


def read(selectors: SelectorSet[Any]) -> Iterator[Selector]:
    """Yield the selectors of a set.

    Raises: ArgumentError: it kept no texts.
    """
    for text, (_, dialect) in zip(selectors.values(), selectors.dialects(), strict=True):
        yield read_selector(text, dialect)


# ---- on the executors ------------------------------------------------------------------------------------------------


@functools.lru_cache(8)
def opened(held: bytes) -> SelectorSet[Any]:
    """Open a set that `shipped` sent; a worker does so once.

    In a stream of Spark Connect Spark puts a file into the folder of the stream's own session, and names that above it
    to the worker (*measured*). Whichever of these has the name has the content.
    """
    if not held.startswith(_FILE):
        made: SelectorSet[Any] = pickle.loads(zlib.decompress(held))  # noqa: S301 (Spark itself pickles the function)
        return made
    from pyspark import SparkFiles  # noqa: PLC0415 (optional)

    name = held.decode()
    path = Path(SparkFiles.get(name))
    within = () if path.exists() else path.parent.glob(f"*/{name}")
    return SelectorSet.open(next(iter(within), path))


@functools.lru_cache(8)
def _keys(held: bytes) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 (optional)

    keys = list(opened(held))
    return pa.array(keys, pa.int64() if keys and isinstance(keys[0], int) else pa.string())


def _lists(held: bytes) -> pa.DataType:
    """Return the type of a column of keys, none of which is NULL."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    return pa.list_(pa.field("element", _keys(held).type, nullable=False))


def keys_of_rows(held: bytes, options: str, columns: Sequence[pa.Array]) -> pa.ListArray:
    """Return for each row of a batch the keys of the selectors that select it.

    Args:
        held: what `shipped` has sent.
        options: JSON of the ``layout`` of the columns, see `mqsel.spark.ship.evaluate`, and of ``now``, what UTC() is.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    chosen = options_of(options)
    selectors, layout = opened(held), chosen["layout"]
    answer = functools.partial(selectors.match_batch, now=chosen["now"])
    places = read_anyhow(lambda one: by_types(answer, layout, one), columns)
    nulls = places.is_null() if places.null_count else None
    with _batch_of(len(places)):
        return pa.ListArray.from_arrays(places.offsets, _keys(held).take(places.values), _lists(held), mask=nulls)


@contextmanager
def _batch_of(rows: int) -> Iterator[None]:
    """Raise one clear error where the keys of a batch of rows are more bytes than a column of Arrow holds."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowCapacityError) as error:
        setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
        fewer = f"set {setting} to {rows // 10} or less, or number" if rows >= _FEW else "number"
        raise MqselError(
            f"the keys of the selectors that select the {rows:,} rows of a batch are more than 2 GiB: "
            "expected fewer in one batch",
            hint=f"{fewer} the selectors: keys that are int take 8 bytes",
        ) from error


_FEW = 10  # rows of a batch that are not divided any more


def keys_of_messages(held: bytes, options: str, columns: Sequence[pa.Array]) -> pa.ListArray:
    """Return for each raw message of a batch the keys of the selectors that select it: none where it cannot be read."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    chosen = options_of(options)
    selectors = opened(held)
    decode = selectors.decoder(chosen["format"], **chosen["decoder"])
    found: list[list[Any] | None] = []
    for raw in columns[0].to_pylist():
        try:
            found.append([] if raw is None else selectors.match(decode(raw), now=chosen["now"]))
        except DecodeError:
            if chosen["raising"]:
                raise
            found.append([])
        except UndocumentedError:
            found.append(None)
    with _batch_of(len(found)):
        return pa.array(found, _lists(held))
