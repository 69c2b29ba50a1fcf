"""Files of messages: opened, taken apart, selected from, inspected."""

from mqsel.files.framings import length_prefixed, messages
from mqsel.files.qload import qload_text
from mqsel.files.run import filter  # noqa: A004 (the word of Matcher)

__all__ = ["filter", "length_prefixed", "messages", "qload_text"]
