"""The engines of the brokers themselves, each in a process: one line with a selector and a message, one letter back.

Maven fetches the Java engines, whose adapters stand in the shared material; RabbitMQ's Erlang modules are those of
Debian's newest suite, unpacked beside and run by their own loader. What is not to be had is a reason to skip.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import ROOT, shared
from products.answers import Properties, ends_early
from products.reading import PRODUCTS
from running import making

BUILD = ROOT / "build" / "products"
# The folders of the adapters, by product.
JAVA = {"activemq": "amq", "artemis": "art", "qpid-broker-j": "qpj", "rocketmq": "rmq"}
ERLANG = {"rabbitmq": "sql", "rabbitmq-jms": "jms"}
# What the server needs beside the modules that evaluate.
_OF_SERVER = "asn1 crypto eldap inets mnesia os-mon public-key runtime-tools ssl syntax-tools tools xmerl".split()
_PACKAGES = [
    *"rabbitmq-server erlang-base libc6 libstdc++6 libgcc-s1 libtinfo6 zlib1g libssl3t64".split(),
    *(f"erlang-{name}" for name in _OF_SERVER),
]
_TERMS = """
import com.rabbitmq.jms.parse.sql.*; import java.io.*; import java.nio.charset.StandardCharsets; import java.util.*;
public final class Terms {
  public static void main(String[] none) throws Exception {
    Map<String, SqlExpressionType> headers = new HashMap<>();
    for (String name : "JMSType JMSMessageID JMSCorrelationID JMSDeliveryMode".split(" "))
      headers.put(name, SqlExpressionType.STRING);
    for (String name : "JMSPriority JMSTimestamp".split(" ")) headers.put(name, SqlExpressionType.ARITH);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) System.out.println(term(line.trim(), headers));
  }
  static String term(String line, Map<String, SqlExpressionType> headers) {
    try {
      String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
      SqlEvaluator evaluator = new SqlEvaluator(new SqlParser(new SqlTokenStream(text)), headers);
      SqlCompiler compiler = evaluator.evaluatorOk() ? new SqlCompiler(evaluator) : null;
      if (compiler == null || !compiler.compileOk()) return "";
      return Base64.getEncoder().encodeToString(compiler.compile().getBytes(StandardCharsets.UTF_8));
    } catch (Throwable refused) { return ""; }
  }
}
"""


def ask(product: str, cases: Sequence[tuple[str, Properties]]) -> list[str]:
    """Return what the engine answers in each case: T, F, U, E, P, or FU where it stops before that is known.

    Skips where the engine is not to be had.
    """
    lines = [_line(*case) for case in cases]
    if product in JAVA:
        answers = _run(["java", "-Xss16m", "-cp", _java(JAVA[product]), "O"], lines)
        if PRODUCTS[product].matches:
            matches = _run(["java", "-Xss16m", "-cp", _java(JAVA[product], matches=True), "O"], lines)
            answers = [
                match if match != "F" else "FU" if truth in "FE" and ends_early(product, text) else truth
                for (text, _), match, truth in zip(cases, matches, answers, strict=True)
            ]
    else:
        if product == "rabbitmq-jms":
            terms = _run(["java", "-cp", _java("sjx"), "Terms"], [line.partition(" ")[0] for line in lines])
            lines = [" ".join((term, *line.split(" ")[1:])) for term, line in zip(terms, lines, strict=True)]
        answers = _erlang(ERLANG[product], lines)
    assert len(answers) == len(cases)
    return ["U" if answer.startswith("V") else answer for answer in answers]


def _line(selector: str, properties: Properties) -> str:
    return " ".join(
        [
            _encoded(selector),
            *[f"{name}:{kind}:{_encoded(_shown(value))}" for name, (kind, value) in properties.items()],
        ]
    )


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _shown(value: object) -> str:
    if isinstance(value, (bool, bytes)):
        return str(value).lower() if isinstance(value, bool) else value.hex()
    if isinstance(value, float):
        special = "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
        return f"{value:.17e}" if math.isfinite(value) else special
    return str(value)


def _run(command: list[str], lines: list[str]) -> list[str]:
    done = subprocess.run(
        command, input="\n".join((*lines, "")), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")[:-1]


def _want(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def _fetched(command: list[str], folder: Path, what: str) -> None:
    """Run what fetches, or skip where it cannot: without a network there is no engine."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        pytest.skip(f"{what} cannot be fetched: {(done.stderr or done.stdout).strip()[-200:]}")


