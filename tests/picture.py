"""Draws the two pictures of the documents: `python tests/picture.py`.

`why.svg` is what `mqsel why` prints, and a test compares it with the output of today. `explore.png` is the page
of `mqsel explore`, which Chromium draws: draw it anew if the page changes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / ".github" / "why.svg"
PAGE = ROOT / ".github" / "explore.png"
SELECTOR = "color = 'white' AND JMSPriority > 4"
FILE = "bench/data/dump.qload"
_WIDE, _HIGH, _MARGIN = 8.43, 19, 18  # pixels of a cell, and around all
_STYLE = """\
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
.back { fill: #f6f8fa } text { fill: #1f2328 } .c31 { fill: #cf222e } .c32 { fill: #116329 } .c33 { fill: #7d4e00 }
.asked { font-weight: bold }
@media (prefers-color-scheme: dark) {
  .back { fill: #151b23 } text { fill: #f0f6fc } .c31 { fill: #ff7b72 } .c32 { fill: #7ee787 } .c33 { fill: #d29922 }
}"""


def drawn() -> str:
    """Run the command, and return the picture of it."""
    command = [sys.executable, "-m", "mqsel", "why", "--color", "always", SELECTOR, FILE]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    lines = printed.rstrip("\n").split("\n")
    asked = f'$ mqsel why "{SELECTOR}" {FILE}'
    plain = [asked, *(re.sub(r"\x1b\[[0-9]*m", "", line) for line in lines)]
    wide, high = max(map(len, plain)) * _WIDE + 2 * _MARGIN, (len(plain) + 1) * _HIGH + 2 * _MARGIN
    rows = [f'<tspan class="asked">{escape(asked)}</tspan>', "", *map(_colored, lines)]
    texts = [
        f'<text x="{_MARGIN}" y="{_MARGIN + _HIGH * number + 14}">{row}</text>'
        for number, row in enumerate(rows)
        if row
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" width="{wide:.0f}" height="{high}">'
    )
    title = f"<title>{escape(asked[2:])}: {escape(plain[1])}</title>"
    return "\n".join(
        [
            head,
            title,
            f"<style>{_STYLE}</style>",
            '<rect class="back" width="100%" height="100%" rx="8"/>',
            *texts,
            "</svg>",
            "",
        ]
    )


def _colored(line: str) -> str:
    return re.sub(r"\x1b\[(3[0-9])m(.*?)\x1b\[0m", r'<tspan class="c\1">\2</tspan>', escape(line))


def draw_page() -> None:
    """Draw the page of `mqsel explore` with a misspelled property, and one message explained."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "mqsel", "explore", "--no-browser", "bench/data/messages.jsonl.gz"]
    with sync_playwright() as running, subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        url = next(found[0] for line in served.stdout if (found := re.search(r"http://\S+", line)))
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 920})
        page.goto(url)
        page.fill("#selector", "JMSType = 'car' AND colour = 'blue' AND weight > 2500")
        page.get_by_text("no message has colour").first.wait_for()
        page.locator("[role=option]").nth(4).click()
        page.get_by_text("it would be selected if").wait_for()
        page.screenshot(path=PAGE)
        browser.close()
        served.terminate()


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    draw_page()
    sys.stdout.write(f"{PICTURE}\n{PAGE}\n")
