"""JMS names: for each the places its value is read from, the one that wins first, and what is made of it.

Facts only. Follows formats §7, and §3 (types of the ``jms`` folder).
"""

from typing import NamedTuple

from mqsel.formats import mqmd
from mqsel.names import JMS_DESCRIPTOR, MQMD_TYPES


class Place(NamedTuple):
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
    "delivery mode",  # by DELIVERY_MODES
    "topic",  # topic:// and the text
    "persistence",  # by PERSISTENCE
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

# What JMS calls the numbers of jms.Dlv, and those of Persistence in the MQMD (MQPER_*).
DELIVERY_MODES = {1: "NON_PERSISTENT", 2: "PERSISTENT"}
PERSISTENCE = {0: "NON_PERSISTENT", 1: "PERSISTENT"}

# IBM MQ 9.4, Mapping IBM MQ fields onto JMS fields (incoming messages). It lists for JMSPriority the MQMD alone, for
# JMSExpiration jms.Exp alone. jms.Pri counts where a message has no MQMD: Message selector syntax.
JMS: dict[str, tuple[Place, ...]] = {
    "JMSDestination": (Place("jms/Dst", "string"), Place("mqps/Top", "topic")),
    "JMSDeliveryMode": (Place("jms/Dlv", "delivery mode"), Place("MQMD/Persistence", "persistence")),
    "JMSExpiration": (Place("jms/Exp", "int64"),),
    "JMSPriority": (Place("MQMD/Priority", "as typed"), Place("jms/Pri", "int32")),
    "JMSMessageID": (Place("MQMD/MsgId", "identifier"),),
    "JMSTimestamp": (Place("jms/Tms", "int64"), Place("MQMD/PutDate", "timestamp")),
    "JMSCorrelationID": (Place("jms/Cid", "string"), Place("MQMD/CorrelId", "identifier")),
    "JMSReplyTo": (Place("jms/Rto", "string"), Place("MQMD/ReplyToQ", "queue")),
    "JMSType": (Place("mcd/Type", "string"), Place("mcd/Set", "string"), Place("mcd/Fmt", "string")),
    "JMSRedelivered": (Place("MQMD/BackoutCount", "is positive"),),
    "JMSXUserID": (Place("MQMD/UserIdentifier", "as typed"),),
    "JMSXAppID": (Place("MQMD/PutApplName", "as typed"),),
    "JMSXDeliveryCount": (Place("MQMD/BackoutCount", "plus one"),),
    "JMSXGroupID": (Place("jms/Gid", "string"), Place("MQMD/GroupId", "identifier")),
    "JMSXGroupSeq": (Place("jms/Seq", "int32"), Place("MQMD/MsgSeqNumber", "as typed")),
    "JMS_IBM_Report_Exception": (Place("MQMD/Report", "bits", mqmd.MQRO_EXCEPTION_WITH_FULL_DATA),),
    "JMS_IBM_Report_Expiration": (Place("MQMD/Report", "bits", mqmd.MQRO_EXPIRATION_WITH_FULL_DATA),),
    "JMS_IBM_Report_COA": (Place("MQMD/Report", "bits", mqmd.MQRO_COA_WITH_FULL_DATA),),
    "JMS_IBM_Report_COD": (Place("MQMD/Report", "bits", mqmd.MQRO_COD_WITH_FULL_DATA),),
    "JMS_IBM_Report_PAN": (Place("MQMD/Report", "bits", mqmd.MQRO_PAN),),
    "JMS_IBM_Report_NAN": (Place("MQMD/Report", "bits", mqmd.MQRO_NAN),),
    "JMS_IBM_Report_Pass_Msg_ID": (Place("MQMD/Report", "bits", mqmd.MQRO_PASS_MSG_ID),),
    "JMS_IBM_Report_Pass_Correl_ID": (Place("MQMD/Report", "bits", mqmd.MQRO_PASS_CORREL_ID),),
    "JMS_IBM_Report_Discard_Msg": (Place("MQMD/Report", "bits", mqmd.MQRO_DISCARD_MSG),),
    "JMS_IBM_Report_Pass_Discard_And_Expiry": (Place("MQMD/Report", "bits", mqmd.MQRO_PASS_DISCARD_AND_EXPIRY),),
    "JMS_IBM_MsgType": (Place("MQMD/MsgType", "as typed"),),
    "JMS_IBM_Feedback": (Place("MQMD/Feedback", "unless zero"),),
    # "the format of the message body": *JMS fields and properties with corresponding MQMD fields*.
    "JMS_IBM_Format": (Place("body/Format", "as typed"),),
    "JMS_IBM_PutApplType": (Place("MQMD/PutApplType", "as typed"),),
    "JMS_IBM_Encoding": (Place("body/Encoding", "as typed"),),
    "JMS_IBM_Character_Set": (Place("body/CodedCharSetId", "character set"),),
    "JMS_IBM_PutDate": (Place("MQMD/PutDate", "as typed"),),
    "JMS_IBM_PutTime": (Place("MQMD/PutTime", "as typed"),),
    "JMS_IBM_Last_Msg_In_Group": (Place("MQMD/MsgFlags", "has bits", mqmd.MQMF_LAST_MSG_IN_GROUP),),
    # IBM MQ 9.4, JMS message object properties: all fields of the MQMD but StrucId and Version; no MQRFH2 is asked.
    **{f"{JMS_DESCRIPTOR}{name}": (Place(f"MQMD/{name}", "as typed"),) for name in MQMD_TYPES},
}
