"""Folders as public repositories have them: every selector of messages is listed, and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter")
pytest.importorskip("pathspec")

from mqsel import cli
from mqsel.inventory import read
from mqsel.inventory.walk import files_of

_JAVA = """package org.example;
import javax.jms.*;
import org.springframework.jms.annotation.JmsListener;
public class Orders {
    private static final String SELECTOR = "region = 'EU'";
    @JmsListener(destination = "orders", selector = "kind = 'new'")
    void take(String text) {}
    void run(Session session, boolean browseOnly, int limit) throws JMSException {
        session.createConsumer(queue, SELECTOR);
        session.createConsumer(queue, browseOnly);
        session.createBrowser(queue, limit);
        session.createConsumer(queue, 100, qos, true, null);
    }
}
"""
_SERVICE = """{{- if .Values.service.enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "mq.fullname" . }}
  labels:
    {{- include "mq.labels" . | nindent 4 }}
spec:
  selector:
    {{- include "mq.selectorLabels" . | nindent 4 }}
{{- end }}
"""
_STATEFUL = """{{- $queue := .Values.queue }}
apiVersion: apps/v1
kind: StatefulSet
spec:
  selector:
    matchLabels: {{- toYaml .Values.labels | nindent 6 }}
  template:
    spec:
      nodeSelector: {{ toYaml .Values.nodeSelector | indent 8 }}
{{- range $key, $value := .Values.env }}
        - name: {{ $key }}
          value: {{ $value | quote }}
{{- end }}
"""
_SCALA = """package shop
import javax.jms.{Session, Queue}
object Client {
  val π = 3.14
  def run(queues: Seq[Queue], f: Session ⇒ Unit): Unit = {
    for (queue ← queues) {
      pool.foreach { case (name, session) ⇒
        name match {
          case "é" ⇒ session.createConsumer(queue, "größe > 3")
          case _ ⇒ ()
        }
      }
    }
  }
}
"""
_KOTLIN = """package shop
import javax.jms.Session
class Empfänger(private val zähler: Int) {
    fun `wählt €`(session: Session) {
        when (zähler) { 'ä', 'ö' -> Unit }
        session.createConsumer(schlange, "farbe = 'weiß'")
    }
}
"""
_GROOVY = """import javax.jms.Session
for (i in 0..<10) { println session.createConsumer(queue, "a = 1") }
def other = [1, 2]*.plus(1)
for (i in 0..<10) { session.createConsumer(queue) }
"""
_BICEP = """param tags resourceInput<'Microsoft.ServiceBus/namespaces@2024-01-01'>.tags?
type sku = resourceOutput<'Microsoft.ServiceBus/namespaces@2024-01-01'>.sku.name
extension microsoftGraphV1
var merged = [...first, 1]
resource rule 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2022-10-01-preview' = {
  name: 'ns/orders/eu/rule'
  properties: { filterType: 'SqlFilter', sqlFilter: { sqlExpression: 'region = \\'EU\\'' } }
}
"""
_ROUTES = """<routes xmlns="http://camel.apache.org/schema/spring">
  <route><from uri="jms:queue:a?selector=color='red'"/><to uri="log:x"/></route>
</routes>
"""
_ROUTES_YAML = """- route:
    from:
      uri: jms:queue:b
      parameters:
        selector: weight > 3
"""
_BROKER = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
  <addresses><address name="orders"><multicast>
    <queue name="eu"><filter string="region = 'EU'"/></queue>
  </multicast></address></addresses>
</core></configuration>
"""
_SYNAPSE = """<proxy name="p" xmlns="http://ws.apache.org/ns/synapse">
  <parameter name="transport.jms.MessageSelector">a = 1</parameter>
  <target><inSequence><filter source="//m0:symbol" regex="IBM"/></inSequence></target>
</proxy>
"""
_RABBIT = """{"rabbit_version": "4.0", "users": [{"name": "guest", "password_hash": "s3cret"}],
 "bindings": [{"source": "jms.durable.topic", "destination": "q", "arguments": {"rjms_selector": "a > 5"}}]}
"""
_DTD = """<!-- selectors of filters -->
<!ELEMENT filter (selector*)>
<!ATTLIST filter selector CDATA #REQUIRED>
"""

