"""What fails at a line of mqsel, at each of them in turn."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import mqsel

PACKAGE = Path(mqsel.__file__).parent


class Injected(BaseException):
    """What no code knows, as an interrupt."""


def failing(call: Callable[[], object], kind: type[BaseException] = Injected, within: Path = PACKAGE) -> Iterator[str]:
    """Call something until no line is left that fails; yield the text of each, once its exception is gone."""
    for number in count(1):
        left, text = number, ""

        def each(frame: Any, event: str, _: object) -> Any:
            nonlocal left, text
            if not frame.f_code.co_filename.startswith(str(within)):
                return None
            left -= event == "line"
            if left == 0:
                sys.settrace(None)
                text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
                raise kind
            return each

        before = sys.gettrace()
        sys.settrace(each)
        try:
            call()
        except (kind, mqsel.MqselError):
            pass
        finally:
            sys.settrace(before)
        if not text:
            return
        yield text
