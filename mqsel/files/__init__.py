"""Files of messages: opened, taken apart, selected from, inspected."""

from mqsel.files.filtering import filter  # noqa: A004 (the word of Matcher)
from mqsel.files.framings import length_prefixed, messages
from mqsel.files.qload import qload_text

__all__ = ["filter", "length_prefixed", "messages", "qload_text"]
