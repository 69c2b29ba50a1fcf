"""The kinds of places where selectors stand, as one table.

A reader is a module of this folder with a function ``read(source, kind, columns)``. A new kind is a row here, a row in
`recognition`, and rows of the tables in its reader.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of place.

    Attributes:
        dialect: the name of the preset that brokers of this kind have.
        reader: the module that reads such files.
        holds: what is read, for people.
        comments: what begins a comment, as a regular expression; empty where there are none.
        kept: why other selectors are not written there; empty where they are.
    """

    dialect: str
    reader: str
    holds: str
    comments: str = ""
    kept: str = ""


KINDS = {
    "mqsc": Kind("IBM_MQ", "mqsc", "MQSC scripts and output of dmpmqcfg: SELECTOR of DEFINE SUB and ALTER SUB", r"^\*"),
    "runmqsc": Kind(
        "IBM_MQ",
        "mqsc",
        "Output of DISPLAY SUB and DISPLAY SBSTATUS",
        kept="output of a command: the subscription is changed by ALTER SUB",
    ),
    "ems": Kind(
        "TIBCO_EMS", "ems", "bridges.conf, durables.conf, routes.conf, tibemsd.json, tibemsadmin scripts", r"^\s*#"
    ),
    "artemis": Kind("ARTEMIS", "markup", "broker.xml and data exports: queues, diverts, bridges", r"<!--|//|/\*"),
    "activemq": Kind("ACTIVEMQ", "markup", "activemq.xml: filteredDestination, bridges", "<!--"),
    "ejb": Kind(
        "JMS", "markup", "ejb-jar.xml and other deployment descriptors: messageSelector, message-selector", "<!--"
    ),
    "spring": Kind("JMS", "markup", "Spring XML: jms:listener, channel adapters, messageSelector of beans", "<!--"),
    "camel": Kind("JMS", "markup", "Camel URIs with selector=, in XML, YAML and source files", r"<!--|//|/\*|#"),
    "java": Kind("JMS", "sources", "Java and Groovy: annotations and calls of JMS, Spring and EJB", r"//|/\*"),
    "kotlin": Kind("JMS", "sources", "Kotlin: annotations and calls of JMS, Spring and EJB", r"//|/\*"),
    "scala": Kind("JMS", "sources", "Scala: annotations and calls of JMS, Spring and EJB", r"//|/\*"),
    "rocketmq": Kind("ROCKETMQ", "sources", "Source files: bySql and RocketMQMessageListener", r"//|/\*|#"),
    "yaml": Kind("JMS", "data", "YAML: keys that end in selector", "#"),
    "properties": Kind("JMS", "properties", ".properties: keys that end in selector", r"^\s*[#!]"),
    "json": Kind("JMS", "data", "JSON: keys that end in selector"),
    "connect": Kind("JMS", "data", "Kafka Connect: jms.message.selector, WITHJMSSELECTOR of KCQL", r"^\s*[#!]"),
    "azure": Kind("AZURE_SERVICE_BUS", "data", "ARM templates, Config.json of the emulator, output of az rule list"),
    "bicep": Kind("AZURE_SERVICE_BUS", "data", "Bicep: sqlFilter, correlationFilter", r"//|/\*"),
    "terraform": Kind("AZURE_SERVICE_BUS", "data", "Terraform: sql_filter, correlation_filter", r"#|//|/\*"),
    "broker-j": Kind("QPID_BROKER_J", "data", "JSON: x-filter-jms-selector"),
    "rabbitmq": Kind("RABBITMQ", "data", "RabbitMQ definitions: selectors among the arguments"),
    "rabbitmq-jms": Kind("RABBITMQ_JMS", "data", "rjms_selector of bindings to the JMS exchange of RabbitMQ"),
    "keyed": Kind("IBM_MQ", "own", "Text lines of a key, a tab and a selector; # starts a comment", r"^\s*#"),
    "lines": Kind(
        "IBM_MQ", "own", "One selector per line; a line that ends in AND or OR continues; # starts a comment", r"^\s*#"
    ),
    "keyed-json": Kind("IBM_MQ", "own", "JSON: an object of keys and selectors, an array, or one object per line"),
    "csv": Kind("IBM_MQ", "own", "CSV with a header row; --columns names its columns"),
    "parquet": Kind("IBM_MQ", "own", "Parquet with the columns key and selector", kept="Parquet is not written back"),
}
