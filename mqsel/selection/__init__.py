"""Test applications without a broker: queues, topics and durable subscriptions in memory, with their selectors.

They behave as a queue manager and a JMS provider do. Nothing uses the network, and nothing is saved unless you pickle
it.
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
