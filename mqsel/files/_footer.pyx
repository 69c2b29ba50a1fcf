# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads the footer of a Parquet file: for each piece its place, its encodings, its least and greatest value.

pyarrow 26 ends the process where a type or statistics of a piece are damaged, and takes 3.2 us a piece instead of 0.4;
here every read is bounded by the footer, and every loop by the bytes it consumes. Knows Thrift's compact protocol and
the numbers of fields; no file. Follows the documents *Thrift compact protocol encoding* and *parquet.thrift* of the
Parquet format.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint64_t

from typing import NamedTuple

cdef enum:
    # Types of the compact protocol.
    TRUE = 1
    FALSE = 2
    BYTE = 3
    INT64 = 6                   # 4 to 6: integers, alike
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    MAP = 11
    STRUCT = 12
    # A level for each structure in a structure; the format has five.
    DEEPEST = 32
    # Encodings of pages whose values are numbers of a dictionary's.
    PLAIN_DICTIONARY = 2
    RLE_DICTIONARY = 8
    DICTIONARY_PAGE = 2


class Chunk(NamedTuple):
    """One column of one row group.

    Attributes:
        values: how many it has, nulls included.
        nulls: how many of them are null; -1: unknown.
        low, high: nothing in it is less, or greater, each as the format writes one value; None: unknown.
        is_dictionary: whether all its values are numbers of a dictionary's.
    """

    values: int
    nulls: int
    low: bytes | None
    high: bytes | None
    is_dictionary: bool


cdef struct Cursor:
    const unsigned char *at         # the next byte
    const unsigned char *end        # behind the last
    bint is_broken                  # whether something ran past the end, or was no Thrift


cdef inline uint64_t cursor_varint(Cursor *cursor) noexcept nogil:
    cdef uint64_t found = 0
    cdef int shift = 0
    cdef unsigned char byte
    while cursor.at < cursor.end and shift < 64:
        byte = cursor.at[0]
        cursor.at += 1
        found |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            return found
        shift += 7
    cursor.is_broken = True
    cursor.at = cursor.end
    return 0


cdef inline int64_t cursor_integer(Cursor *cursor) noexcept nogil:
    cdef uint64_t found = cursor_varint(cursor)
    return <int64_t>(found >> 1) ^ -<int64_t>(found & 1)


cdef inline void cursor_pass(Cursor *cursor, uint64_t size) noexcept nogil:
    if size > <uint64_t>(cursor.end - cursor.at):
        cursor.is_broken = True
        cursor.at = cursor.end
    else:
        cursor.at += size


cdef inline unsigned char cursor_byte(Cursor *cursor) noexcept nogil:
    cdef const unsigned char *at = cursor.at
    cursor_pass(cursor, 1)
    return 0 if cursor.is_broken else at[0]


cdef inline int cursor_field(Cursor *cursor, int64_t *number) noexcept nogil:
    """Read the head of a field: give its type, 0 at the end of the structure."""
    cdef unsigned char head = cursor_byte(cursor)
    if head & 0x0F:
        if head >> 4:
            number[0] = (number[0] + (head >> 4)) & 0xFFFF
        else:
            number[0] = cursor_integer(cursor) & 0xFFFF
    return head & 0x0F


cdef inline bint cursor_next(Cursor *cursor, int64_t *number, int *kind) noexcept nogil:
    """Read the head of the next field. Returns whether there is one; there is none in a footer that is broken."""
    kind[0] = cursor_field(cursor, number)
    return kind[0] != 0 and not cursor.is_broken


cdef inline uint64_t cursor_list(Cursor *cursor, int *kind) noexcept nogil:
    """Read the head of a list: give how many it has."""
    cdef unsigned char head = cursor_byte(cursor)
    kind[0] = head & 0x0F
    return head >> 4 if head >> 4 < 15 else cursor_varint(cursor)


cdef void cursor_skip(Cursor *cursor, int kind, int depth) noexcept nogil:
    """Pass a value."""
    cdef int64_t number = 0
    cdef uint64_t count
    cdef int inner
    if kind == TRUE or kind == FALSE:
        return
    if kind == BYTE:
        cursor_pass(cursor, 1)
    elif kind <= INT64:
        cursor_varint(cursor)
    elif kind == DOUBLE:
        cursor_pass(cursor, 8)
    elif kind == BINARY:
        cursor_pass(cursor, cursor_varint(cursor))
    elif depth == DEEPEST or kind > STRUCT or kind == MAP:  # the format has no map
        cursor.is_broken = True
        cursor.at = cursor.end
    elif kind == STRUCT:
        while cursor_next(cursor, &number, &inner):
            cursor_skip(cursor, inner, depth + 1)
    else:
        count = cursor_list(cursor, &inner)
        while count and not cursor.is_broken:
            cursor_skip(cursor, BYTE if inner <= FALSE else inner, depth + 1)
            count -= 1


