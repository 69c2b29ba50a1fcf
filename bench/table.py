"""The one table: `python bench/table.py [--json FILE] [--plot bench/plot.svg] [--quick] [--peers activemq,…]`.

Everyone's answers are compared before anyone's time counts; contenders take turns within a run, medians count. A ratio
is the other's time divided by mqsel's (above 1: mqsel is faster), and for the floor mqsel's divided by the floor's,
the faster of its two ways into a dict. `!` marks what misses its bar. With `--columns` it is the table of columns:
CPU time of one thread, and every ratio is mqsel's time divided by the other's. With `--sets` it is that of sets of many
selectors: `--sizes 1000,10000` of these many.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import itertools
import json
import platform
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import build_floor
import stages
import workloads

HERE = Path(__file__).resolve().parent
W = tuple(workloads.TESTS)
Figures = dict[str, dict[str, float]]  # contender -> workload -> ns per message

# Bars by workload, W1 to W7. A ratio has to be at least, the one to the floor at most, so much.
LAMBDA = (3.0,) * 7
FLOOR = (1.35, 1.2, 1.5, 1.25, 1.25, 1.6, 1.6)
ACTIVEMQ = {"20k": (1.0, 1.0, 1.5, 1.5, 1.5, 3.0, 3.0), "2k": (1.0,) * 5 + (2.0,) * 2}
# And of columns, with the four predicates at the end: at most so much.
POLARS = (1.0,) * 3 + (0.33,) * 4 + (None,)
PLAIN_POLARS = (1.0, 0.9, 1.0, *(0.33,) * 4, 0.9)
FOUR = (None,) * 7 + (1.5,)
DICTIONARY = (0.7, 0.7, None, None, 0.7, 0.7, None, None)
STREAMS = {"20k": "20,000 messages streamed", "2k": "2,000 messages ten times, in cache"}


Bars = Sequence[float | None]


class Table:
    """Rows of a Markdown table, each with a bar, and how many of its figures meet it."""

    def __init__(self, names: tuple[str, ...] = W) -> None:
        self.names = names
        self.rows: list[tuple[str, list[str], str, str]] = []
        self.notes: list[str] = []

    def title(self, text: str) -> None:
        self.rows.append((f"**{text}**", [""] * len(self.names), "", ""))

    def figures(self, what: str, values: dict[str, float | None], bars: Bars = ()) -> None:
        self._row(what, values, bars, "≤", _short)

    def ratios(self, what: str, values: dict[str, float | None], bars: Bars = (), sign: str = "≥") -> None:
        """Add a row of ratios; *bars* by workload."""
        self._row(what, values, bars, sign, "{:.2f}".format)

    def _row(
        self, what: str, values: dict[str, float | None], bars: Bars, sign: str, written: Callable[[float], str]
    ) -> None:
        cells, met, counted = [], 0, 0
        for name, bar in itertools.zip_longest(self.names, bars):
            value = values.get(name)
            if value is None:
                cells.append("–")
                continue
            good = bar is None or (value >= bar if sign == "≥" else value <= bar)
            met += bar is not None and good
            counted += bar is not None
            cells.append(f"{written(value)}{'' if good else '!'}")
        self.rows.append((what, cells, _spoken(bars, sign, self.names), f"{met} of {counted}" if counted else ""))

    def single(self, what: str, value: float | None, bar: float | None = None, digits: int = 2) -> None:
        """Add one figure, under W2 if it is about W2, with the most it may be."""
        text = "–" if value is None else f"{value:,.{digits}f}"
        met = "" if bar is None or value is None else "yes" if value <= bar else "no!"
        self.rows.append((what, ["", text, *[""] * (len(self.names) - 2)], "" if bar is None else f"≤ {bar:g}", met))

    def __str__(self) -> str:
        lines = [("", [workloads.TITLES.get(name, name) for name in self.names], "target", "met"), *self.rows]
        cells = [[what, *values, bar, met] for what, values, bar, met in lines]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        texts = (0, len(widths) - 2)
        padded = [
            [cell.ljust(width) if place in texts else cell.rjust(width) for place, (cell, width) in enumerate(row)]
            for row in (list(zip(cells_of, widths, strict=True)) for cells_of in cells)
        ]
        rule = ["-" * width if place in texts else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
        return "\n".join(f"| {' | '.join(row)} |" for row in [padded[0], rule, *padded[1:]])


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}"


def _spoken(bars: Bars, sign: str, names: tuple[str, ...]) -> str:
    """Write "≥ 1 W1-W5, 2 W6-W7"."""
    said: dict[float, list[str]] = {}
    for bar, run in itertools.groupby(zip(names, bars, strict=False), lambda pair: pair[1]):
        first, *_, last = [*run] * 2
        if bar is not None:
            said.setdefault(bar, []).append(first[0] if first == last else f"{first[0]}-{last[0]}")
    if len({*bars} | {None}) == 2 and None not in bars:
        return f"{sign} {bars[0]:g}"
    return f"{sign} " + ", ".join(f"{bar:g} {' '.join(where)}" for bar, where in said.items()) if said else ""


def machine() -> str:
    names = [platform.processor() or platform.machine()]
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(": ")[2] for line in lines if line.startswith("model name")] or names
    python = f"{platform.python_implementation()} {platform.python_version()}"
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        system = f"{platform.system()} {platform.release()}"
    return f"{names[0]} ({len(names)} CPUs), {python}, {system}"


def measured(form: str, size: str, texts: dict[str, str], floor: ModuleType | None, rounds: int) -> Figures:
    """Time everyone over messages of this form; answers first."""
    found: Figures = {}
    for name, text in texts.items():
        works = {}
        for who, select in workloads.contenders(name, text, form, floor).items():
            workloads.assert_selected(select, text, form, size)
            works[who] = workloads.rounds_of(select, form, size)
        for who, seconds in stages.clock(works, rounds).items():
            found.setdefault(who, {})[name] = seconds / workloads.STREAMED * 1e9
    return found


def ratio(above: dict[str, float | None], below: dict[str, float | None]) -> dict[str, float | None]:
    return {name: above[name] / below[name] for name in above if above[name] and below.get(name)}


# ---- the peers ---------------------------------------------------------------------------------------------------


def peers_module() -> ModuleType | None:
    if not (HERE / "peers" / "run.py").exists():
        return None
    sys.path.insert(0, str(HERE / "peers"))
    return importlib.import_module("run")


def peers(texts: dict[str, str], wanted: list[str], seconds: float, table: Table) -> dict[str, Figures]:
    """Let each peer that is there measure the same messages: size -> peer -> workload -> ns."""
    found: dict[str, Figures] = {size: {} for size in workloads.SIZES}
    module = peers_module() if wanted != ["none"] else None
    if module is None:
        table.notes.append("no peers were measured")
        return found
    path = build_floor.BUILD / "messages.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(message) + "\n" for message in workloads.messages("dicts", "20k"))
    for name, reason in module.available().items():
        if wanted and name not in wanted:
            continue
        if reason is not None:
            table.notes.append(f"{name} skipped: {reason}")
            continue
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        for workload, result in module.measure(name, texts, path, seconds).items():
            if result["deviation"]:
                table.notes.append(f"{name} {workload} not counted: {result['deviation']}")
            elif result["compared"] < workloads.STREAMED:
                table.notes.append(f"{name} {workload}: the first {result['compared']} answers were compared")
            for size, figures in found.items():
                figures.setdefault(name, {})[workload] = result[f"ns_{size}"]
    return found


# ---- the table ---------------------------------------------------------------------------------------------------


def match_rows(table: Table, ours: Figures, theirs: Figures, size: str) -> None:
    mqsel = ours["mqsel"]
    table.title(STREAMS[size])
    table.figures("mqsel, dicts, ns per message", mqsel)
    table.ratios("lambda", ratio(ours["lambda"], mqsel), LAMBDA)
    table.ratios("comprehension", ratio(ours["comprehension"], mqsel))
    if "floor by_hash" in ours:
        floors = {name: min(ours["floor by_hash"][name], ours["floor by_place"][name]) for name in W}
        table.ratios("mqsel : hand-written baseline", ratio(mqsel, floors), FLOOR, "≤")
    for name, figures in theirs.items():
        table.ratios(name, ratio(figures, mqsel), ACTIVEMQ[size] if name == "activemq" else ())


def form_rows(table: Table, forms: dict[str, Figures], size: str) -> None:
    """W2 over the other forms, as multiples of the time for dicts."""
    table.title(f"W2, {STREAMS[size]}: mqsel's time by that for dicts")
    dicts = forms["dicts"]["mqsel"]["W2"]
    for form, figures in forms.items():
        if form != "dicts":
            value = figures["mqsel"]["W2"]
            table.single(f"{form} ({value:.1f} ns)", value / dicts, 0.6 if form in ("tuples", "records") else None)


def other_rows(table: Table, text: str, rounds: int) -> dict[str, Any]:
    table.title("W2")
    matches, plain = workloads.matcher(text).matches, workloads.by_lambda("W2", text)
    calls = {"mqsel": workloads.calls_of(matches, "2k"), "lambda": workloads.calls_of(plain, "2k")}
    one = {who: seconds / workloads.STREAMED * 1e9 for who, seconds in stages.clock(calls, rounds).items()}
    what = f"m.matches(d) : lambda(d) ({one['mqsel']:.0f} : {one['lambda']:.0f} ns)"
    table.single(what, one["mqsel"] / one["lambda"], 1.0)
    compiling = {name: taken * 1e6 for name, taken in stages.clock(stages.stages(text), rounds, 0.002).items()}
    for stage, bar in ("cold", 80), ("cached", 0.5), ("unpickle", 10):
        table.single(f"compile {stage}, µs", compiling[stage], bar)
    parts = ", ".join(f"{stage} {taken:.0f}" for stage, taken in list(compiling.items())[:5])
    table.notes.append(f"stages of compiling W2, µs (parse includes tokenize): {parts}")
    table.title("and")
    memory = stages.subscription_memory()
    many = stages.subscriptions(10_000) | memory
    table.single("10,000 distinct subscriptions, s", many["seconds"], 1)
    table.single("each pickled, bytes", many["pickled"], 2048, 0)
    if memory:
        table.single("each in memory, bytes", memory["compiled"], 2048, 0)
        table.single("each in memory once it has run, bytes", memory["run"], None, 0)
    like = stages.like(rounds)
    for pattern, times in like.items():
        what = f"LIKE '{pattern}', 100 → 200 KB of a"
        table.single(f"{what} ({times[100_000] * 1e6:.1f} µs)", stages.doubling(times), 2.4)
    tests, slope = stages.tests(rounds)
    table.single(f"ns for one more TRUE test; 500 → 1,000 tests × {tests[1000] / tests[500]:.2f}", slope)
    return {"one_call": one, "stages": compiling, "subscriptions": many, "like": like, "tests": tests, "slope": slope}


def column_rows(table: Table, ours: Figures, threads: dict[str, float]) -> None:
    """Add what `columns.measured` and `columns.two_threads` found."""
    import columns

    plain, polars = ours["plain"], ours.get("polars plain", {})
    table.title("ns per row")
    table.figures("mqsel", plain, FOUR)
    for layout in columns.LAYOUTS[1:]:
        table.figures(f"mqsel, {layout}", ours[layout])
    for who, title in columns.TITLES.items():
        table.figures(title, ours.get(f"{who} plain", {}))
    table.figures("Polars, Categorical", ours.get("polars dictionary", {}))
    table.title("mqsel's time by that of Polars")
    for layout in ("plain", "large", "view"):
        table.ratios(layout, ratio(ours[layout], polars), PLAIN_POLARS if layout == "plain" else POLARS, "≤")
    table.ratios(
        "dictionary : Categorical", ratio(ours["dictionary"], ours.get("polars dictionary", {})), (1.0,) * 8, "≤"
    )
    table.title("mqsel's time by its own")
    table.ratios("dictionary : plain", ratio(ours["dictionary"], plain), DICTIONARY, "≤")
    table.ratios("truth_batch : match_batch", ratio(ours["truth"], plain), (2.0,) * 8, "≤")
    table.ratios("a row of 1,000 : of 1,000,000", ratio(ours["few"], plain), (2.0,) * 8, "≤")
    table.ratios("threads=2 : threads=1, wall time", threads, (0.6,) * 8, "≤")
    table.title("and")
    table.figures("a batch of one row, µs", {name: value / 1000 for name, value in ours["one"].items()}, (5.0,) * 8)


# ---- the plot ----------------------------------------------------------------------------------------------------

SERIES = {
    "lambda": ("Python lambda", "#b5651d"),
    "activemq": ("ActiveMQ's engine", "#7a4fa3"),
    "mqsel": ("mqsel", "#0b5fa5"),
    "floor": ("hand-written baseline", "#6b7280"),
}
COLUMN_SERIES = {
    "duckdb plain": ("DuckDB", "#b5651d"),
    "pyarrow plain": ("pyarrow", "#6b7280"),
    "polars plain": ("Polars", "#7a4fa3"),
    "plain": ("mqsel", "#0b5fa5"),
}


def plot(path: Path, panels: dict[str, Figures], series: dict[str, tuple[str, str]], what: str, caption: str) -> str:
    """Draw a panel for each title, with a row for each selector; *series* gives the label and color of each program."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        return "no plot: matplotlib is not installed"
    plt.rcParams.update({"svg.hashsalt": "mqsel", "svg.fonttype": "none", "font.size": 10})
    size = (11 if len(panels) > 1 else 7.5, 4.6)
    figure, axes = plt.subplots(
        1, len(panels), figsize=size, sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    titles = [workloads.TITLES[workload].replace(" ", ": ", 1) for workload in W]
    for panel, (title, figures) in zip(axes[0], panels.items(), strict=True):
        for name, (label, color) in series.items():
            values = [figures.get(name, {}).get(workload) for workload in W]
            if not all(values):
                continue
            is_ours = label == "mqsel"
            marks = {"color": color, "ms": 9 if is_ours else 6, "zorder": 3 if is_ours else 2}
            panel.plot(values, range(len(W)), "o", label=label, **marks)
            for row, value in enumerate(values if is_ours else ()):
                style = {"textcoords": "offset points", "fontsize": 8.5, "color": color, "ha": "center"}
                panel.annotate(f"{value:.{'0f' if value >= 10 else '1f'}}", (value, row), (0, 8), **style)
        panel.set(xscale="log", title=title, yticks=range(len(W)), yticklabels=titles, ylim=(len(W) - 0.5, -0.7))
        panel.set_xlabel(f"nanoseconds per {what} (log scale; further left is faster)")
        panel.grid(axis="both", which="major", color="#dddddd")
        panel.spines[["top", "right"]].set_visible(False)
        panel.xaxis.set_major_formatter("{x:g}")
    axes[0][0].legend(loc="upper right", fontsize=9, frameon=True, framealpha=0.9, edgecolor="none")
    figure.supxlabel(caption, fontsize=8, color="#555555")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)
    return f"the plot is in {path}"


