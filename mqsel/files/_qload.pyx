# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Takes apart what dmpmqmsg or QLOAD wrote, and puts messages together from its lines.

It answers for messages as the tools write them: any other it hands over as it stands, to `qload`, which says what is
wrong or what it means. Follows formats §8.
"""

cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from mqsel.files._dumps cimport (
    GIVEN, HEAD, MD_LENGTH, MESSAGE, MORE, FieldRow, Text, bytes_of, digits_read, field_read, field_row, is_space,
    skip_space, without_space
)

from mqsel.files.dumps import BLANK as _BLANK
from mqsel.files.wordings import bad_line

cdef enum:
    LONG_FIELD = 1000       # bytes of a line A

cdef uint8_t[MD_LENGTH] BLANK
for _byte in range(MD_LENGTH):
    BLANK[_byte] = _BLANK[_byte]


# A field by its code.
cdef struct CodeRow:
    uint8_t[3] code
    FieldRow field


cdef inline const uint8_t *without_end(const uint8_t *at, const uint8_t *stop) noexcept:
    """Give where a line ends without its line end."""
    while stop > at and ((stop - 1)[0] == c"\n" or (stop - 1)[0] == c"\r"):
        stop -= 1
    return stop


@cython.final
cdef class Qload(Text):
    """Takes apart what dmpmqmsg or QLOAD wrote.

    Args:
        path: of the file.
        most: bytes of a message as a text; what has more is an error.
        fields: for each code the field and the kind of its value.
        read: gives of the text of one message, with comments in front of it, the Piece, or what is wrong with it;
            takes the line with which it begins, the text, and the path.
    """

    cdef object reader
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
            row.field = field_row(field, kind)
            self.row_count += 1

    cdef int find(self) except -1:
        cdef const uint8_t *at
        cdef const uint8_t *stop
        cdef uint8_t kind
        cdef int outcome = MORE
        if not self.begin():
            return MORE
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

    cdef int give_head(self, const uint8_t *stop) noexcept:
        """Give what stands before the first message."""
        self.is_top = False
        self.place = 1
        self.raw = self.at
        self.at = self.raw_stop = stop
        self.scanned = 0
        self.before = -1
        return HEAD

    cdef int give_comments(self, const uint8_t *stop) except -1:
        """Give an error for comments without end."""
        self.given = bad_line(self.path, self.lines, f"comments of more than {self.most:,} bytes")
        self.at = stop
        self.scanned = 0
        self.before = -1
        return GIVEN

    cdef int drop(self, const uint8_t *at) except -1:
        """Give an error for a message without end, of which lines up to *at* were read; its others mean nothing."""
        self.given = self.reader(self.place, bytes_of(self.at, at), self.path)
        self.is_dropped = self.is_odd = True
        self.at = at
        self.scanned = 0
        return GIVEN

    cdef int finish(self, const uint8_t *stop, const uint8_t *at) except -1:
        """Give the message, which ends at *stop*; lines up to *at* were looked at. MORE if it was given already."""
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

    cdef const uint8_t *take_digits(self, const uint8_t *at) noexcept:
        """Take a line X of nothing but digits. Returns its end, or NULL if it is another, or not all there."""
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
        """Take a line. Returns whether it could be read."""
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
        """Take what stands behind an X and a blank: digits, and a column of characters behind them."""
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
        """Take what stands behind an S."""
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
        """Take a line A, which ends at *end* without its line end."""
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
                return not is_cut and (end - at <= 6 or field_read(self.mqmd, &row.field, at + 6, end))
        return False
