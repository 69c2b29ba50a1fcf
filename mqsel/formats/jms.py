"""JMS names: for each the places its value is read from, the one that wins first, and what is made of it.

Facts only. Follows formats §7, and §3 (types of the ``jms`` folder).
"""

from __future__ import annotations

from typing import NamedTuple

from mqsel.formats import mqmd
from mqsel.names import JMS_DESCRIPTOR, MQMD_TYPES


class Source(NamedTuple):
    """One place of a value.

    Attributes:
        path: the element, as folder/element, or the field: of the MQMD, as MQMD/field, or of whatever structure stands
            last before the data and describes them, as body/field.
        conversion: what is made of it; see `CONVERSIONS`.
        argument: a bit mask, where the conversion needs one.
    """

    path: str
    conversion: str
    argument: int = 0


# In the order in which `_tables.pxd` numbers them.
CONVERSIONS = (
    "as typed",  # by dt, or by the type of the element or field
    "string",  # an element whatever its dt: a string
    "int32",  # an element whatever its dt: INT32
    "int64",  # an element whatever its dt: INT64
    "delivery mode",  # 1 NON_PERSISTENT, 2 PERSISTENT
    "topic",  # topic:// and the text
    "persistence",  # MQPER_NOT_PERSISTENT 0, MQPER_PERSISTENT 1
    "identifier",  # ID: and 48 hexadecimal digits, lower case; NULL if all are zero
    "timestamp",  # PutDate and PutTime: milliseconds since 1970, GMT; NULL if blank
    "queue",  # ReplyToQ and ReplyToQMgr: queue://manager/queue; NULL if blank
    "is positive",  # BOOLEAN
    "plus one",
    "unless zero",  # NULL if zero
    "bits",  # those under the mask; NULL if none is set
    "has bits",  # BOOLEAN
    "character set",  # the Java name of a CCSID; NULL if it is not known
)

# IBM MQ 9.4, Mapping IBM MQ fields onto JMS fields (incoming messages). It lists for JMSPriority the MQMD alone, for
# JMSExpiration jms.Exp alone.
JMS: dict[str, tuple[Source, ...]] = {
    "JMSDestination": (Source("jms/Dst", "string"), Source("mqps/Top", "topic")),
    "JMSDeliveryMode": (Source("jms/Dlv", "delivery mode"), Source("MQMD/Persistence", "persistence")),
    "JMSExpiration": (Source("jms/Exp", "int64"),),
    "JMSPriority": (Source("MQMD/Priority", "as typed"),),
    "JMSMessageID": (Source("MQMD/MsgId", "identifier"),),
    "JMSTimestamp": (Source("jms/Tms", "int64"), Source("MQMD/PutDate", "timestamp")),
    "JMSCorrelationID": (Source("jms/Cid", "string"), Source("MQMD/CorrelId", "identifier")),
    "JMSReplyTo": (Source("jms/Rto", "string"), Source("MQMD/ReplyToQ", "queue")),
    "JMSType": (Source("mcd/Type", "string"), Source("mcd/Set", "string"), Source("mcd/Fmt", "string")),
    "JMSRedelivered": (Source("MQMD/BackoutCount", "is positive"),),
    "JMSXUserID": (Source("MQMD/UserIdentifier", "as typed"),),
    "JMSXAppID": (Source("MQMD/PutApplName", "as typed"),),
    "JMSXDeliveryCount": (Source("MQMD/BackoutCount", "plus one"),),
    "JMSXGroupID": (Source("jms/Gid", "string"), Source("MQMD/GroupId", "identifier")),
    "JMSXGroupSeq": (Source("jms/Seq", "int32"), Source("MQMD/MsgSeqNumber", "as typed")),
    "JMS_IBM_Report_Exception": (Source("MQMD/Report", "bits", mqmd.MQRO_EXCEPTION_WITH_FULL_DATA),),
    "JMS_IBM_Report_Expiration": (Source("MQMD/Report", "bits", mqmd.MQRO_EXPIRATION_WITH_FULL_DATA),),
    "JMS_IBM_Report_COA": (Source("MQMD/Report", "bits", mqmd.MQRO_COA_WITH_FULL_DATA),),
    "JMS_IBM_Report_COD": (Source("MQMD/Report", "bits", mqmd.MQRO_COD_WITH_FULL_DATA),),
    "JMS_IBM_Report_PAN": (Source("MQMD/Report", "bits", mqmd.MQRO_PAN),),
    "JMS_IBM_Report_NAN": (Source("MQMD/Report", "bits", mqmd.MQRO_NAN),),
    "JMS_IBM_Report_Pass_Msg_ID": (Source("MQMD/Report", "bits", mqmd.MQRO_PASS_MSG_ID),),
    "JMS_IBM_Report_Pass_Correl_ID": (Source("MQMD/Report", "bits", mqmd.MQRO_PASS_CORREL_ID),),
    "JMS_IBM_Report_Discard_Msg": (Source("MQMD/Report", "bits", mqmd.MQRO_DISCARD_MSG),),
    "JMS_IBM_Report_Pass_Discard_And_Expiry": (Source("MQMD/Report", "bits", mqmd.MQRO_PASS_DISCARD_AND_EXPIRY),),
    "JMS_IBM_MsgType": (Source("MQMD/MsgType", "as typed"),),
    "JMS_IBM_Feedback": (Source("MQMD/Feedback", "unless zero"),),
    # "the format of the message body": *JMS fields and properties with corresponding MQMD fields*.
    "JMS_IBM_Format": (Source("body/Format", "as typed"),),
    "JMS_IBM_PutApplType": (Source("MQMD/PutApplType", "as typed"),),
    "JMS_IBM_Encoding": (Source("body/Encoding", "as typed"),),
    "JMS_IBM_Character_Set": (Source("body/CodedCharSetId", "character set"),),
    "JMS_IBM_PutDate": (Source("MQMD/PutDate", "as typed"),),
    "JMS_IBM_PutTime": (Source("MQMD/PutTime", "as typed"),),
    "JMS_IBM_Last_Msg_In_Group": (Source("MQMD/MsgFlags", "has bits", mqmd.MQMF_LAST_MSG_IN_GROUP),),
    # IBM MQ 9.4, JMS message object properties: all fields of the MQMD but StrucId and Version; no MQRFH2 is asked.
    **{f"{JMS_DESCRIPTOR}{name}": (Source(f"MQMD/{name}", "as typed"),) for name in MQMD_TYPES},
}
