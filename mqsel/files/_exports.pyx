# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Exports of other brokers taken apart: XML in blocks to its messages, arrays of JSON to lines.

Markup is only recognised here as far as it shows where a message ends: what a message has inside is for its decoder.
Every read is bounded by the block, every loop by the bytes it consumes. Knows no properties. Follows formats §8.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp

from mqsel.files._splitters cimport GIVEN, HEAD, MESSAGE, MORE, Splitter

from mqsel.files.wordings import bad_line, foreign_encoding

cdef enum:
    LOOKED = 10             # bytes that show what markup is: </message and what stands behind it
    PASSED = -2             # what stands in the place of an outcome: there is none yet, look on

# What stands around the place that was reached.
cdef enum Within:
    MARKUP                  # nothing that has to end first
    CDATA
    COMMENT
    INSTRUCTION

cdef const char **ENDS = ["", "]]>", "-->", "?>"]


cdef inline Py_ssize_t line_feeds(const uint8_t *at, const uint8_t *stop) noexcept:
    cdef Py_ssize_t count = 0
    while at < stop:
        count += at[0] == c"\n"
        at += 1
    return count


cdef inline const uint8_t *end_of(const uint8_t *at, const uint8_t *stop, const char *word, Py_ssize_t length) noexcept:
    """Find where a word ends that is there, or NULL."""
    while stop - at >= length:
        at = <const uint8_t *> memchr(at, word[0], stop - at - length + 1)
        if at == NULL:
            return NULL
        if memcmp(at, word, length) == 0:
            return at + length
        at += 1
    return NULL


cdef inline bint is_name(const uint8_t *at, const char *name, Py_ssize_t length) noexcept:
    """Report whether a tag has a name; there are enough bytes."""
    cdef uint8_t behind = at[length]
    return memcmp(at, name, length) == 0 and (behind <= c" " or behind == c">" or behind == c"/")


cdef const uint8_t *tag_end(const uint8_t *at, const uint8_t *stop) noexcept:
    """Find the > that ends a tag: in quotes there may be others. NULL if it is not there."""
    cdef uint8_t quote = 0
    while at < stop:
        if quote:
            if at[0] == quote:
                quote = 0
        elif at[0] == c">":
            return at
        elif at[0] == c'"' or at[0] == c"'":
            quote = at[0]
        at += 1
    return NULL


