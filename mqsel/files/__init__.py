"""Read files of messages: `filter` yields the messages that a selector selects, `messages` yields all of them."""

from mqsel.files.framings import length_prefixed, messages
from mqsel.files.qload import qload_text
from mqsel.files.run import filter  # noqa: A004 (the word of Matcher)

__all__ = ["filter", "length_prefixed", "messages", "qload_text"]
