"""Write a wide Parquet file of messages: `python bench/data/make_parquet.py rows.parquet` writes 4,000,000 rows.

Twenty columns, as a connector would land them: texts that repeat and texts that do not, numbers of all widths, a time,
bytes. JMSTimestamp rises, so that what is late lies in the last row group; the other columns know nothing of it. color,
weight, region and note are missing from one row in ten. The same count gives the same rows.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 4_000_000
GROUP = 250_000  # rows of a row group
FIRST = 1_772_431_200_000  # the first JMSTimestamp; one millisecond between two rows
SEED = 13


def _some(random: Any, values: list[str], rows: int) -> Any:
    return pa.array(np.array(values, object)[random.randint(0, len(values), rows)], pa.string())


def _missing(random: Any, column: Any) -> Any:
    import pyarrow.compute as pc

    return pc.if_else(pa.array(random.randint(0, 10, len(column)) > 0), column, None)


def _each(text: str, numbers: Any) -> Any:
    return pa.array([text % number for number in numbers.tolist()], pa.string())


def group(number: int, rows: int) -> Any:
    """Return the rows of a row group: a table."""
    random = np.random.RandomState(SEED + number)  # its numbers are promised to stay as they are
    time = FIRST + number * GROUP + np.arange(rows)
    words = "customer waits paid in advance call first gift no invoice inside leave at the gate ring twice".split()
    notes = [" ".join(words[at] for at in four) for four in random.randint(0, len(words), (rows, 4)).tolist()]
    token = random.bytes(16 * rows)
    columns = {
        "JMSMessageID": _each("ID:414d5120464c45455431202020202020%016x", random.randint(0, 1 << 62, rows)),
        "JMSTimestamp": pa.array(time, pa.int64()),
        "JMSType": _some(random, ["car", "truck", "bike", "bus"], rows),
        "JMSPriority": pa.array(random.randint(0, 10, rows), pa.int32()),
        "JMSDeliveryMode": _some(random, ["PERSISTENT", "NON_PERSISTENT"], rows),
        "JMSCorrelationID": _each("ID:414d5120464c45455431202020202020%016x", time - random.randint(0, 500, rows)),
        "JMSReplyTo": _some(random, [f"queue://FLEET1/REPLY.{n}" for n in range(40)], rows),
        "JMSRedelivered": pa.array(random.randint(0, 20, rows) == 0),
        "color": _missing(random, _some(random, ["red", "green", "blue", "black"], rows)),
        "weight": _missing(random, pa.array(random.randint(1000, 5000, rows), pa.int64())),
        "price": pa.array(random.randint(100, 10_000, rows) / 100),
        "region": _missing(random, _some(random, ["us-east", "us-west", "eu-west", "eu-central", "sa-east"], rows)),
        "symbol": _each("S%d", random.randint(0, 2000, rows)),
        "customer": _each("C-%07d", random.randint(0, 3_000_000, rows)),
        "quantity": pa.array(random.randint(1, 500, rows), pa.int16()),
        "ratio": pa.array(random.rand(rows), pa.float32()),
        "account": pa.array(random.randint(0, 1 << 40, rows), pa.int64()),
        "received": pa.array(time * 1000 + random.randint(0, 1_000_000, rows), pa.timestamp("us")),
        "token": pa.array([token[at : at + 16] for at in range(0, len(token), 16)], pa.binary()),
        "note": _missing(random, pa.array(notes, pa.string())),
    }
    return pa.table(columns)


def write(path: Path, rows: int = ROWS) -> None:
    """Write the file."""
    with pq.ParquetWriter(path, group(0, 1).schema) as writer:
        for number, start in enumerate(range(0, rows, GROUP)):
            writer.write_table(group(number, min(GROUP, rows - start)), row_group_size=GROUP)


def main() -> None:
    """Write the file that is named."""
    parser = argparse.ArgumentParser(description="Write a wide Parquet file of messages.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    arguments = parser.parse_args()
    write(arguments.path, arguments.rows)


if __name__ == "__main__":
    main()
