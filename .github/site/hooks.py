"""What mkdocs.yml cannot say: READMEs are pages where they stand, and so are tables of the package.

A page is called by its path in the repository, so that one link holds there and on the site.
"""

from __future__ import annotations

import html
import inspect
import json
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import griffe
from markdown import Extension, Markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

from mqsel import errors
from mqsel.analysis.lint import RULES
from mqsel.carets import caret
from mqsel.cli import _parser
from mqsel.cli.arguments import filled
from mqsel.cli.help import topics
from mqsel.cli.rules import described
from mqsel.formats.mqrfh2 import NOTES
from mqsel.language.dialects import FIELDS, LENGTH, PRESETS, SOURCES, choices_of
from mqsel.language.product import Choice
from mqsel.language.products import PRODUCTS
from mqsel.language.products import RULES as PRODUCT_RULES

ROOT = Path(__file__).parents[2]
# Beside the pages of this folder.
TAKEN = (
    "README.md",
    "bench/*.md",
    "bench/*.svg",
    "mqsel/cli/*.json",
    "mqsel/**/*.md",
    ".github/*.md",
    ".github/*.png",
    ".github/*.svg",
)
# Pages that a search shows before others: a part of the path, and the factor.
BOOSTS = {"what-is-a-selector": 16, "pages/brokers/": 1, "pages/reference/": 1, "site/pages/": 4, "CONTRIBUTING": 4}
# A row of README's table of dialects: the products, their dialects, how each was checked.
_BROKERS = re.compile(r"^\| (.*) \| (`[A-Z_]+`.*) \| (.*) \|$", re.MULTILINE)
_SECTION = re.compile(r"^( *)(Returns|Yields|Raises): (?=\S)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Reads docstrings as we write them: those of stubs stand in what is compiled; `Raises: ` begins a section."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Complete the docstring of a class, function or attribute."""
        if (
            obj.docstring is None
            and isinstance(obj.filepath, Path)
            and obj.filepath.suffix == ".pyi"
            and not obj.is_module
        ):
            compiled = import_module(obj.module.path)
            for name in obj.path.removeprefix(f"{obj.module.path}.").split("."):
                compiled = getattr(compiled, name, None)
            text = inspect.getdoc(compiled) if callable(compiled) else None
            obj.docstring = griffe.Docstring(text, parent=obj) if text else None
        if obj.docstring:
            obj.docstring.value = _SECTION.sub(r"\1\2:\n\1    ", obj.docstring.value)


class Indented(Extension):
    """Lets two blanks continue an item of a list, as they do where READMEs are shown otherwise."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Markdown's name)
        """Set the width of a step."""
        md.tab_length = 2


def on_config(config: MkDocsConfig) -> None:
    """Read lists as READMEs have them."""
    config.markdown_extensions.append(Indented())  # type: ignore[arg-type]


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Show tabs and empty lines as a terminal does, link dialects to their pages, and let a search find guides."""
    page.meta["search"] = {"boost": next((boost for path, boost in BOOSTS.items() if path in page.file.src_uri), 1)}
    markdown = re.sub(r"^<BLANKLINE>$", "", markdown.expandtabs(), flags=re.MULTILINE)
    folder = {"README.md": ".github/site/pages/", ".github/site/pages/brokers.md": ""}.get(page.file.src_uri)
    if folder is None:
        return markdown
    linked = "|".join(PRESETS)
    return re.sub(
        r"^\|.*",
        lambda row: re.sub(rf"`({linked})`", rf"[`\1`]({folder}brokers/\1.md)", row[0]),
        markdown,
        flags=re.MULTILINE,
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the READMEs and pages of tables, and call all pages by their paths."""
    own = Path(config.docs_dir).relative_to(ROOT).as_posix()
    taken = InclusionLevel.INCLUDED  # though their paths have a folder that begins with a dot
    paths = [path for pattern in (*TAKEN, f"{own}/**/*.*") for path in sorted(ROOT.glob(pattern))]
    pages = [
        File(path.relative_to(ROOT).as_posix(), str(ROOT), config.site_dir, use_directory_urls=False, inclusion=taken)
        for path in paths
    ]
    generated = {"reference/commands": _commands(), "reference/rules": _rules(), "reference/errors": _errors()}
    for name, (product, checked) in _products().items():
        generated[f"brokers/{name}"] = _broker(name, product, checked)
    for name, lines in generated.items():
        content = "\n".join(lines)
        pages.append(File.generated(config, f"{own}/{name}.md", content=content, inclusion=taken))
    for page in pages:
        page.dest_uri = page.dest_uri.removeprefix(f"{own}/").removeprefix(".github/")
    return Files([*(one for one in files if one.src_dir != config.docs_dir), *pages])


def _products() -> dict[str, tuple[str, str]]:
    """Return the product of each dialect, and how it was checked, from the table in README."""
    rows = _BROKERS.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    return {
        name: (product, checked)
        for products, dialects, checked in rows
        for product, name in zip(products.split(", "), re.findall("[A-Z_]+", dialects), strict=True)
    }


def _broker(name: str, product: str, checked: str) -> Iterator[str]:
    """Yield how a dialect differs from JMS; JMS itself is compared with the default."""
    base = "IBM_MQ" if name == "JMS" else "JMS"
    engine = PRODUCTS.get(name)
    if engine and engine.selectors != "none":
        checked = f"Compared with {engine.product}. Number of test selectors: {engine.selectors}"
    yield f"# How {product} differs from {_products()[base][0]}\n\nThe dialect is `{name}`. {checked}.\n"
    yield f'To use it, pass `--dialect {name}`, or write `mqsel.compile(selector, dialect="{name}")`.'
    yield "[Choose your broker](../brokers.md) has examples.\n\n## Differences\n"
    yield "Each row is a field of `mqsel.Dialect`. The dialects agree on all other fields.\n"
    yield f"| Field | `{base}` | `{name}` | Source |\n|---|---|---|---|"
    cited = ""
    both = [choices_of(dialect) for dialect in (base, name)]
    for field in [field for field in both[0] if field != "product"]:
        choices = [one[field] for one in both]
        if choices[0] != choices[1]:
            first, second = (_choice(field, choice) for choice in choices)
            yield f"| `{field}` | {first.meaning} | {second.meaning} | {second.source} |".replace("|  |", "| |")
            cited += f"{second.source}; "
    if engine and engine.not_modelled:
        yield f"\n## Not supported\n\nmqsel reports an error for: {engine.not_modelled}."
    yield "\n## Your selectors\n"
    yield f"* `mqsel diff --dialect {base} --dialect {name} SELECTOR` shows a message on which they differ."
    yield f"* `mqsel lint --dialect {name} FILE` finds likely mistakes."
    yield f"* `mqsel migrate --from {base} --to {name} FILE` writes selectors that match the same messages."
    yield "\n## Sources\n"
    yield "If a row has no source, [the language](../../../../mqsel/language/README.md) explains the choice.\n"
    yield from (f"* {short}: {title}" for short, title in SOURCES.items() if short in cited)


def _choice(field: str, choice: str | int | None) -> Choice:
    """Return what a choice means, with a link for each section of the language that it names."""
    if field == LENGTH:
        return Choice(f"At most {choice:,} characters" if choice else "No limit", "")
    text = (ROOT / "mqsel" / "language" / "README.md").read_text(encoding="utf-8")
    titles = {title[0]: title for title in re.findall(r"^## §(\d .*)$", text, re.MULTILINE)}
    meaning, source = {**FIELDS, **PRODUCT_RULES}[field][str(choice)]
    page = "../../../../mqsel/language/README.md"
    linked = re.sub(
        r"(?<!Jakarta )(?<!Java )§(\d)\b(?!\.)",
        lambda cited: f"[language §{cited[1]}]({page}#{slugify(case='lower')(titles[cited[1]], '-')})",
        meaning,
    )
    return Choice(linked[:1].upper() + linked[1:], source)


def _commands() -> Iterator[str]:
    """Yield the help of each command."""
    yield "# Commands\n\nThe output of `mqsel COMMAND --help`. If you install a wheel, you can read `man mqsel-match`."
    os.environ["COLUMNS"] = "100"  # which the help is written for
    parsers = _parser([])[1]
    for name, parser in parsers.items():
        yield f"\n## {name}\n\n```text\n{parser.format_help()}```"
    for name, text in topics(parsers).items():
        yield f"\n## help {name}\n\n```text\n{filled(text, 98)}\n```"


def _rules() -> Iterator[str]:
    """Yield each rule of lint, as it stands in its row and in SARIF."""
    yield "# Lint rules\n\n`mqsel lint` reports these findings. `mqsel lint --explain RULE` prints the text of a rule."
    yield "[Lint options and rules](../../../../mqsel/analysis/RULES.md) explains edits, contracts and comments."
    for rule in RULES:
        shown = described(rule)
        text, *rows = shown["help"]["text"].split("\n")
        yield f"\n## {rule.code}\n\n<p><strong>{rule.severity}.</strong> {html.escape(text)}</p>\n\n<table>"
        for name, _, row in (one.partition(": ") for one in rows):
            yield f"<tr><th>{name}</th><td><code>{html.escape(row)}</code></td></tr>"
        yield f"</table>\n\nSource: {SOURCES[rule.source]}"


def _errors() -> Iterator[str]:
    """Yield the classes of errors, and each reason code with where it is described, and an example."""
    yield "# Errors\n\nEvery error is an `MqselError`. Many have a `reason`, a [reason code](#reason-codes) of IBM MQ."
    yield "\n## Classes"
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.MqselError):
            yield f"\n::: mqsel.errors.{kind.__name__}\n    options:\n      heading_level: 3"
    yield "\n## Reason codes\n\n::: mqsel.errors.MQRC\n    options:\n      heading_level: 3"
    texts = _raised()
    for code in errors.MQRC:
        named = ", ".join(_naming(code))
        yield f"\n### {code.name}\n\n{code.value}{f': {named}' if named else ''}.\n"
        yield from (f"* `{key}`, a note of `mqsel inspect`: {text}" for key, reason, text in NOTES if reason is code)
        if code in texts:
            yield f"\n```text\n{texts[code]}\n```"


