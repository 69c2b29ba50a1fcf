# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads records of connectors, a line of JSON each, for the properties of a selector.

It follows the tables of `records` through the bytes: one pass finds where the values stand that are wanted, then these
are read. As the reader of JSON lines it accepts only common, valid records; broken or rare ones, and values that do not
fit, are left to `RecordReader`, which reads the line again. Follows formats §9.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcmp

from mqsel.formats._decoder cimport FILLED, UNREAD, string_keep
from mqsel.formats._json cimport (
    JSONDecoder, Walk, float_read, member_next, pass_blanks, pass_number, pass_string, pass_value,
    walk_begin, whole_read
)
from mqsel.machine._values cimport (
    BOOLEAN, FLOAT32, FLOAT64, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_FLOAT32, MQTYPE_FLOAT64, MQTYPE_INT8, MQTYPE_INT64,
    MQTYPE_NULL, MQTYPE_STRING, Value, value_float, value_integer, value_null, zeroed
)

from mqsel.formats import jsonl as _jsonl
from mqsel.formats import records as _schemas
from mqsel.values import JAVA_WORDS as _JAVA_WORDS
from mqsel.values import TYPES as _TYPES

# What a name means where a record has it.
cdef enum MemberAction:
    PASS        # nothing
    VALUE       # the value of a slot
    TYPE        # the type of a slot
    DOWN        # another level
    ENVELOPE    # a member of the envelope
    LEAVE       # what RecordReader has to see

cdef enum:
    PLAIN = 0           # a value of no declared type; else an MQTYPE
    WORDS = 24          # tags, or names of types
    LEVELS = 8

# A member that is looked for.
cdef struct Member:
    const uint8_t *text     # its name in UTF-8
    Py_ssize_t length
    int level               # where it is looked for
    int action
    int target              # a slot, or a level

# Where a slot has its value.
cdef struct ValuePlace:
    const uint8_t *at       # its value in this line, or NULL
    const uint8_t *type_at  # what names its type, or NULL
    int declared            # its type, or PLAIN
    bint is_header

# A word for a type, and the member that then has the value.
cdef struct Word:
    const uint8_t *text
    Py_ssize_t length
    const uint8_t *place
    Py_ssize_t place_length
    int mqtype

cdef int64_t[11] LOW        # the range of an exact number, by the bit of its type
cdef int64_t[11] HIGH
_NUMBERS = {}
for _row in _TYPES:
    _NUMBERS[_row.name] = int(_row.number)
    if _row.kind == "exact":
        LOW[int(_row.number).bit_length() - 1], HIGH[int(_row.number).bit_length() - 1] = _row.range


