# Numbers that the reader of IBM MQ messages uses. Their words stand in mqrfh2.NOTES and jms.CONVERSIONS.

cdef enum:
    DT_UNKNOWN = 1              # a dt that is not in mqrfh2.DT, among MQTYPEs

# The rows of mqrfh2.NOTES, by number: each is pinned by a vector.
cdef enum:
    NOTE_NONE
    NOTE_FOLDER_NAME
    NOTE_FOLDER_MALFORMED
    NOTE_FOLDER_DEPTH
    NOTE_FOLDER_TOO_BIG
    NOTE_FOLDER_RESTRICTED
    NOTE_FOLDER_PLAIN
    NOTE_FOLDER_REPEATED
    NOTE_FOLDER_DOTTED
    NOTE_GROUP_NOT_ALLOWED
    NOTE_MIXED_CONTENT
    NOTE_ELEMENT_DOTTED
    NOTE_ELEMENT_NAME
    NOTE_ELEMENT_ATTRIBUTES
    NOTE_NAME_INVALID
    NOTE_NAME_TRUNCATED
    NOTE_TYPE_UNKNOWN
    NOTE_VALUE_MALFORMED
    NOTE_VALUE_ENCODING
    NOTE_VALUE_ESCAPE
    NOTE_VALUE_MARKUP
    NOTE_DUPLICATE
    NOTE_FIELD_ENCODING
    NOTE_FIELD_DATE
    NOTE_MDE_DEFAULT_ONLY
    NOTE_MDE_FOREIGN
    NOTE_MDE_VERSION
    NOTE_MDE_NOT_FIRST
    NOTE_HEADER_ORDER
    NOTE_FORMAT_UNKNOWN

# The rows of jms.CONVERSIONS, by number: each is pinned by a vector.
cdef enum:
    AS_TYPED
    TO_STRING
    TO_INT32
    TO_INT64
    TO_DELIVERY_MODE
    TO_TOPIC
    FROM_PERSISTENCE
    FROM_IDENTIFIER
    FROM_TIMESTAMP
    FROM_QUEUE
    IS_POSITIVE
    PLUS_ONE
    UNLESS_ZERO
    BITS
    HAS_BITS
    FROM_CCSID

cdef enum:
    MAX_NAME = 4095             # characters
    UNFILLED = 255              # rank of a slot that nothing has filled
