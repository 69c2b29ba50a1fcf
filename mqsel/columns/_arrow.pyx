# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Arrow in: the columns of a record batch as properties.

Knows Arrow's C Data Interface, two structs, and no Arrow library: pyarrow only builds answers and splits chunks, and is
imported by a call that needs it. Executes no opcode.

A batch is checked as far as the interface allows: lengths, offsets, indices, UTF-8. The interface does not have the
sizes of buffers; for batches of pyarrow its own `validate` compares with them.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from cpython.ref cimport Py_XDECREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, strcmp, strlen, strncmp

from mqsel.machine._values cimport (
    BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_BYTE_STRING, MQTYPE_FLOAT32, MQTYPE_FLOAT64,
    MQTYPE_INT8, MQTYPE_INT16, MQTYPE_INT32, MQTYPE_INT64, MQTYPE_STRING, STRING, value_float, value_integer,
    value_null, value_object, value_python,
)

from collections.abc import Mapping

from mqsel.columns import wordings
from mqsel.errors import ArgumentError
from mqsel.machine.wordings import integer_outside
from mqsel.names import folded
from mqsel.values import ARROW_READ as _READ
from mqsel.values import ARROW_TYPES as _TYPES

# Lengths and offsets that are added up stay far from overflow.
cdef int64_t FAR = <int64_t> 1 << 48

# How the columns of each Arrow type are laid out.
_LAYOUTS = {
    "null": NULLS, "bool": BOOLEANS, "int8": INT8S, "uint8": UINT8S, "int16": INT16S, "uint16": UINT16S,
    "int32": INT32S, "uint32": UINT32S, "int64": INT64S, "uint64": UINT64S, "float": FLOAT32S, "double": FLOAT64S,
    "string": TEXTS, "large_string": LARGE_TEXTS, "string_view": TEXT_VIEWS,
    "binary": BINARIES, "large_binary": LARGE_BINARIES, "binary_view": BINARY_VIEWS,
}
_FORMATS = [(row.format.encode(), _LAYOUTS[name]) for name, row in _READ.items()]

# The same in C, which asks for each column of each batch.
cdef struct FormatRow:
    const char *format
    int kind

cdef FormatRow[18] FORMATS
assert len(_FORMATS) == sizeof(FORMATS) // sizeof(FormatRow)
for _place, (_format, _kind) in enumerate(_FORMATS):
    FORMATS[<int> _place].format = PyBytes_AS_STRING(_format)  # which the list keeps
    FORMATS[<int> _place].kind = _kind


# The type of a property in each column from INT8S to UINT64S; an unsigned one is the next wider type, as one of numpy.
cdef int[8] INTEGERS = [
    MQTYPE_INT8, MQTYPE_INT16, MQTYPE_INT32, MQTYPE_INT64, MQTYPE_INT16, MQTYPE_INT32, MQTYPE_INT64, MQTYPE_INT64,
]


# ---- values in ---------------------------------------------------------------------------------------------------

ctypedef fused Number:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double


cdef inline void fetch(Number *number, const void *values, int64_t at) noexcept:
    """Read a number. Buffers from foreign hands need not be aligned."""
    memcpy(number, <const uint8_t *> values + at * <int64_t> sizeof(Number), sizeof(Number))


cdef inline bint is_set(const uint8_t *bits, int64_t at) noexcept:
    return bits[at >> 3] >> (at & 7) & 1


cdef int64_t unset_count(const uint8_t *bits, int64_t at, int64_t count) noexcept:
    cdef int64_t stop = at + count
    cdef int64_t unset = 0
    while at < stop:
        if at & 7 == 0 and stop - at >= 8 and bits[at >> 3] == 0xFF:
            at += 8
        else:
            unset += not is_set(bits, at)
            at += 1
    return unset


cdef int text_load(
    Column *column, Value *value, PyObject **owner, const uint8_t *data, int64_t size, int64_t row
) except -1:
    cdef object text
    if column.kind == BINARIES or column.kind == LARGE_BINARIES or column.kind == BINARY_VIEWS:
        text = PyBytes_FromStringAndSize(<const char *> data, <Py_ssize_t> size)
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> text)
        return 0
    try:
        text = PyUnicode_DecodeUTF8(<const char *> data, <Py_ssize_t> size, NULL)
    except UnicodeDecodeError as error:
        raise wordings.damaged_column(<object> column.name, f"its text is not UTF-8: {error.reason}", row) from error
    value_object(value, owner, STRING, MQTYPE_STRING, <PyObject *> text)
    return 0


