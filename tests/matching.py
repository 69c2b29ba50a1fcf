"""What tests of matchers have in common."""

from __future__ import annotations

from typing import Any

from strategies import JMS_PRESETS

import mqsel

JMS = mqsel.JMS
W2 = "JMSType = 'car' AND color = 'blue' AND weight > 2500"


SELECTORS = [
    "",
    "  ",
    "a",
    W2,
    "a = 'it''s'",
    "x LIKE 'a!_%' ESCAPE '!'",
    "NOT (a IN ('p', 'q') OR b BETWEEN 1 AND 2.5)",
]


SCHEMAS: list[Any] = [None, (), ("a",), ("a", "b"), {"a": "int8", "b": None}, [("a", "string"), "b"], ("b", "a")]
DIALECTS = [
    *JMS_PRESETS.values(),
    JMS.replace(max_length=200),
    mqsel.IBM_MQ.replace(null_arithmetic="unknown", max_length=None),
]
