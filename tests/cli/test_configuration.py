"""The configuration of a project: where it is found, what may stand in it, and each mistake in it as one error."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from mqsel.errors import MqselError
from mqsel.files.configuration import KEYS, Configuration, _pattern, configured
from mqsel.language.dialect import IBM_MQ, JMS

if sys.version_info < (3, 11):
    pytest.importorskip("tomli")

WHOLE = """
select = ["never-true", "implied"]
ignore = ["implied"]
dialect = "JMS"
baseline = "known.json"
contract = "sub/contract.json"
[per-file-ignores]
"*.xml" = ["never-true"]
"old/**" = ["name-alone"]
[dialects]
"*.xml" = "ARTEMIS"
"src/**/ems.xml" = "tibco-ems"
"legacy/" = "IBM_MQ"
"""


def test_keys(tmp_path: Path) -> None:
    """Each key has its value; of patterns that match a path, all ignore, and the last one has the dialect."""
    (tmp_path / "mqsel.toml").write_text(WHOLE)
    found = configured(str(tmp_path))

    assert (found.select, found.ignore, found.dialect) == (("never-true", "implied"), ("implied",), "JMS")
    assert found.baseline == str(tmp_path / "known.json")
    assert found.contract == str(tmp_path / "sub" / "contract.json")
    for path, dialect in (
        ("a.xml", "ARTEMIS"),
        ("src/a/b.xml", "ARTEMIS"),
        ("src/ems.xml", "TIBCO_EMS"),
        ("src/a/b/ems.xml", "TIBCO_EMS"),
        ("ems.xml", "ARTEMIS"),
        ("legacy/a/b.txt", "IBM_MQ"),
        ("a/legacy/b.txt", "IBM_MQ"),
        ("legacy.txt", "JMS"),
        ("../a.txt", "JMS"),
    ):
        assert found.dialect_of(str(tmp_path / path), "RABBITMQ") == dialect, path
    assert found.usual == JMS
    for path in ("-", "s3://bucket/a.xml"):
        assert found.dialect_of(path, "RABBITMQ") == "JMS"
    assert found.ignored(str(tmp_path / "old/a.xml")) == {"never-true", "name-alone"}
    assert found.ignored(str(tmp_path / "older/a.json")) == set()


def test_where_it_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest file with a table holds, up to the root of the repository; mqsel.toml before pyproject.toml."""
    inside = tmp_path / "top" / "a" / "b"
    inside.mkdir(parents=True)
    (tmp_path / "top" / "pyproject.toml").write_text('[tool.mqsel]\nignore = ["implied"]\n')
    (tmp_path / "top" / "a" / "pyproject.toml").write_text('[project]\nname = "mqsel-user"\n')
    monkeypatch.chdir(inside)
    assert configured().ignore == ("implied",)
    assert configured().folder == str(tmp_path / "top")
    (tmp_path / "top" / "mqsel.toml").write_text('ignore = ["repeated"]\n')
    assert configured().ignore == ("repeated",)
    (inside.parent / ".git").mkdir()
    assert configured().ignore == ()
    inside.rmdir()
    assert configured().folder == ""
    assert configured().usual == IBM_MQ


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("selct = []", "there is no key 'selct'", "did you mean select?"),
        ("zzz = 1", "there is no key 'zzz'", f"the keys are {', '.join(KEYS)}"),
        ("select = 1", "select: found 1: expected a list of rules, such as ['never-true']", None),
        ("ignore = [1]", "ignore: found [1]: expected a list of rules, such as ['never-true']", None),
        ("ignore = ['never-tru']", "ignore: there is no rule 'never-tru'", "did you mean never-true?"),
        ("ignore = ['E501']", "ignore: there is no rule 'E501'", "mqsel lint --list-rules lists them"),
        ("dialect = 'ARTEMS'", "dialect: there is no dialect 'ARTEMS'", "did you mean ARTEMIS?"),
        ("dialect = true", "dialect: found True: expected a text", None),
        ("dialects = 'JMS'", "dialects: found 'JMS': expected a table of patterns of paths", None),
        ("[dialects]\n'a' = 'jsm'", "dialects: 'a': there is no dialect 'JSM'", "did you mean JMS?"),
        ("[dialects]\n'[z-a]' = 'jms'", "dialects: '[z-a]': no pattern of paths: bad character range", None),
        ("[per-file-ignores]\n'a' = 'implied'", "per-file-ignores: 'a': found 'implied': expected a list", None),
        ("baseline = []", "baseline: found []: expected a text", None),
        ("a = ", "this isn't TOML: Invalid value (at end of document)", None),
        ("a = " + "[" * 10_000, "this isn't TOML: ", None),
    ],
)
def test_mistakes(tmp_path: Path, content: str, message: str, hint: str | None) -> None:
    """What is wrong is one error with the file, the key, and what to do."""
    (tmp_path / "mqsel.toml").write_text(content)
    with pytest.raises(MqselError) as caught:
        configured(str(tmp_path))
    assert caught.value.message.startswith(f"{tmp_path / 'mqsel.toml'}: {message}")
    assert caught.value.hint == hint


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, and no table, are errors; a broken file without the word is not looked at."""
    path = tmp_path / "pyproject.toml"
    (tmp_path / ".git").mkdir()
    path.write_bytes(b"[broken")
    assert configured(str(tmp_path)).folder == ""
    for content, message in (
        (b"[tool]\nmqsel = '\xff'", "this isn't TOML: 'utf-8' codec can't decode"),
        (b"[tool]\nmqsel = 5", "tool.mqsel is 5: expected a table"),
    ):
        path.write_bytes(content)
        with pytest.raises(MqselError, match=message):
            configured(str(tmp_path))
    path.write_bytes(b"tool = 'mqsel'")
    assert configured(str(tmp_path)).folder == ""


@pytest.mark.parametrize(
    "content",
    [
        "[tool.mqsel]\nignore = ['implied']",
        "[ 'tool' . \"mqsel\" ]\nignore = ['implied']",
        "tool.mqsel.ignore = ['implied']",
        "[tool]\nmqsel.ignore = ['implied']",
        "tool = {mqsel = {ignore = ['implied']}}",
        "[tool.mqsel.dialects]\na = 'JMS'\n[tool.mqsel]\nignore = ['implied']",
    ],
)
def test_spellings_of_the_table(tmp_path: Path, content: str) -> None:
    """The table is found however TOML allows to write it."""
    (tmp_path / "pyproject.toml").write_text(content)
    assert configured(str(tmp_path)).ignore == ("implied",)


def test_patterns_of_many_stars_are_quick() -> None:
    """A pattern of many stars is matched in linear time, and ``**/`` stands for any number of folders."""
    configuration = Configuration(
        dialects=((_pattern("*a*a*a*a*a*a*b"), "JMS"), (_pattern("**/a/**/a/**/a/**/b"), "JMS"))
    )
    start = time.process_time()

    assert configuration.dialect_of("a" * 4_000, "RABBITMQ") == "RABBITMQ"
    assert configuration.dialect_of("a/" * 2_000 + "c", "RABBITMQ") == "RABBITMQ"
    assert configuration.dialect_of("a/" * 2_000 + "b", "RABBITMQ") == "JMS"
    assert time.process_time() - start < 1
