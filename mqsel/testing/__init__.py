"""Selectors in tests: assertions that explain themselves, cases in a file, and a plugin of pytest.

    >>> from mqsel.testing import assert_selects
    >>> assert_selects("weight > 2500", {"weight": 3000})

Owns no meaning: what is selected, and why not, is the answer of a `Matcher`.
"""

from mqsel.testing.assertions import assert_not_selects, assert_selects
from mqsel.testing.cases import Case, Verdict, judged, read_cases
from mqsel.testing.deliveries import deliveries

__all__ = ["Case", "Verdict", "assert_not_selects", "assert_selects", "deliveries", "judged", "read_cases"]