# For each kind of repository its files, and the selectors that are in them.
FOLDERS: dict[str, tuple[dict[str, str], list[str]]] = {
    "maven client": (
        {
            "pom.xml": "<project><modelVersion>4.0.0</modelVersion><build><filter>x = 1</filter></build></project>",
            "src/main/java/Orders.java": _JAVA,
            "src/main/resources/META-INF/services/org.example.jms.Transport": "org.example.jms.AmqpTransport\n",
            "src/main/resources/META-INF/services/amqp": "class=org.example.jms.AmqpTransportFactory\n",
            "src/main/resources/jndi.properties": "queue.orders = ORDERS\njava.naming.provider.url=file:/tmp\n",
            "src/main/resources/users": "admin=s3cret\nguest=guest\n",
            "src/test/java/Script.java": "import javax.jms.*\n" + _GROOVY.replace("a = 1", "b = 1"),
            "gradlew": "APP_NAME=gradle\nDEFAULT_OPTS='-Xmx64m'\n",
        },
        ["kind = 'new'", "region = 'EU'", "b = 1"],
    ),
    "helm chart": (
        {
            "chart/Chart.yaml": "apiVersion: v2\nname: mq\nversion: 0.1.0\n",
            "chart/values.yaml": "nodeSelector: {}\nselector: app=web\nqueue:\n  password: s3cret\n",
            "chart/templates/service.yaml": _SERVICE,
            "chart/templates/stateful.yaml": _STATEFUL,
            "chart/templates/listener.yaml": "{{- with .x }}\njms:\n  queue: {{ .q }}\n  selector: a = 1\n{{- end }}\n",
            "chart/templates/_helpers.tpl": '{{- define "mq.selectorLabels" -}}\napp: mq\n{{- end -}}\n',
            "chart/templates/NOTES.txt": "USER={{ .Values.user }}\nPASSWORD={{ .Values.password }}\n",
        },
        ["a = 1"],
    ),
    "playground": (
        {
            "docker-compose.yml": "services:\n  mq:\n    environment:\n      PASSWORD: s3cret\n      - A=1\n",
            "env.txt": "DB_HOST=localhost\nDB_PASSWORD=s3cret\n",
            "env.list": "MQ_ADMIN_PASSWORD='s3cret'\nMQ_QMGR_NAME='QM1'\n",
            "Makefile": "PORT = 4577\nCC = gcc\nIMAGE = app:test\n",
            "passfile": "imq.bridge.admin.password=admin\n",
            "dspmqinf.txt": "Name=QM1\nDirectory=QM1\nPrefix=/var/mqm\n",
            "tabs.txt": "db\tpassword=1234\ndb2\tpassword='s3cret'\n",
            "export": "export\tPASSWORD=1\nexport\tTOKEN='s3cret'\n",
            "settings.json": '["PORT=4577", "PASSWORD=1234"]\n',
            "pages.jsonl": '{"selector": "#main > div", "password": "s3cret"}\n{"selector": ".btn"}\n',
            "subs.mqsc": "DEFINE SUB('EU') TOPICSTR('orders') DEST('EU') SELECTOR('region = ''EU''')\n",
        },
        ["region = 'EU'"],
    ),
    "terraform": (
        {
            "main.tf": 'resource "azurerm_servicebus_subscription_rule" "r" {\n  name = "r"\n'
            "  sql_filter = \"colour = 'red'\"\n}\n",
            "terraform.tfvars": 'password = "s3cret"\n',
            "variables.txt": "location=westeurope\nsku=Standard\n",
            "rules.csv": "name,filter,priority\nallow,all,1\nselector,x,2\n",
            "ruff.toml": '[tool.filter]\nselector = "a = 1"\n',
        },
        ["colour = 'red'"],
    ),
    "bicep": (
        {"main.bicep": _BICEP, "bicepconfig.json": '{"analyzers": {"core": {"rules": {}}}}', "params.txt": "a=1\n"},
        ["region = 'EU'"],
    ),
    "camel": (
        {
            "routes.xml": _ROUTES,
            "camel.routes.yaml": _ROUTES_YAML,
            "routes.json": '{"jms": {"selector": "size = 1"}}',
            "routes.properties": "my.uri=jms:queue:a?selector=color='blue'\nroute.selector=weight > 4\n",
            "features/order.feature": "Feature: selector\n  Scenario: filter\n    Given selector = 'x'\n",
        },
        ["color='red'", "weight > 3", "size = 1", "color='blue'", "weight > 4"],
    ),
    "artemis broker": (
        {
            "etc/broker.xml": _BROKER,
            "etc/my-bridges.xml": _BROKER.replace("region", "area"),
            "etc/artemis-users.properties": "admin = ENC(1024:s3cret)\n",
            "etc/artemis-roles.properties": "amq = admin\n",
            "etc/artemis.profile": "ARTEMIS_HOME='/opt/artemis'\n",
            "etc/filter.dtd": _DTD,
        },
        ["region = 'EU'", "area = 'EU'"],
    ),
    "xml of an integrator": (
        {"proxy.xml": _SYNAPSE, "synapse.properties": "synapse.name=x\n", "axis2.txt": "name=x\n", "filter.xml": _DTD},
        [],
    ),
    "hadoop": (
        {
            "conf/hadoop.env": "HIVE_SITE_CONF_password=hive\n",
            "conf/words.txt": "alpha\nbeta\ngamma\n",
            "conf/stopwords_hi.lst": "अपना\nअपनी\nइन्हें\n",
            "conf/flume-conf": "a1.sources = r1\na1.sinks = k1\na1.sources.r1.selector.type = multiplexing\n",
            "conf/core.properties": "a1.sources.r1.selector.type = replicating\na1.selector.header = state\n",
            "LICENSE": "NOT a selector\n",
        },
        [],
    ),
    "clients": (
        {"Client.scala": _SCALA, "Client.kt": _KOTLIN, "send.groovy": _GROOVY},
        ["größe > 3", "farbe = 'weiß'", "a = 1"],
    ),
    "rabbitmq": ({"definitions.json": _RABBIT, "rabbitmq.conf": "default_pass = s3cret\n"}, ["a > 5"]),
    "spring boot": (
        {
            "application.yml": "spring:\n  jms:\n    listener:\n      selector: kind = 'new'\n"
            "  datasource:\n    password: s3cret\n",
            "application-prod.properties": "jms.selector=${SELECTOR}\nspring.datasource.password=s3cret\n",
            "web.yml": "pages:\n  - selector: div = 'x'\n    label: app\n",
        },
        ["kind = 'new'", "…"],
    ),
    "our own": (
        {
            "cars.txt": "cars\tcolor = 'red'\nbikes\tn > 1\n",
            "billing.selectors": "a=b\nc=d\n",
            "eu.txt": "# selectors of the EU\nregion = 'EU'\n",
            "selectors.txt": "region = 'DE'\n",
            "keyed.json": '{"cars": "color = \'blue\'", "bikes": "n > 2"}',
            "rows.jsonl": '{"key": "a", "selector": "x = 1"}\n',
        },
        ["color = 'red'", "n > 1", "a=b", "c=d", "region = 'EU'", "region = 'DE'", "color = 'blue'", "n > 2", "x = 1"],
    ),
}


