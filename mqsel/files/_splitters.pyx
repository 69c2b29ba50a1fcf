# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Files of MQ messages split into messages: blocks of bytes go in, messages come out, as they are and as in the file.

A message of dmpmqmsg or QLOAD is built here, if it is written as the tools do it; the text of any other is passed to
`qload`, which reads it or reports the error. Files of amqsbcg are only cut into lines here.
Every read is bounded by the block, every loop by the bytes it consumes. Knows no properties. Follows formats §8.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from mqsel.errors import FileError
from mqsel.files.dumps import BLANK as _BLANK
from mqsel.files.dumps import Piece
from mqsel.files.wordings import bad_line, bad_prefix, long_line
from mqsel.formats.mqmd import MQMD as _MQMD

cdef extern from *:
    """
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    /* Writes the eight bytes that 16 hexadecimal digits say, and tells whether that is what they are. */
    static inline int digits_16(unsigned char *to, const unsigned char *at) {
        __m128i text = _mm_loadu_si128((const __m128i *) at);
        __m128i digit = _mm_sub_epi8(text, _mm_set1_epi8('0'));
        __m128i letter = _mm_sub_epi8(_mm_or_si128(text, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
        __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
        __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
        if (_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)) != 0xFFFF) return 0;
        digit = _mm_or_si128(_mm_and_si128(is_digit, digit),
                             _mm_and_si128(is_letter, _mm_add_epi8(letter, _mm_set1_epi8(10))));
        digit = _mm_and_si128(_mm_or_si128(_mm_slli_epi16(digit, 4), _mm_srli_epi16(digit, 8)), _mm_set1_epi16(0xFF));
        _mm_storel_epi64((__m128i *) to, _mm_packus_epi16(digit, digit));
        return 1;
    }
    #else
    #define digits_16(to, at) 0
    #endif
    """
    bint digits_16(uint8_t *to, const uint8_t *at) noexcept nogil

cdef enum:
    BLOCK = 1 << 18         # bytes that are read at once: they stay in the cache while they are looked at
    LOOKED_AT = 1 << 13     # bytes of the beginning that may have been looked at
    BEGINNING = 16          # of these a file shows whether it is one message
    LONG_LINE = 1 << 20     # bytes that count as a line, at most
    LONG_FIELD = 1000       # bytes of a line A
    MD_LENGTH_1 = 324       # bytes of an MQMD
    MD_LENGTH = 364
    MD_ENCODING = 24
    MD_FORMAT = 32

cdef enum FieldKind:
    MQLONG
    MQBYTE
    MQCHAR

_KINDS = {"MQLONG": MQLONG, "MQBYTE": MQBYTE, "MQCHAR": MQCHAR}
cdef object TUPLE_NEW = tuple.__new__   # Piece(…) takes three times as long

cdef uint8_t[256] HEX           # value of a hexadecimal digit, or 16
for _byte in range(256):
    HEX[_byte] = int(chr(_byte), 16) if chr(_byte) in "0123456789abcdefABCDEF" else 16
cdef int[32] LONGS              # where an MQMD has its numbers
cdef int LONG_COUNT = 0
for _field in _MQMD:
    if _field.kind == "MQLONG":
        LONGS[LONG_COUNT] = _field.offset
        LONG_COUNT += 1


cdef uint8_t[MD_LENGTH] BLANK
for _byte in range(MD_LENGTH):
    BLANK[_byte] = _BLANK[_byte]


# A field of the MQMD by its code.
cdef struct CodeRow:
    uint8_t[3] code
    int offset
    int length
    int kind            # of its value
    uint8_t padding     # what is put behind a shorter one


cdef inline bytes bytes_of(const uint8_t *at, const uint8_t *stop):
    return PyBytes_FromStringAndSize(<const char *> at, stop - at)


cdef inline uint32_t read_u32(const uint8_t *at) noexcept:
    return <uint32_t> at[0] << 24 | <uint32_t> at[1] << 16 | <uint32_t> at[2] << 8 | at[3]