def _floor(texts: dict[str, str], table: Table) -> ModuleType | None:
    try:
        build_floor.build(texts)
        return build_floor.load(texts)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever keeps a compiler from working)
        table.notes.append(f"no floor: {error!r:.200}")
        return None


def of_columns(rounds: int, options: argparse.Namespace) -> None:
    import columns  # which needs pyarrow, and keeps Polars to one thread

    names = tuple(columns.SELECTORS)
    table = Table(names)
    ours = columns.measured(rounds, table.notes)
    threads, counted = columns.two_threads(rounds)
    column_rows(table, ours, threads)
    table.notes += [f"{peer} is not installed" for peer in columns.missing()]
    table.notes.append(
        f"threads=2: the median of so many of {columns.TRIES:,} windows, with two free processors: {counted}"
    )
    save(table, options.json, {"ns_per_row": ours, "two_threads": threads})
    if options.plot:
        title = f"{columns.ROWS:,} rows, a tenth missing"
        print(plot(options.plot, {title: ours}, COLUMN_SERIES, "row", machine()))


def of_messages(rounds: int, seconds: float, options: argparse.Namespace) -> None:
    table, texts = Table(), workloads.selectors()
    if not workloads.SHARED.exists():
        table.notes.append("W6 and W7 are made from the seed, for want of ../shared/workloads")
    present = [form for form in workloads.FORMS if workloads.has_form(form)]
    for size, form in itertools.product(workloads.SIZES, present):
        workloads.messages(form, size)  # before anything else scatters the heap
    floor = _floor(texts, table)
    theirs = peers(texts, [name for name in options.peers.split(",") if name], seconds, table)
    everyone: dict[str, Figures] = {}
    forms: dict[str, dict[str, Figures]] = {}
    for size in workloads.SIZES:
        ours = measured("dicts", size, texts, floor, rounds)
        match_rows(table, ours, theirs[size], size)
        everyone[size] = ours | theirs[size]
        if floor is not None:
            everyone[size]["floor"] = {n: min(ours["floor by_hash"][n], ours["floor by_place"][n]) for n in W}
    for size in workloads.SIZES:
        forms[size] = {form: measured(form, size, {"W2": texts["W2"]}, floor, rounds) for form in present}
        form_rows(table, forms[size], size)
    if "rows" not in forms["2k"]:
        table.notes.append("no Rows: pyspark is not installed")
    others = other_rows(table, texts["W2"], rounds)
    save(table, options.json, {"ns_per_message": everyone, "forms": forms, **others})
    if options.plot:
        panels = {STREAMS[size]: figures for size, figures in everyone.items()}
        print(plot(options.plot, panels, SERIES, "message", machine()))