def _naming(code: errors.MQRC) -> Iterator[str]:
    """Yield links to the sections that name a reason code."""
    named = re.compile(rf"\b({code.value}|{code.name})\b")
    for path in sorted(ROOT.glob("mqsel/*/README.md")):
        for section in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title = section.partition("\n")[0]
            if named.search(section):
                folder = f"{path.parent.name} {title.partition(' ')[0]}" if title[0] == "§" else title
                yield f"[{folder}](../../../../{path.relative_to(ROOT).as_posix()}#{slugify(case='lower')(title, '-')})"


def _raised() -> dict[errors.MQRC, str]:
    """Return the text of an error for reason codes: of the first vector that has each."""
    texts: dict[errors.MQRC, str] = {}
    for path in sorted((ROOT / "tests" / "vectors").rglob("*.jsonl")):
        for vector in map(json.loads, path.open(encoding="utf-8")):
            error = vector.get("error")
            if not isinstance(error, dict) or "reason" not in error:
                continue
            reason = error["reason"]
            code = errors.MQRC[reason] if isinstance(reason, str) else errors.MQRC(reason)
            if code not in texts:
                place = f"{error['structure']} at byte {error['offset']}; " if "structure" in error else ""
                selector = caret(vector["selector"], tuple(error["span"])) if "span" in error else []
                texts[code] = "\n".join([f"{error['message']} [{place}{code}]", *selector])
    return texts
