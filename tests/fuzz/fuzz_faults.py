"""Invariant: whatever ends a change of a set, the set is as it was before or as it was to become, and goes on.

    python tests/fuzz/fuzz_faults.py --seconds 60 [--seed 1]

Sets of all kinds are changed, pickled, saved, opened and asked, and each time one thing fails: the n-th line of
Python, the n-th allocation of Python, a thread that cannot be started, or there is a signal after some time. In a
build with MQSEL_FAULTS=1 the n-th allocation or point of the compiled code fails, too. After each, match = scan = what
the selectors of the dict select, and the next change works, while other threads search. Of one change of each set every
line and every allocation fails, as long as there is time, each in a process of its own. Then files whose pages are
damaged are opened and changed: they answer, or say so.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

LEFT = ctypes.c_longlong(0)
os.environ["MQSEL_FAULTS_AT"] = str(ctypes.addressof(LEFT))  # before the extensions are loaded

from fuzzing import begun  # noqa: E402

import mqsel  # noqa: E402

try:
    import _testcapi
except ImportError:
    _testcapi = None

Key = int | str
Held = tuple[str, mqsel.Dialect]

MESSAGES: list[dict[str, Any]] = [
    {},
    {"a": 1, "b": "x"},
    {"a": 7, "c": True, "name": "long enough to be a text of its own"},
    {"a": 2.5, "b": "xyz", "d": b"\x01\x02", "n3": 3, "JMSPriority": 7},
]
TEXTS = [
    *(f"a = {number}" for number in range(8)),
    *(f"a > {number} AND b LIKE '{text}%'" for number in range(3) for text in ("x", "xy", "q")),
    *(f"n{number} = {number} OR c" for number in range(6)),
    "b IN ('x', 'y', 'xyz')",
    "NOT (a > 5)", "a + 1 > 3", "name LIKE '%text%'", "a BETWEEN 1 AND 7 OR b IS NULL", "TRUE",
    "JMSMessageID = 'ID:" + "41" * 24 + "'", "JMSPriority > 6", "a <> 1 AND (b = 'x' OR c = TRUE)", "1.0 * a = 2.5",
]  # fmt: skip
DIALECTS = [mqsel.IBM_MQ, mqsel.IBM_MQ, mqsel.IBM_MQ, mqsel.JMS, mqsel.TIBCO_EMS]
FAULTY = ["a =", "b = 'x", "LIKE", "a = 1 AND"]
CHANGES = (
    *("add", "add many", "set", "delete", "replace", "mixed", "faulty", "admit", "clear", "pop"),
    *("pickle", "copy", "save", "match", "batch"),
)
FIRED, SPENT = 70, 71  # exit codes of a copy of this process: an error was seen, or none
PATIENCE = 20  # a failed allocation that was made up for is no error: so many in turn, and the change is through
LARGE = 4500  # selectors from which on a thread joins segments
KINDS: tuple[type[BaseException], ...] = (KeyboardInterrupt, MemoryError, RuntimeError)


def is_true(held: Held, message: int, known: dict[tuple[str, mqsel.Dialect, int], bool]) -> bool:
    """Report what a selector says of a message, remembered."""
    text, dialect = held
    found = known.get((text, dialect, message))
    if found is None:
        found = known[text, dialect, message] = mqsel.compile(text, dialect=dialect).matches(MESSAGES[message])
    return found


KNOWN: dict[tuple[str, mqsel.Dialect, int], bool] = {}


def wanted(model: dict[Key, Held], message: int) -> list[Key]:
    return [key for key, held in model.items() if is_true(held, message, KNOWN)]


# ---- faults ----------------------------------------------------------------------------------------------------------


class Fault:
    """One thing that fails.

    Attributes:
        fired: whether it did.
    """

    def __init__(self) -> None:
        self.fired = False


@contextmanager
def line(count: int, kind: type[BaseException], fault: Fault) -> Iterator[None]:
    """Raise at a line of Python, counted from here, in any module but this one."""
    left = count

    def each(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename == __file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                fault.fired = True
                sys.settrace(None)
                raise kind
        return each

    sys.settrace(each)
    try:
        yield
    finally:
        sys.settrace(None)


@contextmanager
def memory(count: int, kind: type[BaseException], fault: Fault) -> Iterator[None]:  # noqa: ARG001
    """Let an allocation of Python fail."""
    _testcapi.set_nomemory(count, count + 1)
    try:
        yield
    except Exception:  # where there was no memory for the error itself, it is another
        fault.fired = True
        raise
    finally:
        _testcapi.remove_mem_hooks()


@contextmanager
def compiled(count: int, kind: type[BaseException], fault: Fault) -> Iterator[None]:  # noqa: ARG001
    """Let an allocation or a point of the compiled code fail."""
    LEFT.value = count
    try:
        yield
    finally:
        fault.fired = LEFT.value == 0
        LEFT.value = 0


@contextmanager
def interrupt(count: int, kind: type[BaseException], fault: Fault) -> Iterator[None]:
    """Raise after so many times five microseconds, as Ctrl-C does."""

    def ring(*_: object) -> None:
        fault.fired = True
        raise kind

    old = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, count * 5e-6)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@contextmanager
def no_thread(count: int, kind: type[BaseException], fault: Fault) -> Iterator[None]:  # noqa: ARG001
    """Let no thread be started."""
    start = threading.Thread.start

    def refuse(_: threading.Thread) -> None:
        fault.fired = True
        raise RuntimeError("can't start new thread")

    threading.Thread.start = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]


WAYS: dict[str, Callable[[int, type[BaseException], Fault], Any]] = {
    "line": line,
    "interrupt": interrupt,
    "thread": no_thread,
    **({"memory": memory} if _testcapi else {}),
}


# ---- one set ---------------------------------------------------------------------------------------------------------


class Case:
    """A set, and what it should hold."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng = rng
        self.path = folder / "set"
        self.fresh = 0
        count = rng.choice((0, 3, 40, 64, 130, 130, 300, LARGE if rng.random() < 0.2 else 20))
        self.keep_text = rng.random() < 0.9
        self.model: dict[Key, Held] = {}
        given = self.drawn(count)
        self.set: mqsel.SelectorSet[Key] = mqsel.SelectorSet(keep_text=self.keep_text)
        self.set.update({key: as_given(held) for key, held in given.items()})
        self.model = given
        for key in rng.sample([*self.model], len(self.model) // rng.choice((2, 5, 50))):
            del self.set[key], self.model[key]
        if rng.random() < 0.4:
            self.set = pickle.loads(pickle.dumps(self.set, rng.choice((2, 5))))
        for _ in range(rng.choice((0, 0, 5, 30))):
            self.model.update(one := self.drawn(1))
            self.set.update({key: as_given(held) for key, held in one.items()})
        self.sure = [*self.model][:3]  # nobody changes these: each answer has them where they are TRUE
        self.searches = 0
        self.wrong: list[str] = []

    def drawn(self, count: int) -> dict[Key, Held]:
        """Draw selectors under new keys."""
        made: dict[Key, Held] = {}
        for _ in range(count):
            self.fresh += 1
            key = self.fresh if self.rng.random() < 0.8 else f"key {self.fresh}"
            made[key] = self.rng.choice(TEXTS), self.rng.choice(DIALECTS)
        return made

    def replaced(self) -> dict[Key, Held]:
        free = [key for key in self.model if key not in self.sure]
        keys = self.rng.sample(free, min(len(free), self.rng.choice((1, 1, 3, 80))))
        return {key: (self.rng.choice(TEXTS), self.rng.choice(DIALECTS)) for key in keys}

    def change(self) -> tuple[str, Callable[[], object], list[dict[Key, Held]]]:
        """Draw a change: its name, what does it, and what the set may hold afterwards besides what it holds now."""
        selectors, model, rng = self.set, self.model, self.rng
        name = rng.choice(CHANGES)
        free = [key for key in model if key not in self.sure]
        if name in ("add", "add many", "mixed", "replace", "set"):
            new = self.replaced() if name in ("replace", "set", "mixed") else {}
            if name in ("add", "mixed"):
                new |= self.drawn(rng.choice((1, 1, 2, 5)))
            if name == "add many":
                new |= self.drawn(rng.choice((60, 70, 200)))
            if name == "set":
                new = dict([*new.items()][:1])
            given = {key: as_given(held) for key, held in new.items()}
            return name, lambda: selectors.update(given), [{**model, **new}]
        if name in ("delete", "pop") and free:
            key = rng.choice(free)
            after = {one: held for one, held in model.items() if one != key}
            if name == "pop" and self.keep_text:
                return name, lambda: selectors.pop(key), [after]
            return "delete", lambda: selectors.__delitem__(key), [after]
        if name == "faulty":
            given = {key: as_given(held) for key, held in (self.replaced() | self.drawn(rng.choice((1, 80)))).items()}
            given["faulty"] = rng.choice(FAULTY)  # type: ignore[assignment]

            def refused() -> None:
                try:
                    selectors.update(given)
                except mqsel.SelectorError:
                    return
                raise AssertionError("a faulty selector was taken")

            return name, refused, []
        if name == "admit":
            new = self.drawn(2)
            given = {key: as_given(held) for key, held in new.items()} | {"faulty": rng.choice(FAULTY)}
            return name, lambda: selectors.admit(given), [{**model, **new}]
        if name == "clear" and rng.random() < 0.05:
            self.sure = []
            return name, selectors.clear, [{}]
        if name == "copy":
            return name, selectors.copy, []
        if name == "save":

            def there_and_back() -> None:
                selectors.save(self.path)
                mqsel.SelectorSet.open(self.path)

            return name, there_and_back, []
        if name == "match":
            message = rng.choice(MESSAGES)
            return name, lambda: selectors.match(message), []
        if name == "batch" and ARROW is not None:
            return name, lambda: selectors.match_batch(ARROW), []
        return "pickle", lambda: pickle.loads(pickle.dumps(selectors, 5)), []

    def check(self, possible: list[dict[Key, Held]]) -> None:
        """Hold the set against what it may be, and ask it in all ways."""
        keys = [*self.set]
        models = [model for model in possible if [*model] == keys]
        if self.keep_text:
            models = [model for model in models if dict(self.set) == {key: text for key, (text, _) in model.items()}]
        assert models, "the set holds neither what it held nor what it should hold now"
        assert len(self.set) == len(keys)
        # What differs in dialects alone, or holds no texts, is told by what it answers.
        answers = [self.set.match(message) for message in MESSAGES]
        fitting = [model for model in models if answers == [wanted(model, message) for message in range(len(MESSAGES))]]
        assert fitting, "match differs from the selectors that the set holds"
        self.model = fitting[0]
        if self.keep_text:
            message = self.rng.randrange(len(MESSAGES))
            assert self.set.scan(MESSAGES[message]) == answers[message]
        assert self.set.match(MESSAGES[1], within=keys[::2]) == [key for key in answers[1] if key in set(keys[::2])]

    def go_on(self) -> None:
        """Let the next change be made, and taken back."""
        self.set["probe"] = "a = 1 OR probe = 'p'"
        assert "probe" in self.set.match({"probe": "p"})
        assert self.set.match(MESSAGES[1])[-1] == "probe"
        del self.set["probe"]
        if self.rng.random() < 0.1:
            whole = pickle.loads(pickle.dumps(self.set, 5))
            assert [*whole] == [*self.model]
            self.set.save(self.path)
            opened = mqsel.SelectorSet.open(self.path)
            for message in range(len(MESSAGES)):
                assert whole.match(MESSAGES[message]) == wanted(self.model, message)
                assert opened.match(MESSAGES[message]) == wanted(self.model, message)

    def search(self, stop: threading.Event) -> None:
        """Ask while others change: what nobody changes is in each answer, in order."""
        model = {key: self.model[key] for key in self.sure}
        sure = [(MESSAGES[message], wanted(model, message)) for message in range(len(MESSAGES))]
        while not stop.is_set() and not self.wrong:
            try:
                for message, always in sure:
                    answer = self.set.match(message)
                    if [key for key in answer if key in model] != always and self.sure:  # else it may be cleared
                        self.wrong.append(f"{always} of {message}: {answer}")
                    self.searches += 1
            except MemoryError:  # it may be this thread that gets none
                continue


def as_given(held: Held) -> Any:
    text, dialect = held
    return text if dialect is mqsel.IBM_MQ else mqsel.compile(text, dialect=dialect)


def frame() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        return None
    return pa.table({"a": [1, 2, None] * 40, "b": ["x", None, "xyz"] * 40})


ARROW = frame()


def run_case(
    rng: random.Random,
    folder: Path,
    limits: dict[tuple[str, str], float],
    counts: Counter[str],
    is_time: Callable[[], bool],
) -> int:
    """Change one set some hundred times while something fails; return how often threads asked it meanwhile."""
    case = Case(rng, folder)
    case.check([case.model])
    stop = threading.Event()
    thread = threading.Thread(target=case.search, args=(stop,))
    is_shared = rng.random() < 0.2 and bool(case.sure)
    if is_shared:
        thread.start()
    try:
        for _ in range(30 if len(case.model) > 1000 else 200):
            name, call, others = case.change()
            way = rng.choice([*WAYS])
            limit = limits.setdefault((name, way), 60.0)
            count = 1 + int(rng.random() * limit)
            fault = Fault()
            try:
                with WAYS[way](count, rng.choice(KINDS), fault):
                    call()
            except (Exception, KeyboardInterrupt):  # whatever it is: the set is held against what it may be
                if not fault.fired:
                    raise
            limits[name, way] = min(max(limit, 1.5 * count), 20_000) if fault.fired else max(20.0, limit * 0.97)
            counts[way] += fault.fired
            case.check([case.model, *others])
            case.go_on()
            if name == "clear":
                case.sure = []
            if name == "clear" or not is_time():
                break
    finally:
        stop.set()
        if is_shared:
            thread.join()
    assert not case.wrong, case.wrong
    return case.searches


def run_each(rng: random.Random, folder: Path, counts: Counter[str], is_time: Callable[[], bool]) -> None:
    """Change one set, once for each line and allocation that fails meanwhile, in a copy of this process."""
    case = Case(rng, folder)
    case.check([case.model])
    name, call, others = case.change()
    for _ in range(rng.choice((0, 2))):  # what is done a second time finds things where the first left them
        if not others:
            call()
    ways = sorted({"line", "memory", "compiled"} & {*WAYS})
    for way in rng.sample(ways, len(ways)):  # the first may take all the time
        step = 1 if len(case.model) < 1000 else 7
        kind = rng.choice(KINDS)
        count = rng.randint(1, step)
        unspent = PATIENCE
        while unspent and is_time():
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = broken(case, way, count, kind, call, others)
                except BaseException:  # noqa: BLE001 (the process ends here, whatever it is)
                    traceback.print_exc()
                finally:
                    os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert status in (FIRED, SPENT), f"{name}: {way} {count} ended with {status}"
            unspent = PATIENCE if status == FIRED else unspent - 1
            counts[f"{way} in turn"] += status == FIRED
            count += step


def broken(
    case: Case, way: str, count: int, kind: type[BaseException], call: Callable[[], object], others: list[Any]
) -> int:
    """Let one thing fail in a change, and go on; return whether it did."""
    fault = Fault()
    try:
        with WAYS[way](count, kind, fault):
            call()
    except (Exception, KeyboardInterrupt):
        if not fault.fired:
            raise
    case.check([case.model, *others])
    case.go_on()
    return FIRED if fault.fired else SPENT


def run_damaged(rng: random.Random, folder: Path) -> int:
    """Open a file with damage behind its header, ask and change it; return how often it said so."""
    case = Case(rng, folder)
    if not case.model:
        return 0
    case.set.save(case.path)
    data = bytearray(case.path.read_bytes())
    for _ in range(rng.choice((1, 1, 4, 30))):
        at = rng.randrange(40, len(data))
        data[at] = rng.choice((0, 1, 0x7F, 0xFF, data[at] ^ 1 << rng.randrange(8)))
    case.path.write_bytes(data)
    refused = 0
    try:
        case.set = mqsel.SelectorSet.open(case.path)
    except mqsel.MqselError:
        return 1
    for _ in range(12):
        try:
            _, call, _ = case.change()
            call()
            case.set.match(rng.choice(MESSAGES))
            case.set.stats()
        except (mqsel.MqselError, KeyError):
            refused += 1
    return refused


def main() -> int:
    seed, is_time = begun(__doc__)
    LEFT.value = 1 << 40
    mqsel.SelectorSet({1: "a = 1"})
    if LEFT.value < 1 << 40:  # a build with faults
        WAYS["compiled"] = compiled
    LEFT.value = 0
    counts: Counter[str] = Counter()
    limits: dict[tuple[str, str], float] = {}
    rounds = searches = refused = 0
    with tempfile.TemporaryDirectory() as name:
        while is_time():
            rounds += 1
            rng = random.Random(f"{seed} {rounds}")
            try:
                searches += run_case(rng, Path(name), limits, counts, is_time)
                if hasattr(os, "fork"):
                    run_each(rng, Path(name), counts, is_time)
                refused += run_damaged(rng, Path(name))
            except BaseException:
                print(f"failing: random.Random('{seed} {rounds}')", flush=True)
                raise
    ways = ", ".join(f"{count} {way}" for way, count in sorted(counts.items()))
    print(
        f"{counts.total()} faults ({ways}) in {rounds} sets; {searches} searches beside; {refused} refusals of damage"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
