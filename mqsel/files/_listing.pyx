# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Properties as `inspect` prints them: the loop over lines of JSON, and over the rows of any message, compiled.

A plain value of a line is copied as it stands. One that is rare is read by `jsonl`, and written by `listing`; so is a
line whose keys have escapes or stand there twice, and one that is broken.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp, memset, strlen

from mqsel.files._text cimport Text, text_put
from mqsel.formats._json cimport (
    KEYS, JSONDecoder, Walk, is_new, member_next, pass_blanks, pass_string, pass_value, walk_begin
)
from mqsel.machine._values cimport BOOLEAN, BYTES, FLOAT32, NULL_VALUE, STRING, Value

from mqsel.errors import cells
from mqsel.files.listing import SHOWN as _SHOWN
from mqsel.files.listing import TITLES as _TITLES
from mqsel.files.listing import ending, source_of, value_in_json, written
from mqsel.formats.inspection import Row
from mqsel.formats.jsonl import INSPECTED as _INSPECTED
from mqsel.formats.jsonl import property_of
from mqsel.values import TYPE_NAMES as _TYPE_NAMES

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    str PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    bint PyUnicode_IS_ASCII(object text)
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1
    char *PyOS_double_to_string(double value, char code, int precision, int flags, int *kind) except NULL
    int Py_DTSF_ADD_DOT_0

ctypedef const char *Literal

cdef enum:
    COLUMNS = 4         # name, type, value, source
    TYPES = 11          # bits of an MQTYPE

cdef bytes INSPECTED_KEY = _INSPECTED.encode()
cdef const uint8_t *INSPECTED_TEXT = INSPECTED_KEY
cdef Py_ssize_t INSPECTED_SIZE = len(INSPECTED_KEY)
cdef list TYPE_TEXTS = [b""] * TYPES
cdef Literal[TYPES] TYPE_OF            # by the number of the bit
for _name, _number in _TYPE_NAMES.items():
    TYPE_TEXTS[_number.bit_length() - 1] = _name.encode()
for _number in range(TYPES):
    TYPE_OF[_number] = TYPE_TEXTS[_number]
# What JSON has in front of each part of a property, and behind the last.
cdef Literal[COLUMNS + 1] AROUND = [b'{"name": ', b', "type": "', b'", "value": ', b', "from": ', b"}"]
cdef list TITLES = [title.encode() for title in _TITLES]
cdef Py_ssize_t SHOWN = _SHOWN


# A cell of a table.
cdef struct Cell:
    Py_ssize_t stop         # behind it, among the bytes of all cells
    Py_ssize_t width        # on a terminal


cdef int text_pad(Text *text, Py_ssize_t size) except -1:
    while size > 0:
        text_put(text, b"                                ", min(size, 32))
        size -= 32
    return 0


