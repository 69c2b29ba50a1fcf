"""What `mqsel migrate` prints, writes and returns; values as literals of a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import mqsel
from mqsel.language.dialect import PRESETS
from mqsel.values import Int32


def test_each_verdict(run: Run) -> None:
    """Each verdict is shown with what to know of it, and counted by its reason."""
    texts = ["color = 'x'", "weight <> 5", "JMSXDeliveryCount > 1", "NOT (a / b > 5)"]
    status, out, err = run("migrate", "--from", "JMS", "--to", "ARTEMIS", *[w for one in texts for w in ("-e", one)])
    assert status == 1
    assert [line.split("  ")[0] for line in out.splitlines() if line[:1].isalpha()] == [
        "same",
        "translated",
        "unsupported",
        "differs",
    ]
    assert "  + weight < 5 OR weight > 5\n" in out
    assert "because of arithmetic_mismatch" in out
    assert "1 unsupported ARTEMIS offers no JMSXDeliveryCount to selectors" in err


def test_exit_codes(run: Run) -> None:
    """All is well where each selector can go; an invalid one is trouble."""
    status, out, _ = run("migrate", "--from", "TIBCO_EMS", "--to", "ARTEMIS", "-e", "JMSPriority > 4")
    assert status == 0 and "AMQPriority > 4" in out
    assert run("migrate", "--from", "TIBCO_EMS", "--to", "ARTEMIS", "-e", "JMSPriority >")[0] == 2


def test_files_report_and_writing(tmp_path: Path, run: Run) -> None:
    """The report escapes what comes from selectors; translations are written into the file, and nothing else."""
    file, report = tmp_path / "rules.selectors", tmp_path / "report.html"
    file.write_text("color = '<b>&'\nJMSPriority > 4\nNOT weight = 3\n", encoding="utf-8")
    arguments = ["--from", "JMS", "--to", "ARTEMIS", "--as", "lines", "--html", report, "--write", file]
    assert run("migrate", *arguments)[0] == 0
    assert file.read_text(encoding="utf-8") == "color = '<b>&'\nAMQPriority > 4\nNOT (weight = 3)\n"
    page = report.read_text(encoding="utf-8")
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page


def test_json_and_contract(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is assumed is in the output, and nothing is where a contract says it, be it that of the configuration."""
    arguments = ["migrate", "--from", "JMS", "--to", "AZURE_SERVICE_BUS", "--json", "-e", "weight > 5"]

    def found(*more: str) -> dict[str, Any]:
        status, out, _ = run(*arguments, *more)
        assert status == 0
        return json.loads(out)

    assert found()["verdict"] == "same"
    assert found()["assumes"] == [{"name": "weight", "kind": "number"}]
    assert found("--given", "weight <= 5 OR weight > 5 OR weight IS NULL")["assumes"] == []
    (tmp_path / "contract.json").write_text('{"properties": {"weight": {"type": "int32"}}}')
    (tmp_path / "mqsel.toml").write_text('contract = "contract.json"')
    monkeypatch.chdir(tmp_path)
    assert found()["assumes"] == []


def test_one_text_for_several(run: Run) -> None:
    """One text selects the same messages in several dialects."""
    status, out, _ = run("migrate", "--from", "JMS", "--portable", "JMS,ACTIVEMQ,RABBITMQ", "--json", "-e", "w <> 5")
    text = json.loads(out)["text"]
    assert status == 0
    for dialect in ("JMS", "ACTIVEMQ", "RABBITMQ"):
        answers = [mqsel.compile(text, dialect=dialect).matches({"w": one}) for one in (4, 5, 6.5, "a", True)]
        assert answers == [True, False, True, False, False]


# ---- literals and parameters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", [one for one in PRESETS if one != "ROCKETMQ"])
@pytest.mark.parametrize("value", [True, False, 0, -5, 2**31, 1.5, -1e300, 5e-324, "", "o'x' OR 1=1 --", 'a"b\n'])
def test_a_literal_is_its_value(dialect: str, value: object) -> None:
    """Invariant: a value equals its literal, whatever characters it has; qpid-cpp reads no subnormals."""
    if (dialect, value) == ("QPID_CPP", 5e-324):
        with pytest.raises(mqsel.ArgumentError, match="has no literal"):
            mqsel.quote(value, dialect)
        value = 2.2250738585072014e-308
    assert mqsel.compile(f"x = {mqsel.quote(value, dialect)}", dialect=dialect).matches({"x": value})
    assert mqsel.compile("x = :v", dialect=dialect, parameters={"v": value}).matches({"x": value})


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 2**63, b"", [1], object()])
def test_what_has_no_literal(value: object) -> None:
    """A value that no literal stands for is refused."""
    with pytest.raises(mqsel.ArgumentError, match="has no literal"):
        mqsel.quote(value)
    with pytest.raises(mqsel.ArgumentError, match="has no literal"):
        mqsel.quote(b"a", "JMS")


def test_narrow_values_are_plain_literals() -> None:
    """A number of a narrow type is written as any number."""
    assert mqsel.quote(Int32(5)) == "5"


def test_parameters_without_values() -> None:
    """Where a parameter stands and no values are given, the hint names the argument."""
    with pytest.raises(mqsel.SelectorSyntaxError, match=r"hint: .* parameters={'id': …}"):
        mqsel.compile("id = :id")


def test_parameters_stand_outside_of_quotes() -> None:
    """In a string there is no parameter, and two minus signs never meet."""
    matcher = mqsel.compile("a = ':x' AND b = :x AND c > -:n", parameters={"x": "y'", "n": -1})
    assert matcher.selector == "a = ':x' AND b = 'y''' AND c > - -1"


@pytest.mark.parametrize(
    ("text", "parameters", "span"),
    [("a = :x", {}, (4, 6)), ("a = :x", {"x": 1, "y": 2}, (0, 6)), ("a = :", {}, (4, 5))],
)
def test_parameters_that_do_not_fit(text: str, parameters: dict[str, int], span: tuple[int, int]) -> None:
    """A name without a value, and a value without a name, are errors with their places."""
    with pytest.raises(mqsel.SelectorSyntaxError) as error:
        mqsel.compile(text, parameters=parameters)
    assert error.value.span == span


def test_a_report_has_every_selector(run, tmp_path):
    """The page and the summary count the selectors that are invalid, and list files that could not be read."""
    (tmp_path / "s.tsv").write_text("a\tx = 1\nb\ttype='refund' and not amount between 0 and 10\n")
    (tmp_path / "new.mqsc").write_bytes("DEFINE SUB(A) SELECTOR('a = 1')\n".encode("utf-16-le"))
    page = tmp_path / "r.html"
    arguments = ["--from", "ACTIVEMQ", "--to", "ARTEMIS", "--html", str(page)]
    status, _, err = run("migrate", *arguments, str(tmp_path / "s.tsv"), str(tmp_path / "new.mqsc"))

    assert status == 2
    assert "2 selectors: 1 same, 1 invalid" in err
    assert "refund" in page.read_text()
    assert "new.mqsc:1:1" in page.read_text()
