"""The prose that people read: the style guide's patterns, links, and blocks of code that nobody runs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import prose
import pytest
import test_documents
from conftest import ROOT

if not (ROOT / ".github" / "site").exists():
    pytest.skip("the documents are not beside the tests", allow_module_level=True)

TEXTS = {
    path: path.read_text(encoding="utf-8")
    for path in sorted({path for pattern in prose.DOCUMENTS for path in ROOT.glob(pattern)})
}
BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
ANCHOR = re.compile(r"^#+ (.*?)(?: *\{#([\w-]+)\})?$|<a (?:id|name)=\"([^\"]+)\"", re.MULTILINE)
# A line of a block that a reader types.
TYPED = re.compile(r" *(\$ |echo |mqsel |pip |python3? |\.venv/|pytest |spark-submit |cat > |artemis |dmpmq)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_prose_keeps_to_its_counts() -> None:
    """No file has more of a banned pattern than `tests/prose.tsv` allows, and the list allows no more than there is."""
    counts, allowed = prose.counts(), prose.allowed()
    rose = {
        f"{name}: {pattern!r} is there {count} times, {allowed.get((name, pattern), 0)} allowed. Write: {words}"
        for (name, pattern), count in counts.items()
        if count > allowed.get((name, pattern), 0)
        for words in [prose.instead(pattern)]
    }
    fell = {
        f"lower {name}: {pattern!r} to {counts[name, pattern]}"
        for (name, pattern), count in allowed.items()
        if count > counts[name, pattern]
    }

    assert rose == set(), "python tests/prose.py FILE shows each place"
    assert fell == set(), "python tests/prose.py --write lowers the numbers in tests/prose.tsv"


@pytest.mark.parametrize("pattern", prose.PATTERNS)
def test_each_pattern_is_seen(pattern: str) -> None:
    """Each pattern is found in a sentence that has it, and not in the sentence that the style guide wants."""
    bad, good = EXAMPLES[pattern]

    assert (pattern in dict(prose.banned(bad)), dict(prose.banned(good))) == (True, {})


EXAMPLES = {
    "What …": ("What changes no result is written.", "What is a selector?"),
    "Of …": ("Of these folders the first counts.", "The first of these folders counts."),
    "is no": ("A decimal is no property.", "A decimal isn't a property, and there is no limit."),
    ", too": ("Print the counts, too.", "Also print the counts, unless there are too many."),
    "alone": ("By names alone.", "Only by names."),
    "stand": ("The key stands there.", "The escape character stands for itself."),
    "behind": ("Files behind the selectors.", "Files after the selectors."),
    "in front": ("With a sign in front.", "After a sign."),
    "beside": ("A number beside a string.", "A number next to a string."),
    "likewise": ("timestamps: likewise.", "timestamps: how to read timestamps."),
    "the same.": ("Both are the same.", "Both have the same type."),
    "the others.": ("It skips the others.", "It skips the other files."),
    "that of": ("The type is that of the column.", "The column determines the type."),
    "ones": ("It reads old ones.", "It reads old files, one at a time."),
    "one does": ("The page helps while one types.", "The page helps while you type."),
    "where there": ("It is NULL where there is no value.", "It is NULL if there is no value."),
    "refuse": ("The broker refuses the selector.", "The broker rejects the selector."),
    "modelled": ("Functions are not modeled.", "Functions aren't supported."),
    "held against": ("The dialect is held against the engine.", "The dialect is compared with the engine."),
    "poison": ("It makes a poisoned number.", "It makes a type-error value."),
    "computed test": ("A computed test is slow.", "An interpreted test is slow."),
    "preset": ("The preset of the broker.", "The dialect of the broker."),
    "apostrophe": ("Write apostrophes.", "Write single quotes."),
    "blank": ("A line of blanks.", "A line of spaces."),
    "glued": ("The value is glued.", "The value is concatenated."),
    "in any case": ("Keywords are read in any case.", "Keywords are case-insensitive."),
    "the law": ("This page is the law.", "This page is the specification."),
    "sieve": ("Spark uses a sieve.", "Spark uses a prefilter."),
}


def test_spelling_and_length_are_counted() -> None:
    """British words and sentences of more than 25 words are counted; American words and quotations are not."""
    text = "It optimises, recognised and coloured the neighbour's catalogue. He raised it precisely: “the colour”."
    (paragraph,) = prose.document(text)

    assert [words for name, words in prose.banned(paragraph) if name == prose.SPELLING] == [
        "optimises", "recognised", "coloured", "neighbour", "catalogue",
    ]  # fmt: skip
    assert [dict(prose.banned(f"You {'really ' * count}stop.")) for count in (23, 24)] == [
        {},
        {prose.LONG: f"You {'really ' * 8}"},
    ]


def test_only_what_people_read_is_counted() -> None:
    """Blocks of code, quotations, patterns and short strings are not prose; docstrings, texts, items and cells are."""
    document = (
        'Alone `alone` "alone"\n\n```\nalone\n```\n\n* An item\n  of two lines\n\n| a cell | another |\n|---|---|\n'
    )
    code = 'raise E(f"{name} is not a"\n        " selector of the broker")  # "a b c d"\n'

    assert list(prose.document(document)) == ["Alone … …", "An item of two lines", "a cell", "another"]
    assert list(prose.strings(code)) == ["… is not a selector of the broker"]
    assert list(prose.strings('"""Say it to the reader."""\nr"a b c d e"\n')) == ["Say it to the reader."]


def test_links_lead_somewhere() -> None:
    """Each link of a document leads to a file, or to a page that the site generates, and to a heading of the file."""
    made = (ROOT / ".github" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    wrong = []
    for path, text in TEXTS.items():
        for link in LINK.finditer(prose.without_code(text)):
            address, _, anchor = (link[1] or link[2]).partition("#")
            target = (path.parent / address).resolve() if address else path
            if re.match(r"https?:|mailto:", address) or (not target.exists() and f" {_name(target)}\n" in made):
                continue
            if not target.exists() or (anchor and anchor not in _anchors(TEXTS.get(target, ""))):
                wrong.append(f"{_name(path)}: {link[0]}")

    assert wrong == []


def _anchors(text: str) -> set[str]:
    """Return the anchors of a document: its headings as GitHub and the site spell them, and explicit anchors."""
    anchors: Counter[str] = Counter()
    for heading, explicit, name in ANCHOR.findall(prose.without_blocks(text)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        anchors.update(anchor for anchor in (plain, explicit, name) if anchor)
    return set(anchors)


def test_blocks_of_code_are_run() -> None:
    """Each session is in a document that a test follows, and a test runs each other command or a reason is listed."""
    followed = {*test_documents.DOCUMENTS, *test_documents.FOLLOWED}
    left_out, reasons = [], set()
    for path, text in TEXTS.items():
        for indent, language, body in BLOCK.findall(text):
            if language in ("python", "console"):
                lines = [] if path in followed and not indent else body.splitlines()[:1]
            else:
                is_shell = language == "sh" and not indent and path in test_documents.DOCUMENTS
                typed = (
                    [line for line in body.splitlines() if TYPED.match(line)] if language in ("", "text", "sh") else []
                )
                lines = [line for line in typed if not (is_shell and test_documents.is_run(line))]
            for line in lines:
                reason = next((start for start in test_documents.NOT_RUN if line.startswith(start)), None)
                reasons.add(reason)
                if reason is None:
                    left_out.append((_name(path), line))

    assert left_out == []
    assert set(test_documents.NOT_RUN) - reasons == set()
