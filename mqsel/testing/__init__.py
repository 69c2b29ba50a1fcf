"""Test selectors: assertions that explain why they fail, test cases in files, and a plugin for pytest.

    >>> from mqsel.testing import assert_selects >>> assert_selects("weight > 2500", {"weight": 3000})

The results are those of `Matcher`.
"""

from mqsel.testing.assertions import assert_not_selects, assert_selects
from mqsel.testing.cases import Case, Verdict, judged, read_cases
from mqsel.testing.deliveries import deliveries

__all__ = ["Case", "Verdict", "assert_not_selects", "assert_selects", "deliveries", "judged", "read_cases"]