@cython.final
cdef class Elements(Splitter):
    """Finds the elements message of the XML that Artemis writes.

    Args:
        path: of the file.
        most: bytes of a message; a longer one is an error.
    """

    cdef Py_ssize_t scanned     # bytes of the rest of the block that were looked at
    cdef Py_ssize_t counted     # those of them whose line feeds were counted
    cdef Py_ssize_t lines       # line feeds before that
    cdef Py_ssize_t start       # where the message begins, from the rest of the block; or -1 outside of any
    cdef Py_ssize_t depth       # elements around messages that have no end yet
    cdef int within             # a Within
    cdef bint has_head          # what stands before the first message was found
    cdef bint has_elements
    cdef bint is_dropped        # the message is an error already

    def __cinit__(self, path, most, *_):
        self.start = -1

    cdef int find(self) except -1:
        cdef const uint8_t *at
        cdef const uint8_t *end
        cdef int outcome
        while not self.is_over:
            at = self.at + self.scanned
            if self.within != MARKUP:
                end = end_of(at, self.limit, ENDS[self.within], 2 if self.within == INSTRUCTION else 3)
                if end == NULL:
                    self.scanned = max(self.scanned, self.limit - self.at - 2)
                    break
                self.within = MARKUP
                self.scanned = end - self.at
                continue
            at = <const uint8_t *> memchr(at, c"<", self.limit - at)
            self.scanned = (self.limit if at == NULL else at) - self.at
            if at == NULL:
                break
            if self.limit - at < LOOKED:
                if not self.is_last or self.start >= 0 or self.pass_tag(at) == MORE:
                    break
            elif at[1] == c"?":
                self.within = INSTRUCTION
                self.scanned += 2
            elif memcmp(at, b"<!--", 4) == 0:
                self.within = COMMENT
                self.scanned += 4
            elif memcmp(at, b"<![CDATA[", 9) == 0:
                self.within = CDATA
                self.scanned += 9
            else:
                outcome = self.pass_inside(at) if self.start >= 0 else self.pass_outside(at)
                if outcome == MORE:
                    break
                if outcome != PASSED:
                    return outcome
        return self.pause()

    cdef int pass_inside(self, const uint8_t *at) except -1:
        """Pass markup in a message, or find that it ends. Returns an outcome, or PASSED."""
        cdef const uint8_t *stop
        cdef bint is_told
        if is_name(at, "</message", 9):
            stop = tag_end(at, self.limit)
            if stop == NULL or (self.limit - stop < 3 and not self.is_last):
                return MORE
            stop += 1
            if self.is_dropped:
                self.is_dropped = False
                self.leave(stop)
                return PASSED
            self.message = self.at + self.start
            self.size = stop - self.message
            self.raw = self.message
            while self.raw > self.at and ((self.raw - 1)[0] == c" " or (self.raw - 1)[0] == c"\t"):
                self.raw -= 1
            if self.raw > self.at and (self.raw - 1)[0] != c"\n":
                self.raw = self.message
            if stop < self.limit and stop[0] == c"\r":
                stop += 1
            if stop < self.limit and stop[0] == c"\n":
                stop += 1
            self.raw_stop = stop
            self.leave(stop)
            return MESSAGE
        if is_name(at, "<message", 8):
            if not self.is_dropped:
                self.given = bad_line(self.path, self.place, "the message has no end: another one begins within it")
            is_told = self.is_dropped
            self.is_dropped = False
            self.leave(at)
            return PASSED if is_told else GIVEN
        self.scanned += 1
        return PASSED

    cdef int pass_outside(self, const uint8_t *at) except -1:
        """Pass markup outside of messages, or find what stands before the first one. Returns an outcome, or PASSED."""
        if is_name(at, "<message", 8):
            if not self.has_head:
                return self.find_head(at)
            self.count(at)
            self.place = self.lines + 1
            self.start = at - self.at
            self.scanned += 8
            return PASSED
        if at[1] == c"!":
            self.given = bad_line(self.path, self.line_of(at), "a declaration of XML: exports have none")
            self.is_over = True
            return GIVEN
        if self.pass_tag(at) == MORE:
            return MORE
        if is_name(at, "</message", 9):
            self.given = bad_line(self.path, self.line_of(at), "a message ends here that has no beginning")
            return GIVEN
        return PASSED

    cdef int pass_tag(self, const uint8_t *at) noexcept:
        """Pass a tag, and count what is open. Returns MORE or PASSED."""
        cdef const uint8_t *stop = tag_end(at, self.limit)
        if stop == NULL:
            return MORE
        self.has_elements = True
        if at[1] == c"/":
            self.depth -= 1
        elif (stop - 1)[0] != c"/":
            self.depth += 1
        self.scanned = stop + 1 - self.at
        return PASSED

    cdef int find_head(self, const uint8_t *at) except -1:
        self.has_head = True
        self.raw = self.at
        while at > self.at and ((at - 1)[0] == c" " or (at - 1)[0] == c"\t"):
            at -= 1
        head = PyBytes_FromStringAndSize(<const char *> self.at, at - self.at)
        self.place = 1
        self.raw_stop = at
        self.given = foreign_encoding(self.path, head)
        self.leave(at)
        if self.given is not None:
            self.is_over = True
            return GIVEN
        return HEAD

    cdef int pause(self) except -1:
        """Ask for more; or say what is missing where there is no more."""
        cdef Py_ssize_t line = self.place
        if self.is_over:
            return MORE
        if self.scanned > self.most and not self.is_dropped:
            if self.start < 0:
                line = self.line_of(self.at)
                self.is_over = True
            what = "the message" if self.start >= 0 else "what stands between messages"
            self.given = bad_line(self.path, line, f"{what} is longer than {self.most:,} bytes")
            self.is_dropped = True
            return GIVEN
        if self.is_last:
            self.is_over = True
            if self.start >= 0 and not self.is_dropped:
                what = "the file ends within a message: it was cut off"
            elif self.depth > 0 or self.within != MARKUP or self.start >= 0:
                line = self.line_of(self.limit)
                what = "the file ends before its elements do: it was cut off"
            elif not self.has_elements:
                line, what = 1, "the file has no messages of Artemis: expected XML as artemis data exp writes it"
            else:
                return MORE
            self.given = bad_line(self.path, line, what)
            return GIVEN
        if self.is_dropped:
            self.count(self.at + self.scanned)
            self.at += self.scanned
            self.scanned = self.counted = self.start = 0
        return MORE

    cdef Py_ssize_t line_of(self, const uint8_t *at) noexcept:
        self.count(at)
        return self.lines + 1

    cdef int count(self, const uint8_t *at) noexcept:
        """Count line feeds up to a place: each byte once."""
        self.lines += line_feeds(self.at + self.counted, at)
        self.counted = at - self.at
        return 0

    cdef int leave(self, const uint8_t *at) noexcept:
        """Go on outside of messages, from *at*."""
        self.count(at)
        self.at = at
        self.scanned = self.counted = 0
        self.start = -1
        return 0


