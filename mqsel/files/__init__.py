"""Files of messages: opened, taken apart, selected from, inspected."""

from mqsel.files.framings import length_prefixed, messages
from mqsel.files.qload import qload_text

__all__ = ["length_prefixed", "messages", "qload_text"]
