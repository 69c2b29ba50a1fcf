# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads of Parquet what pyarrow does not give: what the footer says of the pieces, and some values of a piece alone.

pyarrow 26 ends the process where a type or statistics of a piece are damaged, and it makes every value of a piece: what
is taken of a hundred costs half of that here, and that half is unpacking. Every read is bounded by the bytes that are
there, every loop by those it consumes. Knows Thrift's compact protocol, the numbers of fields and the commonest pages;
no file. Follows the documents *Thrift compact protocol encoding*, *parquet.thrift* and *Encodings* of the format.

Longer than 500 lines because footer and pages are read by one cursor.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

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
    # Encodings: of values as they are, of levels, and of pages whose values are numbers of a dictionary's.
    PLAIN = 0
    PLAIN_DICTIONARY = 2
    RLE = 3
    RLE_DICTIONARY = 8
    # Kinds of pages; another kind of those with values is not read here.
    DATA_PAGE = 0
    DICTIONARY_PAGE = 2


class Chunk(NamedTuple):
    """One column of one row group.

    Attributes:
        values: how many it has, nulls included.
        nulls: how many of them are null; -1: unknown.
        low, high: nothing in it is less, or greater, each as the format writes one value; None: unknown.
        is_dictionary: whether all its values are numbers of a dictionary's.
        codec: the number of what its pages are packed with.
        start: the first byte of its first page in the file.
        size: how many bytes its pages have, as they lie there.
    """

    values: int
    nulls: int
    low: bytes | None
    high: bytes | None
    is_dictionary: bool
    codec: int
    start: int
    size: int


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
        inner = cursor_field(cursor, &number)
        while inner and not cursor.is_broken:
            cursor_skip(cursor, inner, depth + 1)
            inner = cursor_field(cursor, &number)
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
    cdef int kind = cursor_field(cursor, &number)
    low = high = None
    while kind and not cursor.is_broken:
        if number == 3 and kind == INT64:
            nulls = cursor_integer(cursor)
        elif number == 5 and kind == BINARY:
            high = cursor_bytes(cursor)
        elif number == 6 and kind == BINARY:
            low = cursor_bytes(cursor)
        else:  # 1 and 2 are older extremes, in an order that was never written down
            cursor_skip(cursor, kind, 0)
        kind = cursor_field(cursor, &number)
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
        kind = cursor_field(cursor, &number)
        while kind and not cursor.is_broken:
            if number == 1 and BYTE < kind <= INT64:
                page = cursor_integer(cursor)
            elif number == 2 and BYTE < kind <= INT64:
                encoding = cursor_integer(cursor)
            else:
                cursor_skip(cursor, kind, 0)
            kind = cursor_field(cursor, &number)
        if page != DICTIONARY_PAGE and encoding != PLAIN_DICTIONARY and encoding != RLE_DICTIONARY:
            found = False
        count -= 1
    return found


cdef object _column(Cursor *cursor):
    """Read a ColumnMetaData."""
    cdef int64_t number = 0, values = -1, codec = -1, size = 0, data = 0, dictionary = 0
    cdef bint is_dictionary = False
    cdef int kind = cursor_field(cursor, &number)
    cdef tuple found = (-1, None, None)
    while kind and not cursor.is_broken:
        if number == 4 and BYTE < kind <= INT64:
            codec = cursor_integer(cursor)
        elif number == 5 and kind == INT64:
            values = cursor_integer(cursor)
        elif number == 7 and kind == INT64:
            size = cursor_integer(cursor)
        elif number == 9 and kind == INT64:
            data = cursor_integer(cursor)
        elif number == 11 and kind == INT64:
            dictionary = cursor_integer(cursor)
        elif number == 12 and kind == STRUCT:
            found = _statistics(cursor)
        elif number == 13 and kind == LIST:
            is_dictionary = _all_are_numbers(cursor)
        else:
            cursor_skip(cursor, kind, 0)
        kind = cursor_field(cursor, &number)
    cdef int64_t start = dictionary if 0 < dictionary < data else data
    return Chunk(values, found[0], found[1], found[2], is_dictionary, codec, start, size)


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
            kind = cursor_field(cursor, &number)
            while kind and not cursor.is_broken:
                if number == 3 and kind == STRUCT:
                    chunk = _column(cursor)
                else:
                    cursor_skip(cursor, kind, 0)
                kind = cursor_field(cursor, &number)
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
    kind = cursor_field(&cursor, &number)
    while kind and not cursor.is_broken:
        if number == 4 and kind == LIST:
            count = cursor_list(&cursor, &inner)
            if inner != STRUCT:
                return None
            while count and not cursor.is_broken:
                group = []
                inner_number = 0
                kind = cursor_field(&cursor, &inner_number)
                while kind and not cursor.is_broken:
                    if inner_number == 1 and kind == LIST:
                        group = _columns(&cursor, wanted)
                    else:
                        cursor_skip(&cursor, kind, 0)
                    kind = cursor_field(&cursor, &inner_number)
                found.append(group)
                count -= 1
        else:
            cursor_skip(&cursor, kind, 0)
        kind = cursor_field(&cursor, &number)
    return None if cursor.is_broken else found


