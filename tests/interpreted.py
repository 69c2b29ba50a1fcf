"""Imported before mqsel, it has Python read the sources of what is compiled from .py files: so lines can be counted."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any


class Sources:
    """Finds modules of mqsel by their sources, if they have some in Python."""

    @staticmethod
    def find_spec(name: str, path: Any = None, _: Any = None) -> ModuleSpec | None:
        if not name.startswith("mqsel."):
            return None
        files = [Path(folder) / f"{name.rpartition('.')[2]}.py" for folder in path or ()]
        return next((spec_from_file_location(name, file) for file in files if file.exists()), None)


assert "mqsel" not in sys.modules
sys.meta_path.insert(0, Sources)  # type: ignore[arg-type]
