"""Selectors as Columns of Spark DataFrames, in classic Spark and Spark Connect.

`column` is the condition of ``df.filter``, `register` makes it a function of SQL; `plan` says how it is evaluated,
`profile` why it selects what it does. `DataSource` selects where files are read. Follows spark/README.md.
"""

from importlib.util import find_spec

from mqsel.machine.wordings import package_missing

if find_spec("pyspark") is None:
    raise package_missing("mqsel.spark", "pyspark", "spark")

from mqsel.spark.columns import Layout, Source, layout
from mqsel.spark.planning import Plan, column, plan, properties, register
from mqsel.spark.profiling import Count, Profile, Seen, profile
from mqsel.spark.raw import Messages, mq_message
from mqsel.spark.ship import Cluster, Failure, Worker, check_cluster
from mqsel.spark.source import DataSource

__all__ = [
    "Cluster",
    "Count",
    "DataSource",
    "Failure",
    "Layout",
    "Messages",
    "Plan",
    "Profile",
    "Seen",
    "Source",
    "Worker",
    "check_cluster",
    "column",
    "layout",
    "mq_message",
    "plan",
    "profile",
    "properties",
    "register",
]
