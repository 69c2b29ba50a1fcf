"""What a queue manager and a JMS provider do with selectors: queues, topics, durable subscriptions; in memory.

For tests of applications without a broker, and for simulations. No network, nothing kept but by pickle.
"""

from mqsel.selection.message import Message
from mqsel.selection.providers import JSONPath, XPath
from mqsel.selection.queues import Inspected, Queue
from mqsel.selection.selectors import Complexity, ComplexSelectorWarning, Provider, SelectionType, selection_type
from mqsel.selection.topics import Subscription, Topic

__all__ = [
    "ComplexSelectorWarning",
    "Complexity",
    "Inspected",
    "JSONPath",
    "Message",
    "Provider",
    "Queue",
    "SelectionType",
    "Subscription",
    "Topic",
    "XPath",
    "selection_type",
]
