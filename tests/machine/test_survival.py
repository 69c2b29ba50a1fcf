"""Other threads, interrupts, and messages made to hurt: what once could crash runs in a process of its own."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import time
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mqsel
from mqsel.formats import mq

# ---- turns -----------------------------------------------------------------------------------------------------------


def closed_after(stream: Any, seconds: float) -> Any:
    """Read a stream while another thread closes it."""

    def close() -> None:
        time.sleep(seconds)
        stream.close()

    thread = threading.Thread(target=close)
    thread.start()
    assert list(stream) == []
    thread.join()
    return stream


TURNS: dict[str, Callable[[mqsel.Matcher, int], Any]] = {
    "iterator": lambda matcher, count: matcher.filter(itertools.repeat({"a": 5}, count)),
    "list": lambda matcher, count: matcher.filter([{"a": 5}] * count),
    "mapping": lambda matcher, count: matcher.filter(itertools.repeat(types.MappingProxyType({"a": 5}), count)),
    "json": lambda matcher, count: matcher.filter(itertools.repeat('{"a": 5}', count // 20), format="json"),
    "mq": lambda matcher, count: matcher.filter(itertools.repeat(mq.encode({}, {"a": 5}), count // 20), format="mq"),
}


@pytest.mark.parametrize("name", TURNS)
def test_other_threads_get_their_turn(name: str) -> None:
    """A stream that selects nothing and never runs Python code gives the interpreter up to a thread that waits."""
    matcher = mqsel.compile(" OR ".join(f"a * a = {number}" for number in range(100, 300)))
    count = 2_000_000  # some microseconds each

    assert closed_after(TURNS[name](matcher, count), 0.05).seen < count // 20


def test_an_exception_from_another_thread_arrives() -> None:
    """What a thread is sent by another one ends its stream, as it would end a loop of Python."""
    caught: list[type] = []
    stream = mqsel.compile("a = 1").filter(itertools.repeat({"a": 5}, 200_000_000))

    def read() -> None:
        try:
            list(stream)
        except ZeroDivisionError as error:
            caught.append(type(error))

    thread = threading.Thread(target=read)
    thread.start()
    while not stream.seen:
        time.sleep(0.01)
    sent = ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(ZeroDivisionError)
    )
    thread.join()

    assert (sent, caught) == (1, [ZeroDivisionError])
    assert list(stream) == []


# ---- what it survives ------------------------------------------------------------------------------------------------


HOSTILE = {
    "a list cleared by a value while it is read": """
        matcher = mqsel.compile("a = 'x' OR b = 'y' OR c LIKE 'z%'", schema=("a", "b", "c"))
        class Evil(bytearray):
            def __bytes__(self):
                message.clear()
                return b"q"
        for number in range(100):
            message = [Evil(b"x"), f"y{number}" * 3, f"z{number}" * 3]
            attempt(matcher.matches, message)
        """,
    "a dict cleared by a value's metaclass": """
        class Meta(type):
            @property
            def __module__(cls):
                message.clear()
                return "x"
        class Text(metaclass=Meta):
            pass
        for number in range(100):
            message = {"a": Text()}
            attempt(mqsel.compile("a = 'hello'").matches, message)
        """,
    "a row of another layout inside a row": """
        Row, Other = namedtuple("Row", "a b"), namedtuple("Other", "p q r s t b a")
        matcher = mqsel.compile("a = 'x' OR b = 'y'")
        class Evil(bytearray):
            def __bytes__(self):
                assert not matcher.matches(Other(1, 2, 3, 4, 5, 6, 7))
                return b"q"
        assert matcher.matches(Row(Evil(b"x"), "y"))
        """,
    "a list of names that shrinks": """
        class Row(tuple):
            _fields = ["a"] * 5000 + ["c"]
        matcher = mqsel.compile("c = 'x'")
        assert matcher.matches(Row((1,) * 5000 + ("x",)))
        Row._fields[:] = ["a", "c"]
        assert matcher.matches(Row((3, "x")))
        """,
    "a tuple that lies about its length": """
        class Row(tuple):
            _fields = [f"a{number}" for number in range(100_000)] + ["c"]
            def __len__(self):
                return 100_001
        attempt(mqsel.compile("c = 'x'").matches, Row((1, 2, "x")))
        """,
    "names that lie about their number": """
        class Names(list):
            def __len__(self):
                return 2
        class Row(tuple):
            _fields = Names([f"a{number}" for number in range(100_000)] + ["c"])
        attempt(mqsel.compile("c = 'x'").matches, Row((1, "x")))
        """,
    "a list that shrinks while a Record is filled": """
        names = [f"a{number}" for number in range(1000)]
        class Evil(bytearray):
            def __bytes__(self):
                values.clear()
                return b"q"
        values = [Evil(b"x")] + ["y"] * 999
        attempt(mqsel.Record, names, values)
        """,
    "a Schema made by hand": """
        from mqsel.machine.schema import Schema
        attempt(mqsel.Record, Schema(("a", "b"), (None,)), [1, 2])
        attempt(mqsel.Record, Schema(("a",), ()), [1])
        attempt(mqsel.Record, Schema(("a", "a"), (None, None)), [1, 2])
        """,
    "a stream in a reference cycle": """
        matcher = mqsel.compile("a = 'x'")
        class Input:
            def __iter__(self):
                self.iterator = Iterator()
                return self.iterator
        class Iterator:
            left = 9
            def __iter__(self):
                return self
            def __next__(self):
                self.left -= 1
                if not self.left:
                    raise StopIteration
                return {"a": "x"}
        for number in range(100):
            given = Input()
            stream = matcher.filter(given)
            next(stream)
            given.iterator.stream = stream
            del given, stream
            gc.collect()
        """,
    "a stream closed by its own input": """
        matcher = mqsel.compile("a = 1")
        for number in range(100):
            asked = []
            def keep(message):
                asked.append(message)
                if len(asked) == 2:
                    stream.close()
                    return False
                return True
            stream = matcher.filter(filter(keep, iter([{"a": 1}] * 5)))
            attempt(list, stream)
        """,
    "a stream closed by the generator it reads": """
        def source():
            yield {"a": 1}
            stream.close()
            yield {"a": 1}
            yield {"a": 1}
        stream = mqsel.compile("a = 1").filter(source())
        assert next(stream) == {"a": 1}
        attempt(list, stream)
        assert list(stream) == []
        """,
    "a stream closed by its own message": """
        matcher = mqsel.compile("a = 'xxx'")
        class Message(UserDict):
            def get(self, name, default=None):
                stream.close()
                return "y" * 3
        for kind in (list, tuple, iter):
            stream = matcher.filter(kind([Message() for _ in range(5)]))
            attempt(list, stream)
        """,
    "a stream over a list that changes": """
        matcher = mqsel.compile("a = 'xxx'")
        class Message(UserDict):
            def get(self, name, default=None):
                messages.clear() if len(messages) % 2 else messages.extend({} for _ in range(1001))
                return "x" * 3
        for size in range(10):
            messages = [Message() for _ in range(size)]
            assert len(list(matcher.filter(messages))) <= size
        """,
    "a list and its dict cleared by a value's metaclass": """
        class Meta(type):
            @property
            def __module__(cls):
                messages.clear()
                for message in given:
                    message.clear()
                given.clear()
                return "x"
        class Text(metaclass=Meta):
            pass
        matcher = mqsel.compile("a = 'q' OR b = 'hello' OR a LIKE 'y1y%' OR c = 'z' OR a IN ('r', 's')")
        for kind in (list, tuple):
            for number in range(100):
                given = [{"a": f"y{number}" * 3, "b": "b", "c": f"z{number}"} for _ in range(5)]
                given[number % 5]["b"] = Text()
                messages = list(given)
                attempt(list, matcher.filter(kind(messages) if kind is tuple else messages))
        """,
    "a string borrowed from a dict that a key changes": """
        class Key:
            def __hash__(self):
                return hash("b")
            def __eq__(self, other):
                message.pop("a", None)
                messages.clear()
                return False
        message, messages = {}, []
        matcher = mqsel.compile("a = 'q' OR b = 'hello' OR a LIKE 'y1y%' OR a IN ('r', 's')")
        for number in range(100):
            message = {Key(): 1, "a": f"y{number}" * 3, "b": f"b{number}"}
            messages = [{"a": f"w{number}", "b": "b"}, message, {"a": "q"}]
            attempt(list, matcher.filter(messages))
            attempt(matcher.matches, {Key(): 1, "a": f"y{number}" * 3, "b": f"b{number}"})
        """,
    "a stream read by its own message": """
        matcher = mqsel.compile("a = 1")
        class Message(UserDict):
            def get(self, name, default=None):
                attempt(next, stream)
                return 1
        stream = matcher.filter(Message() for _ in range(5))
        attempt(list, stream)
        """,
    "a stream dropped by its own message": """
        matcher = mqsel.compile("a = 'x'")
        class Message(UserDict):
            def get(self, name, default=None):
                streams.clear()
                gc.collect()
                return "x" * 1
        streams = [matcher.filter(iter([Message()] * 5))]
        attempt(lambda: next(streams[0]))
        """,
    "a matcher dropped while it runs": """
        class Message(UserDict):
            def get(self, name, default=None):
                matchers.clear()
                gc.collect()
                return name * 3
        for number in range(20):
            matchers = [pickle.loads(pickle.dumps(mqsel.compile("a = 'aaa' AND b = 'bbb' AND c LIKE 'c%'")))]
            assert matchers[0].matches(Message())
        """,
    "a list emptied while an error is made": """
        matcher = mqsel.compile("a = 1 OR a IS NULL", schema=[("a", "int8"), ("b", None)])
        faulty = ({"a": 1 << 80}, {"a": object()}, (1 << 80, 0), (300, 0), ("x", 0), (1, 2, 3), [1], [300, 0], 5)
        for message in faulty:
            messages = []
            def trace(frame, event, _):
                if event == "call" and frame.f_code.co_filename.endswith(("errors.py", "carets.py")):
                    messages.clear()
            for errors in ("skip", "raise"):
                messages[:] = [copy(message) for _ in range(1000)]
                stream = matcher.filter(messages, errors=errors)
                sys.setprofile(trace)
                attempt(list, stream)
                sys.setprofile(None)
                assert stream.seen == 1, (message, stream.seen)
        """,
    "a list emptied by another thread while errors are made": """
        sys.setswitchinterval(1e-6)
        matcher = mqsel.compile("a = 1")
        messages, over = [], []
        def churn():
            while not over:
                messages.extend([{"a": 1 << 80} for _ in range(200)])
                messages.clear()
        thread = threading.Thread(target=churn)
        thread.start()
        stop = time.monotonic() + 1
        while time.monotonic() < stop:
            assert list(matcher.filter(messages, errors="skip")) == []
        over.append(True)
        thread.join()
        """,
    "a list emptied by a message that goes": """
        matcher = mqsel.compile("a = 1")
        class Last:
            def __del__(self):
                messages.clear()
        for number in range(100):
            messages = [{"a": 1, "z": Last()} for _ in range(50)]
            stream = matcher.filter(messages)
            for message in stream:
                messages[0] = None
                del message
        """,
    "a stream entered while it handles an error": """
        from mqsel.errors import ArgumentError, PropertyTypeError
        refused = []
        class Sly(PropertyTypeError):
            def enter(self, _):
                try:
                    refused.append(next(stream))
                except ArgumentError as error:
                    refused.append("already being read" in str(error))
            index = property(lambda self: None, enter)
        class Message(UserDict):
            def get(self, name, default=None):
                raise Sly("no")
        stream = mqsel.compile("a = 1").filter([Message(), Message(), {"a": 1}], errors="skip")
        assert list(stream) == [{"a": 1}]
        assert (stream.seen, stream.skipped, refused) == (3, 2, [True] * 4), refused
        """,
    "what is found before it is complete": """
        from mqsel.machine import _stream
        from mqsel.formats import _mq
        def use(found):
            attempt(next, found)
            attempt(found, b"")
        def look(phase, _):
            for found in gc.get_objects()[-20:]:
                if type(found) in (_stream.Selection, _mq.MQDecoder):
                    use(found)
        matcher = mqsel.compile("a = 1")
        class Input:
            def __iter__(self):
                look("", {})
                return iter([{"a": 1}])
        assert list(matcher.filter(Input())) == [{"a": 1}]
        gc.callbacks.append(look)
        gc.set_threshold(1)
        for number in range(200):
            matcher.filter([{"a": 1}])
            _mq.MQDecoder(("a", "b", "JMSType", f"c{number}"))
        gc.set_threshold(0)
        """,
    "garbage that calls a matcher": """
        # An object without references is no garbage: the collector lets its __del__ run in the middle of clearing.
        script = '''
        class Last:
            __slots__ = ()
            def __del__(self):
                answers.append(matcher.matches({"a": "x" * 50, "b": Fake(5)}))
                answers.append(next(stream, None))
                answers.append(decoder(b"x" * 400) if callable(decoder) else None)
        class Fake(int):
            pass
        matcher = load(dump(compile("a = '" + "x" * 50 + "' AND b = 5")))
        stream = matcher.filter(iter([{"a": "x" * 50, "b": 5}] * 50))
        next(stream)
        decoder = None
        boxes = [[Last()] for _ in range(40)]
        '''
        for order in range(20):
            answers = []
            space = {"answers": answers, "load": pickle.loads, "dump": pickle.dumps, "compile": mqsel.compile}
            exec(textwrap.dedent(script), space)
            space["own"] = space
            if order % 2:
                moved = [space.pop(name) for name in ("matcher", "stream")]
                space["matcher"], space["stream"] = moved
            space["later"] = [[space["Last"]()] for _ in range(40)]
            del space
            moved = None
            gc.collect()
            assert True in answers and False not in answers, answers
        """,
    "a stream in a cycle that outlives its matcher": """
        class Iterator:
            def __iter__(self):
                return self
            def __next__(self):
                return {"a": 1, "b": "y" * 50}
        for number in range(100):
            matcher = pickle.loads(pickle.dumps(mqsel.compile("a = 1 AND b = 'x' OR a = 1")))
            iterator = Iterator()
            stream = matcher.filter(iterator)
            next(stream)
            iterator.stream = stream
            del iterator, matcher
            gc.collect()  # the Iterator is behind the stream now in the collector's list
            del stream
            gc.collect()
        """,
    "a Record changed between reading and explaining": """
        record = mqsel.Record(["n", "s"], [mqsel.values.Int8(5), "x" * int("50")])
        def trace(frame, event, _):
            # As another thread might, while a wrapper is made of the first value.
            if event == "call" and frame.f_code.co_name == "__new__":
                record["s"] = 5
        for read in (mqsel.compile("n = 1 OR s = 'x'").explain, lambda record: record.as_tuple(), pickle.dumps, repr):
            record["s"] = "x" * int("50")
            sys.setprofile(trace)
            attempt(read, record)
            sys.setprofile(None)
        """,
    "recursion without end": """
        matcher = mqsel.compile("a = 1")
        class Message(UserDict):
            def get(self, name, default=None):
                return matcher.matches(self)
        attempt(matcher.matches, Message())
        assert matcher.matches({"a": 1})
        """,
}


PREFACE = """
import gc, pickle, sys, textwrap, threading, time
from collections import UserDict, namedtuple
from copy import copy
import mqsel
def attempt(call, *arguments):
    try:
        call(*arguments)
    except Exception:
        pass