# ---- blocks ------------------------------------------------------------------------------------------------------

cdef class Splitter:
    """Splits a file. Read, then take until there is None, and so on until there is nothing to read.

    Attributes:
        path: of the file, for errors.
        is_over: where the next message begins is not known any more.
    """

    def __cinit__(self, str path not None, Py_ssize_t most, *_):
        self.path = path
        self.most = most
        self.block = bytearray(BLOCK)
        self.at = self.limit = &self.block[0]
        self.is_first = True

    def read(self, stream) -> bool:
        """Read what has arrived; say whether there was anything to do: at the end of a file there is, once."""
        cdef Py_ssize_t left = self.limit - self.at
        cdef Py_ssize_t size
        cdef uint8_t[::1] wider
        cdef bytes data
        if self.is_last or self.is_over:
            return False
        if left == self.block.shape[0]:
            wider = bytearray(2 * left)
            memcpy(&wider[0], self.at, left)
            self.block = wider
        else:
            memmove(&self.block[0], self.at, left)
        self.at = self.limit = &self.block[0]
        self.limit += left
        if self.is_first:  # what was looked at already, and no more: readinto1 would wait for that
            data = stream.read1(LOOKED_AT)
            size = min(len(data), LOOKED_AT)
            memcpy(&self.block[0], PyBytes_AS_STRING(data), size)
            self.is_first = False
        else:
            size = min(stream.readinto1(self.block[left:]) or 0, self.block.shape[0] - left)
        self.is_last = size == 0
        self.limit += size
        return True

    def take(self):
        """Return the next message, or an error in its place; None if more has to be read first."""
        cdef int outcome = self.find()
        if outcome == MORE:
            return None
        if outcome == GIVEN:
            given, self.given = self.given, None
            return given
        raw = bytes_of(self.raw, self.raw_stop)
        message = None
        if outcome == MESSAGE:
            message = raw if self.is_whole else bytes_of(self.message, self.message + self.size)
        return TUPLE_NEW(Piece, (self.place, raw, message))

    cdef int find(self) except -1:
        """Find the next message. Returns an Outcome."""
        return MORE


# ---- bytes -------------------------------------------------------------------------------------------------------

@cython.final
cdef class Framed(Splitter):
    """Finds messages with their length in front, or the one that is the file.

    Args:
        path: of the file.
        alone: found in the first bytes of a file that is one message.
    """

    cdef object alone
    cdef bint is_begun
    cdef Py_ssize_t passed  # bytes before the rest of the block

    def __cinit__(self, path, most, alone):
        self.alone = alone

    cdef int find(self) except -1:
        cdef Py_ssize_t left = self.limit - self.at
        cdef Py_ssize_t size = 0
        if self.is_over or (left < (4 if self.is_begun else BEGINNING) and not self.is_last):
            return MORE
        if not self.is_begun:
            self.is_begun = True
            self.is_whole = self.alone.match(bytes_of(self.at, self.at + min(left, BEGINNING))) is not None
        if self.is_whole:
            return self.find_whole(left)
        if left == 0:
            return MORE
        if left >= 4:
            size = read_u32(self.at)
            left -= 4
        if left < size <= self.most and not self.is_last:
            return MORE
        if size > self.most or size > left or self.limit - self.at < 4:
            prefix = bytes_of(self.at, self.at + min(self.limit - self.at, 4))
            left = 0 if size > self.most else left
            self.given = bad_prefix(self.path, self.passed, prefix, left, self.most)
            self.is_over = True
            return GIVEN
        self.place = self.passed
        self.raw = self.at
        self.message = self.at + 4
        self.size = size
        self.at = self.raw_stop = self.message + size
        self.passed += 4 + size
        return MESSAGE

    cdef int find_whole(self, Py_ssize_t left) except -1:
        if left > self.most:
            what = f"the message is longer than {self.most:,} bytes: no queue holds it"
            self.given = FileError(what, path=self.path)
            self.is_over = True
            return GIVEN
        if left == 0 or not self.is_last:
            return MORE
        self.raw = self.message = self.at
        self.size = left
        self.at = self.raw_stop = self.limit
        return MESSAGE


