# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""A column of raw IBM MQ messages: decoded where they stand in its buffer, and run through machines one by one.

The machine executes, the decoder reads: this module only goes through rows. Trusts no offset in the column's buffers.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from mqsel.formats._decoder cimport FILLED, IDENTIFIED, INVALID_NAME, Decoder
from mqsel.machine._vm cimport FALSE, TRUE, Frame, Machine, Pace, pace_look, pace_start

from operator import index

from mqsel.columns import wordings
from mqsel.errors import DecodeError, UndocumentedError

cdef enum:
    BROKEN = -1

# What a message can be instead of one of the four truth values.
cdef enum:
    _UNREAD = 4     # its bytes are not a valid message, or no document says what it is to a selector
    _ABSENT = 5     # there is none: a NULL
    _INVALID = 6    # it has a property with a name that is not allowed, and is not selected
UNREAD, ABSENT, INVALID = _UNREAD, _ABSENT, _INVALID


@cython.final
@cython.no_gc_clear  # the views are read without asking whether they are there
cdef class MessageColumn:
    """The messages of an Arrow array of type binary or large_binary.

    Args:
        column: a pyarrow Array of such a type.

    Raises: PropertyTypeError: it is of another type, or damaged.
    """

    cdef readonly Py_ssize_t rows
    cdef Py_ssize_t first       # where row 0 stands in the buffers
    cdef bint large             # 64-bit offsets
    cdef bint nullable          # some row may be NULL
    cdef const uint8_t[::1] validity
    cdef const uint8_t[::1] offsets
    cdef const uint8_t[::1] content

    def __cinit__(self, column):
        arrow_type = str(column.type)
        if arrow_type not in ("binary", "large_binary"):
            raise wordings.not_a_column("the message", arrow_type, "cast it to binary")
        try:
            validity, offsets, content = column.buffers()
            rows, first = len(column), index(column.offset)
            self.validity = bytes_of(validity)
            self.offsets = bytes_of(offsets)
            self.content = bytes_of(content)
        except (TypeError, ValueError, OverflowError, BufferError) as error:
            raise wordings.damaged_column("the message", f"its buffers cannot be read: {error}") from error
        self.large = arrow_type == "large_binary"
        self.nullable = validity is not None
        if first < 0:
            raise wordings.damaged_column("the message", f"it begins at row {first} of its buffers")
        # Numbers of Python: neither sum can overflow.
        if rows and (first + rows + 1) * (8 if self.large else 4) > self.offsets.shape[0]:
            raise wordings.damaged_column("the message", "its offsets are missing")
        if rows and self.nullable and (first + rows + 7) // 8 > self.validity.shape[0]:
            raise wordings.damaged_column("the message", "it does not say which are null")
        self.first = first if rows else 0
        self.rows = rows  # last: foreign code that finds it before it is complete finds no messages

    cdef bint is_null(self, Py_ssize_t row) noexcept:
        cdef Py_ssize_t at = self.first + row
        return self.nullable and not self.validity[at >> 3] >> (at & 7) & 1

    cdef Py_ssize_t find(self, Py_ssize_t row, const uint8_t **data) except -1:
        """Find a message in the content. Returns its size."""
        cdef const uint8_t *at = &self.offsets[0]
        cdef int32_t[2] short
        cdef int64_t[2] pair
        if self.large:
            memcpy(pair, at + 8 * (self.first + row), 16)
        else:
            memcpy(short, at + 4 * (self.first + row), 8)
            pair[0], pair[1] = short[0], short[1]
        if not 0 <= pair[0] <= pair[1] <= self.content.shape[0]:
            raise wordings.damaged_column("the message", "its offsets do not rise", row)
        data[0] = &self.content[0] + pair[0]
        return <Py_ssize_t> (pair[1] - pair[0])


cdef object bytes_of(object buffer):
    return memoryview(b"" if buffer is None else buffer).cast("B")


cdef int message_read(Decoder decoder, MessageColumn messages, Py_ssize_t row, bint raising) except -2:
    """Read one message. Returns a Known, or BROKEN."""
    cdef const uint8_t *data
    cdef Py_ssize_t size = messages.find(row, &data)
    try:
        return decoder.read(data, data + size, data + size)
    except DecodeError as error:
        if raising:
            error.index = row
            raise
        return BROKEN


def truths(machines, Decoder decoder not None, MessageColumn messages not None, *, bint raising=False) -> bytes:
    """Return what each message is to each machine, by the exact code.

    Args:
        machines: those to run; each reads what the decoder was made for.
        raising: raise the DecodeError of a message, with its row.

    Returns: shape (rows, machines), a byte each: 0 FALSE, 1 TRUE, 2 UNKNOWN, 3 ERR, or UNREAD, ABSENT, INVALID.

    Raises: DecodeError: if *raising*. PropertyTypeError: the column is damaged.
    """
    cdef tuple runners = tuple(machines)
    cdef Py_ssize_t width = len(runners)
    cdef bytes result = PyBytes_FromStringAndSize(NULL, messages.rows * width)
    cdef uint8_t *truth = <uint8_t *> PyBytes_AS_STRING(result)
    cdef Py_ssize_t row, number
    cdef int known, answer
    cdef Machine machine
    cdef Frame *frame
    cdef Pace pace
    decoder.enter()
    try:
        pace_start(&pace)
        for row in range(messages.rows):
            if row >= pace.due:
                pace_look(&pace, row)
            answer = _ABSENT
            if not messages.is_null(row):
                known = message_read(decoder, messages, row, raising)
                if known == FILLED:
                    for number in range(width):
                        machine = runners[number]
                        frame = machine.frame_take()
                        try:
                            truth[number] = <uint8_t> machine.dispatch(
                                frame, <PyObject *> decoder.record, machine.exact
                            )
                        except UndocumentedError:
                            truth[number] = _UNREAD
                        finally:
                            machine.frame_give(frame)
                    truth += width
                    continue
                answer = (
                    _UNREAD if known == BROKEN else _INVALID if known == INVALID_NAME
                    else TRUE if known == IDENTIFIED else FALSE
                )
            memset(truth, answer, width)
            truth += width
    finally:
        decoder.busy = False
    return result


def values(Decoder decoder not None, MessageColumn messages not None, *, bint raising=False) -> list:
    """Return for each name of the decoder the values of all messages.

    Args: those of `truths`.

    Returns: shape (names, rows): Python values of the types of `mqsel.values`; None for what is missing, and for all of
        a message that is NULL, cannot be read, or has a name that is not allowed.

    Raises: as `truths`.
    """
    cdef list columns = [[] for _ in decoder.names]
    cdef tuple nothing = (None,) * len(columns)
    cdef tuple found
    cdef Py_ssize_t row, place
    cdef Pace pace
    decoder.enter()
    try:
        pace_start(&pace)
        for row in range(messages.rows):
            if row >= pace.due:
                pace_look(&pace, row)
            found = nothing
            if not messages.is_null(row) and message_read(decoder, messages, row, raising) == FILLED:
                found = decoder.record.as_tuple()
            for place in range(len(columns)):
                (<list> columns[place]).append(found[place])
    finally:
        decoder.busy = False
    return columns