"""


@pytest.mark.sample(8, rest="process")
@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_hostile_messages_do_not_crash(script: str) -> None:
    """Whatever a message does while it is read, there is an answer or an exception, and the process lives."""
    # The debug allocator overwrites what is freed, so that a pointer kept too long shows at once.
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PREFACE + textwrap.dedent(script) + "\nprint('alive')"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONMALLOC": "debug"},
        timeout=120,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def test_a_subinterpreter_is_refused_and_spoils_nothing() -> None:
    """The extensions belong to the main interpreter: another one is told so, and the main one can still import them."""
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(name)
    script = f"""
        import sys, textwrap
        import {name} as interpreters
        inner = interpreters.create()
        code = "import sys; sys.path[:] = " + repr(sys.path) + '''
        try:
            import mqsel
        except ImportError as error:
            print(error)
        '''
        for _ in range(2):
            interpreters.run_string(inner, textwrap.dedent(code))
        interpreters.destroy(inner)
        import mqsel
        print(mqsel.compile("a = 1").matches({{"a": 1}}))
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""

    refusal = "mqsel is imported in a subinterpreter: expected the main one; use a process instead\n"
    assert done.stdout == 2 * refusal + "True\n"


def test_a_package_in_a_zip_is_refused(tmp_path: Path) -> None:
    """As `spark-submit --py-files` has it: from a zip Python loads none of the extensions, and would name one."""
    packed, package = str(tmp_path / "mqsel.zip"), Path(mqsel.__file__).parent
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("__init__.py", "_interpreter.py"):
            archive.write(package / name, f"mqsel/{name}")
    script = f"import sys; sys.path.insert(0, {packed!r}); import mqsel"
    done = subprocess.run([sys.executable, "-ISc", script], capture_output=True, text=True, check=False, timeout=120)
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"ImportError: mqsel is imported from {packed}: expected a folder, as Python imports no ")
    assert told.endswith("on Spark send it by --archives, not --py-files")


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="needs POSIX timers")
def test_a_long_search_can_be_interrupted() -> None:
    """Ctrl-C reaches a stream that selects nothing from an input written in C."""
    script = """
        import itertools, signal
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGPROF, interrupt)
        signal.setitimer(signal.ITIMER_PROF, 0.2)
        try:
            for _ in mqsel.compile("a = 1").filter(itertools.repeat({}, 200_000_000)):
                pass
        except KeyboardInterrupt:
            print("interrupted")
        """
    done = subprocess.run(
        [sys.executable, "-c", PREFACE + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.stdout == "interrupted\n"


def test_err_leaves_nothing_on_the_stacks() -> None:
    """An ERR deep in a selector, one message of a list after the other, is FALSE each time and never piles up."""
    text = "a = 1 OR (a = 2 AND a = 4 OR ((a = 3) = (a = 6 OR b = 3)))"
    for optimize in (True, False):
        matcher = mqsel.compile(text, dialect=mqsel.IBM_JMS, optimize=optimize)
        good = {"a": 1, "b": "x"}

        assert list(matcher.filter([*[{"a": 5, "b": "x"}] * 200_000, good])) == [good]