# ---- messages ----------------------------------------------------------------------------------------------------

@cython.final
cdef class Received(Splitter):
    """Hands on messages that were received one by one, as the file of them would have them: with their length in front.

    Their place is their number, from 1.
    """

    cdef list messages      # those to hand on, in the order of their numbers
    cdef Py_ssize_t next
    cdef Py_ssize_t count   # of all so far

    def receive(self, list messages not None) -> None:
        """Hand on these next; the last ones are taken."""
        self.messages = [len(message).to_bytes(4, "big") + message for message in messages]
        self.next = 0

    cdef int find(self) except -1:
        cdef bytes raw
        if self.messages is None or self.next == len(self.messages):
            return MORE
        raw = self.messages[self.next]
        self.next += 1
        self.count += 1
        self.place = self.count
        self.raw = <const uint8_t *> PyBytes_AS_STRING(raw)
        self.raw_stop = self.raw + PyBytes_GET_SIZE(raw)
        self.message = self.raw + 4
        self.size = self.raw_stop - self.message
        return MESSAGE


# ---- lines -------------------------------------------------------------------------------------------------------

@cython.final
cdef class LongLine(Splitter):
    """Stands in a file of lines for a line that is too long: an error, and how many bytes were skipped.

    The error has no place: it is that of a line, which whoever counts lines knows.
    """

    def __cinit__(self, path, most, Py_ssize_t skipped):
        self.given = long_line(most)
        self.skipped = skipped

    cdef int find(self) except -1:
        return MORE if self.given is None else GIVEN


cdef class Lines(Splitter):
    """What texts have in common: lines."""

    cdef bint is_begun          # the mark of UTF-8 was looked for
    cdef Py_ssize_t searched    # bytes of the next line in which no end was found
    cdef Py_ssize_t lines       # how many were looked at

    cdef bint begin(self) noexcept:
        """Pass the mark of UTF-8. Returns whether there is enough of the block."""
        if not self.is_begun:
            if self.limit - self.at < 3 and not self.is_last:
                return False
            if self.limit - self.at >= 3 and memcmp(self.at, b"\xEF\xBB\xBF", 3) == 0:
                self.at += 3
            self.is_begun = True
        return True

    cdef const uint8_t *line_end(self, const uint8_t *at, Py_ssize_t longest) noexcept:
        """Find the end of a line, behind its line feed; NULL if it has not been read yet."""
        cdef const uint8_t *stop = self.limit
        cdef const uint8_t *end
        if stop - at > longest:
            stop = at + longest
        end = <const uint8_t *> memchr(at + self.searched, c"\n", stop - at - self.searched)
        if end != NULL:
            stop = end + 1
        elif stop == self.limit and not self.is_last and stop - at < longest:
            self.searched = stop - at
            return NULL
        self.searched = 0
        return stop


@cython.final
cdef class Printed(Lines):
    """Cuts a text into lines, of which a reader in Python puts messages together.

    Args:
        path: of the file.
        reader: its `take` takes a line and its number, its `end` nothing; both return a Piece or a FileError that is
            complete, or None.
    """

    cdef object reader
    cdef bint is_ended      # the reader was told

    def __cinit__(self, path, most, reader):
        self.reader = reader

    cdef int find(self) except -1:
        cdef const uint8_t *stop
        if not self.begin():
            return MORE
        while self.at < self.limit:
            stop = self.line_end(self.at, LONG_LINE)
            if stop == NULL:
                return MORE
            line = bytes_of(self.at, stop)
            self.lines += 1
            self.at = stop
            self.given = self.reader.take(self.lines, line)
            if self.given is not None:
                return GIVEN
        if not self.is_last or self.is_ended:
            return MORE
        self.is_ended = True
        self.given = self.reader.end()
        return MORE if self.given is None else GIVEN


