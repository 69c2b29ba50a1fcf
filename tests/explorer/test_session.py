"""What a session reads and answers: room, complaints, cancelling, what of hints can be clicked."""

import json
import subprocess

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra explore is not installed")

from conftest import VECTORS_ROOT, json_lines, message_of  # noqa: E402

from mqsel import SelectorSet, SelectorSyntaxError, compile  # noqa: A004, E402 (they need pyarrow)
from mqsel.errors import DecodeError, PropertyTypeError, SelectorError  # noqa: E402
from mqsel.explorer import session as module  # noqa: E402
from mqsel.explorer.blocks import Block, columns_of  # noqa: E402
from mqsel.explorer.session import Cancelled, MessageSource, Question, Session, _remedies  # noqa: E402
from mqsel.files import length_prefixed  # noqa: E402
from mqsel.formats import mq  # noqa: E402
from mqsel.formats.jsonl import in_json, object_from_json  # noqa: E402
from mqsel.language.dialect import PRESETS  # noqa: E402


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
        "the files have more messages than fit into 0.000931 GiB of memory: mqsel why and mqsel match read all"
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
    """If no selector selects a message, those are listed that a change of one property suffices for."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"color": "red", "weight": 1}\n', encoding="utf-8")
    inventory = SelectorSet({"FAR": "color = 'blue' AND weight > 5", "NEAR": "color = 'blue'"})
    found = read(path, inventory=inventory).message(question(row=0))

    assert [(one["key"], one["change"]) for one in found["gets"]] == [
        ("NEAR", "it would be selected if color were 'blue' (is 'red')"),
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


# ---- one meaning -----------------------------------------------------------------------------------------------------


def matched(matcher, line):
    """Return whether `mqsel match` selects a line; None if it skips the line."""
    try:
        message = matcher.decoder("json")(line)
        return message if isinstance(message, bool) else matcher.matches(message)
    except (PropertyTypeError, DecodeError):
        return None


def block_of(lines):
    """Return a block of lines of JSON."""
    columns = columns_of([object_from_json(line) for line in lines])
    return Block(
        "m.jsonl", "json", 0, pa.array(range(len(lines)), pa.int64()), pa.array(lines, pa.large_binary()), columns
    )


def selected(block, matcher):
    """Return which messages of a block a session selects; None for those it skips."""
    session = Session(MessageSource(), [block])
    found = session._states(matcher, lambda: None).to_pylist()
    return [None if one == 3 else one == 1 for one in found]


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_vector_in_a_session(preset):
    """A session selects what `match` does of the messages of all vectors, with names in another case, too."""
    cases = {}
    for path in sorted(VECTORS_ROOT.glob("*.jsonl")):
        for number, vector in enumerate(json_lines(path)):
            # A vector of all dialects runs in one of them here.
            if (vector["dialect"].split("+")[0] or sorted(PRESETS)[number % len(PRESETS)]) == preset:
                cases.setdefault(vector["selector"], []).append(vector["properties"])
    texts = sorted(cases)
    for start in range(0, len(texts), 40):
        lines = []
        for text in texts[start : start + 40]:
            for properties in cases[text][:1]:
                message = in_json(message_of(properties))
                lines += [message, {name.swapcase(): value for name, value in message.items()}]
        lines += [{"a": [1], "c": 5}, {"\ud800": 1}]
        block = block_of([json.dumps(line).encode() for line in lines])
        raw = block.raw.to_pylist()
        for text in texts[start : start + 40]:
            try:
                matcher = compile(text, dialect=preset)
            except SelectorError:
                continue
            assert (text, selected(block, matcher)) == (text, [matched(matcher, line) for line in raw])


def test_a_value_that_no_property_can_have():
    """A message counts in a session as `match` counts it: a value that `match` does not read is no error."""
    lines = [b'{"a": [1], "c": 5}', b'{"a": [1], "z": 1, "c": 5}', b'{"a": [1]}']
    matcher = compile("(z = 1 AND a = 1) OR c = 5")

    assert selected(block_of(lines), matcher) == [matched(matcher, line) for line in lines]


def test_names_without_regard_to_case(tmp_path):
    """Under Azure Service Bus a name counts in any case; a message with two spellings of it is skipped, as by match."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"color":"red"}\n{"Color":"red"}\n{"COLOR":"blue"}\n{"a":1}\n{"color":"red","Color":"red"}\n')
    session = read(path)
    found = look(session, "Color = 'red'", dialect="AZURE_SERVICE_BUS")
    asked = question("Color = 'red'", dialect="AZURE_SERVICE_BUS")
    reasons = session.reasons(asked, session.asked(asked))

    assert (found["selected"], found["unknown"], found["skipped"]) == (2, 1, 1)
    assert reasons["selected"] == 2


def test_half_a_surrogate_pair_in_a_name(tmp_path):
    """Why is answered although a message has a name that Arrow cannot have."""
    path = tmp_path / "m.jsonl"
    path.write_text('{"color": "red"}\n{"\\ud800": 1, "color": "blue"}\n')
    session = read(path)
    asked = question("color = 'red'")

    assert session.reasons(asked, session.asked(asked))["selected"] == 1


def test_a_command_without_control_characters(tmp_path):
    """The command that is copied has no character that a terminal obeys, and means the same to a shell."""
    path = tmp_path / "m.jsonl"
    path.write_text("{}\n")
    text = "a = 'x\x1b]0;y\x07\x15\\n\u202e'"
    command = look(read(path), text)["copies"]["command"]
    echoed = subprocess.run(
        ["bash", "-c", command.replace("mqsel", "printf %s\\\\0", 1)], capture_output=True, check=True
    )

    assert command.isprintable()
    assert text.encode() in echoed.stdout.split(b"\0")