def of_files(options: argparse.Namespace) -> None:
    import files

    lines, figures = files.table(1 if options.quick else 5, 1 if options.quick else 4, options.only)
    notes = [f"* {peer} is not there: skipped" for peer in files.missing()]
    print(machine(), "", *lines, "", *notes, sep="\n")
    if options.json is not None:
        saved = {"machine": machine(), "files": figures, "notes": notes}
        options.json.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")


# Bars of sets: us a message at most, from a Record; and figures of a million selectors.
SET_BARS = {
    10_000: {"JMS sparse": 0.6, "conjunctions": 1.5, "JMS dense": 6.0, "ABE": 4.0, "subscriptions": 4.0},
    100_000: {"JMS sparse": 4.0, "conjunctions": 6.0, "JMS dense": 50.0, "ABE": 90.0},
    1_000_000: {"JMS sparse": 10.0, "conjunctions": 12.0, "JMS dense": 700.0, "ABE": 700.0},
}
# The most selectors of workloads that are not measured with a million.
LARGEST = {"subscriptions": 10_000}
LARGEST |= dict.fromkeys(("one-sided ranges", "LIKE '%x%'", "half NOT", "one hot value"), 100_000)
MILLION_BARS = {"bytes": 100.0, "open": 5.0, "pickle": 50.0}