cdef object cursor_bytes(Cursor *cursor):
    cdef uint64_t size = cursor_varint(cursor)
    cdef const unsigned char *at = cursor.at
    cursor_pass(cursor, size)
    return None if cursor.is_broken else PyBytes_FromStringAndSize(<const char *>at, size)


cdef tuple _statistics(Cursor *cursor):
    """Read a Statistics: the number of nulls, the least and the greatest value."""
    cdef int64_t number = 0, nulls = -1
    cdef int kind
    low = high = None
    while cursor_next(cursor, &number, &kind):
        if number == 3 and kind == INT64:
            nulls = cursor_integer(cursor)
        elif number == 5 and kind == BINARY:
            high = cursor_bytes(cursor)
        elif number == 6 and kind == BINARY:
            low = cursor_bytes(cursor)
        else:  # 1 and 2 are older extremes, in an order that was never written down
            cursor_skip(cursor, kind, 0)
    return nulls, low, high


cdef bint _all_are_numbers(Cursor *cursor) noexcept nogil:
    """Read a list of PageEncodingStats: whether every page of values is one of numbers of a dictionary's."""
    cdef int64_t number, page, encoding
    cdef int inner, kind
    cdef uint64_t count = cursor_list(cursor, &inner)
    cdef bint found = count > 0
    if inner != STRUCT:
        cursor.is_broken = True
    while count and not cursor.is_broken:
        number = 0
        page = encoding = -1
        while cursor_next(cursor, &number, &kind):
            if number == 1 and kind <= INT64:
                page = cursor_integer(cursor)
            elif number == 2 and kind <= INT64:
                encoding = cursor_integer(cursor)
            else:
                cursor_skip(cursor, kind, 0)
        if page != DICTIONARY_PAGE and encoding != PLAIN_DICTIONARY and encoding != RLE_DICTIONARY:
            found = False
        count -= 1
    return found


cdef object _column(Cursor *cursor):
    """Read a ColumnMetaData."""
    cdef int64_t number = 0, values = -1
    cdef bint is_dictionary = False
    cdef int kind
    cdef tuple found = (-1, None, None)
    while cursor_next(cursor, &number, &kind):
        if number == 5 and kind == INT64:
            values = cursor_integer(cursor)
        elif number == 12 and kind == STRUCT:
            found = _statistics(cursor)
        elif number == 13 and kind == LIST:
            is_dictionary = _all_are_numbers(cursor)
        else:
            cursor_skip(cursor, kind, 0)
    return Chunk(values, found[0], found[1], found[2], is_dictionary)


cdef list _columns(Cursor *cursor, set wanted):
    """Read the list of ColumnChunk of a row group."""
    cdef int64_t number
    cdef int inner, kind
    cdef uint64_t place = 0, count = cursor_list(cursor, &inner)
    cdef list found = []
    if inner != STRUCT:
        cursor.is_broken = True
    while place < count and not cursor.is_broken:
        chunk = None
        if place not in wanted:
            cursor_skip(cursor, STRUCT, 0)
        else:
            number = 0
            while cursor_next(cursor, &number, &kind):
                if number == 3 and kind == STRUCT:
                    chunk = _column(cursor)
                else:
                    cursor_skip(cursor, kind, 0)
        found.append(chunk)
        place += 1
    return found


def chunks(bytes footer not None, places):
    """Read what a footer says of some columns.

    Args:
        footer: what stands between the last page and the length at the end of the file.
        places: of the columns, among those that hold values.

    Returns: for each row group a list with, at each of the places, its Chunk; None elsewhere, and where there is none.
        None for a footer that is none.
    """
    cdef Cursor cursor
    cdef int64_t number = 0, inner_number
    cdef int kind, inner
    cdef uint64_t count
    cdef set wanted = set(places)
    cdef list found = [], group
    cursor.at = <const unsigned char *>PyBytes_AS_STRING(footer)
    cursor.end = cursor.at + PyBytes_GET_SIZE(footer)
    cursor.is_broken = False
    while cursor_next(&cursor, &number, &kind):
        if number == 4 and kind == LIST:
            count = cursor_list(&cursor, &inner)
            if inner != STRUCT:
                return None
            while count and not cursor.is_broken:
                group = []
                inner_number = 0
                while cursor_next(&cursor, &inner_number, &kind):
                    if inner_number == 1 and kind == LIST:
                        group = _columns(&cursor, wanted)
                    else:
                        cursor_skip(&cursor, kind, 0)
                found.append(group)
                count -= 1
        else:
            cursor_skip(&cursor, kind, 0)
    return None if cursor.is_broken else found
