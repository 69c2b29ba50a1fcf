# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Takes files of MQ messages apart: blocks of bytes go in, messages come out, each as it is and as the file has it.

A message of a text is put together here from lines as the tools write them. It answers for what it accepts: any other
message it hands over as it stands, to the reader in Python of that format, which says what is wrong or what it means.
Every read is bounded by the block, every loop by the bytes it consumes. Knows no properties. Follows formats §8.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from mqsel.errors import FileError
from mqsel.files.dumps import STRUC_IDS as _STRUC_IDS
from mqsel.files.dumps import Piece
from mqsel.files.wordings import bad_prefix
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
    MD_ENCODING = 24
    MD_FORMAT = 32

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


cdef inline uint32_t read_u32(const uint8_t *at) noexcept:
    return <uint32_t> at[0] << 24 | <uint32_t> at[1] << 16 | <uint32_t> at[2] << 8 | at[3]


# ---- blocks ------------------------------------------------------------------------------------------------------

cdef class Splitter:
    """Takes a file apart. Read, then take until there is None, and so on until there is nothing to read.

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
        """Give the next message, or an error in its place; None if more has to be read first."""
        cdef int outcome = self.find()
        if outcome == MORE:
            return None
        if outcome == GIVEN:
            given, self.given = self.given, None
            return given
        raw = bytes_of(self.raw, self.raw_stop)
        message = None
        if outcome == MESSAGE:
            message = raw if self.message == self.raw else bytes_of(self.message, self.message + self.size)
        return TUPLE_NEW(Piece, (self.place, raw, message))

    cdef int find(self) except -1:
        """Find the next message. Returns an Outcome."""
        return MORE


# ---- bytes -------------------------------------------------------------------------------------------------------

@cython.final
cdef class Framed(Splitter):
    """Takes messages with their length in front apart, or gives the one that is the file."""

    cdef bint is_begun
    cdef bint is_whole      # the file is one message
    cdef Py_ssize_t passed  # bytes before the rest of the block

    cdef int find(self) except -1:
        cdef Py_ssize_t left = self.limit - self.at
        cdef Py_ssize_t size = 0
        if self.is_over or (left < 4 and not self.is_last):
            return MORE
        if not self.is_begun:
            self.is_begun = True
            self.is_whole = left >= 4 and bytes_of(self.at, self.at + 4) in _STRUC_IDS
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


# ---- texts -------------------------------------------------------------------------------------------------------

cdef class Text(Splitter):
    """What texts have in common: lines, and a message that is put together from them."""

    def __dealloc__(self):
        free(self.made)

    cdef bint begin(self) except -1:
        """Make ready to look at the block. Returns whether there is enough of it."""
        # Data takes no more than its text, but for a line end that the last line may lack.
        cdef Py_ssize_t wanted = self.filled + (self.limit - self.at - self.scanned) + 1
        cdef uint8_t *wider
        if not self.is_begun:
            if self.limit - self.at < 3 and not self.is_last:
                return False
            if self.limit - self.at >= 3 and memcmp(self.at, b"\xEF\xBB\xBF", 3) == 0:
                self.at += 3
            self.is_begun = True
        if self.room >= wanted and self.made != NULL:
            return True
        wanted += wanted >> 2
        wider = <uint8_t *> realloc(self.made, MD_LENGTH + wanted)
        if wider == NULL:
            raise MemoryError
        self.made = wider
        self.room = wanted
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


cdef Py_ssize_t digits_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept:
    """Write the bytes that pairs of hexadecimal digits say, as far as there are such; give how many."""
    cdef uint8_t *begin = to
    # Without, a file of QLOAD takes a fifth more instructions.
    while stop - at >= 16 and digits_16(to, at):
        to += 8
        at += 16
    return to - begin + pairs_read(to, at, stop)


cdef Py_ssize_t pairs_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept:
    """Do what `digits_read` does, for few digits."""
    cdef uint8_t *begin = to
    cdef uint8_t high, low
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


cdef bint field_read(uint8_t *to, const FieldRow *row, const uint8_t *at, const uint8_t *stop) noexcept:
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


cdef FieldRow field_row(object field, str kind):
    """Make the row of a field, of which a text has the value in this kind."""
    cdef FieldRow row
    row.offset, row.length, row.kind = field.offset, field.length, _KINDS[kind]
    row.padding = 0 if field.kind == "MQBYTE" else 0x20
    return row
