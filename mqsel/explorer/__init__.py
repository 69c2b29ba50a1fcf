"""A web page on which you type a selector and see which of your messages match: `mqsel explore`, and `explore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqsel.carets import type_name
from mqsel.columns import wordings
from mqsel.errors import ArgumentError

if TYPE_CHECKING:
    from mqsel.explorer.server import Explorer


def explore(frame: object) -> Explorer:
    """Open a web page on which you type a selector and see which rows of a DataFrame match, and why.

    Rows are messages, and columns are their properties.

    Args:
        frame: A pyarrow Table, a pandas or Polars DataFrame, or another object with Arrow's C data or stream interface.

    Returns: an object that a notebook shows as the page. The server ends with the process, or if you call ``close``.

    Raises: ArgumentError: if *frame* is no such DataFrame. MqselError: if a package of the extra ``explore`` is
        missing.
    """
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)

        from mqsel.explorer.blocks import in_blocks  # noqa: PLC0415 (needs it)
        from mqsel.explorer.server import Explorer  # noqa: PLC0415 (optional)
        from mqsel.explorer.session import MessageSource, Session  # noqa: PLC0415
    except ImportError as error:
        raise wordings.package_missing("explore", str(error.name), "explore") from error
    if not (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")):
        hint = "df.limit(100_000).toArrow() is one, of a DataFrame of Spark" if hasattr(frame, "toArrow") else None
        raise ArgumentError(f"explore takes a frame of columns, found a Python {type_name(frame)}", hint=hint)
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise wordings.not_a_batch(frame, str(error)) from error
    return Explorer(Session(MessageSource(), in_blocks(table, "frame")), is_framed=True)