# ---- pages -----------------------------------------------------------------------------------------------------------


class Page(NamedTuple):
    """What stands before a page.

    Attributes:
        kind: of the page.
        unpacked, packed: how many bytes it has, unpacked and as they lie in the file.
        values: how many it has, nulls included.
        encoding: of the values.
        levels: the encoding of what says which are null.
        size: how many bytes this header has.
    """

    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int
    levels: int
    size: int


def page_at(const unsigned char[::1] data not None, int64_t start):
    """Read the header of a page; None if none is there."""
    if not 0 <= start < data.shape[0]:
        return None
    cdef Cursor cursor
    cdef int64_t number = 0, inner_number
    cdef int64_t found[7]
    cdef int kind, inner
    cursor.at = &data[0] + start
    cursor.end = &data[0] + data.shape[0]
    cursor.is_broken = False
    for kind in range(7):
        found[kind] = -1
    kind = cursor_field(&cursor, &number)
    while kind and not cursor.is_broken:
        if number <= 3 and BYTE < kind <= INT64:
            found[number - 1 if number else 6] = cursor_integer(&cursor)
        elif (number == 5 or number == 7) and kind == STRUCT:  # DataPageHeader, DictionaryPageHeader
            inner_number = 0
            inner = cursor_field(&cursor, &inner_number)
            while inner and not cursor.is_broken:
                if 0 < inner_number <= 3 and BYTE < inner <= INT64:
                    found[2 + inner_number] = cursor_integer(&cursor)
                else:
                    cursor_skip(&cursor, inner, 0)
                inner = cursor_field(&cursor, &inner_number)
        else:
            cursor_skip(&cursor, kind, 0)
        kind = cursor_field(&cursor, &number)
    if cursor.is_broken or found[1] < 0 or not 0 <= found[2] <= cursor.end - cursor.at or found[3] < 0:
        return None
    return Page(found[0], found[1], found[2], found[3], found[4], found[5], cursor.at - (&data[0] + start))


cdef struct Runs:
    # Numbers of one width, packed or repeated: what Parquet calls the RLE/bit-packing hybrid.
    Cursor cursor               # at the next run
    int width                   # bits of a number; at most 32
    uint64_t left               # numbers of this run that are still to come
    const unsigned char *bits   # the packed numbers of this run; NULL if it repeats one
    uint64_t at                 # how many of the packed ones are gone
    uint32_t same               # what this run repeats


