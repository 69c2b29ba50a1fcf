"""What a file holds: told by its content, and by its name where contents look alike.

The first look is at bytes alone: a file without any of the words of a kind is not even decoded. 1 GB takes about 2 s.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from mqsel.errors import SelectorError
from mqsel.inventory.data import is_selector
from mqsel.inventory.entries import Source
from mqsel.inventory.own import read as read_own
from mqsel.language.dialect import IBM_MQ
from mqsel.language.selector import read_selector

# One of these stands in every file of any kind, in letters of either case; our own forms apart.
WORDS = (
    b"selector",
    b"filter",
    b"selected",
    b"sqlexpression",
    b"bysql",
    b"sql:",
    b"createconsumer",
    b"createreceiver",
    b"createbrowser",
    b"createsubscriber",
    b"createdurable",
    b"createshared",
)
_UNREAD = re.compile(
    r".*\.(?:md|rst|adoc|html?|css|scss|less|js|mjs|cjs|jsx|tsx?|vue|svelte|py|pyx|rb|go|rs|c|cc|cpp|h|hpp|cs|php|pl|lua|"
    r"swift|m|sql|svg|map|lock|log|patch|diff|ipynb|xsd|xslt?|wsdl)",
    re.IGNORECASE,
)
_OWN_NAMES = re.compile(r".*\.(?:txt|tsv|sel|selectors|lst|list|jsonl?)|[^.]*", re.IGNORECASE)
# Names that nothing but our own forms have: most lines decide. Files under any other name need more, see `_is_ours`.
_SURE_NAMES = re.compile(r".*\.(?:sel|selectors)", re.IGNORECASE)
# What names of files end in that people pass to a command.
EXTENSIONS = re.compile(
    r".*\.(?:mqsc|out|scr|conf|cfg|xml|java|groovy|kts?|scala|sc|ya?ml|properties|jsonc?|jsonl|ndjson|bicep|tf|hcl|tofu|"
    r"txt|tsv|csv|sel|selectors|lst|list|parquet|gz|zst|lz4)",
    re.IGNORECASE | re.DOTALL,
)
_LINES = 20  # by which it is known that lines are selectors


class _Sign(NamedTuple):
    """What tells files of a kind.

    Attributes:
        kind: a row of `KINDS`.
        name: of the file, matched whole: with it, `start` need not be there.
        start: what the content has if the name tells nothing; None if only the name can tell.
        words: what the content has in any case: a pattern, or texts of which one is there.
    """

    kind: str
    name: re.Pattern[str] | None
    start: re.Pattern[str] | None
    words: re.Pattern[str] | tuple[str, ...]


def _sign(kind: str, name: str, start: str, words: str | tuple[str, ...]) -> _Sign:
    return _Sign(
        kind,
        re.compile(name, re.IGNORECASE) if name else None,
        re.compile(start, re.MULTILINE) if start else None,
        re.compile(words, re.MULTILINE) if isinstance(words, str) else words,
    )


def _has(content: str, words: re.Pattern[str] | tuple[str, ...]) -> bool:
    return any(map(content.__contains__, words)) if isinstance(words, tuple) else words.search(content) is not None


# As texts, because most files of a large tree are sources: a pattern takes eight times as long.
_SOURCE_WORDS = (
    *("messageSelector", "MessageSelector", "JmsListener", "JMSListener", "RocketMQ", "bySql", "FilterExpression"),
    *("createConsumer", "createReceiver", "createBrowser", "createSubscriber", "createDurable", "createShared"),
    *("ConnectionConsumer", "receiveSelected", "browseSelected", "setSelector", "withSelector", ".selector("),
    *("setFilterString", "jms-selector", ".jms", '= "JMS'),
    *("?selector=", "&selector="),
)
_XML = r"\A\s*(?:<\?xml|<!--|<!DOCTYPE(?!\s+html)|<(?!html)[A-Za-z][\w:.-]*[\s>/])"
_JSON = r"\A\s*[{\[]"
# A beginning that only XML or JSON has, which no name outweighs. Templates begin with ``{{``, sections with ``[name]``.
_SHAPED = re.compile(rf"{_XML}|\A\s*(?:\{{\s*[\"}}]|\[\s*[\[{{\"])")
_STRING = r"\"(?:[^\"\\]|\\.)*\""
_KEY = r"(?<![\w.\-%])[\w.\-%]*[sS](?:elector|ELECTOR)[\"']?\s*"
_SQL = r"\bsubscription[\"']?\s*[:=]\s*[\"']?sql:"

# In this order: what begins in a way of its own, then what only its name or its lines tell.
_SIGNS = (
    _sign(
        "artemis", "", _XML, r"(?s)\A(?=.*(?:urn:activemq|<queue-binding|<core[\s>]|urn:hornetq)).*?(?:filter|elector)"
    ),
    _sign("activemq", "", _XML, r"(?s)\A(?=.*activemq\.apache\.org/schema).*?elector"),
    _sign(
        "ejb",
        "",
        _XML,
        r"(?s)\A(?=.*<(?:\w+:)?(?:ejb-jar|message-driven|connector|activation-config|server|messaging-bridge)\b).*?elector",
    ),
    _sign("spring", "", _XML, r"[eE]lector|<filter[\s>]"),
    _sign("java", r".*\.(?:java|groovy)", r"^[ \t]*(?:import|package)[ \t]+[\w.]+;", _SOURCE_WORDS),
    _sign("scala", r".*\.(?:scala|sc)", r"^import[ \t]+[\w.](?=[\w.]*[{_*])[^;\n]*$", _SOURCE_WORDS),
    _sign("kotlin", r".*\.kts?", r"\A(?=(?s:.*)\bfun\s)(?s:.*?)^(?:import|package)[ \t]+[\w.]+$", _SOURCE_WORDS),
    _sign("runmqsc", "", r"^[ \t]*AMQ8(?:096|099)[A-Z]?:", r"SELECTOR\("),
    _sign("mqsc", "", r"(?i)^[ \t]*(?:DEF(?:INE)?|ALT(?:ER)?)[ \t]+SUB[ \t]*[(+\-]", r"(?i)SELECTOR"),
    _sign(
        "ems", "", r"(?i)^[ \t]*(?:create|setprop|addprop)[ \t]+(?:bridge|durable|route)\b", r"(?i)\bselector[ \t]*="
    ),
    _sign("ems", "", r"(?i)^[ \t]*\[(?:topic|queue)[:=]", r"(?i)\bselector[ \t]*="),
    # A line that ends in a brace is one of HOCON or of a proxy, which have routes.conf of their own.
    _sign(
        "ems",
        r"(?:.*[._-])?(?:bridges|durables|routes)(?:[_-][^.]{0,100})?(?:\.conf(?:\..{0,100})?)?",
        "",
        r"(?is)\A(?!.*\{[ \t]*$)(?=.*\bselector[ \t]*=)",
    ),
    _sign("ems", "", _JSON, r"(?s)\A(?=.*\"tibemsd\"\s*:).*?elector"),
    _sign("azure", r".*\.jsonc", _JSON, r"(?i)\"(?:sql_?Filter|sqlExpression|correlation_?Filter)\"\s*:"),
    _sign("rabbitmq", "", _JSON, r"(?s)\A(?=.*\"(?:rabbit_version|rabbitmq_version)\").*?(?:elector|sql-filter)"),
    _sign("broker-j", "", _JSON, r"\"(?:x-filter-jms-selector|x-jms-selector|rjms_selector|jms-selector)\""),
    _sign("connect", "", _JSON, r"(?i)\"(?:[\w.]*jms\.message\.selector|[\w.]*kcql)\"|WITHJMSSELECTOR"),
    _sign(
        "keyed-json",
        "",
        _JSON,
        rf"\A\s*(?:\[\s*)?\{{(?=((?:[^{{}}\"]|{_STRING})*?\"selector\"\s*:\s*{_STRING}))\1(?:[^{{}}\"]|{_STRING})*\}}",
    ),
    _sign("json", "", _JSON, rf"\"{_KEY}:|[?&](?:messageS|s)elector="),
    _sign(
        "terraform", r".*\.(?:tf|hcl|tofu)", r"^(?:resource|data|module)\s+\"", r"(?:sql|correlation)_filter|elector"
    ),
    _sign("bicep", r".*\.bicep", r"^resource\s+\w+\s+'[^']+@", r"(?i)(?:sql|correlation)Filter|sqlExpression|elector"),
    _sign("csv", r".*\.(?:csv|tsv)", r"(?i)\A\"?\w+\"?[,;\t|].*\bselector\b|\A\"?selector\"?[,;\t|]", r"."),
    _sign(
        "yaml",
        r".*\.ya?ml",
        r"\A(?:[ \t]*(?:#.*|---.*)?\n)*[\w.\-\"']+:(?:\s|$)",
        rf"(?i){_KEY}:|[?&](?:messageS|s)elector=|sqlFilter|kcql|sql-filter|{_SQL}",
    ),
    _sign(
        "properties",
        r".*\.properties",
        r"\A(?:[ \t\r]*(?:[#!].*)?\n)*[\w.\-%\"]+[ \t]*=",
        rf"(?im)^[ \t]*{_KEY}[=:]|[?&](?:messageS|s)elector=|kcql|{_SQL}",
    ),
)

# A quoted text behind a word for selectors, in a language or a form that no reader knows, of a file that has to do with
# brokers: other selectors are as common.
_MENTIONED = re.compile(
    r"(?i)(?:selector|filter|expression|consumer\([^\"',\n]{0,99},)\\?[\"']?\s*(?:(?:=>?|[:(])\s*)?[@$fru]{0,2}"
    r"(\\?[\"'])([^\n]{1,500}?)(?<!\\)\1"
)
_BROKERS = re.compile(r"(?i)jms|stomp|\bnms\b|amqp|activemq|artemis|tibems|service-?bus|rocketmq|qpid|\bibmmq|solace")


def mentioned(content: str) -> int:
    """Return where a text stands in a file of no kind that seems to be a selector; -1 if there is none."""
    found = _MENTIONED.finditer(content) if _BROKERS.search(content) else ()
    return next((one.start(2) for one in found if is_selector(one[2].replace("\\u0027", "'").replace("\\", ""))), -1)


_PACKED = re.compile(r"\.(?:gz|zst|lz4|bz2|xz)$", re.IGNORECASE)


def kind_of(name: str, content: str, *, is_named: bool, has_words: bool) -> str:
    """Return the kind of a file; empty if it has no selectors.

    Args:
        name: of the file, without its folder.
        content: its text.
        is_named: somebody named it: otherwise it was met in a folder.
        has_words: one of `WORDS` is in it.
    """
    if not is_named and _UNREAD.fullmatch(name):
        return ""
    name = _PACKED.sub("", name)
    kind, is_told = _by_signs(name, content) if has_words else ("", False)
    if is_told:
        return kind if is_named or _has_messages(kind, content) else ""
    is_own = _OWN_NAMES.fullmatch(name) is not None
    is_sure = is_named or _SURE_NAMES.fullmatch(name) is not None
    return _own(content, name, is_named=is_named and is_own, is_sure=is_sure) if is_named or is_own else ""


def _by_signs(name: str, content: str) -> tuple[str, bool]:
    """Return the kind that the signs tell, and whether content or name tells one at all, which may lack its words.

    XML and JSON are told by their beginning, whatever the name. Any other content is what its name says, if that says
    anything.
    """
    is_shaped = _SHAPED.match(content) is not None
    by_name = next((row for row in _SIGNS if row.name is not None and row.name.fullmatch(name)), None)
    if is_shaped or by_name is None:
        for row in _SIGNS:
            if row.start is not None and row.start.search(content) and _has(content, row.words):
                return row.kind, True
    if by_name is not None and _has(content, by_name.words) and not (is_shaped and by_name.start is None):
        return by_name.kind, True
    return "", by_name is not None


def _has_messages(kind: str, content: str) -> bool:
    """Report whether a file that nobody named has to do with messages, if its kind has keys that other tools have."""
    if kind == "keyed-json":
        return all(is_selector(match[1].replace('\\"', '"')) for match in _KEYED_TEXT.finditer(content, 0, _HEAD))
    return kind not in _ANYWHERE or _MESSAGING.search(content) is not None


_HEAD = _LINES * 1000  # characters
_KEYED_TEXT = re.compile(r"\"selector\"\s*:\s*\"((?:[^\"\\]|\\.)*)\"")
_ANYWHERE = ("yaml", "json", "properties", "spring", "ejb")
_MESSAGING = re.compile(
    r"(?i)jms|stomp|amqp|mq\b|\bmq|activemq|artemis|hornetq|tibems|\bems\b|service-?bus|rabbit|qpid|solace|pulsar|messag|"
    r"queue|topic|destination|subscri|broker|bridge|listener|consumer|sql-filter|sql_?expression"
)

_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)(?:"(\s*[,\]}\n])?|\\?\Z)', re.DOTALL)


def _own(content: str, name: str, *, is_named: bool, is_sure: bool) -> str:
    """Return which of our own forms a text has: most of its first lines are selectors.

    Args:
        name: of the file.
        is_named: somebody named the file: a line with an operator is one of a selector, though that may be invalid.
        is_sure: somebody named the file, or nothing else has its name: otherwise `_is_ours` has to hold.
    """
    head = content[:_HEAD]
    forms: dict[str, list[str]] = {}
    is_headed = _SELECTORS.search(name) is not None
    if head.lstrip()[:1] in ("{", "["):
        forms["keyed-json"] = [text.replace('\\"', '"') for text, end in _STRINGS.findall(head) if end][:_LINES]
    else:
        whole = head.splitlines()[: _LINES * 2]
        is_headed = is_headed or _HEADER.match(head) is not None
        lines = [line for line in whole if line.strip() and not line.lstrip().startswith("#")][:_LINES]
        if lines and all("\t" in line for line in lines):
            forms["keyed"] = [line.partition("\t")[2] for line in lines]
        if is_sure or is_headed:
            entries = read_own(Source("", "\n".join(whole)), "lines", {})  # a selector may have many lines
            forms["lines"] = [entry.text.value for entry in entries if entry.text is not None]
    # What reads as one form is that, though it may look like another.
    for is_loose in (False, True) if is_named and "\0" not in head else (False,):
        for kind, texts in forms.items():
            if most(texts, is_loose=is_loose) and (is_sure or _is_ours(texts, is_headed=is_headed)):
                return kind
    return ""


_SELECTORS = re.compile(r"(?i)(?:\b|_)selectors?(?:\b|_)")
_HEADER = re.compile(r"(?i)\s*#[ \t#]*(?:(?:message|jms|mq|our|all|the)[ \t]+){0,3}selectors?\b")  # in the first line
# Whatever an assignment of a shell, a Makefile or a file of settings may be.
_ASSIGNMENT = re.compile(r"\s*[\w$.-]+\s*=\s*(?:'[^']*'|\"[^\"]*\"|[^\s'\"=<>]+)\s*")


def _is_ours(texts: list[str], *, is_headed: bool) -> bool:
    """Report whether the lines of a file that nobody named can be nothing but selectors.

    ``PASSWORD=secret`` is a valid selector, so that files of settings are files of selectors, too. In a folder, all
    lines have to compare as selectors do, and one of them in a manner that no assignment has, unless the file says by
    its name or its first line that it has selectors.
    """
    return all(map(is_selector, texts)) and (is_headed or not all(_ASSIGNMENT.fullmatch(text) for text in texts))


_NAME = re.compile(r"\s*(?:[\w$.]+\s*)?")
_OPERATOR = re.compile(r"[=<>]|\b(?:LIKE|BETWEEN|IN\s*\(|IS\s+(?:NOT\s+)?NULL)", re.IGNORECASE)


def most(texts: list[str], *, is_loose: bool = False) -> bool:
    """Report whether more than half of some texts are selectors; the name of a property alone is no evidence."""
    good = 0
    for text in texts:
        if _NAME.fullmatch(text):
            continue
        if is_loose and _OPERATOR.search(text):
            good += 1
            continue
        try:
            read_selector(text, IBM_MQ)
            good += 1
        except SelectorError:
            continue
    return good * 2 > len(texts)


# ---- bytes to text -----------------------------------------------------------------------------------------------

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"\A\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.-]+)")


def text_of(data: bytes) -> tuple[str, str, int]:
    """Decode a file.

    Returns: the text, the encoding, and the bytes of the mark in front. What is not UTF-8, and declares nothing, is
        read as Latin-1, in which every byte is itself again.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            if mark == codecs.BOM_UTF8:
                return data[len(mark) :].decode(encoding, "replace"), encoding, len(mark)
            # Half a character at the end is what is left of a file that was cut.
            return data[len(mark) : len(data) & ~1].decode(encoding, "surrogatepass"), encoding, len(mark)
    declared = _DECLARED.match(data)
    for encoding in ([declared[1].decode()] if declared else []) + ["utf-8"]:
        try:
            return data.decode(encoding), encoding, 0
        except (LookupError, UnicodeError):
            continue
    return data.decode("latin-1"), "latin-1", 0
