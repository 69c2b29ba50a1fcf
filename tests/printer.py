"""What the sample program amqsbcg prints of a message, and the MQMD that a text of it gives back.

Written from the program's own statements; shares the tables of fields with what it tests, and no code.
"""

import struct

from mqsel.formats.mqmd import MQDLH, MQMD, MQMD_LENGTH_1, MQMD_LENGTH_2


def is_little(encoding, extension=b""):
    """Return the byte order that an Encoding says, or else that of the Version of an MQMDE."""
    return encoding & 15 == 2 or (encoding & 15 != 1 and extension[4:5] not in (b"", b"\0"))


def mqmd(fields, order="", extension=b""):
    """Return the MQMD that a text has with these fields, by default in the byte order of its Encoding."""
    order = order or ("<" if is_little(fields.get("Encoding", 546), extension) else ">")
    data = bytearray(MQMD_LENGTH_2)
    for field in MQMD:
        value = {"Version": 2, **fields}.get(field.name, field.default)
        if field.kind == "MQLONG":
            struct.pack_into(f"{order}i", data, field.offset, value)
        else:
            is_text = field.kind == "MQCHAR"
            value = value.encode() if is_text else value if isinstance(value, bytes) else bytes.fromhex(value)
            data[field.offset : field.offset + field.length] = value.ljust(field.length, b" " if is_text else b"\0")
    return bytes(data[: MQMD_LENGTH_1 if fields.get("Version") == 1 else MQMD_LENGTH_2])


_PRINTED = """\
 MQGET of message number {count}, CompCode:0 Reason:0
****Message descriptor****

  StrucId  : 'MD  '  Version : {Version}
  Report   : {Report}  MsgType : {MsgType}
  Expiry   : {Expiry}  Feedback : {Feedback}
  Encoding : {Encoding}  CodedCharSetId : {CodedCharSetId}
  Format : '{Format}'
  Priority : {Priority}  Persistence : {Persistence}
  MsgId : X'{MsgId}'
  CorrelId : X'{CorrelId}'
  BackoutCount : {BackoutCount}
  ReplyToQ       : '{ReplyToQ}'
  ReplyToQMgr    : '{ReplyToQMgr}'
  ** Identity Context
  UserIdentifier : '{UserIdentifier}'
  AccountingToken :{blank}
   X'{AccountingToken}'
  ApplIdentityData : '{ApplIdentityData}'
  ** Origin Context
  PutApplType    : '{PutApplType}'
  PutApplName    : '{PutApplName}'
  PutDate  : '{PutDate}'    PutTime  : '{PutTime}'
  ApplOriginData : '{ApplOriginData}'

  GroupId : X'{GroupId}'
  MsgSeqNumber   : '{MsgSeqNumber}'
  Offset         : '{Offset}'
  MsgFlags       : '{MsgFlags}'
  OriginalLength : '{OriginalLength}'
"""
_PRINTED_DLH = """
****Dead Letter Header****

  StrucId  : 'DLH '  Version : {Version}
  Reason   : {Reason} [MQRC_PUT_INHIBITED]
  DestQName      : '{DestQName}'
  DestQMgrName   : '{DestQMgrName}'
  Encoding : {Encoding}  CodedCharSetId : {CodedCharSetId}
  Format : '{Format}'
  PutApplType    : '{PutApplType}'
  PutApplName    : '{PutApplName}'
  PutDate  : '{PutDate}'    PutTime  : '{PutTime}'
"""


def fields_of(table, data, order):
    """Return the fields of a structure as amqsbcg prints them: bytes of characters as they are."""
    found = {}
    for field in table:
        value = data[field.offset : field.offset + field.length]
        if field.kind == "MQLONG":
            found[field.name] = struct.unpack(f"{order}i", value)[0]
        else:
            found[field.name] = value.hex().upper() if field.kind == "MQBYTE" else value.decode("latin-1")
    return found


def dumped(data):
    """Return the lines of amqsbcg's dump, a page break after each 37."""
    lines = []
    for at in range(0, max(len(data), 1), 16):
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data[at : at + 16])
        digits = " ".join(data[place : place + 2].hex().upper() for place in range(at, min(at + 16, len(data)), 2))
        lines.append(f"{at:08X}:  {digits:39}           '{text:16}'")
    return "".join(f"{line}\n" + " \n" * (number % 37 == 36) for number, line in enumerate(lines)).encode("latin-1")


def amqsbcg_text(message, *, order="<", count=1, properties=None, has_dlh=True, buffer=1 << 20):
    """Write a message as amqsbcg prints it on a machine of this byte order, which is that of the MQMD.

    Args:
        properties: the lines of option 1, or None for the other options.
        has_dlh: the program is one that knows dead-letter headers.
        buffer: bytes of its buffer: a longer message is printed in part.
    """
    size = MQMD_LENGTH_1 if struct.unpack_from(f"{order}i", message, 4)[0] == 1 else MQMD_LENGTH_2
    later = mqmd({}, order)[MQMD_LENGTH_1:]  # the program always has room for the fields of version 2
    fields = fields_of(MQMD, message[:size] + (later if size == MQMD_LENGTH_1 else b""), order)
    text = _PRINTED.format(count=count, blank=" ", **fields)
    if properties is not None:
        text += " \n****Message properties****\n\n" + "".join(f"  {line}\n" for line in properties or ["None"])
    data = message[size:]
    if has_dlh and fields["Format"] == "MQDEAD  ":
        text += _PRINTED_DLH.format(**fields_of(MQDLH, data, order))
        data = data[172:]
    shown = data[:buffer]
    text += f" \n****   Message      ****\n \n length - {len(shown)} of {len(data)} bytes\n \n"
    return text.encode("latin-1") + dumped(shown) + b" \n \n"


BANNER = b"""\
AMQSBCG0 - starts here
**********************
 \n MQOPEN - 'ORDERS'
 \n \n"""
TRAILER = b""" No more messages\x20

****   Summary      ****
 2 messages browsed.
 Smallest message 2 bytes.
 MQCLOSE
 MQDISC
"""
