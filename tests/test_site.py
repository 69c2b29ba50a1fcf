"""The site: built strictly, each link of it leads somewhere, and each rule, error and public name has its place."""

from __future__ import annotations

import subprocess
import sys
from email.message import Message
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from conftest import ROOT

import mqsel
from mqsel import errors
from mqsel.analysis.lint import RULES
from mqsel.cli.rules import described

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a warning of mkdocs, such as a link that leads nowhere, is a failure."""
    for needed in ("mkdocstrings", "material", "lxml"):
        pytest.importorskip(needed)
    source = ROOT / ".github" / "site" / "mkdocs.yml"
    if not source.exists():
        pytest.skip("the sources of the site do not stand beside the tests")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(source), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def _values(page: Path, path: str) -> list[str]:
    from lxml import html

    return [str(one) for one in html.parse(page).xpath(path)]


def test_links_lead_somewhere(site: Path) -> None:
    """Each link within the site is a file of it, and its fragment stands there; nothing is fetched from elsewhere."""
    pages = {page: set(_values(page, "//@id | //a/@name")) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) > 30
    wrong: list[tuple[str, str]] = []
    for page, ids in pages.items():
        for link in _values(page, "//a/@href | //img/@src | //script/@src | //link/@href"):
            address, fragment = urldefrag(link)
            target = (page.parent / unquote(address)).resolve() if address else page
            is_there = target.is_file() and (not fragment or unquote(fragment) in pages.get(target, ids))
            if not urlsplit(link).scheme and not is_there:
                wrong.append((page.name, link))
        fetched = _values(page, "//script/@src | //img/@src | //link[@rel='stylesheet']/@href")
        wrong += [(page.name, link) for link in fetched if urlsplit(link).scheme or link.startswith("//")]
    assert wrong == []


def test_rules_and_errors_have_places(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule of lint has its section, whose address SARIF names once the site has one; so has each error."""
    rules, pages = site / "reference" / "rules.html", site / "reference" / "errors.html"
    assert [rule.code for rule in RULES if rule.code not in _values(rules, "//h2/@id")] == []
    assert {described(rule)["helpUri"] for rule in RULES} <= set(_values(rules, "//a/@href"))
    published = Message()
    published["Project-URL"] = f"Documentation, {site.as_uri()}/"
    monkeypatch.setattr("mqsel.cli.rules.distributions", lambda **_: [SimpleNamespace(metadata=published)])
    for rule in RULES:
        address, fragment = urldefrag(described(rule)["helpUri"])
        assert (address, fragment) == (rules.as_uri(), rule.code)
    places = set(_values(pages, "//@id"))
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert {f"mqsel.errors.{kind.__name__}" for kind in classes} <= places
    assert {code.name.lower() for code in errors.MQRC} <= places


@pytest.mark.parametrize("name", ["", "files", "formats", "inventory", "live", "selection", "spark", "testing"])
def test_reference_is_complete(name: str, site: Path) -> None:
    """Each public class and function stands in the reference, those of stubs with what they are."""
    if name == "spark":
        pytest.importorskip("pyspark")
    module = import_module(f"mqsel.{name}") if name else mqsel
    places = {place for page in (site / "reference").glob("*.html") for place in _values(page, "//@id")}
    public = [getattr(module, one) for one in module.__all__]
    wanted = {one.__name__ for one in public if hasattr(one, "__qualname__") and one.__module__.startswith("mqsel")}
    assert len(wanted) > 0
    assert {one for one in wanted if not any(place.endswith(f".{one}") for place in places)} == set()
