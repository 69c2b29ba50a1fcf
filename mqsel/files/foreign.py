"""What files hold that are of no format of messages: how each is known, what it is called, and what to do with it.

For what tools print, this is a command that writes the properties as lines of JSON. Reads no file. Follows formats §8.
"""

from __future__ import annotations

import re

from mqsel.files import qload
from mqsel.files.dumps import STRUC_IDS
from mqsel.formats.records import SCHEMAS

CSV = "CSV"
LINES = "lines of JSON"
WIDE = "UTF-16 without a mark, or UTF-32"

# The end of commands for texts with pairs of a name and a value.
_EQUAL = r"""[splits(",\\s*") | capture("^(?<k>[^=]+)=(?<v>.*)") | {(.k): .v}] | add // {}"""
_TYPES = "String|Boolean|Byte|Short|Integer|Long|Float|Double"  # of EMS
_COLUMNS = "CreateTime|LogAppendTime|Partition|Offset"  # of Kafka, before the headers


def _jq(options: str, *steps: str) -> str:
    return f"jq {options} '{' | '.join(steps)}' FILE"


# Patterns are texts here: compiled ones would be read at each start, and most never used.
FOREIGN = (
    (
        rb"\A(?:\xff\xfe\0\0|\0\0\xfe\xff|(?:[\t-\r -~]\0{1,3}){4}|(?:\0{1,3}[\t-\r -~]){4})",
        WIDE,
        "convert it: iconv -f UTF-16LE -t UTF-8 FILE, or whichever it is",
    ),
    (qload.INSIDE, "the middle of a text of dmpmqmsg or QLOAD", "--format qload reads it from its next message on"),
    (
        rb"(?m)^[ \t]*[0-9A-Fa-f]{8,16}:[ \t]+(?:[0-9A-Fa-f]{4}[ \t]+){2,}",
        "the middle of an output of amqsbcg",
        "--format amqsbcg reads it from its next message on",
    ),
    (
        rb"(?s)\A(?=.*?[\x00-\x08]).*?(?:" + b"|".join(map(re.escape, STRUC_IDS)) + rb")",
        "the middle of a file of MQ messages",
        "cut such files where a message begins, at its length",
    ),
    (
        rb"(?m)^JMS_(?:HEADER|BODY|CUSTOM)_FIELD:",
        "an output of activemq browse",
        _jq(
            "-Rsc",
            r'splits("\n\\s*\n")',
            r'[scan("JMS_(?:HEADER|CUSTOM)_FIELD:\\s*(\\S+)\\s*=\\s*([^\r\n]*)")',
            "{(.[0]): .[1]}]",
            "add // empty",
        ),
    ),
    (
        rb"\A\s*(?:MESSAGE|SEND)\r?\n[^\n:]+:",
        "STOMP frames",
        _jq(
            "-Rsc",
            r'split("\u0000")[]',
            r'capture("(MESSAGE|SEND)\r?\n(?<h>([^\n]*:[^\n]*\n)*)").h',
            r'[scan("([^\r\n:]+):([^\r\n]*)")',
            r"{(.[0]): .[1]",
            r'gsub("\\\\c"; ":")}]',
            "reverse",  # the first of several headers of a name counts
            "add",
        ),
    ),
    (
        rb"Message=\{ *Header=\{",
        "messages as TIBCO EMS prints them",
        _jq(
            "-Rc",
            rf'[scan("(\\S+)=\\{{({_TYPES}):([^}}]*)\\}}")',
            '{(.[0]): (if .[1] == "String" then .[2] else .[2]',
            "fromjson end)}]",
            "add // empty",
        ),
    ),
    (
        rb"(?mi)^ibm-mq-(?:md|usr)-[^\n:]+:",
        "a response of the REST API of IBM MQ",
        _jq("-Rnc", r"[inputs", r'capture("^ibm-mq-usr-(?<k>[^:]+):\\s*(?<v>.*);")', "{(.k): .v", "fromjson}]", "add"),
    ),
    (
        rb"(?m)^key:\[[^\n]*\], properties:\[",
        "an output of pulsar-client consume",
        _jq("-Rc", r'capture("properties:\\[(?<p>.*?)\\],\\s*content:").p', _EQUAL),
    ),
    (
        rb"\A(?:(?:" + _COLUMNS.encode() + rb"):\d+|NO_HEADERS|[^\s:,{\"]+:[^\t\n]*\t[^\t\n]*)\t",
        "an output of kafka-console-consumer",
        _jq(
            "-Rc",
            r'split("\t")',
            f'map(select(test("^({_COLUMNS}):")',
            "not))[0]",
            '[splits(",")',
            'capture("^(?<k>[^:]+):(?<v>.*)")',
            "{(.k): .v}]",
            "add // {}",
        ),
    ),
    (
        rb"\b(?:Generic|Error)Message \[payload=|\bMessageProperties \[headers=\{",
        "messages that Spring wrote into a log",
        _jq("-Rc", r'capture("headers=\\{(?<h>[^}]*)\\}").h', _EQUAL),
    ),
    (
        rb"\bActiveMQ\w{0,40}Message ?[{\[]|\bTypedProperties\[",
        "messages as ActiveMQ or Artemis prints them",
        _jq("-Rc", r'capture("[pP]roperties\\s?(=\\s?\\{|\\[)(?<p>[^}\\]]*)").p', _EQUAL),
    ),
    (
        rb"(?m)^[ \t]*JMS\w*Message class: ",
        "messages as IBM MQ classes for JMS print them",
        _jq(
            "-Rsc",
            r'[splits("Message\\sclass:")][1:][]',
            r'[scan("\n\\s*([\\w$.]+):\\s+([^\r\n]*)")',
            "{(.[0]): .[1]}]",
            "add // empty",
        ),
    ),
    (rb"\APK\x03\x04", "a zip archive", "unpack it; gzipped files are read as they are"),
    (rb"(?s)\A(?:7z\xbc\xaf|.{257}ustar)", "an archive", "unpack it; gzipped files are read as they are"),
    (rb"\AObj\x01", "Avro", "write its records as lines of JSON: avro-tools tojson FILE"),
    (rb"[\x00-\x08\x0b\x0e-\x1f]", "binary data", "for length-prefixed messages, use --format mq"),
    (rb"\A[^\n]*\}\r[ \t]*\{", "lines that end only in CR", "write them with LF: tr '\\r' '\\n' < FILE"),
    (rb"\A\s*\[\s*\"", "a JSON array of texts", "mqsel audit and route read selectors: expected messages"),
    (rb"\A\s*\[\s*(?:[\[{\]]|\Z)", "a JSON array of arrays", "jq -c '.[][]' FILE"),
    (rb"\A\s*\{", LINES, f"choose by the tool that wrote them: --format json, {', '.join(SCHEMAS)}"),
    (rb"\A\s*<", "XML", "of XML only exports of Artemis are read: write each message as a JSON object on one line"),
    (
        rb"\A[^\n]*[,;\t|]",
        CSV,
        "python3 -c 'import csv, json, sys; [print(json.dumps(row)) for row in csv.DictReader(sys.stdin)]' < FILE",
    ),
)
