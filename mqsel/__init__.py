"""Show which messages a selector matches, and why it doesn't match the others.

    >>> import mqsel
    >>> matcher = mqsel.compile("color = 'blue' AND weight > 2500")
    >>> matcher.matches({"color": "blue", "weight": 3000})
    True

`compile` returns a `Matcher`. It has `matches` for one message, `filter` for many, `match_batch` and `select` for
DataFrames, `evaluate` for the three truth values, and `explain` and `why` for the reason. A `SelectorSet` has many
selectors and finds those that select a message. A message is a mapping, a sequence that a schema lays out, or bytes.
Every error is an `MqselError`. A `Dialect` is the rules of one product, such as `IBM_MQ` (default) or `ARTEMIS`.

`relation` compares two selectors, and `difference` two dialects. `satisfiable` returns a message that is selected, and
`gap` a message that no selector selects. A `Contract` says what you know about your messages. `migrate` rewrites a
selector for another product, `lint` finds likely mistakes, and `quote` makes a literal of a value. `explore` opens a
web page for a DataFrame. `mqsel.files` reads files of messages, `mqsel.formats` reads messages in bytes, and
`mqsel.spark` turns selectors into Columns.
"""

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of it, which takes long
import gc
import os
import sys

# Where this process is the command line, Ctrl-C ends it from the first line on: what follows takes a tenth of a second,
# in which Python would print a traceback. `python -m` has not put the module in the place of its name yet.
_argv = getattr(sys, "argv", [])
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler and (
    sys.orig_argv[-len(_argv)] in ("mqsel", "-mmqsel")
    if _argv[:1] == ["-m"]
    else os.path.splitext(os.path.basename(_argv[0] if _argv else ""))[0] == "mqsel"  # noqa: PTH119, PTH122 (quick)
):
    _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))
    gc.disable()  # until all is imported: nothing of it is garbage, and looking for some took a twentieth of a start

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mqsel import _interpreter  # noqa: F401 (before all others)
from mqsel.errors import (
    MQRC,
    ArgumentError,
    DecodeError,
    FileError,
    MessageNotWriteable,
    MqselError,
    NoMessageAvailable,
    ProgramError,
    PropertyTypeError,
    SelectorAlwaysFalseError,
    SelectorError,
    SelectorLimitError,
    SelectorNotAlterable,
    SelectorSyntaxError,
    SelectorTypeError,
    SubscriptionError,
)
from mqsel.language.dialect import (
    ACTIVEMQ,
    ARTEMIS,
    AZURE_SERVICE_BUS,
    IBM_JAVA_CLIENT,
    IBM_JMS,
    IBM_MQ,
    JMS,
    QPID_BROKER_J,
    QPID_CPP,
    RABBITMQ,
    RABBITMQ_JMS,
    ROCKETMQ,
    TIBCO_EMS,
    Dialect,
)
from mqsel.language.parameters import quote
from mqsel.machine._values import Record
from mqsel.machine.program import VERSION as __version__  # noqa: N811 (an attribute every package has)
from mqsel.matcher import Matcher, compile  # noqa: A004 (like re.compile)
from mqsel.values import Truth

if TYPE_CHECKING:
    from mqsel.analysis.compare.contract import Contract
    from mqsel.analysis.compare.difference import difference
    from mqsel.analysis.compare.gaps import gap
    from mqsel.analysis.compare.migrate import migrate
    from mqsel.analysis.compare.relation import relation
    from mqsel.analysis.compare.satisfiable import satisfiable
    from mqsel.analysis.lint import lint
    from mqsel.explorer import explore
    from mqsel.sets.set import SelectorSet

__all__ = [
    "ACTIVEMQ",
    "ARTEMIS",
    "AZURE_SERVICE_BUS",
    "IBM_JAVA_CLIENT",
    "IBM_JMS",
    "IBM_MQ",
    "JMS",
    "MQRC",
    "QPID_BROKER_J",
    "QPID_CPP",
    "RABBITMQ",
    "RABBITMQ_JMS",
    "ROCKETMQ",
    "TIBCO_EMS",
    "ArgumentError",
    "Contract",
    "DecodeError",
    "Dialect",
    "FileError",
    "Matcher",
    "MessageNotWriteable",
    "MqselError",
    "NoMessageAvailable",
    "ProgramError",
    "PropertyTypeError",
    "Record",
    "SelectorAlwaysFalseError",
    "SelectorError",
    "SelectorLimitError",
    "SelectorNotAlterable",
    "SelectorSet",
    "SelectorSyntaxError",
    "SelectorTypeError",
    "SubscriptionError",
    "Truth",
    "__version__",
    "compile",
    "difference",
    "explore",
    "gap",
    "lint",
    "migrate",
    "quote",
    "relation",
    "satisfiable",
]

_FOLDERS = ("files", "formats", "inventory", "live", "selection", "spark", "testing")

# What is imported when it is first asked for, and where it stands: one selector over messages needs none of it.
_LATER = {
    "Contract": "mqsel.analysis.compare.contract",
    "SelectorSet": "mqsel.sets.set",
    "difference": "mqsel.analysis.compare.difference",
    "explore": "mqsel.explorer",
    "gap": "mqsel.analysis.compare.gaps",
    "lint": "mqsel.analysis.lint",
    "migrate": "mqsel.analysis.compare.migrate",
    "relation": "mqsel.analysis.compare.relation",
    "satisfiable": "mqsel.analysis.compare.satisfiable",
}


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])


def __getattr__(name: str) -> Any:
    """Import what takes long when it is first asked for; some folders need other packages."""
    if name in _FOLDERS:
        return import_module(f"mqsel.{name}")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'mqsel' has no attribute '{name}'")