@cython.final
@cython.no_gc_clear  # the record is filled in place, and the tables point into the texts
cdef class RecordDecoder(JSONDecoder):
    """Reads records of one schema: lines of JSON, or mappings, which are for its RecordReader.

    Args:
        names: of the properties, in the order of the slots.
        slow: a RecordReader of these names.
    """

    cdef readonly object slow       # the RecordReader
    cdef list texts                 # what the tables point into
    cdef Member *members
    cdef int member_count
    cdef ValuePlace *places
    cdef Word[WORDS] words
    cdef int word_count
    cdef list headers               # for each slot the words of a header, or None
    cdef bytes tag                  # the member of a value that names its type, or None
    cdef bytes null                 # the text that stands for NULL, or None
    cdef bint has_types             # what names a type has to name one that there is
    cdef bint is_slow               # all records are for the RecordReader
    cdef int pairs                  # the level that may be pairs, or -1
    cdef int own                    # the level of the properties
    cdef int envelope               # a bit for each member of the envelope
    cdef int enveloped              # those that this line has
    cdef int[LEVELS] seen           # how often this line has each level

    def __cinit__(self, names, slow):
        cdef int slot
        schema = slow.schema
        self.slow = slow
        self.unread = slow.unread
        declared = {name: _NUMBERS[type_name] for name, type_name in slow.types.items()}
        headers = {header.name: header for header in schema.headers}
        levels = {(): 0}
        found = {}

        def add(level, name, action, target):
            # What two ask for, or what has another meaning, too, is not for here.
            found[level, name] = (action, target) if (level, name) not in found else (LEAVE, 0)

        def level_of(path):
            here = ()
            for step in path:
                above, here = levels[here], (*here, step)
                if here not in levels:
                    levels[here] = len(levels)
                    add(above, step, DOWN, levels[here])
            return levels[here]

        members = schema.members
        self.own = level_of(members.path)
        self.is_slow = bool(members.maps)
        self.pairs = self.own if members.is_pairs else -1
        self.has_types = schema.has_types
        self.tag = None if members.tag is None else members.tag.encode()
        self.null = None if schema.null is None else schema.null.encode()
        self.places = <ValuePlace *> zeroed(len(self.names), sizeof(ValuePlace))
        self.headers = []
        for slot, name in enumerate(self.names):
            header = headers.get(name)
            self.places[slot].declared = declared.get(name, PLAIN)
            self.headers.append(None if header is None or self.places[slot].declared else header.words)
            if header is not None:
                self.places[slot].is_header = True
                self.places[slot].declared = self.places[slot].declared or _NUMBERS[header.type]
                *path, last = header.path
                add(level_of(path), last, VALUE, slot)
            else:
                add(self.own, name, VALUE, slot)
                if members.type_suffix is not None and self.places[slot].declared == PLAIN:
                    add(self.own, name + members.type_suffix, TYPE, slot)
        if members.tag is None:
            add(self.own, "map", LEAVE, 0)  # may be all of the properties
        add(0, _jsonl.INSPECTED, LEAVE, 0)
        for bit, name in enumerate(schema.envelope):
            add(0, name, ENVELOPE, 1 << bit)
            self.envelope |= 1 << bit
        if len(levels) > LEVELS:
            raise AssertionError("more levels than a line is watched for")
        self.texts = []
        self.members = <Member *> zeroed(len(found), sizeof(Member))
        for (level, name), (action, target) in found.items():
            self.enter_member(level, name.encode("utf-8", "surrogatepass"), action, target)
        words = members.tags if members.tag is not None else {word: (kind, "") for word, kind in _JAVA_WORDS.items()}
        if len(words) > WORDS:
            raise AssertionError("more words for types than there is room for")
        for word, (kind, place) in words.items():
            self.enter_word(word.encode(), (place or "").encode(), _NUMBERS[kind])

    def __dealloc__(self):
        free(self.members)
        free(self.places)

    def __reduce__(self):
        return RecordDecoder, (self.names, self.slow)

    def __call__(self, message):
        if PyBytes_CheckExact(message):
            text = <const uint8_t *> PyBytes_AS_STRING(message)
            if self.read(text, text + PyBytes_GET_SIZE(message), text + PyBytes_GET_SIZE(message)):
                return self.record
        is_text = isinstance(message, (bytes, bytearray, memoryview, str))
        return self.slow(_jsonl.object_from_json(message) if is_text else message)

    cdef int enter_member(self, int level, bytes name, int action, int target) except -1:
        cdef Member *row = &self.members[self.member_count]
        self.texts.append(name)
        row.text = <const uint8_t *> PyBytes_AS_STRING(name)
        row.length = PyBytes_GET_SIZE(name)
        row.level = level
        row.action = action
        row.target = target
        self.member_count += 1
        return 0

    cdef int enter_word(self, bytes word, bytes place, int mqtype) except -1:
        cdef Word *row = &self.words[self.word_count]
        self.texts += [word, place]
        row.text = <const uint8_t *> PyBytes_AS_STRING(word)
        row.length = PyBytes_GET_SIZE(word)
        row.place = <const uint8_t *> PyBytes_AS_STRING(place)
        row.place_length = PyBytes_GET_SIZE(place)
        row.mqtype = mqtype
        self.word_count += 1
        return 0

    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) except -1:
        cdef Py_ssize_t slot
        cdef int level
        for slot in range(self.record.count):
            value_null(&self.record.values[slot])
            self.places[slot].at = self.places[slot].type_at = NULL
        for level in range(LEVELS):
            self.seen[level] = 0
        self.enveloped = 0
        at = pass_blanks(at, stop)
        if self.is_slow or at == stop or at[0] != c"{":
            return UNREAD
        at = self.walk(0, at, stop, limit)
        if at == NULL or pass_blanks(at, stop) != stop or not self.seen[self.own]:
            return UNREAD
        if self.enveloped not in (0, self.envelope):
            return UNREAD
        for slot in range(self.record.count):
            if self.places[slot].at != NULL and not self.load_place(<int> slot, stop, limit):
                return UNREAD
        return FILLED

    cdef const uint8_t *walk(
        self, int level, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) noexcept:
        """Pass over an object, and note where the values stand that are wanted. Returns its end, or NULL."""
        cdef Member *member
        cdef Walk walk
        cdef int more
        cdef int strangers = 0
        cdef int depth = self.enveloped
        if level and at[0] == c"n":
            self.seen[level] += 1
            return pass_value(at, stop, limit) if self.seen[level] == 1 else NULL
        if at[0] == c"[" and level == self.pairs:
            return self.walk_pairs(level, at, stop, limit)
        self.seen[level] += 1
        if at[0] != c"{" or self.seen[level] > 1 + (level == 0 and depth != 0):
            return NULL
        walk_begin(&walk, at, stop, limit)
        while True:
            more = member_next(&walk)
            if more < 0:
                return NULL
            if more == 0:
                break
            member = self.member(level, walk.key, walk.key_stop - walk.key)
            if member == NULL:
                strangers += 1
                walk.at = pass_value(walk.at, stop, limit)
            elif member.action == VALUE:
                self.places[member.target].at = walk.at
                walk.at = pass_value(walk.at, stop, limit)
            elif member.action == TYPE:
                self.places[member.target].type_at = walk.at
                walk.at = pass_value(walk.at, stop, limit)
            elif member.action == DOWN:
                walk.at = self.walk(member.target, walk.at, stop, limit)
            elif member.action == ENVELOPE and not depth:
                # The last of its members has the record.
                if self.enveloped & member.target or walk.count > 2:
                    return NULL
                self.enveloped |= member.target
                if member.target * 2 > self.envelope:
                    walk.at = self.walk(0, walk.at, stop, limit)
                else:
                    walk.at = pass_value(walk.at, stop, limit)
            else:
                return NULL
            if walk.at == NULL:
                return NULL
        if level and walk.count == 1 and strangers == 1 and is_branch(walk.key, walk.key_stop - walk.key):
            return NULL
        if level == 0 and not depth and self.enveloped and walk.count != 2:
            return NULL
        return walk.at

    cdef const uint8_t *walk_pairs(
        self, int level, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) noexcept:
        """Pass over a list of objects that have a key and a value each."""
        cdef Member *member
        cdef Walk walk
        cdef const uint8_t *key
        cdef const uint8_t *key_stop
        cdef const uint8_t *value
        cdef int more
        cdef bint escaped
        self.seen[level] += 1
        if self.seen[level] > 1:
            return NULL
        at = pass_blanks(at + 1, stop)
        if at < stop and at[0] == c"]":
            return at + 1
        while at < stop:
            if at[0] != c"{":
                return NULL
            key = value = NULL
            walk_begin(&walk, at, stop, limit)
            while True:
                more = member_next(&walk)
                if more <= 0:
                    break
                if walk.key_stop - walk.key == 3 and memcmp(walk.key, "key", 3) == 0:
                    key = walk.at + 1
                    key_stop = NULL
                    if walk.at[0] == c'"':
                        key_stop = pass_string(key, stop, limit, &escaped)
                    if key_stop == NULL or escaped:
                        return NULL
                    walk.at = key_stop + 1
                else:
                    if walk.key_stop - walk.key == 5 and memcmp(walk.key, "value", 5) == 0:
                        value = walk.at
                    walk.at = pass_value(walk.at, stop, limit)
                    if walk.at == NULL:
                        return NULL
            if more < 0 or key == NULL or value == NULL:
                return NULL
            member = self.member(level, key, key_stop - key)
            if member != NULL:
                if member.action != VALUE:
                    return NULL
                self.places[member.target].at = value
            at = pass_blanks(walk.at, stop)
            if at == stop:
                return NULL
            if at[0] == c"]":
                return at + 1
            if at[0] != c",":
                return NULL
            at = pass_blanks(at + 1, stop)
        return NULL

    cdef Member *member(self, int level, const uint8_t *name, Py_ssize_t length) noexcept:
        cdef int number
        for number in range(self.member_count):
            if self.members[number].length == length and self.members[number].level == level:
                if memcmp(self.members[number].text, name, length) == 0:
                    return &self.members[number]
        return NULL

    cdef Word *word(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
        """Find the word for a type that a value is."""
        cdef const uint8_t *end
        cdef int number
        cdef bint escaped
        if at == NULL or at[0] != c'"':
            return NULL
        at += 1
        end = pass_string(at, stop, limit, &escaped)
        for number in range(self.word_count):
            if self.words[number].length == end - at and memcmp(self.words[number].text, at, end - at) == 0:
                return &self.words[number]
        return NULL

    cdef int load_place(self, int slot, const uint8_t *stop, const uint8_t *limit) except -1:
        """Read the value of a slot, which is there. Returns 0 where RecordReader has to."""
        cdef ValuePlace *place = &self.places[slot]
        cdef Value *value = &self.record.values[slot]
        cdef Word *word
        cdef int wanted = place.declared
        if place.at[0] == c"n":
            return 1
        if not place.is_header and self.tag is not None:
            return self.load_tagged(slot, stop, limit)
        if place.type_at != NULL and place.type_at[0] != c"n":
            word = self.word(place.type_at, stop, limit)
            if word != NULL:
                wanted = word.mqtype
            elif self.has_types:
                return 0
        if not self.load_as(slot, wanted, place.at, stop, limit):
            return 0
        words = self.headers[slot]
        if words is None or value.mqtype == MQTYPE_NULL:
            return 1
        said = words.get(value.it.i)
        if said is None:
            return 0
        string_keep(value, &self.record.owners[slot], said)
        return 1

    cdef int load_tagged(self, int slot, const uint8_t *stop, const uint8_t *limit) except -1:
        """Read a value of which a member names the type, and another, named by that, has it."""
        cdef const uint8_t *said = NULL
        cdef const uint8_t *found[WORDS]
        cdef Walk walk
        cdef Word *word
        cdef Py_ssize_t length
        cdef int number, more
        if self.places[slot].at[0] != c"{":
            return 0
        walk_begin(&walk, self.places[slot].at, stop, limit)
        for number in range(self.word_count):
            found[number] = NULL
        # It is valid JSON: it was passed over.
        while True:
            more = member_next(&walk)
            if more <= 0:
                break
            length = walk.key_stop - walk.key
            if length == PyBytes_GET_SIZE(self.tag) and memcmp(walk.key, PyBytes_AS_STRING(self.tag), length) == 0:
                said = walk.at
            for number in range(self.word_count):
                if self.words[number].place_length == length:
                    if memcmp(self.words[number].place, walk.key, length) == 0:
                        found[number] = walk.at
            walk.at = pass_value(walk.at, stop, limit)
        if more < 0:  # a key with escapes
            return 0
        word = self.word(said, stop, limit)
        if word == NULL:
            return 0
        if word.mqtype == MQTYPE_NULL:
            return 1
        number = <int> (word - self.words)
        if found[number] == NULL or found[number][0] == c"n":
            return 0
        return self.load_as(slot, self.places[slot].declared or word.mqtype, found[number], stop, limit)

    cdef int load_as(
        self, int slot, int wanted, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except -1:
        """Read a value as one of a type, or as it stands."""
        cdef Value *value = &self.record.values[slot]
        cdef const uint8_t *end
        cdef bint escaped, exact
        if at[0] == c"{" or at[0] == c"[":
            return 0
        if at[0] == c'"':
            end = pass_string(at + 1, stop, limit, &escaped)
            if self.null is not None:
                if escaped:
                    return 0
                if end - at - 1 == PyBytes_GET_SIZE(self.null):
                    if memcmp(at + 1, PyBytes_AS_STRING(self.null), end - at - 1) == 0:
                        return 1
            if wanted == PLAIN or wanted == MQTYPE_STRING:
                return self.load_string(slot, at, stop, limit) != NULL
            if wanted == MQTYPE_BOOLEAN:
                if end - at == 5 and memcmp(at + 1, "true", 4) == 0:
                    value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, 1)
                    return 1
                if end - at == 6 and memcmp(at + 1, "false", 5) == 0:
                    value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, 0)
                    return 1
                return 0
            at += 1
            if pass_number(at, stop, &exact) != end:
                return 0
        elif wanted == PLAIN:
            return self.load(slot, at, stop, limit) != NULL
        elif at[0] == c"t" or at[0] == c"f":
            return wanted == MQTYPE_BOOLEAN and self.load(slot, at, stop, limit) != NULL
        else:
            end = pass_number(at, stop, &exact)
            if end == NULL:
                return 0
        if not MQTYPE_INT8 <= wanted <= MQTYPE_FLOAT64:
            return 0
        value_integer(value, INT64 if wanted == MQTYPE_INT64 else INT32, wanted, 0)
        if exact and not whole_read(at, end, &value.it.i):
            return 0
        if wanted <= MQTYPE_INT64:
            return exact and LOW[bit_of(wanted)] <= value.it.i <= HIGH[bit_of(wanted)]
        # A whole number in JSON has no negative zero, a text that is one has.
        if not exact or end[0] == c'"':
            value.it.d = float_read(at, end)
        else:
            value.it.d = <double> value.it.i
        if wanted == MQTYPE_FLOAT32:
            value_float(value, FLOAT32, MQTYPE_FLOAT32, <float> value.it.d)
        else:
            value_float(value, FLOAT64, MQTYPE_FLOAT64, value.it.d)
        return 1


cdef inline int bit_of(int mqtype) noexcept:
    cdef int bit = 0
    while mqtype >> bit > 1:
        bit += 1
    return bit


_BRANCHES = [_name.encode() for _name in _schemas.AVRO]

cdef bint is_branch(const uint8_t *name, Py_ssize_t length):
    """Report whether the only member of an object may be what Avro's JSON puts around a value."""
    found = name[:length]
    return b"." in found or found in _BRANCHES