cdef int damaged(Column *column, str found, int64_t row) except -1:
    raise wordings.damaged_column(<object> column.name, found, row)


cdef int column_load(Column *column, int64_t place, int64_t row, Value *value, PyObject **owner) except -1:
    """Read the value that a column has at a place, as `value_load` does; *row* is where the batch has it."""
    cdef int64_t at = column.offset + place
    cdef int kind = column.kind
    cdef int mqtype
    cdef int64_t number
    cdef float f32
    cdef double f64
    if column.validity != NULL and not is_set(column.validity, at):
        value_null(value)
    elif kind == TEXTS or kind == LARGE_TEXTS or kind == BINARIES or kind == LARGE_BINARIES:
        return offsets_load(column, at, row, value, owner)
    elif kind == TEXT_VIEWS or kind == BINARY_VIEWS:
        return view_load(column, at, row, value, owner)
    elif INT8S <= kind <= UINT64S:
        number = integer_at(kind, column.values, at)
        if number < 0 and kind == UINT64S:
            raise integer_outside(<object> column.name, "int64", row)
        mqtype = INTEGERS[kind - INT8S]
        value_integer(value, INT64 if mqtype == MQTYPE_INT64 else INT32, mqtype, number)
    elif kind == FLOAT64S:
        fetch(&f64, column.values, at)
        value_float(value, FLOAT64, MQTYPE_FLOAT64, f64)
    elif kind == FLOAT32S:
        fetch(&f32, column.values, at)
        value_float(value, FLOAT32, MQTYPE_FLOAT32, f32)
    elif kind == BOOLEANS:
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, is_set(<const uint8_t *> column.values, at))
    elif kind == INDICES:
        number = integer_at(column.index, column.values, at)
        if not 0 <= number < column.inner.rows:
            return damaged(column, "an index lies outside its dictionary", row)
        return column_load(column.inner, number, row, value, owner)
    elif kind == FIELDS:
        return column_load(column.inner, place, row, value, owner)
    else:  # kind == NULLS
        value_null(value)
    return 0


cdef inline int offsets_load(Column *column, int64_t at, int64_t row, Value *value, PyObject **owner) except -1:
    cdef int32_t begin, end
    cdef int64_t start, stop
    if column.kind == TEXTS or column.kind == BINARIES:
        fetch(&begin, column.values, at)
        fetch(&end, column.values, at + 1)
        start, stop = begin, end
    else:
        fetch(&start, column.values, at)
        fetch(&stop, column.values, at + 1)
    if not 0 <= start <= stop <= column.size:
        return damaged(column, "its offsets do not rise", row)
    return text_load(column, value, owner, column.content + start, stop - start, row)


cdef int view_load(Column *column, int64_t at, int64_t row, Value *value, PyObject **owner) except -1:
    """Read a view: 16 bytes that are the text, if it has 12 bytes or fewer, or say where it stands."""
    cdef const uint8_t *data = <const uint8_t *> column.values + 16 * at
    cdef int32_t length, number, start
    cdef int64_t size
    fetch(&length, data, 0)
    if length < 0:
        return damaged(column, "a view has a negative length", row)
    if length <= 12:
        data += 4
    else:
        fetch(&number, data, 2)
        fetch(&start, data, 3)
        if not 0 <= number < column.count or start < 0:
            return damaged(column, "a view points outside its buffers", row)
        fetch(&size, column.sizes, number)
        if <int64_t> start + length > size:
            return damaged(column, "a view points outside its buffers", row)
        data = <const uint8_t *> column.contents[number] + start
    return text_load(column, value, owner, data, length, row)