def of_sets(rounds: int, options: argparse.Namespace) -> None:
    import sets

    everything = [*sets.WORKLOADS, *[one for one in (sets.shared(),) if one], *sets.ADVERSARIAL]
    everything = [one for one in everything if options.only in one.name]
    table = Table(tuple(one.name for one in everything))
    if sets.shared() is None:
        table.notes.append("no subscriptions: ../shared/workloads/subscriptions.json.gz is not there")
    found: dict[int, dict[str, sets.Figures]] = {}
    for size in map(int, options.sizes.split(",")):
        found[size] = {}
        for one in everything:
            if size > LARGEST.get(one.name, size):
                continue
            print(f"measuring {one.name}, {size:,} …", file=sys.stderr, flush=True)
            found[size][one.name] = sets.measured(one, size, rounds, table.notes)
        set_rows(table, size, found[size])
    figures = {size: {name: one._asdict() for name, one in of.items()} for size, of in found.items()}
    save(table, options.json, {"sets": figures})
    if options.plot:
        print(sets.plot(options.plot, found, machine()))


def set_rows(table: Table, size: int, found: dict[str, Any]) -> None:
    import sets

    usual = [one.name for one in sets.WORKLOADS]
    hard = [one.name for one in sets.ADVERSARIAL]

    def row(what: str) -> dict[str, float | None]:
        return {name: getattr(one, what) for name, one in found.items()}

    def bars(value: float, names: Collection[str]) -> Bars:
        return [value if name in names else None for name in table.names]

    table.title(f"{size:,} selectors")
    set_bars = [SET_BARS.get(size, {}).get(name) for name in table.names]
    table.figures("Record, µs a message", row("record"), set_bars)
    table.figures("the same, positions into an array", row("into"), set_bars)
    table.figures("a row of a batch, by the index, of CPU time", row("row"))
    table.ratios("that : Records, one by one", ratio(row("row"), row("each")), bars(1.0, table.names), "≤")
    table.figures("a row of a batch, by the kernel", row("kernel"))
    table.ratios("kernel : index", ratio(row("kernel"), row("row")), (), "≤")
    more = {name: one.dict - one.record for name, one in found.items()}
    table.figures("more from a dict", more, bars(0.5, usual))
    more = {name: one.mq - one.record for name, one in found.items()}
    table.figures("more from 1 KB of MQ", more, bars(1.5, usual))
    table.ratios("a loop over Matchers : dict", ratio(row("loop"), row("dict")), bars(150.0, ["subscriptions"]))
    table.ratios("one Python function : dict", ratio(row("function"), row("dict")), bars(12.0, ["subscriptions"]))
    table.ratios("py-a-tree : Record", ratio(row("a_tree"), row("record")), bars(20.0, usual))
    table.ratios("the engine running all : Record", ratio(row("scan"), row("record")), bars(1.0, hard))
    table.figures("selectors that select a message", row("selected"))
    table.ratios("selectors/s of CPU time, parsed", row("build"), bars(12_000.0, usual))
    table.ratios("selectors/s, formulas at hand", row("index"), bars(300_000.0, usual))
    for what, title in (
        ("bytes", "index, bytes a selector"),
        ("open", "open a file, ms"),
        ("pickle", "pickle out of band and back, ms"),
    ):
        table.figures(title, row(what), bars(MILLION_BARS[what], usual) if size == 1_000_000 else ())
    table.figures("p99 with 1 % replaced a second : without", row("churn"), bars(2.0, usual))