cdef inline bint runs_next(Runs *runs) noexcept nogil:
    """Go to the next run: whether there is one that is whole."""
    cdef uint64_t head = cursor_varint(&runs.cursor)
    cdef uint64_t size
    cdef int byte
    if runs.cursor.is_broken:
        return False
    if head & 1:
        # Eight numbers take as many bytes as one has bits. Bytes that the last run does not need may be left away.
        size = <uint64_t>(runs.cursor.end - runs.cursor.at)
        if head >> 1 > size:
            return False
        runs.left = (head >> 1) * 8
        runs.bits = runs.cursor.at
        runs.at = 0
        if (head >> 1) * runs.width > size:
            runs.left = size * 8 // runs.width
            runs.cursor.at = runs.cursor.end
        else:
            runs.cursor.at += (head >> 1) * runs.width
        return runs.left > 0
    runs.left = head >> 1
    runs.bits = NULL
    runs.same = 0
    for byte in range((runs.width + 7) // 8):
        runs.same |= <uint32_t>cursor_byte(&runs.cursor) << (8 * byte)
    return runs.left > 0 and not runs.cursor.is_broken


cdef inline uint32_t runs_peek(const Runs *runs, uint64_t ahead) noexcept nogil:
    """Give a number of this run; it has so many."""
    cdef uint64_t bit = (runs.at + ahead) * runs.width
    cdef const unsigned char *at
    cdef uint64_t found = 0
    cdef Py_ssize_t size
    if runs.bits is NULL:
        return runs.same
    at = runs.bits + (bit >> 3)
    size = min(runs.cursor.end - at, 8)
    memcpy(&found, at, size)  # little-endian machines only: see `is_read`
    return <uint32_t>((found >> (bit & 7)) & ((<uint64_t>1 << runs.width) - 1))


cdef inline void runs_pass(Runs *runs, uint64_t count) noexcept nogil:
    """Pass numbers of this run; it has so many."""
    runs.left -= count
    runs.at += count


@cython.final
cdef class Picked:
    """The values of some rows of a piece, a page at a time: those of whole columns that have no lists.

    Attributes:
        width: bytes of a value; 0 where each has its own length.
        data: the values, one behind the other; a NULL has its width.
        ends: where each ends, int64, behind the 0 with which the first begins.
        valid: for each row a bit.
        rows: how many there are.
    """

    cdef readonly int width
    cdef readonly bytearray data, ends, valid
    cdef readonly Py_ssize_t rows
    cdef bint is_nullable
    cdef Py_ssize_t size                    # of data, which may be longer
    cdef const unsigned char[::1] dictionary
    cdef const unsigned char *entries       # its bytes
    cdef Py_ssize_t entries_size
    cdef bytearray places                   # int64: where each entry with a length of its own begins, and the last ends
    cdef Py_ssize_t entry_count

    def __init__(self, int width, bint is_nullable, Py_ssize_t rows):
        self.width, self.is_nullable = width, is_nullable
        self.data = bytearray(rows * max(width, 16))
        self.ends = bytearray(8 * (rows + 1) if not width else 0)
        self.valid = bytearray((rows + 7) // 8)

    def learn(self, data, Py_ssize_t count):
        """Take a dictionary of so many values, as they are: whether it has them."""
        cdef Py_ssize_t place, at = 0
        cdef uint32_t length
        cdef int64_t *places
        self.dictionary = data
        self.entries_size, self.entry_count = self.dictionary.shape[0], 0
        self.entries = &self.dictionary[0] if self.entries_size else NULL
        if count < 0:
            return False
        if self.width:
            if count > self.entries_size // self.width:
                return False
        else:
            if count > self.entries_size // 4:
                return False
            self.places = bytearray(8 * (count + 1))
            places = <int64_t *>PyByteArray_AS_STRING(self.places)
            for place in range(count):
                if self.entries_size - at < 4:
                    return False
                memcpy(&length, self.entries + at, 4)
                if length > <uint64_t>(self.entries_size - at - 4):
                    return False
                places[place] = at
                at += 4 + length
            places[count] = at
        self.entry_count = count
        return True

    cdef bint _add(self, const unsigned char *value, Py_ssize_t length) except -1:
        """Take a value, or a NULL."""
        cdef char *data
        if self.size + length > PyByteArray_GET_SIZE(self.data):
            PyByteArray_Resize(self.data, 2 * (self.size + length))
        data = PyByteArray_AS_STRING(self.data) + self.size
        if value is NULL:
            memset(data, 0, length)
        else:
            memcpy(data, value, length)
            PyByteArray_AS_STRING(self.valid)[self.rows >> 3] |= <char>(1 << (self.rows & 7))
        self.size += length
        self.rows += 1
        if not self.width:
            (<int64_t *>PyByteArray_AS_STRING(self.ends))[self.rows] = self.size
        return True

    def take(self, const unsigned char[::1] data not None, page, const int64_t[::1] wanted not None, int64_t start):
        """Take of a page the rows that are wanted.

        Args:
            data: the page, unpacked.
            page: its header.
            wanted: all rows that are, rising.
            start: the first row of the page.

        Returns: whether the page is of a kind that is read here, and whole.
        """
        cdef int64_t values = page.values, encoding = page.encoding
        cdef int64_t row = 0, next_row, count = wanted.shape[0]
        cdef int64_t passed = 0         # values that are gone
        cdef uint64_t step
        cdef uint32_t length, place
        cdef bint is_plain = encoding == PLAIN
        cdef const unsigned char *at
        cdef const unsigned char *end
        cdef Runs levels, numbers
        cdef bint is_here
        if data.shape[0] == 0 or not (is_plain or encoding == PLAIN_DICTIONARY or encoding == RLE_DICTIONARY):
            return False
        at, end = &data[0], &data[0] + data.shape[0]
        memset(&levels, 0, sizeof(Runs))
        memset(&numbers, 0, sizeof(Runs))
        if self.is_nullable:
            if page.levels != RLE or end - at < 4:
                return False
            memcpy(&length, at, 4)
            if length > <uint64_t>(end - at - 4):
                return False
            levels.cursor.at, levels.cursor.end = at + 4, at + 4 + length
            levels.width = 1
            at += 4 + length
        if not is_plain and at < end:  # a page of NULLs alone may have no numbers
            if at[0] > 32:
                return False
            numbers.width = at[0]
            numbers.cursor.at, numbers.cursor.end = at + 1, end
        while self.rows < count and wanted[self.rows] < start + values:
            next_row = wanted[self.rows] - start
            if next_row < row:
                return False
            # How many values there are before the row, and whether there is one in it.
            is_here = True
            step = next_row - row
            if self.is_nullable:
                step = 0
                while row <= next_row:
                    if levels.left == 0 and not runs_next(&levels):
                        return False
                    is_here = runs_peek(&levels, 0) != 0
                    runs_pass(&levels, 1)
                    if is_here and row < next_row:
                        step += 1
                    row += 1
            else:
                row = next_row + 1
            passed += step
            if is_plain and self.width:
                if not is_here:
                    self._add(NULL, self.width)
                    continue
                if passed >= (end - at) // self.width:
                    return False
                self._add(at + passed * self.width, self.width)
                passed += 1
            elif is_plain:
                while True:
                    if step == 0 and not is_here:
                        self._add(NULL, 0)
                        break
                    if end - at < 4:
                        return False
                    memcpy(&length, at, 4)
                    if length > <uint64_t>(end - at - 4):
                        return False
                    if step == 0:
                        self._add(at + 4, length)
                        at += 4 + length
                        break
                    at += 4 + length
                    step -= 1
            else:
                while step > 0:
                    if numbers.left == 0 and not runs_next(&numbers):
                        return False
                    length = <uint32_t>min(numbers.left, step, <uint64_t>0x7FFFFFFF)
                    runs_pass(&numbers, length)
                    step -= length
                if not is_here:
                    self._add(NULL, self.width)
                    continue
                if numbers.left == 0 and not runs_next(&numbers):
                    return False
                place = runs_peek(&numbers, 0)
                runs_pass(&numbers, 1)
                if place >= <uint64_t>self.entry_count:
                    return False
                if self.width:
                    self._add(self.entries + <Py_ssize_t>place * self.width, self.width)
                else:
                    self._add_entry(place)
        return True

    cdef bint _add_entry(self, Py_ssize_t place) except -1:
        cdef const int64_t *places = <const int64_t *>PyByteArray_AS_STRING(self.places)
        cdef int64_t start = places[place] + 4
        return self._add(self.entries + start, places[place + 1] - start)
