"""Reading a file of selectors takes linear time, whatever construct of its kind the file repeats."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")
pytest.importorskip("pathspec")

from mqsel.inventory import KINDS, read

RULE = 'resource "azurerm_servicebus_subscription_rule" "x" {\n'
CALL = 's.createConsumer(q, "a = 1")'
CLASS = "import javax.jms.*; class A { void m() {"
PROPERTY = "<config-property-name>messageSelector</config-property-name>"
VALUE = "<config-property-value>a = 1</config-property-value>"

# For each kind what stands first in a file, and what is repeated; some of it is never closed.
CONSTRUCTS: dict[str, list[tuple[str, str]]] = {
    "mqsc": [("", "DEFINE SUB(A) TOPICSTR('t') SELECTOR('a = 1')\n"), ("", "DEFINE SUB("), ("DEFINE SUB(A) ", "(")],
    "runmqsc": [("AMQ8096I: x\n", "   SUB(A)   SELECTOR(a = 1)\n"), ("AMQ8096I: x\n SELECTOR(", "(a ")],
    "ems": [("[topic:a]\n", 'queue=b selector="a = 1"\n'), ("", 'addprop bridge x selector="a')],
    "artemis": [
        ("<core><queue>", '<filter string="a = 1"/>'),
        ("", '<queue><filter string="a = 1"/>'),
        ("", '<address><queue filter="a = 1">'),
        ("", '<queue filter="a = 1"/>'),
    ],
    "activemq": [("", '<filteredDestination selector="a = 1">'), ("", '<inboundQueueBridge selector="a = 1">')],
    "ejb": [
        ("<message-driven>", "<message-selector>a = 1</message-selector>"),
        ("<activation-config>", VALUE),
        ("<activation-config>" + PROPERTY, VALUE),
        ("", f"<config-property>{PROPERTY}{VALUE}"),
    ],
    "spring": [
        ("<beans><bean>", '<property name="messageSelector" value="a = 1"/>'),
        ("", '<property name="messageSelector"><value>a = 1</value>'),
        ("", '<x messageSelector="a = 1">'),
    ],
    "camel": [("<route>", '<from uri="jms:a?selector=a=1"/>'), ("", '<from uri="jms:a?selector=a=1">')],
    "java": [(CLASS, CALL + ";\n"), ("", "{"), (CLASS + 'String x = "a"', ' + "b"'), (CLASS, 's.createConsumer("\\')],
    "kotlin": [("import javax.jms.*\nfun m() {\n", CALL + "\n"), ("", "{")],
    "scala": [("import javax.jms._\nobject A { def m() = {\n", CALL + "\n"), ("", "{")],
    "rocketmq": [(CLASS, 'c.subscribe("t", MessageSelector.bySql("a = 1"));\n')],
    "yaml": [("", "- messageSelector: a = 1\n"), ("a:\n", "  messageSelector: a = 1\n"), ("", "["), ("", "&a ")],
    "properties": [("", "a.selector=a = 1\na.destination=q\n"), ("", "\\\n"), ("", "# a\n"), ("", "a.b.")],
    "json": [("[", '{"messageSelector": "a = 1"}, '), ("{", '"messageSelector": "a = 1", '), ("", '{"a":')],
    "connect": [("connect.jms.kcql=", "INSERT INTO a SELECT * FROM b WITHJMSSELECTOR=`a = 1`;"), ("a.kcql=", " FROM ")],
    "azure": [("{", '"sqlFilter": {"sqlExpression": "a = 1"}, '), ('{"sqlFilter": {', '"sqlExpression": "a = 1", ')],
    "bicep": [("resource x 'a@1' = {\n", "sqlFilter: {\n sqlExpression: 'a = 1'\n}\n"), ("", "sqlFilter: {\n")],
    "terraform": [("", 'sql_filter = "a"\n'), (RULE, 'sql_filter = "a"\n'), ("", RULE), ('sql_filter = "', "${x}")],
    "broker-j": [("{", '"x-filter-jms-selector": "a = 1", '), ("", '{"x-filter-jms-selector": "a = 1", "b": ')],
    "rabbitmq": [('{"vhost": "/", ', '"sql-filter": "a = 1", ')],
    "rabbitmq-jms": [('{"vhost": "/", ', '"rjms_selector": "a = 1", ')],
    "keyed": [("", "k\ta = 1\n"), ("", "\t")],
    "lines": [("", "a = 1\n"), ("", "a = 1 OR "), ("", "'")],
    "keyed-json": [("{", '"k": "a = 1", '), ("[", '"a = 1", ')],
    "csv": [("key,selector\n", "k,a = 1\n"), ("key,selector\n", 'k,"a = 1\n')],
}
ROWS = [pytest.param(kind, *row, id=f"{kind}-{at}") for kind, rows in CONSTRUCTS.items() for at, row in enumerate(rows)]


def seconds(path: Path, kind: str, first: str, repeated: str, size: int) -> float:
    """Return the processor time that reading a file of a size takes."""
    path.write_text(first + repeated * (size // len(repeated)), encoding="utf-8")
    start = time.process_time()
    for _ in read(path, kind=kind):
        pass
    return time.process_time() - start


def test_every_kind_has_constructs() -> None:
    """Every kind of text has constructs here: rows of Parquet are read by another library."""
    assert KINDS.keys() - CONSTRUCTS.keys() == {"parquet"}


@pytest.mark.parametrize(("kind", "first", "repeated"), ROWS)
def test_reading_is_quick(tmp_path: Path, kind: str, first: str, repeated: str) -> None:
    """A file of 40 kB is read in 0.5 seconds of the processor."""
    assert seconds(tmp_path / "a", kind, first, repeated, 40_000) < 0.5


@pytest.mark.long
@pytest.mark.parametrize(("kind", "first", "repeated"), ROWS)
def test_reading_is_linear(tmp_path: Path, kind: str, first: str, repeated: str) -> None:
    """Twice the file takes at most three times as long, or less than a third of a second.

    What runs beside a test makes its processor slower by half and more, but not in each of five attempts.
    """
    ratios = []
    for attempt in range(5):
        path = tmp_path / str(attempt)
        once, twice = (seconds(path, kind, first, repeated, size) for size in (100_000, 200_000))
        ratios.append(twice / max(once, 0.11))
        if ratios[-1] < 3:
            return
    pytest.fail(f"twice the file took {ratios} times as long")
