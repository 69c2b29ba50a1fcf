"""The loop of a contributor: what the default run leaves out, how much it tries, and which tests see a change."""

from __future__ import annotations

import pytest
import volumes
from conftest import ROOT, _sample
from layers import PACKAGE

from tests import near

WITH_SOURCES = pytest.mark.skipif(not PACKAGE.is_relative_to(ROOT), reason="the sources of the package are in no wheel")


@pytest.mark.sample(4)
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("number", range(5))
def test_a_matrix(number: int, letter: str) -> None:
    """A matrix of ten cases, of which four run by default: the next test looks at them."""
    assert letter * number == "".join([letter] * number)


def test_samples_hold_all_values(request: pytest.FixtureRequest) -> None:
    """A sample has as many cases as were asked for, and as many values of each parameter as they can hold."""
    cases = [item for item in request.session.items if item.name.startswith("test_a_matrix[")]
    chosen = _sample(cases, 10)

    assert chosen == set(cases)
    assert len(_sample(cases, 2)) == 2
    if len(cases) == 10:  # the marks were not asked for
        assert {dict(case.callspec.params)["number"] for case in _sample(cases, 5)} == {0, 1, 2, 3, 4}
    else:
        assert len(cases) == 4
        assert {case.callspec.params["letter"] for case in cases} == {"a", "b"}


def test_volumes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Volume 0 is the smoke, 1 the usual number, 10 ten times as many, and no number is below the smoke."""
    numbers = []
    for level in (0, 0.01, 1, 10):
        monkeypatch.setattr(volumes, "LEVEL", level)
        numbers.append(volumes.volume(400, smoke=40))

    assert numbers == [40, 40, 400, 4000]
    assert volumes.is_release()


@WITH_SOURCES
def test_near_tests_come_first() -> None:
    """A command is seen by the tests of commands alone, and a reader of the index first by those of the index."""
    commands = {path.parent.name for path in near.tests_near([PACKAGE / "cli" / "lint.py"], is_room=False)}
    index = near.tests_near([PACKAGE / "index" / "_reader.pyx"], is_room=False)

    assert commands == {"cli"}
    assert index[0].parent.name == "index"
    assert near.HERE / "test_selectorset.py" in index
    assert near.HERE / "language" / "test_parser.py" not in index


@WITH_SOURCES
def test_near_tests_may_be_those_of_the_room_alone() -> None:
    """With --room a change of the parser, which nearly everything sees, runs the tests of its folder alone."""
    parser = PACKAGE / "language" / "parser.py"
    room = near.tests_near([parser], is_room=True)

    assert {path.parent.name for path in room} == {"language"}
    assert room == near.tests_near([parser], is_room=False)[: len(room)]
    assert near.HERE / "test_names.py" in near.tests_near([PACKAGE / "names.py"], is_room=True)


def test_near_takes_files_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is none of the package is an error that says which is expected."""
    assert near.main(["README.md"]) == 2
    assert "expected paths such as mqsel/index/_reader.pyx" in capsys.readouterr().err
