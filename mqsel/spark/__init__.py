"""Use selectors as Columns of Spark DataFrames, in classic Spark and Spark Connect.

`column` returns a condition for ``df.filter``, and `register` makes it a function of SQL. `plan` shows how Spark
evaluates it, and `profile` shows why rows are selected or not. `route` finds the selectors of a set that select each
row. `DataSource` reads the messages in files that a selector selects. Follows spark/README.md.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mqsel.analysis.explain.profile import Profile
from mqsel.analysis.explain.sentences import Count, Seen
from mqsel.columns.wordings import package_missing

if find_spec("pyspark") is None:
    raise package_missing("mqsel.spark", "pyspark", "spark")

from mqsel.spark.archive import changes, contract
from mqsel.spark.audience import Outcome, SetProfile, compare, profile_set
from mqsel.spark.columns import Layout, PropertySource, layout
from mqsel.spark.planning import Plan, column, properties, register, rows
from mqsel.spark.profiling import profile
from mqsel.spark.raw import MessageColumn, mq_message
from mqsel.spark.route import RoutePlan, any_of, deliveries, plan, route
from mqsel.spark.ship import Cluster, Failure, Worker, check_cluster
from mqsel.spark.wordings import old_spark

if TYPE_CHECKING:
    from mqsel.spark.source import DataSource

__all__ = [
    "Cluster",
    "Count",
    "DataSource",
    "Failure",
    "Layout",
    "MessageColumn",
    "Outcome",
    "Plan",
    "Profile",
    "PropertySource",
    "RoutePlan",
    "Seen",
    "SetProfile",
    "Worker",
    "any_of",
    "changes",
    "check_cluster",
    "column",
    "compare",
    "contract",
    "deliveries",
    "layout",
    "mq_message",
    "plan",
    "profile",
    "profile_set",
    "properties",
    "register",
    "route",
    "rows",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import the data source when it is first asked for: Spark has them since 4.0."""
    if name != "DataSource":
        raise AttributeError(f"module 'mqsel.spark' has no attribute '{name}'")
    if find_spec("pyspark.sql.datasource") is None:
        raise old_spark("a data source in Python", "4.0", "read the files with mqsel.files or mqsel match")
    from mqsel.spark.source import DataSource  # noqa: PLC0415 (see above)

    return DataSource