def jars(pom: Path, folder: Path, *options: str) -> Path:
    """Return a folder of jars that a pom names, fetched once into *folder*, or skip."""
    _want("java", "javac", "mvn")
    with making(folder / "fetched", pom.read_text(encoding="utf-8"), *options) as missing:
        if missing:
            goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder / 'lib'}", "-DincludeScope=runtime"]
            _fetched(["mvn", "-q", "-B", "-f", str(pom), *options, *goal], folder, "what Maven is asked for")
    return folder / "lib"


def compiled(jars: Path, folder: str, **sources: str) -> str:
    """Return the class path of a folder of jars, and of sources by their classes' names, compiled once beside it."""
    classes = jars.with_name(folder)
    class_path = os.pathsep.join((str(classes), f"{jars}/*"))
    with making(classes / "made", *sources.values()) as missing:
        if missing:
            paths = [classes / f"{name}.java" for name in sources]
            for path, source in zip(paths, sources.values(), strict=True):
                path.write_text(source, encoding="utf-8")
            subprocess.run(["javac", "-nowarn", "-cp", class_path, *map(str, paths)], check=True, capture_output=True)
    return class_path


@functools.cache
def _java(name: str, *, matches: bool = False) -> str:
    """Return the class path of an engine and its adapter; a broker only asks its engine whether a selector matches."""
    path = jars(shared("oracles", "poms", name, "pom.xml"), BUILD / name)
    if name == "sjx":
        return compiled(path, "classes", Terms=_TERMS)
    run, adapter = shared("oracles", "src", "O.java").read_text(), shared("oracles", "src", name, "E.java").read_text()
    if matches:
        return compiled(path, "matching", O=run, E=adapter.replace(").evaluate(", ").matches("))
    return compiled(path, "classes", O=run, E=adapter)


@functools.cache
def _debian() -> Path:
    """Return a folder with RabbitMQ and Erlang of Debian's newest suite, unpacked."""
    _want("apt-get", "dpkg")
    folder, unpacked = BUILD / "debian", BUILD / "debian" / "unpacked"
    with making(folder / "server", *_PACKAGES) as missing:
        if missing:
            _unpack(folder, unpacked)
    return unpacked


def _unpack(folder: Path, unpacked: Path) -> None:
    for name in ("lists/partial", "cache/archives/partial", "sources", "packages"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    targets = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN)", "Identifier: Packages"]
    listed = subprocess.run(targets, capture_output=True, text=True, check=False).stdout.split("\n")
    archive = next((line.split()[0] for line in listed if line.endswith("/debian/ Debian")), None)
    keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    if archive is None or not keys.exists():
        pytest.skip("RabbitMQ's modules are taken from Debian, and this is none")
    source = f"Types: deb\nURIs: {archive}\nSuites: sid\nComponents: main\nSigned-By: {keys}\n"
    (folder / "sources" / "sid.sources").write_text(source, encoding="utf-8")
    places = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "sources",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
    }
    apt = ["apt-get", *[word for name, place in places.items() for word in ("-o", f"{name}={place}")]]
    _fetched([*apt, "update"], folder, "the list of Debian's packages")
    _fetched([*apt, "download", *_PACKAGES], folder / "packages", "RabbitMQ")
    for package in (folder / "packages").glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(unpacked)], check=True)
    (erts,) = unpacked.glob("usr/lib/erlang/erts-*")
    setup = erts / "bin" / "erl_child_setup"  # started by Erlang, and like it by the loader that it came with
    setup.rename(setup.with_suffix(".real"))
    setup.write_text(f'#!/bin/sh\nexec {" ".join(_loaded(unpacked))} {setup.with_suffix(".real")} "$@"\n')
    setup.chmod(0o755)


def _loaded(unpacked: Path) -> list[str]:
    (libraries,) = unpacked.glob("usr/lib/*-linux-gnu")
    (loader,) = libraries.glob("ld-linux*")
    return [str(loader), "--library-path", str(libraries)]