def written(folder: Path, name: str) -> list[str]:
    """Write a folder, and return the selectors that are in it."""
    files, selectors = FOLDERS[name]
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return selectors


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_list_what_is_a_selector(name: str, tmp_path: Path) -> None:
    """Of a folder every selector of messages is listed, nothing else, and no file is an error."""
    wanted = written(tmp_path, name)
    entries = [*read(tmp_path)]
    assert sorted("…" if one.selector is None else one.selector for one in entries) == sorted(wanted)
    assert [one.reason for one in entries if one.text is None] == []


@pytest.mark.parametrize("command", ["selectors", "lint", "check"])
def test_no_value_of_other_files_is_printed(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passwords of files that nobody named reach neither stdout nor stderr; the exit code is that of the selectors."""
    for name in FOLDERS:
        written(tmp_path / name, name)
    monkeypatch.chdir(tmp_path)
    assert cli.main([command, "-v", "."]) == {"selectors": 0, "lint": 1, "check": 0}[command]
    out, err = capsys.readouterr()
    assert [word for word in ("s3cret", "localhost", "hive", "1234") if word in out + err] == []
    passed = [line for line in err.splitlines() if line.startswith("mqsel: passed over: ")]
    assert f"passed over {len(passed)} files without signs of selectors" in err
    assert "mqsel: passed over: ./playground/env.txt" in passed


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broker.xml", _BROKER[:-20].replace("</addresses>", "<")),
        ("Orders.java", _JAVA[: _JAVA.index("SELECTOR);")]),
        ("definitions.json", _RABBIT.replace('"users": [', '"users": [,')),
        ("application.yml", "jms:\n  queue: q\n  selector: a = 1\nb: [\n"),
    ],
)
def test_what_is_recognised_and_breaks_is_an_error(name: str, content: str, tmp_path: Path) -> None:
    """A file of a folder whose content tells its kind is an error if it is damaged."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert cli.main(["lint", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "jms:\n  selector: {{ a\n"),
        ("rules.csv", "name,filter\nselector,x\n"),
        ("a.json", '{"selector": "x",,'),
    ],
)
def test_what_is_named_is_an_error_if_it_breaks(name: str, content: str, tmp_path: Path) -> None:
    """A damaged file that no content tells is passed over in a folder, and an error where somebody names it."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert cli.main(["lint", str(tmp_path)]) == 0
    assert cli.main(["lint", str(tmp_path / name)]) == 2


@pytest.mark.parametrize("argument", ["100", "-1", "0x10", "1.5", "true", "'c'", "N", "flag", "limit", "later", "null"])
@pytest.mark.parametrize("language", ["java", "kt", "scala"])
def test_arguments_that_are_no_text(argument: str, language: str, tmp_path: Path) -> None:
    """A number, a flag or a character is no selector, nor is a name that is declared as one."""
    (tmp_path / f"A.{language}").write_text(
        {
            "java": "import javax.jms.*;\nclass A { static final int N = 5; boolean flag; void f(int limit) {"
            f" long later = now(); s.createConsumer(q, {argument}); }} }}\n",
            "kt": "import javax.jms.*\nconst val N = 5\nclass A { val flag = true\n fun f(limit: Int) {"
            f" val later: Long = now()\n s.createConsumer(q, {argument}) }} }}\n",
            "scala": "import javax.jms._\nobject A {\n val N = 5\n val flag = true\n def f(limit: Int) = {\n"
            f" val later: Long = now()\n s.createConsumer(q, {argument})\n }}\n}}\n",
        }[language],
        encoding="utf-8",
    )
    assert [*read(tmp_path / f"A.{language}")] == []


def test_places_behind_arrows(tmp_path: Path) -> None:
    """Arrows of Scala 2 and letters of any alphabet move no place."""
    written(tmp_path, "clients")
    for entry in read(tmp_path):
        line = Path(entry.file).read_text(encoding="utf-8").splitlines()[entry.line - 1]
        assert line[entry.column - 1 :].startswith(entry.selector or "?")


_EMULATOR = """{"UserConfig": {"Namespaces": [{"Name": "n", "Topics": [{"Name": "t", "Subscriptions": [{"Name": "s",
 "Rules": [{"Name": "r", "Properties": {"FilterType": "%s", %s}}]}]}]}]}}"""


@pytest.mark.parametrize(
    ("kind", "content", "codes"),
    [
        ("SqlFilter", '"SqlFilter": {"SqlExpression": "weight > 3"}', ["dropped-filter"]),
        ("CorrelationFilter", '"CorrelationFilter": {"Label": "x"}', ["dropped-filter"]),
        ("Sql", '"SqlFilter": {"SqlExpression": "weight > 3"}', []),
        ("Correlation", '"CorrelationFilter": {"Label": "x"}', []),
    ],
)
def test_filters_that_the_emulator_drops(
    kind: str, content: str, codes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lint warns of a FilterType of ARM templates in the emulator's Config.json."""
    (tmp_path / "Config.json").write_text(_EMULATOR % (kind, content), encoding="utf-8")
    assert cli.main(["lint", "--json", str(tmp_path)]) == len(codes)
    out = capsys.readouterr().out.splitlines()
    assert [code for line in out if (code := json.loads(line)["code"]) != "refused-elsewhere"] == codes


# ---- sizes, pipes, paths that stand for one file ---------------------------------------------------------------------


@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_file_has_a_greatest_size(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of selectors, packed or not, is read up to --max-size, and no further."""
    content = b"# selectors\n" + b"a = 1\n" * 1_000
    path = tmp_path / f"a.selectors{end}"
    path.write_bytes(gzip.compress(content) if end else content)
    assert cli.main(["check", "--max-size", "5k", "--file", str(path)]) == 2
    assert "holds more than 5,120 bytes: expected fewer, or a greater --max-size" in capsys.readouterr().err
    assert cli.main(["check", "--max-size", "6M", "--file", str(path)]) == 0


def test_a_packed_file_is_not_unpacked_whole(tmp_path: Path) -> None:
    """A packed file that holds more than the greatest size is refused without being held."""
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"x" * (1 << 20)) * 200)
    (entry,) = read(path, max_size=1 << 16)
    assert entry.reason.startswith("the file holds more than 65,536 bytes")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("command", [["audit"], ["lint"], ["check"], ["selectors"], ["diff"], ["route"]])
def test_selectors_come_from_pipes(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe that has a name is read as a file is."""
    pipe, message = tmp_path / "pipe", tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    message.write_text('{"a": 1}\n', encoding="utf-8")
    keyed = tmp_path / "b.tsv"
    keyed.write_text("k\ta = 1\n", encoding="utf-8")
    writer = threading.Thread(target=pipe.write_bytes, args=(b"k\ta = 1\n",))
    writer.start()
    more = {"diff": [str(keyed)], "route": [str(message)]}.get(command[0], [])
    assert cli.main([*command, str(pipe), *more]) == 0
    writer.join()
    assert "Illegal seek" not in capsys.readouterr().err


def test_one_file_is_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that several paths stand for is read once, and is named if one of them names it."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "p.txt").write_text("k1\tcolor = 1 AND color = 1\n", encoding="utf-8")
    (tmp_path / "link.txt").symlink_to(tmp_path / "sub" / "p.txt")
    monkeypatch.chdir(tmp_path / "sub")
    paths = [".", "p.txt", "./p.txt", "../sub/p.txt", str(tmp_path / "link.txt"), "*.txt"]
    assert [tuple(place) for place in files_of(paths)] == [("./p.txt", True)]
    assert cli.main(["lint", "--fix", "--as", "keyed", *paths]) == 0
    assert (tmp_path / "sub" / "p.txt").read_text(encoding="utf-8") == "k1\tcolor = 1\n"


def test_utf_16_that_ends_within_a_character(tmp_path: Path) -> None:
    """Half a character at the end of a file hides no selector, and is no exception."""
    path = tmp_path / "a.mqsc"
    path.write_bytes("DEFINE SUB(A) SELECTOR('a = 1')\n".encode("utf-16") + b"\0")
    assert [one.selector for one in read(path)] == ["a = 1"]


@pytest.mark.parametrize("statement", ["a[-1..0]", "1..10", "x =~ /'a/", "x?.y", "def s = '''it''s'''", "a <=> b"])
def test_calls_are_read_wherever_the_damage_is(statement: str, tmp_path: Path) -> None:
    """What Java's grammar does not know in Groovy hides no call around it."""
    path = tmp_path / "a.groovy"
    path.write_text(f'import javax.jms.Session\n{statement}\nsession.createConsumer(q, "a = 1")\n', encoding="utf-8")
    assert [one.selector for one in read(path)] == ["a = 1"]
