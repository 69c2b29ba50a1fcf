"""What a session reads and answers: room, complaints, cancelling, what of hints can be clicked."""

import json

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra explore is not installed")

from mqsel import SelectorSet, SelectorSyntaxError, compile  # noqa: A004, E402 (they need pyarrow)
from mqsel.explorer import session as module  # noqa: E402
from mqsel.explorer.session import Cancelled, MessageSource, Question, Session, _remedies  # noqa: E402
from mqsel.files import length_prefixed  # noqa: E402
from mqsel.formats import mq  # noqa: E402


def question(selector="", **more):
    """Return a question."""
    usual = {"window": "w", "number": 1, "dialect": "IBM_MQ", "second": "", "show": "all", "offset": 0, "row": -1}
    return Question(**{**usual, "selector": selector, **more})


def read(path, **more):
    """Return a session of a file that has been read."""
    source = MessageSource((str(path),), more.pop("format", None))
    session = Session(source, **more)
    session.read()
    return session


def look(session, selector="", **more):
    """Return what a session answers."""
    asked = question(selector, **more)
    return session.look(asked, session.asked(asked))


@pytest.fixture
def messages(tmp_path):
    """Return a file of 100,000 messages, two of which are broken."""
    path = tmp_path / "m.jsonl"
    lines = [json.dumps({"a": number, "b": f"x{number % 5}"}) for number in range(100_000)]
    lines[70_000] = lines[70_002] = "broken"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_counts_and_windows(messages):
    """Counts are those of mqsel match; a window has rows with their places, whichever part of the file they are in."""
    session = read(messages)
    found = look(session, "a >= 69999 AND b = 'x4'", show="selected", offset=0)

    assert (found["messages"], found["selected"], found["skipped"]) == (99_998, 6001, 2)
    assert [one["place"].rpartition(":")[2] for one in found["rows"][:3]] == ["70000", "70005", "70010"]
    assert found["rows"][0]["read"] == "a 69999, b 'x4'"
    assert look(session, "a >= 0", offset=10**9)["rows"][-1]["read"] == "a 99999"
    assert look(session, "a >= 0", offset=-5)["offset"] == 0
    assert look(session, "a < 0", show="selected")["rows"] == []
    notes = session.state()["notes"]
    assert [note.rpartition("m.jsonl")[2][:20] for note in notes] == [", line 70001]", ", line 70003]"]


def test_room_is_bounded(messages):
    """What does not fit is left out, and the page says so."""
    session = read(messages, room=1_000_000)
    state = session.state()

    assert state["messages"] == 65_536
    assert state["notes"] == [
        "the rest of the files does not fit into 0.000931 GiB of memory: mqsel why and match read all of them"
    ]
    assert not state["reading"]


def test_a_question_that_is_old_ends(messages, monkeypatch):
    """A question stops between two blocks once a newer one has come."""
    session, seen = read(messages), []
    real = module.states

    def states(*arguments):
        seen.append(1)
        session.asked(question("", number=5))
        return real(*arguments)

    monkeypatch.setattr(module, "states", states)
    old = question("a > 1", number=4)
    with pytest.raises(Cancelled):
        session.look(old, session.asked(old))

    assert len(seen) == 1
    assert look(session, "a > 1", number=6)["selected"] == 99_996
    with pytest.raises(Cancelled):
        session.reasons(old, session.asked(old))


def test_answers_of_a_few_selectors_are_kept(messages, monkeypatch):
    """Rows of a selector that was asked a moment ago are shown without evaluating it again; old ones are forgotten."""
    session = read(messages)
    look(session, "a > 1")
    monkeypatch.setattr(module, "states", None)
    assert look(session, "a > 1", offset=100)["rows"][0]["row"] == 100
    monkeypatch.undo()
    for number in range(20):
        look(session, f"a > {number}")
    assert len(session._answers) == module._KEPT


def test_messages_of_bytes(tmp_path):
    """Messages of IBM MQ go through the machine, with places in bytes and their properties as text."""
    path = tmp_path / "m.mq"
    raw = [mq.encode({"Priority": number}, {"color": "blue"}) for number in range(3)]
    path.write_bytes(b"".join(map(length_prefixed, raw)))
    session = read(path)
    found = look(session, "JMSPriority > 0 AND color = 'blue'")

    assert (found["selected"], found["rows"][1]["read"]) == (2, "JMSPriority 1, color 'blue'")
    assert ", byte " in found["rows"][1]["place"]
    assert '"color": "blue"' in found["rows"][0]["text"]
    asked = question("JMSPriority > 0", row=0)
    assert "it would be selected if JMSPriority" in session.message(asked)["judged"]["change"]
    assert session.reasons(asked, session.asked(asked))["selected"] == 2


def test_a_file_that_is_none(tmp_path):
    """What cannot be read is a note, and the page stays."""
    session = read(tmp_path / "nothing.jsonl")

    assert "nothing.jsonl" in session.state()["notes"][0]
    assert look(session, "a > 1")["messages"] == 0


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("color == 'blue'", "color = 'blue'"),
        ("a != 3", "a <> 3"),
        ("a => 3", "a >= 3"),
        ("a = 1 && b = 2", "a = 1 AND b = 2"),
        ('color = "blue"', "color = 'blue'"),
        ("weight > '2500'", "weight > 2500"),
        ("color = `blue`", None),
        ("a = null", None),
        ("NOT IN a", None),
        ("a ≥ 3", "a >= 3"),
        ("a = 1 adn b = 2", "a = 1 AND b = 2"),
        ("color = 'it's'", None),
        ("a =", None),
        ("a BETWEEN 'x' AND 'y'", None),
    ],
)
def test_what_of_hints_can_be_clicked(text, fixed):
    """A hint that says what to write can be clicked if the error is gone then; any other cannot."""
    with pytest.raises(ValueError, match=r".") as caught:
        compile(text)

    assert [one["text"] for one in _remedies(caught.value.hint, text, caught.value.span, "IBM_MQ")] == [fixed] * (
        fixed is not None
    )


def test_the_nearest_of_nobody(tmp_path):
    """Where nobody gets a message the selectors that need the least to change come first."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"color": "red", "weight": 1}\n', encoding="utf-8")
    inventory = SelectorSet({"FAR": "color = 'blue' AND weight > 5", "NEAR": "color = 'blue'"})
    found = read(path, inventory=inventory).message(question(row=0))

    assert [(one["key"], one["change"]) for one in found["gets"]] == [
        ("NEAR", "it would be selected if color were 'blue' (is 'red')"),
        ("FAR", "it would be selected if color were 'blue' (is 'red') and weight were > 5 (is 1)"),
    ]


@pytest.mark.parametrize("wrong", [None, [], {}, {"window": 1}, question()._asdict() | {"row": True}], ids=str)
def test_what_is_no_question(wrong):
    """What lacks a field of a question, or has it of another type, is none."""
    with pytest.raises(ValueError, match=r"\A\Z"):
        Question.read(wrong)
    assert Question.read(question()._asdict()) == question()


def test_errors_of_both_selectors():
    """An error says which of the two selectors it is in."""
    session = Session(MessageSource())
    with pytest.raises(SelectorSyntaxError):
        compile("a ==")

    assert look(session, "a ==")["error"]["of"] == 0
    assert look(session, "a = 1", second="b ==")["error"]["of"] == 1
