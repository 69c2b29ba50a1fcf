"""The prose that people read, and counts of what the style guide bans in it: `test_prose.py` compares them with a list.

`tests/prose.tsv` has the counts that are allowed: file, pattern, count. `python tests/prose.py --write` writes the file
as the prose is now, and prints each count that rose. A count may only fall: do not commit one that rose.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = Path(__file__).with_name("prose.tsv")
DOCUMENTS = ("README.md", "mqsel/**/*.md", ".github/**/*.md", "bench/**/*.md", "tests/**/README.md")
CODE = ("mqsel/**/*.py", "mqsel/**/*.pyx", "mqsel/**/*.js")
LONGEST = 25  # words of a sentence

# Each pattern: its name in the list, what it finds in a sentence, and what to write.
PATTERNS = {
    name: (re.compile(pattern), instead)
    for name, pattern, instead in (
        (
            "What …",
            r"^(What|Whoever|Whatever)\b(?!.*\?)|^That (it|they|a|an|the) ",
            "begin with a noun or an imperative",
        ),
        ("Of …", r"^Of ", "begin with the subject"),
        ("is no", r"(?<!\bthere )(?<!\bThere )\b(is|are|was|were) no\b(?! longer)", "isn't a, has no, doesn't"),
        (", too", r", too\b(?! (many|much|few|long|large|big|small|short|old|new|late|early|deep)\b)", "also"),
        ("alone", r"\balone\b", "only"),
        ("stand", r"\b[Ss](tands?|tood|tanding)\b(?! for\b)", "is, in, next to"),
        ("behind", r"\b[Bb]ehind\b", "after"),
        ("in front", r"\bin front\b", "before"),
        ("beside", r"\b[Bb]eside\b", "next to, with"),
        ("likewise", r"\b[Ll]ikewise\b", "repeat the noun"),
        ("the same.", r"\b[Tt]he same(?=[.,;:)]|$)", "repeat the noun"),
        ("the others.", r"\b[Tt]he others?(?=[.,;:)]|$)", "repeat the noun"),
        ("that of", r"\b([Tt]hat|[Tt]hose) of\b", "repeat the noun"),
        ("ones", r"\bones\b|\b[Oo]ne (that|which)\b", "repeat the noun"),
        ("one does", r"\bone (can|has|sees|types|wants|reads|writes|asks|knows|needs)\b", "you"),
        ("where there", r"\b[Ww]here (there|no|none|nothing|that|this|these)\b", "if, when"),
        ("refuse", r"\b[Rr]efus(es?|ed|ing|als?)\b", "reject, report an error, not supported"),
        ("modelled", r"\b(not|n't) model", "supported"),
        ("held against", r"\b([Hh]eld|[Hh]olds?) .{0,20}\bagainst\b", "compared with"),
        ("poison", r"\b[Pp]oison", "type-error value"),
        ("computed test", r"\bcomputed tests?\b", "interpreted test"),
        ("preset", r"\b[Pp]resets?\b", "dialect"),
        ("apostrophe", r"\b[Aa]postrophes?\b", "single quote"),
        ("blank", r"\bblanks?\b", "space, empty"),
        ("glued", r"\bglued?\b", "concatenated"),
        ("in any case", r"\bin any case\b", "always, case-insensitively"),
        ("the law", r"\bthe law\b|\bthe truth about\b|\bis the door\b", "no jokes"),
        ("sieve", r"\b[Ss]ieves?\b", "prefilter"),
    )
}
_ANY = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in PATTERNS.values()))
LONG = "long sentence"
SPELLING = "spelling"
# The beginnings of words that Britain and the United States spell differently, and the American spelling.
BRITISH = dict(
    pair.split(":")
    for pair in """
    colour:color behaviour:behavior favour:favor honour:honor neighbour:neighbor flavour:flavor labour:labor
    endeavour:endeavor licence:license defence:defense offence:offense practise:practice centre:center metre:meter
    litre:liter fibre:fiber catalogue:catalog dialogue:dialog analogue:analog programme:program grey:gray
    artefact:artifact ageing:aging judgement:judgment acknowledgement:acknowledgment whilst:while amongst:among
    towards:toward afterwards:afterward backwards:backward forwards:forward upwards:upward downwards:downward
    learnt:learned spelt:spelled mould:mold sceptic:skeptic cancelled:canceled cancelling:canceling labelled:labeled
    labelling:labeling modelled:modeled modelling:modeling travelled:traveled travelling:traveling
    signalled:signaled signalling:signaling levelled:leveled totalled:totaled equalled:equaled tunnelled:tunneled
    marshalled:marshaled marshalling:marshaling channelled:channeled analysed:analyzed analyser:analyzer
    analysing:analyzing paralyse:paralyze fulfils:fulfills fulfilment:fulfillment enrols:enrolls""".split()
)
# The beginnings of verbs that end in -ise in Britain, and in -ize in the United States.
VERBS = """
    alphabet anonym apolog author canonical capital categor central character critic custom emphas equal familiar
    final formal general harmon hypothes initial item legal linear local material maxim memor minim modern monet
    national neutral normal optim organ parallel parametr parameter penal polar popular priorit quant random rational
    real recogn sanit scrutin serial social special stabil standard summar symbol symbolic synchron synthes systemat
    token util vector verbal visual""".split()
_BRITISH = re.compile(rf".*(?:{'|'.join(BRITISH)})|.*(?:{'|'.join(VERBS)})is(?:e|ed|es|er|ers|ing|able|ations?)$")

_FENCE = re.compile(r"^( *)```.*?^ *```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# A table that a script writes from rows of the code: the rows are read there.
_GENERATED = re.compile(r"<!-- [\w-]+: generated by .*?-->\n\n(?:\|.*\n)+")
_CODE = re.compile(r"``.+?``|`[^`\n]*(?:\n[^`\n]+)?`")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")  # documents of vendors, and texts that people type
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|!?\[([^\]]*)\]\[[^\]]*\]")
_EMPHASIS = re.compile(r"\*{1,2}(?=\S)([^*\n]+)\*{1,2}")
_STRING = re.compile(
    r"(?P<comment>(?:#|//)[^\n]*)|(?P<prefix>\b[rbfuRBFU]{1,2})?"
    r"(?P<text>\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)
_FIELD = re.compile(r"\{[^{}]*\}")
_WORDS = re.compile(r"[A-Za-z]{2,},?(?: \S+){3,}")


def _escaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\'", "'").replace("\\\n", "")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs, items and cells of a text, each in one line, with "…" for code and for quotations."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.|#+|>) )|\n(?=\|)|\n(?=  )|(?<=\|)\n", text):
        for cell in block.split("|") if block.lstrip().startswith("|") else [block]:
            line = " ".join(_QUOTED.sub("…", " ".join(cell.split())).split())
            if line.strip("-: "):
                yield re.sub(r"^(?:[*+>-]|\d+\.) ", "", line)


def without_blocks(text: str) -> str:
    """Return a document without blocks of code."""
    return _FENCE.sub("", text)


def without_code(text: str) -> str:
    """Return a document without code: "…" is for code within a line."""
    return _CODE.sub("…", without_blocks(text))


def document(text: str) -> Iterator[str]:
    """Yield the paragraphs of a document: without code, generated tables and the addresses of links."""
    text = _COMMENT.sub("", without_code(_GENERATED.sub("", text)))
    text = _EMPHASIS.sub(r"\1", _LINK.sub(r"\1\2", text))
    yield from _paragraphs(re.sub(r"\n +(?![*+-] |\d+\. )", "\n", text))


def strings(text: str) -> Iterator[str]:
    """Yield the paragraphs of what code says to people: docstrings, and texts of four words and more."""
    pieces: list[str] = []
    end = 0
    for match in _STRING.finditer(text):
        if match["comment"]:
            continue
        if text[end : match.start()].strip(" \n\\"):
            yield from _said("".join(pieces))
            pieces = []
        literal = match["text"]
        body = literal[3:-3] if literal[:3] in ('"""', "'''") else literal[1:-1]
        if not set((match["prefix"] or "").lower()) & set("rb"):  # patterns and bytes
            pieces.append(_FIELD.sub("…", body))
        end = match.end()
    yield from _said("".join(pieces))


