# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Takes apart what amqsbcg printed, and puts messages together from its lines.

It answers for messages as the program prints them, without properties or a dead-letter header: of any other it hands
the lines over to `amqsbcg`, which says what is wrong or what they mean. Follows the same sources.
"""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, strlen

from mqsel.files._dumps cimport (
    GIVEN, MD_LENGTH, MD_LENGTH_1, MESSAGE, MORE, MQBYTE, MQCHAR, FieldRow, Text, bytes_of, digit_of, field_read,
    field_row, is_space, number_read, pairs_read, skip_space, without_space
)

cdef enum:
    LONG_LINE = 1 << 20     # bytes that count as a line, at most
    LONG_TEXT = 1 << 12     # of a line with a field

# A field as amqsbcg names it.
cdef struct NamedRow:
    const char *name
    Py_ssize_t length
    FieldRow field
    int second          # the one that may stand behind it, on its line; or -1

cdef enum Section:
    NO_SECTION
    DESCRIPTOR
    DEAD_LETTER
    PROPERTIES
    DATA

cdef enum State:
    BETWEEN             # messages
    INSIDE
    COMPLETE            # all of the dump is there; but more of it may follow
    SLOW                # the lines of this message are for the reader in Python

cdef (const char *)[5] SECTIONS = [NULL, "Message descriptor", "Dead Letter Header", "Message properties", "Message"]


cdef Section section_read(const uint8_t *at, const uint8_t *stop) noexcept:
    """Tell which section begins with a line, such as ``****   Message      ****``."""
    cdef const uint8_t *begin
    cdef int section
    cdef Py_ssize_t length
    at = skip_space(at, stop)
    if at == stop or at[0] != c"*":
        return NO_SECTION
    while at < stop and at[0] == c"*":
        at += 1
    while at < stop and at[0] == c" ":
        at += 1
    for section in range(1, 5):
        length = strlen(SECTIONS[section])
        if stop - at < length or memcmp(at, SECTIONS[section], length) != 0:
            continue
        begin = at + length
        while begin < stop and begin[0] == c" ":
            begin += 1
        if begin == stop or begin[0] != c"*":
            continue
        while begin < stop and begin[0] == c"*":
            begin += 1
        if skip_space(begin, stop) == stop:
            return <Section> section
    return NO_SECTION


cdef const uint8_t *address_read(const uint8_t *at, const uint8_t *stop, uint64_t *address) noexcept:
    """Read what a line of the dump begins with; give the place behind its colon, or NULL if it is none."""
    cdef const uint8_t *begin
    address[0] = 0
    while at < stop and (at[0] == c" " or at[0] == c"\t"):
        at += 1
    begin = at
    while at < stop and digit_of(at[0]) < 16 and at - begin < 16:
        address[0] = address[0] << 4 | digit_of(at[0])
        at += 1
    return at + 1 if at - begin >= 8 and at < stop and at[0] == c":" else NULL


cdef inline const uint8_t *word_read(const uint8_t *at, const uint8_t *stop, const char *word) noexcept:
    """Give the place behind a word; NULL if it is not there, or at is NULL."""
    cdef Py_ssize_t length = strlen(word)
    return at + length if at != NULL and stop - at >= length and memcmp(at, word, length) == 0 else NULL


cdef const uint8_t *count_read(const uint8_t *at, const uint8_t *stop, int64_t *number) noexcept:
    """Read up to ten digits; give the place behind them, or NULL if there are none."""
    cdef const uint8_t *begin = at
    number[0] = 0
    while at != NULL and at < stop and c"0" <= at[0] <= c"9" and at - begin < 10:
        number[0] = number[0] * 10 + (at[0] - c"0")
        at += 1
    return at if at != begin else NULL


cdef bint value_read(uint8_t *to, const FieldRow *row, const uint8_t *at, const uint8_t *stop) noexcept:
    """Write a field from its value as amqsbcg prints it. Returns whether it could be read."""
    cdef const uint8_t *end
    if row.kind == MQCHAR:
        return stop - at >= 2 and at[0] == c"'" and (stop - 1)[0] == c"'" and field_read(to, row, at + 1, stop - 1)
    if row.kind == MQBYTE:
        if stop - at < 3 or at[0] != c"X" or at[1] != c"'" or (stop - 1)[0] != c"'":
            return False
        if is_space(at[2]) or is_space((stop - 2)[0]):
            return False
        return field_read(to, row, at + 2, stop - 1)
    if at[0] == c"'":
        at += 1
    end = at
    while end < stop and (c"0" <= end[0] <= c"9" or end[0] == c"-" or end[0] == c"+"):
        end += 1
    if not number_read(to + row.offset, at, end):
        return False
    if end < stop and end[0] == c"'":
        end += 1
    end = skip_space(end, stop)
    return end == stop or (end[0] == c"[" and (stop - 1)[0] == c"]")  # the name of the number


@cython.final
cdef class Amqsbcg(Text):
    """Takes apart what amqsbcg printed.

    Args:
        path: of the file.
        most: bytes of a message as a text.
        most_data: bytes of its data.
        between: bytes kept of what stands between two messages.
        fields: of an MQMD, by their names.
        second: for a field the one that stands behind it on its line.
        begin: makes the reader in Python of a message, of the path, the line with which the message begins, and its
            text so far.
        nothing: gives what is wrong with a file in which no message begins, if anything is; takes the path and the end
            of the file.
    """

    cdef Py_ssize_t most_data
    cdef Py_ssize_t between
    cdef object make_slow
    cdef object nothing
    cdef object slow            # the reader of this message, or None
    cdef list names             # what the rows point into
    cdef NamedRow[40] rows
    cdef int row_count
    cdef int row                # the one that is expected next
    cdef uint64_t needed_1      # a bit for each field of version 1
    cdef uint64_t needed        # of version 2
    cdef uint64_t seen
    cdef State state
    cdef Section section
    cdef int pending            # the field whose value stands on the next line, or -1
    cdef bint is_nothing        # no message has begun
    cdef int64_t length         # of the data; or -1
    cdef Py_ssize_t head        # bytes up to the end of the first line, from the rest of the block
    cdef Py_ssize_t whole       # bytes up to the end of the dump

    def __cinit__(self, path, most, most_data, between, fields, second, begin, nothing):
        cdef NamedRow *row
        cdef int place
        self.most_data = most_data
        self.between = between
        self.make_slow = begin
        self.nothing = nothing
        self.is_nothing = True
        self.names = [name.encode() for name in fields]
        order = [*fields]
        for place, (name, field) in enumerate(fields.items()):
            row = &self.rows[place]
            row.name = self.names[place]
            row.length = len(self.names[place])
            row.field = field_row(field, field.kind)
            row.second = order.index(second[name]) if name in second else -1
            self.needed |= <uint64_t> 1 << place
            if field.offset < MD_LENGTH_1:
                self.needed_1 |= <uint64_t> 1 << place
        self.row_count = len(order)

    cdef int find(self) except -1:
        cdef const uint8_t *at
        cdef const uint8_t *stop
        cdef uint64_t ignored
        cdef Section section
        cdef int outcome = MORE
        if not self.begin():
            return MORE
        at = self.at + self.scanned
        while at < self.limit:
            stop = self.line_end(at, LONG_LINE)
            if stop == NULL:
                self.scanned = at - self.at
                return MORE
            section = section_read(at, stop)
            if section == DESCRIPTOR:
                if self.state != BETWEEN:
                    return self.finish(at)
                self.open_message(stop)
            self.lines += 1
            if section == DESCRIPTOR:
                pass
            elif self.state == BETWEEN:
                self.trim(stop)
            elif self.state == SLOW:
                self.take_slow(at, stop, self.lines)
            elif self.state == COMPLETE:
                if address_read(at, stop, &ignored) != NULL:
                    self.go_slow(stop)
                elif stop - self.at - self.whole > 2 * self.between:
                    return self.finish(stop)
            elif stop - self.at > self.most or not self.take_line(at, stop, section):
                self.go_slow(stop)
            at = stop
        self.scanned = at - self.at
        if not self.is_last:
            return MORE
        if self.state != BETWEEN:
            outcome = self.finish(at)
        elif self.is_nothing:
            self.is_nothing = False
            self.given = self.nothing(self.path, bytes_of(self.at, self.limit))
            outcome = MORE if self.given is None else GIVEN
        self.at = self.limit
        self.scanned = 0
        return outcome

    cdef int open_message(self, const uint8_t *stop) noexcept:
        """Begin a message, whose first line ends at *stop*."""
        self.state = INSIDE
        self.section = DESCRIPTOR
        self.is_nothing = False
        self.place = self.lines + 1
        self.head = stop - self.at
        self.row = 0
        self.seen = 0
        self.filled = 0
        self.pending = self.length = -1
        return 0

    cdef int trim(self, const uint8_t *stop) noexcept:
        """Keep little of what stands between messages, up to *stop*."""
        if stop - self.at > 2 * self.between:
            self.at = stop - self.between
        return 0

    cdef int take_slow(self, const uint8_t *at, const uint8_t *stop, Py_ssize_t number) except -1:
        """Hand a line over, if it is of the message."""
        cdef uint64_t ignored
        if self.slow.is_complete and address_read(at, stop, &ignored) == NULL:
            return self.trim(stop)
        self.slow.take(number, bytes_of(at, stop))
        self.at = stop
        return 0

    cdef int go_slow(self, const uint8_t *limit) except -1:
        """Hand this message over, with its lines so far."""
        cdef const uint8_t *at = self.at + self.head
        cdef const uint8_t *stop
        cdef const uint8_t *end
        cdef Py_ssize_t number = self.place
        self.slow = self.make_slow(self.path, number, bytes_of(self.at, at))
        self.state = SLOW
        self.at = at
        while at < limit:
            stop = at + min(LONG_LINE, limit - at)
            end = <const uint8_t *> memchr(at, c"\n", stop - at)
            if end != NULL:
                stop = end + 1
            number += 1
            self.take_slow(at, stop, number)
            at = stop
        return 0

    cdef int finish(self, const uint8_t *at) except -1:
        """Give the message; lines up to *at* were looked at."""
        cdef uint64_t needed = self.needed_1 if self.mqmd[7] == 1 else self.needed
        if self.state != SLOW and (
            self.state != COMPLETE or self.seen & needed != needed
            or (memcmp(self.mqmd, b"MD  \0\0\0\1", 8) != 0 and memcmp(self.mqmd, b"MD  \0\0\0\2", 8) != 0)
            or not self.compose(True)
        ):
            self.go_slow(at)
        if self.state == SLOW:
            self.state = BETWEEN
            self.given, self.slow = self.slow.piece(), None
            self.scanned = at - self.at
            return GIVEN
        self.state = BETWEEN
        self.raw = self.at
        self.at = self.raw_stop = self.raw + self.whole
        self.trim(at)
        self.scanned = at - self.at
        return MESSAGE

    cdef bint take_line(self, const uint8_t *at, const uint8_t *stop, Section section) noexcept:
        """Take a line. Returns whether it could be read."""
        cdef const uint8_t *begin = skip_space(at, stop)
        cdef const uint8_t *end
        cdef int64_t total
        if begin == stop:
            return True
        if stop - at > LONG_TEXT:
            return False
        if self.length >= 0:
            return self.take_dump(at, stop)
        if section != NO_SECTION:
            self.section = section
            return section != DEAD_LETTER
        end = without_space(begin, stop)
        if self.section == DATA:
            begin = count_read(word_read(begin, end, "length - "), end, &self.length)
            if begin == NULL or self.length > self.most_data:
                return False
            if word_read(begin, end, " of ") != NULL:
                begin = count_read(begin + 4, end, &total)
            return word_read(begin, end, " bytes") == end
        if self.section == PROPERTIES:
            return word_read(begin, end, "None") == end
        return self.take_fields(begin, end)

    cdef bint take_fields(self, const uint8_t *at, const uint8_t *stop) noexcept:
        """Take a line with a field or two, without the space around it."""
        cdef const uint8_t *begin = at
        cdef const uint8_t *end = stop
        cdef NamedRow *second
        cdef int row = self.pending
        cdef int _try
        if row < 0:
            while at < stop and (c"a" <= at[0] | 0x20 <= c"z"):
                at += 1
            end = at
            at = skip_space(at, stop)
            if end == begin or at == stop or at[0] != c":":
                return stop - begin >= 2 and begin[0] == c"*" and begin[1] == c"*"  # a heading
            for _try in range(self.row_count):
                row = self.row
                if self.rows[row].length == end - begin and memcmp(begin, self.rows[row].name, end - begin) == 0:
                    break
                self.row = row + 1 if row + 1 < self.row_count else 0
            else:
                return True  # a field of a later version
            at = skip_space(at + 1, stop)
        end = stop
        if self.rows[row].second >= 0:
            second = &self.rows[self.rows[row].second]
            begin = stop - second.length
            while begin > at:
                if is_space((begin - 1)[0]) and memcmp(begin, second.name, second.length) == 0:
                    end = skip_space(begin + second.length, stop)
                    if end < stop and end[0] == c":":
                        break
                begin -= 1
            if begin <= at:
                return self.put(row, at, stop)
            return self.put(row, at, without_space(at, begin)) and self.put(
                self.rows[row].second, skip_space(end + 1, stop), stop
            )
        return self.put(row, at, stop)

    cdef bint put(self, int row, const uint8_t *at, const uint8_t *stop) noexcept:
        """Set a field."""
        if at == stop:
            self.pending = row
            return True
        self.pending = -1
        self.seen |= <uint64_t> 1 << row
        self.row = row
        return value_read(self.mqmd, &self.rows[row].field, at, stop)

    cdef bint take_dump(self, const uint8_t *at, const uint8_t *stop) noexcept:
        """Take a line of the dump. A character of several bytes may make it longer than 16."""
        cdef uint64_t address
        cdef uint8_t *data = self.made + MD_LENGTH
        cdef Py_ssize_t size
        at = address_read(at, stop, &address)
        if at == NULL:
            if self.length > 0:
                return False
        else:
            if address != <uint64_t> self.filled:
                return False
            while True:
                while at < stop and (at[0] == c" " or at[0] == c"\t"):
                    at += 1
                size = pairs_read(data + self.filled, at, stop)
                if size == 0:
                    break
                self.filled += size
                at += 2 * size
            if at < stop and at[0] != c"'" and skip_space(at, stop) != stop and not is_curly(at, stop):
                return False
            if self.filled > self.length:
                return False
        if self.filled == self.length:
            self.state = COMPLETE
            self.whole = stop - self.at
        return True


cdef inline bint is_curly(const uint8_t *at, const uint8_t *stop) noexcept:
    """Tell whether there is a quote as a word processor makes them."""
    return stop - at >= 3 and at[0] == 0xE2 and at[1] == 0x80 and at[2] & 0xFE == 0x98