cdef int64_t integer_at(int kind, const void *values, int64_t at) noexcept:
    """Read an integer of any width; an unsigned one beyond INT64 turns negative."""
    cdef int8_t i8
    cdef int16_t i16
    cdef int32_t i32
    cdef int64_t i64
    cdef uint8_t u8
    cdef uint16_t u16
    cdef uint32_t u32
    if kind == INT32S:
        fetch(&i32, values, at)
        return i32
    if kind == INT8S:
        fetch(&i8, values, at)
        return i8
    if kind == INT16S:
        fetch(&i16, values, at)
        return i16
    if kind == UINT8S:
        fetch(&u8, values, at)
        return u8
    if kind == UINT16S:
        fetch(&u16, values, at)
        return u16
    if kind == UINT32S:
        fetch(&u32, values, at)
        return u32
    fetch(&i64, values, at)
    return i64


# ---- a batch -----------------------------------------------------------------------------------------------------

cdef int kind_of(ArrowSchema *schema) except -2:
    """Return the Kind of the columns of a type, of a dictionary that of its indices; -1 if they are not read."""
    cdef int place, kind
    if schema.format == NULL or extension_name(schema) is not None:
        return -1
    for place in range(<int> (sizeof(FORMATS) // sizeof(FormatRow))):
        if FORMATS[place].format[0] == schema.format[0] and strcmp(FORMATS[place].format, schema.format) == 0:
            kind = FORMATS[place].kind
            if schema.dictionary == NULL:
                return kind
            if schema.dictionary.dictionary != NULL or kind_of(schema.dictionary) < 0:
                return -1
            return kind if INT8S <= kind <= UINT64S else -1
    return -1


cdef str type_name(ArrowSchema *schema):
    """Return what people call the type of a column."""
    if schema.dictionary != NULL:
        return f"dictionary of {extension_name(schema.dictionary) or type_name(schema.dictionary)}"
    form, row = row_of(schema)
    return f"'{form}'" if row is None else row.name


cdef tuple row_of(ArrowSchema *schema):
    """Return the format of a type without a dictionary, and its row in the table of types, or None."""
    form = "" if schema.format == NULL else schema.format.decode("utf-8", "replace")
    return form, next((row for row in _TYPES if form.startswith(row.format)), None)


cdef str remedy(ArrowSchema *schema):
    """Return what makes a column of a type that is read of one that is not."""
    if extension_name(schema) is not None:
        return "take its storage"
    if schema.dictionary != NULL:
        return "cast it to the type of its dictionary's values"
    row = row_of(schema)[1]
    return row.remedy if row is not None and row.remedy else "cast it to the type the property has"


cdef bint is_struct(ArrowSchema *schema) noexcept:
    return schema.format != NULL and strcmp(schema.format, b"+s") == 0


cdef bint has_packed_structs(ArrowSchema *schema) noexcept:
    """Return whether each row is a struct that stands elsewhere: in a dictionary, or once for a run of rows."""
    if schema.dictionary != NULL:
        return is_struct(schema.dictionary)
    return (
        schema.format != NULL and strcmp(schema.format, b"+r") == 0 and schema.n_children == 2
        and is_struct(schema.children[1])
    )


cdef str extension_name(ArrowSchema *schema):
    """Return the name of the extension type, if it is one. Metadata are a count, then lengths and strings by turns."""
    cdef const char *at = schema.metadata
    cdef int32_t count, length
    cdef bint wanted = False
    cdef int64_t number
    if at == NULL:
        return None
    fetch(&count, at, 0)
    at += 4
    for number in range(2 * <int64_t> count):
        fetch(&length, at, 0)
        at += 4
        if length < 0:
            return None
        if wanted:
            return at[:length].decode("utf-8", "replace")
        wanted = number % 2 == 0 and length == 20 and memcmp(at, b"ARROW:extension:name", 20) == 0
        at += length
    return None


cdef int take_validity(Column *column, ArrowArray *array, int64_t least) except -1:
    """Find the validity bitmap of an array that has at least so many buffers."""
    if array.n_buffers < least or (least > 0 and array.buffers == NULL):
        raise wordings.damaged_column(<object> column.name, f"it has {array.n_buffers} buffers, its type {least}")
    if least > 0 and array.null_count != 0 and column.rows > 0:
        column.validity = <const uint8_t *> array.buffers[0]
        if column.validity == NULL and array.null_count > 0:
            raise wordings.damaged_column(<object> column.name, "it has nulls, and does not say which")
        if column.validity != NULL:
            # A slice has not counted them, and mostly has none.
            column.nulls = min(array.null_count, column.rows)
            if column.nulls < 0:
                column.nulls = unset_count(column.validity, column.offset, column.rows)
            if column.nulls == 0:
                column.validity = NULL
    return 0


cdef int check_length(name, ArrowArray *array, int64_t shift, int64_t rows) except -1:
    """Check that an array has the rows a batch needs of it, and that offsets can be added."""
    if not (0 <= array.offset < FAR and shift < FAR and shift + rows <= array.length < FAR):
        raise wordings.damaged_column(name, f"it has {array.length} rows, the batch needs {shift + rows}")
    return 0


@cython.final
@cython.no_gc_clear  # the columns point into what the capsules own
cdef class Batch:
    """The columns of a batch that are read: one for each property.

    Args:
        asked: which, see `names_asked`.
        batch: anything with ``__arrow_c_array__`` whose array is a struct.
        schema_kept: the capsule of an equal schema: then of this batch, which is pyarrow's, only the array is exported.
    """

    def __cinit__(self, tuple asked not None, batch, schema_kept=None):
        cdef list names, paths, others, fold
        cdef ArrowSchema *schema
        cdef ArrowArray *array
        cdef Column *column
        cdef Py_ssize_t slot
        names, paths, others, fold, self.places = asked
        self.names = names
        self.capsules = capsules_of(batch, schema_kept, &self.exported)
        schema = <ArrowSchema *> PyCapsule_GetPointer(self.capsules[0], b"arrow_schema")
        if schema_kept is not None:
            array = &self.exported.array
        else:
            array = <ArrowArray *> PyCapsule_GetPointer(self.capsules[1], b"arrow_array")
            if schema.release == NULL or array.release == NULL:
                raise wordings.not_a_batch(batch, "its data were released")
            self.schema = schema
            self.array = array
            self.release_schema = schema.release
            self.release_array = array.release
            schema.release = NULL
            array.release = NULL
        if not is_struct(schema):
            raise wordings.not_a_batch(batch, f"it is of the Arrow type {type_name(schema)}")
        if not 0 <= array.length < FAR:
            raise wordings.not_a_batch(batch, f"it has {array.length} rows")
        self.rows = array.length
        self.columns = <Column **> calloc(len(names) + 1, sizeof(Column *) + sizeof(Column))
        if self.columns == NULL:
            raise MemoryError
        self.spare = <Column *> (self.columns + len(names) + 1)
        self.spares = len(names)
        for slot in range(len(names)):
            name = names[slot]
            column = self.resolve(name, paths[slot], schema, array, 0, self.rows, fold[slot])
            if column == NULL and others[slot] is not None:
                column = self.resolve(name, others[slot], schema, array, 0, self.rows, False)
            self.columns[slot] = self.new_column(name, NULLS, 0, 0) if column == NULL else column

    def __dealloc__(self):
        cdef Column *column
        while self.first != NULL:
            column = self.first
            self.first = column.next
            free(column)
        free(self.columns)
        if self.array != NULL:
            self.schema.release = self.release_schema
            self.array.release = self.release_array
        if self.exported.array.release != NULL:
            self.exported.array.release(&self.exported.array)

    cdef Column *new_column(self, name, int kind, int64_t offset, int64_t rows) except NULL:
        cdef Column *column = self.spare
        if self.spares > 0:
            self.spares -= 1
            self.spare += 1
        else:
            column = <Column *> calloc(1, sizeof(Column))
            if column == NULL:
                raise MemoryError
            column.next = self.first
            self.first = column
        column.kind = kind
        column.name = <PyObject *> name
        column.offset = offset
        column.rows = rows
        return column

    cdef Column *resolve(
        self, name, bytes path, ArrowSchema *schema, ArrowArray *array, int64_t shift, int64_t rows, bint fold
    ) except? NULL:
        """Find the column of a path in a struct: the one of that very name, or of a struct that its beginning names.

        Args:
            shift, rows: row 0 of the batch, and how many rows it has, in rows of the struct without its offset.
            fold: case does not count, and the path has none.
        """
        cdef Column *column = NULL
        cdef Column *around
        cdef ArrowSchema *packed
        cdef int64_t place = child_find(name, path, schema, array, fold)
        cdef Py_ssize_t dot = path.find(b".") if place < 0 else -1
        check_length(name, array, shift, rows)
        shift += array.offset
        if place >= 0:
            column = self.bind(name, schema.children[place], child_at(name, array, place), shift, rows)
        while column == NULL and dot >= 0:
            place = child_find(name, path[:dot], schema, array, fold)
            if place >= 0 and is_struct(schema.children[place]):
                column = self.resolve(
                    name, path[dot + 1:], schema.children[place], child_at(name, array, place), shift, rows, fold
                )
            elif place >= 0 and has_packed_structs(schema.children[place]):
                packed = schema.children[place]
                raise wordings.not_a_column(path[:dot].decode("utf-8", "replace"), type_name(packed), remedy(packed))
            dot = path.find(b".", dot + 1)
        if column != NULL and array.null_count != 0:
            around = self.new_column(name, FIELDS, shift, rows)
            around.inner = column
            take_validity(around, array, 1)
            if around.validity != NULL:
                return around
        return column

    cdef Column *bind(
        self, name, ArrowSchema *schema, ArrowArray *array, int64_t shift, int64_t rows
    ) except NULL:
        """Build a column of an array, checking what it says of itself."""
        cdef Column *column
        cdef ArrowArray *words
        cdef int kind = kind_of(schema)
        if kind < 0:
            raise wordings.not_a_column(name, extension_name(schema) or type_name(schema), remedy(schema))
        check_length(name, array, shift, rows)
        column = self.new_column(name, kind, array.offset + shift, rows)
        if column.kind == NULLS:
            return column
        take_validity(column, array, 3 if column.kind >= TEXTS else 2)
        column.values = array.buffers[1]
        if column.values == NULL and rows > 0:
            raise wordings.damaged_column(name, "it has no values")
        if schema.dictionary != NULL:
            words = array.dictionary
            if words == NULL or words.length < 0:
                raise wordings.damaged_column(name, "it has no dictionary")
            if words.release == NULL or schema.dictionary.release == NULL:
                raise wordings.damaged_column(name, "its dictionary was released")
            column.index = column.kind
            column.kind = INDICES
            column.inner = self.bind(name, schema.dictionary, words, 0, words.length)
        elif column.kind == TEXT_VIEWS or column.kind == BINARY_VIEWS:
            self.bind_views(column, array)
        elif column.kind >= TEXTS and rows > 0:
            self.bind_content(column, array)
        return column

    cdef int bind_content(self, Column *column, ArrowArray *array) except -1:
        """Find what the offsets point into: from the first one to the last.

        In a struct that was sliced the array has more rows than the batch. The last offset of the array is the one
        that a library holds against the size of its buffer, so that of the batch is held against it.
        """
        cdef int32_t short
        cdef int64_t start, most
        if column.kind == TEXTS or column.kind == BINARIES:
            fetch(&short, column.values, column.offset)
            start = short
            fetch(&short, column.values, column.offset + column.rows)
            column.size = short
            fetch(&short, column.values, array.offset + array.length)
            most = short
        else:
            fetch(&start, column.values, column.offset)
            fetch(&column.size, column.values, column.offset + column.rows)
            fetch(&most, column.values, array.offset + array.length)
        column.content = <const uint8_t *> array.buffers[2]
        if not 0 <= start <= column.size <= most:
            raise wordings.damaged_column(<object> column.name, "its offsets do not rise")
        if column.content == NULL:
            if column.size > 0:
                raise wordings.damaged_column(<object> column.name, "it has no content")
            column.content = b""
        return 0

    cdef int bind_views(self, Column *column, ArrowArray *array) except -1:
        cdef int64_t number, size
        column.count = array.n_buffers - 3
        column.contents = array.buffers + 2
        column.sizes = array.buffers[array.n_buffers - 1]
        for number in range(column.count):
            if column.sizes == NULL:
                raise wordings.damaged_column(<object> column.name, "it does not give the sizes of its buffers")
            fetch(&size, column.sizes, number)
            if size > 0 and column.contents[number] == NULL:
                raise wordings.damaged_column(<object> column.name, "it has no content")
        return 0


cdef tuple capsules_of(object batch, object schema_kept, ArrowDeviceArray *exported):
    """Ask a batch for its two capsules, which release what they hold when they go; for the array alone, see Batch."""
    try:
        if schema_kept is not None:
            batch._export_to_c_device(<size_t> exported)
            if exported.device_type != 1:
                raise NotImplementedError("its data are where the processor does not read")
            return (schema_kept,)
        schema, array = batch.__arrow_c_array__()
    except MemoryError:
        raise
    except Exception as error:
        raise wordings.not_a_batch(batch, f"{type(error).__name__}: {error}") from error
    if not PyCapsule_IsValid(schema, b"arrow_schema") or not PyCapsule_IsValid(array, b"arrow_array"):
        raise wordings.not_a_batch(batch, "__arrow_c_array__ gave no pair of capsules")
    return schema, array


cdef tuple names_asked(list names, list others, list fold):
    """Return what a Batch is asked for.

    Args:
        names: of the properties.
        others: the other spelling of each, or None.
        fold: for each whether case does not count in its name.
    """
    cdef Py_ssize_t place
    return (
        names,
        [spelling(name.casefold() if folds else name) for name, folds in zip(names, fold, strict=True)],
        [None if other is None else spelling(other) for other in others],
        fold,
        {name: place for place, name in enumerate(names)},
    )


cdef bytes spelling(str name):
    return name.encode("utf-8", "surrogatepass")


cdef bytes child_spelling(bytes path, ArrowSchema *schema):
    """Return how the only child that has a name in some case spells it; the name, which has none, if there is none."""
    cdef int64_t place
    cdef str wanted = path.decode("utf-8", "surrogatepass")
    cdef bytes given
    cdef list pairs = []
    for place in range(schema.n_children):
        if schema.children[place] != NULL and schema.children[place].name != NULL:
            given = schema.children[place].name
            pairs.append((given.decode("utf-8", "surrogateescape"), given))  # what is no UTF-8 is no name
    return folded(pairs, {wanted: wanted}).get(wanted, path)


cdef int64_t child_find(name, bytes path, ArrowSchema *schema, ArrowArray *array, bint fold) except -2:
    """Return the place of the only child of this name, or -1."""
    cdef int64_t place
    cdef int64_t found = -1
    cdef const char *wanted
    cdef size_t length
    cdef const char *given
    if schema.n_children > 0 and (schema.children == NULL or array.children == NULL):
        raise wordings.damaged_column(name, "its struct has no fields, and gives their number")
    if schema.n_children != array.n_children:
        raise wordings.damaged_column(
            name, f"its struct has {array.n_children} arrays, and types for {schema.n_children}"
        )
    if fold:
        path = child_spelling(path, schema)
    wanted = path
    length = len(path)
    for place in range(schema.n_children):
        if schema.children[place] == NULL or schema.children[place].release == NULL:
            raise wordings.damaged_column(name, f"field {place} of its struct has no type")
        given = schema.children[place].name
        if given != NULL and strncmp(given, wanted, length) == 0 and strlen(given) == length:
            if found >= 0:
                raise ArgumentError(
                    f"the batch has two columns '{name}': a message has a property once",
                    hint="rename or drop one of them",
                )
            found = place
    return found


cdef ArrowArray *child_at(name, ArrowArray *array, int64_t place) except NULL:
    if array.children[place] == NULL or array.children[place].release == NULL:
        raise wordings.damaged_column(name, "its array is missing")
    return array.children[place]


@cython.final
cdef class RowMessage:
    """A row of a batch as a message.

    A property is read when it is asked for, so damage that does not matter is not met.
    """

    def __cinit__(self, Batch batch not None):
        self.batch = batch

    def get(self, name, default=None):
        """Return the value of a property, None if the row has none."""
        cdef Value value
        cdef PyObject *owner = NULL
        cdef Py_ssize_t place = self.batch.places[name]
        try:
            column_load(self.batch.columns[place], self.row, self.row, &value, &owner)
            return value_python(&value)
        finally:
            Py_XDECREF(owner)

    def items(self):
        """Return the names and values of what the row has, for dialects that read names case-insensitively."""
        return [(name, value) for name in self.batch.places if (value := self.get(name)) is not None]


Mapping.register(RowMessage)