def erlang() -> tuple[list[str], dict[str, str]]:
    """Return how Erlang is started, and its environment."""
    unpacked = _debian()
    home = unpacked / "usr" / "lib" / "erlang"
    (binaries,) = home.glob("erts-*/bin")
    places = {"ROOTDIR": home, "BINDIR": binaries, "EMU": "beam", "PROGNAME": "erl", "ERL_CRASH_DUMP": "/dev/null"}
    environment = {**os.environ, **{name: str(place) for name, place in places.items()}}
    start = [*_loaded(unpacked), str(binaries / "beam.smp"), "-S", "1", "--", "-root", str(home)]
    start += ["-bindir", str(binaries), "-progname", "erl", "-home", str(BUILD), "-noshell", "-noinput"]
    return start, environment


def rabbitmq(folder: Path, port: int, queues: dict[str, str]) -> tuple[list[str], list[str], dict[str, str]]:
    """Return how RabbitMQ is started, and before it what tells its nodes of each other; and their environment.

    Args:
        folder: for its files.
        port: of AMQP, at which guest is let in; two other ports stand behind it.
        queues: the type of each, by its name.
    """
    start, environment = erlang()
    (home,) = _debian().glob("usr/lib/rabbitmq/lib/rabbitmq_server-*")
    everything = {"user": "guest", "vhost": "/", "configure": ".*", "write": ".*", "read": ".*"}
    written = {
        "inetrc": '{lookup, [file]}.\n{host, {127,0,0,1}, ["localhost"]}.\n',
        "enabled": "[].\n",
        "rabbitmq.conf": f"listeners.tcp.local = 127.0.0.1:{port}\nlog.console = true\nlog.file = false\n"
        f"disk_free_limit.absolute = 1MB\nload_definitions = {folder / 'definitions.json'}\n",
        "definitions.json": json.dumps(
            {
                "users": [{"name": "guest", "password": "guest", "tags": ["administrator"]}],
                "vhosts": [{"name": "/"}],
                "permissions": [everything],
                "queues": [
                    {
                        "name": name,
                        "vhost": "/",
                        "durable": True,
                        "auto_delete": False,
                        "arguments": {"x-queue-type": kind},
                    }
                    for name, kind in queues.items()
                ],
            }
        ),
    }
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    environment |= {
        "HOME": str(folder),
        "ERL_INETRC": str(folder / "inetrc"),
        "ERL_LIBS": str(home / "plugins"),
        "RABBITMQ_HOME": str(home),
        "RABBITMQ_PLUGINS_DIR": str(home / "plugins"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled"),
        "RABBITMQ_NODENAME": f"r{port}@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(port + 1),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "SYS_PREFIX": "",
    }
    names = [*_loaded(_debian()), f"{environment['BINDIR']}/epmd", "-port", str(port + 2)]
    server = [*start, "-epmd_port", str(port + 2), "-boot", f"{environment['ROOTDIR']}/bin/start_sasl"]
    return names, [*server, "-pa", *map(str, home.glob("plugins/rabbit-*/ebin")), "-s", "rabbit", "boot"], environment


def _erlang(call: str, lines: list[str]) -> list[str]:
    start, environment = erlang()
    source, made = Path(__file__).with_name("rabbitmq.erl"), BUILD / "erlang"
    plugins = [*_debian().glob("usr/lib/rabbitmq/lib/*/plugins/*/ebin")]
    paths = [word for place in (made, *plugins) for word in ("-pa", str(place))]
    with making(made / "made", source.read_text(encoding="utf-8")) as missing:
        if missing:
            compiling = [*start, "-eval", f'compile:file("{source}", [{{outdir, "{made}"}}]), halt().']
            subprocess.run(compiling, env=environment, check=True, capture_output=True, timeout=300)
    asked, answered = BUILD / f"{call}.{os.getpid()}.asked", BUILD / f"{call}.{os.getpid()}.answered"
    asked.write_text("\n".join((*lines, "")), encoding="utf-8")
    environment |= {"ASKED": str(asked), "ANSWERED": str(answered)}
    done = subprocess.run(
        [*start, *paths, "-s", "rabbitmq", call], env=environment, check=False, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-2000:]
    answers = answered.read_text(encoding="utf-8").split("\n")
    asked.unlink()
    answered.unlink()
    return answers
