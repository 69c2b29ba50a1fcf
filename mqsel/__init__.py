"""Message selectors of IBM MQ, JMS and TIBCO EMS, compiled and run with exactly their documented meaning."""

from mqsel import _interpreter  # noqa: F401 (before all others)
from mqsel.errors import MqselError, SelectorError
from mqsel.language.dialect import IBM_JAVA_CLIENT, IBM_JMS, IBM_MQ, JMS, TIBCO_EMS, Dialect
from mqsel.machine._vm import Record
from mqsel.machine.program import VERSION as __version__  # noqa: N811 (an attribute every package has)
from mqsel.matcher import Matcher, compile  # noqa: A004 (like re.compile)
from mqsel.values import Truth

__all__ = [
    "IBM_JAVA_CLIENT",
    "IBM_JMS",
    "IBM_MQ",
    "JMS",
    "TIBCO_EMS",
    "Dialect",
    "Matcher",
    "MqselError",
    "Record",
    "SelectorError",
    "Truth",
    "__version__",
    "compile",
]
