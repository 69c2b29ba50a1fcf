"""Extended message selection providers for bodies: JSONPath over JSON, XPath 1.0 over XML.

Needs the extra ``body``. Owns which bodies are selected; the libraries define what a path means. A body of
the other kind is not selected, one that ends too early is an error. Follows selection §2.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mqsel import formats
from mqsel.carets import shortened_line, type_name
from mqsel.columns.wordings import with_extra
from mqsel.errors import MQRC, ArgumentError, DecodeError, MqselError, SelectorLimitError, SelectorSyntaxError

MAX_LENGTH = 10_240  # MQ_SELECTOR_LENGTH


class JSONPath:
    """Selects messages if a path finds something in their JSON body: ``$.order[?@.quantity > 5]`` (RFC 9535)."""

    def compile(self, text: str) -> Callable[[Any], bool]:
        """Return the test for *text*, a JSONPath: a function that takes a message.

        Args:
            text: The path.

        Raises: SelectorSyntaxError: if *text* is not a JSONPath.
        """
        try:
            from jsonpath import JSONPathEnvironment  # noqa: PLC0415 (optional)
        except ImportError as error:
            raise _not_installed("JSONPath", "python-jsonpath") from error
        short = _short(text)
        try:
            path = JSONPathEnvironment(strict=True).compile(short)
        except Exception as error:  # of numbers and patterns beyond what the library takes it has Python's own
            raise _no_path(text, "JSONPath", error) from error

        def test(message: Any) -> bool:
            body = body_of(message)
            if not body or _is_xml(body):
                return False
            try:
                document = json.loads(body)
            except (ValueError, RecursionError) as error:
                raise _no_document("valid JSON", error) from error
            try:
                return path.match(document) is not None
            except Exception as error:
                raise _no_document("a document for the path", error) from error

        return test


class XPath:
    """Selects messages if an expression is true for their XML body: ``/order[quantity > 5]`` (XPath 1.0)."""

    def compile(self, text: str) -> Callable[[Any], bool]:
        """Return the test for *text*, an XPath: a function that takes a message.

        Args:
            text: The expression.

        Raises: SelectorSyntaxError: if *text* is not an XPath.
        """
        try:
            from lxml import etree  # type: ignore[import-untyped] # noqa: PLC0415 (optional)
        except ImportError as error:
            raise _not_installed("XPath", "lxml") from error
        # No entities, no network, no documents of enormous depth or size.
        parser_options = {"resolve_entities": False, "no_network": True, "huge_tree": False}
        short = _short(text)
        try:
            expression = etree.XPath(short)
            expression(etree.Element("any"))  # names unknown functions and variables, which compiling does not
        except (etree.XPathError, ValueError) as error:
            raise _no_path(text, "XPath", error) from error

        def test(message: Any) -> bool:
            body = body_of(message)
            if not body or not _is_xml(body):
                return False
            data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
            # The encoding that a text declares was true of its bytes, before somebody decoded it.
            encoding = "utf-8" if isinstance(body, str) else None
            try:
                document = etree.fromstring(data, etree.XMLParser(encoding=encoding, **parser_options))
            except etree.XMLSyntaxError as error:
                raise _no_document("valid XML", error) from error
            try:
                found = expression(document)
            except etree.XPathError as error:  # a variable that was not met before
                raise _no_document("a document for the expression", error) from error
            # XPath 1.0 §4.3, boolean(): a number is true unless it is 0 or NaN.
            return found == found and bool(found)  # noqa: PLR0124 (NaN is not)

        return test


def _short(text: str) -> str:
    """Refuse what is longer than a selection string: a path of 100,000 steps takes the stack, and the process."""
    if not isinstance(text, str):
        raise ArgumentError(f"the text is a Python {type_name(text)}: expected a string")
    if len(text) > MAX_LENGTH:
        message = f"the text has {len(text)} characters: a provider takes {MAX_LENGTH}"
        raise SelectorLimitError(message, selector=text, reason=MQRC.MQRC_SELECTION_STRING_ERROR)
    return text


def body_of(message: Any) -> str | bytes | None:
    """Return the body: of a `Message`, or anything with a ``body``; of an IBM MQ message what follows its headers."""
    if not isinstance(message, (bytes, bytearray, memoryview)):
        body = getattr(message, "body", None)
        return body if isinstance(body, (str, bytes)) else None
    name, offset, _ = formats.inspect(message).structures[-1]
    return bytes(message)[offset:] if name == "data" else None


def _is_xml(body: str | bytes) -> bool:
    head = body[:200].decode("utf-8", "ignore") if isinstance(body, bytes) else body[:200]
    return head.lstrip("\ufeff\0 \t\r\n").startswith("<")


def _not_installed(what: str, package: str) -> MqselError:
    return MqselError(f"{what} needs {package}: it is not installed", hint=with_extra("body"))


def _no_path(text: str, what: str, error: Exception) -> SelectorSyntaxError:
    # str() of an error of python-jsonpath shows the place in the text, and fails for an empty one.
    why = shortened_line(str(error) if text else "it is empty")
    return SelectorSyntaxError(f"this isn't valid {what}: {why}", selector=text, span=(0, len(text)), hint=None)


def _no_document(what: str, error: Exception) -> DecodeError:
    return DecodeError(f"the body isn't {what}: {shortened_line(str(error))}", reason=MQRC.MQRC_CONTENT_ERROR)