# ---- QLOAD -------------------------------------------------------------------------------------------------------

cdef inline bint is_space(uint8_t byte) noexcept:
    return byte == c" " or 9 <= byte <= 13


cdef inline const uint8_t *skip_space(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and is_space(at[0]):
        at += 1
    return at


cdef inline const uint8_t *without_space(const uint8_t *at, const uint8_t *stop) noexcept:
    """Return where a text ends without the space behind it."""
    while stop > at and is_space((stop - 1)[0]):
        stop -= 1
    return stop


cdef inline const uint8_t *without_end(const uint8_t *at, const uint8_t *stop) noexcept:
    """Return where a line ends without its line end."""
    while stop > at and ((stop - 1)[0] == c"\n" or (stop - 1)[0] == c"\r"):
        stop -= 1
    return stop


cdef Py_ssize_t digits_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept:
    """Write the bytes that pairs of hexadecimal digits stand for, as far as there are such. Returns how many."""
    cdef uint8_t *begin = to
    cdef uint8_t high, low
    # Without, a file of QLOAD takes a fifth more instructions.
    while stop - at >= 16 and digits_16(to, at):
        to += 8
        at += 16
    while stop - at >= 2:
        high = HEX[at[0]]
        low = HEX[at[1]]
        if (high | low) & 16:
            break
        to[0] = high << 4 | low
        to += 1
        at += 2
    return to - begin


cdef bint number_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept:
    """Write a whole number of 32 bits, big-endian, in up to ten digits. Returns whether it is one."""
    cdef int64_t number = 0
    cdef const uint8_t *digits
    cdef bint is_negative = at < stop and at[0] == c"-"
    if at < stop and (at[0] == c"-" or at[0] == c"+"):
        at += 1
    digits = at
    while at < stop and c"0" <= at[0] <= c"9" and at - digits < 10:
        number = number * 10 + (at[0] - c"0")
        at += 1
    if is_negative:
        number = -number
    if at == digits or at != stop or number != <int32_t> number:
        return False
    to[0], to[1], to[2], to[3] = number >> 24 & 0xFF, number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF
    return True


cdef bint field_read(uint8_t *to, const CodeRow *row, const uint8_t *at, const uint8_t *stop) noexcept:
    """Write a field from how a text has it, as `dumps.field_bytes` does. Returns whether it could be read."""
    cdef const uint8_t *begin
    cdef Py_ssize_t size
    to += row.offset
    if row.kind == MQCHAR:
        if stop - at > row.length:
            stop = without_space(at, stop)
        size = stop - at
        if size > row.length:
            return False
        memcpy(to, at, size)
    else:
        begin = skip_space(at, stop)
        stop = without_space(begin, stop)
        if row.kind == MQLONG:
            return number_read(to, begin, stop)
        size = (stop - begin) >> 1
        if (stop - begin) & 1 or size > row.length or digits_read(to, begin, stop) != size:
            return False
    memset(to + size, row.padding, row.length - size)
    return True


@cython.final
cdef class Qload(Lines):
    """Finds the messages of what dmpmqmsg or QLOAD wrote, and puts them together.

    Args:
        path: of the file.
        most: bytes of a message as a text; what has more is an error.
        fields: for each code the field and the kind of its value.
        read: gives of the text of one message, with comments in front of it, the Piece, or what is wrong with it;
            takes the line with which it begins, the text, and the path.
    """

    cdef object reader
    cdef Py_ssize_t scanned     # bytes of the rest of the block that were looked at: whole lines
    cdef uint8_t *made          # room for an MQMD, and the data
    cdef Py_ssize_t room        # behind the MQMD
    cdef Py_ssize_t filled      # bytes of data
    cdef uint8_t[MD_LENGTH] mqmd    # big-endian
    cdef CodeRow[40] rows
    cdef int row_count
    cdef int row                # the one that is expected next
    cdef bint is_top            # the comments at the top, up to the first blank line behind them, belong to the file
    cdef bint has_comment
    cdef bint is_inside         # the first line of the message was there
    cdef bint is_odd            # it is for the reader in Python
    cdef bint is_dropped        # it is an error already
    cdef bint has_data
    cdef bint has_mqmd
    cdef Py_ssize_t before      # where comments begin that go with what follows, from the rest of the block; or -1

    def __cinit__(self, path, most, fields, read):
        cdef CodeRow *row
        self.reader = read
        self.is_top = True
        self.before = -1
        for code, (field, kind) in fields.items():
            row = &self.rows[self.row_count]
            row.code[0], row.code[1], row.code[2] = code
            row.offset, row.length, row.kind = field.offset, field.length, _KINDS[kind]
            row.padding = 0 if field.kind == "MQBYTE" else 0x20
            self.row_count += 1

    def __dealloc__(self):
        free(self.made)

    cdef int find(self) except -1:
        cdef const uint8_t *at
        cdef const uint8_t *stop
        cdef uint8_t kind
        cdef int outcome = MORE
        if not self.begin():
            return MORE
        self.make_room()
        at = self.at + self.scanned
        while at < self.limit:
            kind = at[0]
            if kind == c"X" and self.is_inside and not self.is_odd:
                stop = self.take_digits(at)
                if stop != NULL:
                    self.lines += 1
                    self.has_data = True
                    self.before = -1
                    at = stop
                    if at - self.at > self.most:
                        return self.drop(at)
                    continue
            stop = self.line_end(at, self.most)
            if stop == NULL:
                self.scanned = at - self.at
                return MORE
            if kind == c"*" or (is_space(kind) and skip_space(at, stop) == stop):
                if self.is_top:
                    self.has_comment |= kind == c"*"
                    if self.has_comment and kind != c"*":
                        self.lines += 1
                        return self.give_head(stop)
                if not self.is_inside:
                    self.before = 0
                elif self.before < 0 and kind == c"*":
                    self.before = at - self.at
                if self.before >= 0 and stop - self.at - self.before > self.most:
                    if self.is_inside:
                        outcome = self.finish(self.at + self.before, at)
                        if outcome != MORE:
                            return outcome
                        continue
                    self.lines += 1
                    return self.give_comments(stop)
                self.lines += 1
                at = stop
                if self.before < 0:
                    if at - self.at > self.most:
                        return self.drop(at)
                    if self.is_dropped:
                        self.at = at
                continue
            if self.is_inside and self.has_data and (kind == c"A" or kind == c"N"):
                outcome = self.finish(self.at + self.before if self.before >= 0 else at, at)
                if outcome != MORE:
                    return outcome
            if not self.is_inside:
                if self.is_top:
                    return self.give_head(at)
                self.is_inside = True
                self.is_odd = kind != c"A" and kind != c"N"
                self.has_data = self.has_mqmd = False
                self.filled = 0
                self.place = self.lines + 1
            self.lines += 1
            self.before = -1
            self.has_data |= kind == c"X" or kind == c"S" or kind == c"T"
            if not self.is_odd and not self.is_dropped:
                self.is_odd = not self.take_line(at, stop)
            at = stop
            if self.is_dropped:
                self.at = at
            elif at - self.at > self.most:
                return self.drop(at)
        self.scanned = at - self.at
        if not self.is_last:
            return MORE
        if self.is_inside:
            outcome = self.finish(self.at + self.before if self.before >= 0 else at, at)
        self.at = self.limit
        self.scanned = 0
        return outcome

    cdef int make_room(self) except -1:
        """Get room for what is left of the block: data is no longer than its text, but for the end of its last line.
        """
        cdef Py_ssize_t wanted = self.filled + (self.limit - self.at - self.scanned) + 1
        cdef uint8_t *wider
        if self.room >= wanted and self.made != NULL:
            return 0
        wanted += wanted >> 2
        wider = <uint8_t *> realloc(self.made, MD_LENGTH + wanted)
        if wider == NULL:
            raise MemoryError
        self.made = wider
        self.room = wanted
        return 0

    cdef int give_head(self, const uint8_t *stop) noexcept:
        """Set what stands before the first message as found."""
        self.is_top = False
        self.place = 1
        self.raw = self.at
        self.at = self.raw_stop = stop
        self.scanned = 0
        self.before = -1
        return HEAD

    cdef int give_comments(self, const uint8_t *stop) except -1:
        """Set an error for comments without end as found."""
        self.given = bad_line(self.path, self.lines, f"comments of more than {self.most:,} bytes")
        self.at = stop
        self.scanned = 0
        self.before = -1
        return GIVEN

    cdef int drop(self, const uint8_t *at) except -1:
        """Set an error as found for a message without end, read up to *at*; its other lines mean nothing."""
        self.given = self.reader(self.place, bytes_of(self.at, at), self.path)
        self.is_dropped = self.is_odd = True
        self.at = at
        self.scanned = 0
        return GIVEN

    cdef int finish(self, const uint8_t *stop, const uint8_t *at) except -1:
        """Set the message, up to *stop*, as found; lines up to *at* were looked at. MORE if it was found before."""
        cdef bint is_odd = self.is_odd or not self.has_data or not self.compose(self.has_mqmd)
        self.raw = self.at
        self.at = self.raw_stop = stop
        self.scanned = at - stop
        self.before = 0 if at > stop else -1
        self.is_inside = False
        if self.is_dropped:
            self.is_dropped = False
            return MORE
        if is_odd:
            self.given = self.reader(self.place, bytes_of(self.raw, stop), self.path)
            return GIVEN
        return MESSAGE

    cdef bint compose(self, bint has_mqmd) noexcept:
        """Put the message together; see `dumps.on_queue`. Returns whether that can be done here."""
        cdef uint8_t *data = self.made + MD_LENGTH
        cdef uint8_t *head
        cdef uint8_t byte
        cdef uint32_t version = read_u32(self.mqmd + 4)
        cdef uint32_t order = read_u32(self.mqmd + MD_ENCODING) & 0xF
        cdef bint has_extension = memcmp(self.mqmd + MD_FORMAT, b"MQHMDE  ", 8) == 0
        cdef bint is_little = order == 2
        cdef int place, step
        self.message = data
        self.size = self.filled
        if not has_mqmd:
            return True
        if version < 1 or version > 2:
            return False
        if has_extension and self.filled >= 4 and memcmp(data, b"\xD4\xC4\xC5\x40", 4) == 0:
            return False
        if order != 1 and order != 2:
            is_little = has_extension and self.filled >= 8 and data[4] != 0
        head = data - (MD_LENGTH_1 if version == 1 else MD_LENGTH)
        memcpy(head, self.mqmd, data - head)
        if is_little:
            for place in range(LONG_COUNT):
                if LONGS[place] < data - head:
                    for step in range(2):
                        byte = head[LONGS[place] + step]
                        head[LONGS[place] + step] = head[LONGS[place] + 3 - step]
                        head[LONGS[place] + 3 - step] = byte
        self.message = head
        self.size += data - head
        return True

    cdef const uint8_t *take_digits(self, const uint8_t *at) noexcept:
        """Read a line X of nothing but digits. Returns its end, or NULL if it is another, or not all there."""
        cdef uint8_t *data = self.made + MD_LENGTH + self.filled
        cdef Py_ssize_t size
        if self.limit - at < 3 or at[1] != c" ":
            return NULL
        size = digits_read(data, at + 2, self.limit)
        at += 2 + 2 * size
        if at < self.limit and at[0] == c"\r":
            at += 1
        if at == self.limit or at[0] != c"\n":
            return NULL
        self.filled += size
        self.searched = 0
        return at + 1

    cdef bint take_line(self, const uint8_t *at, const uint8_t *stop) noexcept:
        """Read a line. Returns whether it could be read."""
        cdef uint8_t *data = self.made + MD_LENGTH + self.filled
        cdef const uint8_t *end
        cdef Py_ssize_t size
        cdef uint8_t kind = at[0]
        if stop - at > 1 and at[1] != c" " and (kind == c"X" or (at[1] != c"\r" and at[1] != c"\n")):
            return False
        if kind == c"A":
            return self.take_field(at, without_end(at, stop), stop)
        if kind == c"X":
            return stop - at > 1 and self.take_column(at + 2, without_space(at + 2, stop))
        if kind == c"T":
            end = without_end(at, stop)
            at += 2
            size = end - at if end > at else 0
            memcpy(data, at, size)
            data[size] = c"\n"
            self.filled += size + 1
            return True
        if kind == c"S":
            at += 1
            while at < stop and (at[0] == c" " or at[0] == c"\r" or at[0] == c"\n"):
                at += 1
            while stop > at and ((stop - 1)[0] == c" " or (stop - 1)[0] == c"\r" or (stop - 1)[0] == c"\n"):
                stop -= 1
            return self.take_string(at, stop)
        return kind == c"N"

    cdef bint take_column(self, const uint8_t *at, const uint8_t *end) noexcept:
        """Read what stands behind an X and a blank: digits, and a column of characters behind them."""
        cdef const uint8_t *begin
        cdef Py_ssize_t size
        while at < end and at[0] == c" ":
            at += 1
        size = digits_read(self.made + MD_LENGTH + self.filled, at, end)
        at += 2 * size
        if at < end:
            # What there is of space stands between them: it was taken off the end.
            begin = at
            while at < end and at[0] == c" ":
                at += 1
            if at == begin or at == end or at[0] != c"<" or end - at < 2 or (end - 1)[0] != c">":
                return False
        self.filled += size
        return True

    cdef bint take_string(self, const uint8_t *at, const uint8_t *end) noexcept:
        """Read what stands behind an S."""
        cdef uint8_t *data = self.made + MD_LENGTH + self.filled
        cdef uint8_t *to = data
        if at == end or at[0] != c'"':
            memcpy(data, at, end - at)
            self.filled += end - at
            return True
        at += 1
        while at < end and at[0] != c'"':
            if at[0] == c"~":
                at += 1
                if at == end or (at[0] != c'"' and at[0] != c"~"):
                    return False
            to[0] = at[0]
            to += 1
            at += 1
        if at == end or skip_space(at + 1, end) != end:
            return False
        self.filled += to - data
        return True

    cdef bint take_field(self, const uint8_t *at, const uint8_t *end, const uint8_t *stop) noexcept:
        """Read a line A, which ends at *end* without its line end."""
        cdef CodeRow *row
        cdef bint is_first = not self.has_mqmd
        cdef bint is_cut
        cdef int _try
        if is_first:
            self.has_mqmd = True
            memcpy(self.mqmd, BLANK, MD_LENGTH)
            self.row = 0
        if stop - at >= LONG_FIELD or end - at < 5 or (end - at > 5 and at[5] != c" "):
            return False
        for _try in range(self.row_count):
            row = &self.rows[self.row]
            self.row += 1
            if self.row == self.row_count:
                self.row = 0
            if row.code[0] == at[2] and row.code[1] == at[3] and row.code[2] == at[4]:
                # Fields that begin behind the first one may be the end of a message that was cut.
                is_cut = is_first and row != self.rows
                return not is_cut and (end - at <= 6 or field_read(self.mqmd, row, at + 6, end))
        return False