@cython.final
cdef class Lister:
    """Writes messages, as tables of any width or as JSON.

    Attributes:
        lines: how many were read, blank ones included.

    Args:
        form: which of both.
    """

    cdef object form
    cdef bint is_json
    cdef JSONDecoder decoder        # reads a value
    cdef Text text                  # of one message: JSON, or the cells of its table
    cdef Text laid                  # the table
    cdef Text places                # of cells
    cdef Py_ssize_t count           # properties so far
    cdef int part                   # of the property
    cdef list notes                 # of one line, as (what, why)
    cdef str plain_end              # of a message of which nothing was skipped
    cdef public Py_ssize_t lines

    def __cinit__(self, form):
        self.form = form
        self.is_json = form.is_json
        self.decoder = JSONDecoder(("value",))
        self.plain_end = ending(form, (), ())

    def __dealloc__(self):
        free(self.text.at)
        free(self.laid.at)
        free(self.places.at)

    def block(self, const uint8_t[::1] block not None, Py_ssize_t limit):
        """List the messages of a block of lines, with their places among all lines.

        Args:
            limit: the most messages; negative for all.

        Returns: (place, what follows the place of a message); for a line that is left to others its bytes instead.
        """
        cdef const uint8_t *at = &block[0]
        cdef const uint8_t *limit_at = at + block.shape[0]
        cdef const uint8_t *line
        cdef const uint8_t *stop
        cdef list messages = []
        while at < limit_at and len(messages) != limit:
            line = at
            stop = <const uint8_t *> memchr(line, c"\n", limit_at - line)
            if stop == NULL:
                stop = limit_at
                at = stop
            else:
                at = stop + 1
            self.lines += 1
            self.begin()
            if self.line_put(line, stop, limit_at):
                end = ending(self.form, tuple(self.notes), ()) if self.notes else self.plain_end
                messages.append((self.lines, self.told(True, end)))
            else:
                data = PyBytes_FromStringAndSize(<const char *> line, at - line)
                if not data.isspace():
                    messages.append((self.lines, data))
        return messages

    def rows(self, rows, bint is_first):
        """Write properties; of a table all of them.

        Args:
            is_first: there are none before them.
        """
        self.begin()
        if not is_first:
            self.count = 1
        for row in rows:
            self.row_put(row)
        return self.told(is_first, "")

    cdef int begin(self) except -1:
        self.text.size = self.places.size = self.laid.size = 0
        self.count = self.part = 0
        self.notes = []
        return 0

    cdef str told(self, bint is_first, str end):
        """Return what was written, behind the place of the message."""
        cdef Text *text = &self.text
        if not self.is_json:
            self.lay()
            text = &self.laid
        rows = PyUnicode_DecodeUTF8(<const char *> text.at, text.size, "surrogatepass") if text.size else ""
        if not is_first:
            return rows
        if self.is_json:
            return f', "properties": [{rows}{end}'
        return f"\n{rows}{end}" if rows else f"\n  no properties\n{end}"

    # ---- a line of JSON ------------------------------------------------------------------------------------------

    cdef bint line_put(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) except -1:
        """Write the properties of a line. Returns whether it is a message, and nothing of it is left to others."""
        cdef uint32_t[KEYS] numbers
        cdef Walk walk
        cdef int more
        at = pass_blanks(at, stop)
        if at == stop or at[0] != c"{":
            return False
        walk_begin(&walk, at, stop, limit)
        while True:
            more = member_next(&walk)
            if more <= 0:
                return more == 0 and pass_blanks(walk.at, stop) == stop
            if not is_new(&walk, numbers) or (
                walk.key_stop - walk.key == INSPECTED_SIZE and memcmp(walk.key, INSPECTED_TEXT, INSPECTED_SIZE) == 0
            ):
                return False
            walk.at = self.member_put(walk.key, walk.key_stop, walk.at, stop, limit)
            if walk.at == NULL:
                return False

    cdef const uint8_t *member_put(
        self, const uint8_t *key, const uint8_t *key_stop, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL:
        """Write a property, or a note. Returns where its value ends."""
        cdef Value *value = &self.decoder.record.values[0]
        cdef const uint8_t *end
        cdef bint escaped
        if at[0] == c'"':
            end = pass_string(at + 1, stop, limit, &escaped)
            if end == NULL:
                return NULL
            if not escaped:
                self.text_begin(key, key_stop, "string")
                self.string_put(at + 1, end - at - 1)
                self.json_end()
                return end + 1
        end = self.decoder.load(0, at, stop, limit)
        if end == NULL:  # no value, or a rare one
            end = pass_value(at, stop, limit)
            if end == NULL:
                return NULL
            name = PyUnicode_DecodeUTF8(<const char *> key, key_stop - key, NULL)
            one = property_of(name, PyBytes_FromStringAndSize(<const char *> at, end - at))
            if isinstance(one, Row):
                self.row_put(one)
            else:
                self.notes.append((name, one.message))
            return end
        self.text_begin(key, key_stop, TYPE_OF[bit_of(value.mqtype)])
        if value.tag == NULL_VALUE:
            self.value_put(None)
        elif value.tag == BOOLEAN:
            self.value_put(value.it.i != 0)
        elif value.tag == STRING or value.tag == BYTES:
            self.value_put(<object> value.it.o)
        elif value.tag < FLOAT32:
            self.whole_put(value.it.i)
        elif isfinite(value.it.d):
            self.float_put(value.it.d)
        else:
            self.value_put(value.it.d)
        self.json_end()
        return end

    cdef int text_begin(self, const uint8_t *key, const uint8_t *key_stop, const char *kind) except -1:
        """Write the name of a property, which has no escapes, and its type."""
        self.part_begin()
        self.quote_put()
        text_put(&self.text, key, key_stop - key)
        self.quote_put()
        self.part_begin()
        text_put(&self.text, kind, strlen(kind))
        self.part_begin()
        return 0

    cdef int json_end(self) except -1:
        """Write where the property came from: from JSON."""
        self.part_begin()
        self.quote_put()
        text_put(&self.text, <const char *> b"JSON", 4)
        self.quote_put()
        return self.part_begin()

    # ---- a row of any message ------------------------------------------------------------------------------------

    cdef int row_put(self, row) except -1:
        cdef str name, kind, source
        cdef int64_t offset
        name, kind, value, source, offset = row
        self.part_begin()
        self.words_put(name)
        self.part_begin()
        self.bare_put(kind)
        self.part_begin()
        self.value_put(value)
        self.part_begin()
        if offset >= 0:
            source = source_of(row)
        self.words_put(source if self.is_json or PyUnicode_IS_ASCII(source) else source.rstrip())
        return self.part_begin()

    cdef int value_put(self, value) except -1:
        cdef Py_ssize_t size
        cdef const uint8_t *text
        cdef int64_t number
        cdef int overflow
        if value is None:
            return self.bare_put("null" if self.is_json else "NULL")
        if value is True:
            return self.bare_put("true" if self.is_json else "TRUE")
        if value is False:
            return self.bare_put("false" if self.is_json else "FALSE")
        if type(value) is str and PyUnicode_IS_ASCII(value):
            text = <const uint8_t *> PyUnicode_AsUTF8AndSize(value, &size)
            if self.is_json and not is_plain(text, size):
                return self.bare_put(value_in_json(value))
            return self.string_put(text, size)
        if isinstance(value, int):
            number = PyLong_AsLongLongAndOverflow(value, &overflow)
            if not overflow:  # records may have others
                return self.whole_put(number)
        if isinstance(value, float) and isfinite(value):
            return self.float_put(value)
        return self.bare_put(value_in_json(value) if self.is_json else written(value))

    # ---- parts of a property -------------------------------------------------------------------------------------

    cdef int part_begin(self) except -1:
        """End a part of a property, and begin the next; behind the last end the property."""
        cdef bytes title
        if self.is_json:
            if self.part == 0 and self.count:
                text_put(&self.text, <const char *> b", ", 2)
            text_put(&self.text, AROUND[self.part], strlen(AROUND[self.part]))
        elif self.part:
            self.cell_end()
        elif self.count == 0:
            for self.part in range(COLUMNS):
                title = <bytes> TITLES[self.part]
                text_put(&self.text, <const char *> title, len(title))
                self.cell_end()
            self.part = 0
        self.part += 1
        if self.part > COLUMNS:
            self.part = 0
            self.count += 1
        return 0

    cdef int cell_end(self) except -1:
        cdef Cell cell
        cdef Py_ssize_t start = (<Cell *> (self.places.at + self.places.size) - 1).stop if self.places.size else 0
        cdef Py_ssize_t place
        cell.stop = self.text.size
        cell.width = cell.stop - start
        for place in range(start, cell.stop):
            if self.text.at[place] >= 0x80:
                cell.width = cells(
                    PyUnicode_DecodeUTF8(<const char *> self.text.at + start, cell.stop - start, "surrogatepass")
                )
                break
        return text_put(&self.places, &cell, sizeof(cell))

    cdef int lay(self) except -1:
        """Lay the cells out in columns."""
        cdef Cell *all_cells = <Cell *> self.places.at
        cdef Py_ssize_t count = self.places.size // sizeof(Cell)
        cdef Py_ssize_t[COLUMNS] widths
        cdef Py_ssize_t place
        cdef Py_ssize_t line = 0
        cdef Py_ssize_t start = 0
        cdef Py_ssize_t gap = 0
        memset(widths, 0, sizeof(widths))
        for place in range(count):
            widths[place % COLUMNS] = max(widths[place % COLUMNS], all_cells[place].width)
        for place in range(count):
            if place % COLUMNS == 0:
                line = self.laid.size
                gap = 0
            text_pad(&self.laid, 2 + gap)
            text_put(&self.laid, self.text.at + start, all_cells[place].stop - start)
            start = all_cells[place].stop
            gap = widths[place % COLUMNS] - all_cells[place].width
            if place % COLUMNS == COLUMNS - 1:
                while self.laid.size > line + 2 and is_blank(self.laid.at[self.laid.size - 1]):
                    self.laid.size -= 1
                text_put(&self.laid, <const char *> b"\n", 1)
        return 0

    cdef int quote_put(self) except -1:
        return text_put(&self.text, <const char *> b'"', 1) if self.is_json else 0

    cdef int bare_put(self, str text) except -1:
        """Write a text as it is."""
        cdef Py_ssize_t size
        cdef const char *data
        if PyUnicode_IS_ASCII(text):
            data = PyUnicode_AsUTF8AndSize(text, &size)
            return text_put(&self.text, data, size)
        encoded = text.encode("utf-8", "surrogatepass")
        return text_put(&self.text, <const char *> encoded, len(encoded))

    cdef int words_put(self, str text) except -1:
        """Write a name, or where something came from."""
        cdef Py_ssize_t size
        cdef const uint8_t *data
        if not self.is_json:
            return self.bare_put(text)
        if PyUnicode_IS_ASCII(text):
            data = <const uint8_t *> PyUnicode_AsUTF8AndSize(text, &size)
            if is_plain(data, size):
                return self.string_put(data, size)
        return self.bare_put(value_in_json(text))

    cdef int string_put(self, const uint8_t *text, Py_ssize_t size) except -1:
        """Write the text of a value; as JSON it needs no escapes."""
        cdef Py_ssize_t place
        if self.is_json:
            self.quote_put()
            text_put(&self.text, text, size)
            return self.quote_put()
        for place in range(min(size, SHOWN)):
            if not c" " <= text[place] < 0x7f or text[place] == c"'":
                return self.bare_put(written(PyUnicode_DecodeUTF8(<const char *> text, size, NULL)))
        text_put(&self.text, <const char *> b"'", 1)
        if size + 2 <= SHOWN:
            text_put(&self.text, text, size)
            return text_put(&self.text, <const char *> b"'", 1)
        text_put(&self.text, text, SHOWN - 2)
        return self.bare_put("…")

    cdef int whole_put(self, int64_t number) except -1:
        cdef uint8_t[24] digits
        cdef uint64_t rest = <uint64_t> number if number >= 0 else 0 - <uint64_t> number
        cdef int place = sizeof(digits)
        while place == sizeof(digits) or rest:
            place -= 1
            digits[place] = c"0" + rest % 10
            rest //= 10
        if number < 0:
            place -= 1
            digits[place] = c"-"
        return text_put(&self.text, digits + place, sizeof(digits) - place)

    cdef int float_put(self, double number) except -1:
        """Write a number as Python does."""
        cdef char *text = PyOS_double_to_string(number, c"r", 0, Py_DTSF_ADD_DOT_0, NULL)
        try:
            return text_put(&self.text, text, strlen(text))
        finally:
            PyMem_Free(text)


cdef inline bint is_plain(const uint8_t *text, Py_ssize_t size) noexcept:
    """Return whether a string of JSON has a text of ASCII as it is."""
    cdef Py_ssize_t place
    for place in range(size):
        if text[place] < c" " or text[place] == c'"' or text[place] == c"\\":
            return False
    return True


cdef inline bint is_blank(uint8_t byte) noexcept:
    """Return whether Python takes a character of ASCII for white space."""
    return byte == c" " or 9 <= byte <= 13 or 28 <= byte <= 31


cdef inline int bit_of(int mqtype) noexcept:
    cdef int bit = 0
    while mqtype >> bit > 1:
        bit += 1
    return bit