# ---- arrays ------------------------------------------------------------------------------------------------------

@cython.final
cdef class JsonLines:
    """Writes the elements of the outermost arrays of a text of JSON a line each, without the blanks between words.

    Args:
        has_objects: write the outermost objects so instead.

    What stands around these arrays in objects is left out, such as where an event is from. Behind an array nothing is
    changed: it is for a reader of lines to say what it is. For an element that is missing, and for an event without an
    array, a comma is written, so that both are reported.
    """

    cdef Py_ssize_t depth       # brackets that are open
    cdef Py_ssize_t array       # those within which the elements stand; 0 outside
    cdef bint is_text           # inside a string
    cdef bint is_escaped        # behind a backslash
    cdef bint has_comma         # in this array
    cdef bint has_element       # behind that
    cdef bint has_begun         # the first bracket was read
    cdef bint is_event          # it was that of an object
    cdef bint is_bare           # inside an object behind an array
    cdef bint has_array         # in this event
    cdef bint has_objects

    def __cinit__(self, bint has_objects):
        self.has_objects = self.has_begun = has_objects

    @property
    def is_complete(self) -> bool:
        """Whether all brackets are closed."""
        return self.depth == 0 and not self.is_text

    def take(self, bytes data not None) -> bytes:
        """Return what is left of the next piece."""
        cdef const uint8_t *at = <const uint8_t *> PyBytes_AS_STRING(data)
        cdef const uint8_t *stop = at + PyBytes_GET_SIZE(data)
        cdef bytes written = PyBytes_FromStringAndSize(NULL, 2 * (stop - at))  # a comma without an element takes two
        cdef uint8_t *to = <uint8_t *> PyBytes_AS_STRING(written)
        cdef uint8_t *begin = to
        cdef uint8_t byte
        while at < stop:
            byte = at[0]
            at += 1
            if self.is_text:
                if self.is_escaped:
                    self.is_escaped = False
                elif byte == c"\\":
                    self.is_escaped = True
                elif byte == c'"':
                    self.is_text = False
            elif byte == c'"':
                self.is_text = True
            elif byte == c"{" or byte == c"[":
                self.depth += 1
                if self.depth == 1:
                    if not self.has_begun:
                        self.has_begun = True
                        self.is_event = byte == c"{"
                    self.is_bare = byte == c"{" and not self.is_event
                    self.has_array = False
                if byte == c"[" and not self.array and not self.is_bare and not self.has_objects:
                    self.array = self.depth
                    self.has_array = True
                    self.has_comma = self.has_element = False
                    continue
            elif byte == c"}" or byte == c"]":
                if self.depth == self.array and self.array:
                    to = self.element_end(to, self.has_comma)
                    self.array = 0
                    self.depth -= 1
                    continue
                if self.has_objects and self.depth == 1:
                    self.depth = 0
                    self.has_element = False
                    to[0] = byte
                    to[1] = c"\n"
                    to += 2
                    continue
                if self.depth:
                    self.depth -= 1
                    if not self.has_objects and not self.array and not self.is_bare:
                        if not self.depth and not self.has_array:
                            self.has_element = False
                            to = self.element_end(to, True)
                        continue
            elif self.array or self.has_objects and (self.depth or not self.has_element):
                if byte == c" " or byte == c"\n" or byte == c"\r" or byte == c"\t":
                    continue
                if self.array and byte == c"," and self.depth == self.array:
                    to = self.element_end(to, True)
                    self.has_comma = True
                    continue
            if self.array or self.is_bare or self.has_objects or self.has_begun and not self.depth:
                self.has_element = not self.has_objects or byte != c"\n"
                to[0] = byte
                to += 1
        return written[: to - begin]

    cdef uint8_t *element_end(self, uint8_t *to, bint is_expected) noexcept:
        """End the line of an element; of one that is missing it is a comma."""
        if is_expected and not self.has_element:
            to[0] = c","
            to += 1
        self.has_element = False
        to[0] = c"\n"
        return to + 1