def _said(text: str) -> Iterator[str]:
    if _WORDS.search(text) and "#include" not in text:
        first, newline, rest = _CODE.sub("…", _escaped(text)).partition("\n")
        yield from _paragraphs(first + newline + textwrap.dedent(rest))


@cache
def is_british(word: str) -> bool:
    """Return whether a word in lower case is spelled as in Britain."""
    return bool(_BRITISH.match(word))


def banned(paragraph: str) -> Iterator[tuple[str, str]]:
    """Yield each pattern that is in a paragraph, once for each time, with the words around it."""
    for sentence in re.split(r"(?<=[.!?;])[)\"']* (?=\S)", paragraph):
        for name, (pattern, _) in PATTERNS.items() if _ANY.search(sentence) else ():
            for match in pattern.finditer(sentence):
                yield name, sentence[max(0, match.start() - 30) : match.end() + 30]
    for word in re.findall(r"\b[A-Za-z]+\b", paragraph):
        if is_british(word.lower()):
            yield SPELLING, word
    for sentence in re.split(r"(?<=[.!?])[)\"']* (?=[A-Z…(]|mqsel )", paragraph):
        if len(re.findall(r"\w[\w'’-]*|…", sentence)) > LONGEST:
            yield LONG, sentence[:60]


def instead(name: str) -> str:
    """Return what to write in place of a pattern."""
    return PATTERNS[name][1] if name in PATTERNS else {SPELLING: "American spelling", LONG: "25 words at most"}[name]


def findings() -> Iterator[tuple[str, str, str]]:
    """Yield each banned phrase: the file, the pattern and the words. Files of changes count as CHANGES.md."""
    for patterns, paragraphs in ((DOCUMENTS, document), (CODE, strings)):
        for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
            name = path.relative_to(ROOT).as_posix()
            name = ".github/CHANGES.md" if name.startswith(".github/changes/") else name
            for paragraph in paragraphs(path.read_text(encoding="utf-8")):
                for pattern, words in banned(paragraph):
                    yield name, pattern, words


def counts() -> Counter[tuple[str, str]]:
    """Return how often each pattern is in each file."""
    return Counter((name, pattern) for name, pattern, _ in findings())


def allowed() -> dict[tuple[str, str], int]:
    """Return how often each pattern may be in each file."""
    rows = [row.split("\t") for row in ALLOWED.read_text(encoding="utf-8").splitlines()]
    return {(name, pattern): int(count) for name, pattern, count in rows}


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        after = counts()
        try:
            before = allowed()
        except (OSError, ValueError):  # a merge left no list, or one with marks of conflicts
            before = {}
        rows = [f"{name}\t{pattern}\t{count}\n" for (name, pattern), count in sorted(after.items())]
        ALLOWED.write_text("".join(rows), encoding="utf-8")
        for key, count in sorted(after.items()):
            if before and count > before.get(key, 0):
                print(f"{key[0]}: {key[1]!r} rose from {before.get(key, 0)} to {count}")
    else:
        for finding in findings():
            if not sys.argv[1:] or finding[0] in sys.argv[1:] or finding[1] in sys.argv[1:]:
                print(*finding, sep="\t")
