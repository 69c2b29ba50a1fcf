"""Parquet files whose columns are views: pyarrow reads them, and filters none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mqsel import files


@pytest.mark.parametrize("selector", ["s = 'x' OR id = 2", "id < 3"])
def test_views_are_read_and_kept(tmp_path: Path, selector: str) -> None:
    """A column of views is printed like one of texts, whether the selector reads it or not."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"s": pa.array(["x", "a text that is no short one", None], pa.string_view()), "id": [1, 2, 3]}
    columns["b"] = pa.array([b"x", b"y", None], pa.binary_view())
    pq.write_table(pa.table(columns), tmp_path / "views.parquet")
    plain = {"s": pa.array(["x", "a text that is no short one", None]), "id": [1, 2, 3]}
    plain["b"] = pa.array([b"x", b"y", None], pa.binary())
    pq.write_table(pa.table(plain), tmp_path / "plain.parquet")
    expected = list(files.filter(tmp_path / "plain.parquet", selector))

    assert expected == list(files.filter(tmp_path / "views.parquet", selector))
    assert [json.loads(line)["id"] for line in expected] == [1, 2]