def save(table: Table, path: Path | None, figures: dict[str, Any]) -> None:
    """Print the table; write the figures if there is a *path*."""
    print(machine(), "", table, "", *[f"* {note}" for note in table.notes], sep="\n")
    if path is not None:
        saved = {"machine": machine(), **figures, "notes": table.notes}
        path.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--columns", action="store_true", help="columns instead of messages")
    parser.add_argument("--files", action="store_true", help="files instead of messages")
    parser.add_argument("--only", default="", help="of files and sets: cases whose title has this text")
    parser.add_argument("--sets", action="store_true", help="sets of many selectors instead")
    parser.add_argument("--sizes", default="1000,10000,100000", help="of sets: how many selectors, with commas between")
    parser.add_argument("--json", type=Path, help="save every figure")
    parser.add_argument("--plot", type=Path, help="draw the plot, SVG or PNG")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see whether it works")
    parser.add_argument("--peers", default="", help="of messages: these only, with commas between, or none")
    options = parser.parse_args()
    if options.files:
        of_files(options)
    elif options.sets:
        of_sets(1 if options.quick else 3, options)
    elif options.columns:
        of_columns(3 if options.quick else 11, options)
    else:
        of_messages(3 if options.quick else 15, 0.5 if options.quick else 3.0, options)


if __name__ == "__main__":
    main()
