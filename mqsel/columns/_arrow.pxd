# Arrow's C Data Interface, and a column of it.

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t

from mqsel.machine._values cimport Value


# The two structs of the interface, field for field. *Arrow columnar format, The Arrow C data interface*.
cdef struct ArrowSchema:
    const char *format           # the type, in a few letters
    const char *name
    const char *metadata         # lengths and strings, native byte order; NULL for none
    int64_t flags
    int64_t n_children
    ArrowSchema **children
    ArrowSchema *dictionary      # type of the values, where format is that of the indices
    void (*release)(ArrowSchema *) noexcept
    void *private_data


cdef struct ArrowArray:
    int64_t length
    int64_t null_count           # -1: not counted
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void **buffers
    ArrowArray **children
    ArrowArray *dictionary
    void (*release)(ArrowArray *) noexcept
    void *private_data


# *Arrow columnar format, The Arrow C device data interface*.
cdef struct ArrowDeviceArray:
    ArrowArray array
    int64_t device_id
    int32_t device_type          # 1: memory that the processor reads
    void *sync_event
    int64_t[3] reserved


cdef enum ColumnKind:
    NULLS          # also a property without a column
    BOOLEANS
    INT8S
    INT16S
    INT32S
    INT64S
    UINT8S
    UINT16S
    UINT32S
    UINT64S
    FLOAT32S
    FLOAT64S
    TEXTS          # 32-bit offsets
    LARGE_TEXTS    # 64-bit offsets
    TEXT_VIEWS
    BINARIES
    LARGE_BINARIES
    BINARY_VIEWS
    INDICES        # of a dictionary
    FIELDS         # of a struct that may itself be null


cdef struct Column:
    int kind                     # a ColumnKind
    int index                    # INDICES: the ColumnKind of the indices
    PyObject *name               # of the property, kept alive by the batch
    const uint8_t *validity      # bitmap, a 0 is a null; NULL where nothing is null
    int64_t nulls                # how many there are
    int64_t offset               # where row 0 stands in validity and values
    int64_t rows                 # number of rows, or of values of a dictionary
    const void *values           # numbers, bits, offsets or views
    const uint8_t *content       # what the offsets point into
    int64_t size                 # of the content, in bytes
    const void **contents        # what the views point into
    const void *sizes            # of the contents, int64
    int64_t count                # of the contents
    Column *inner                # INDICES: the values; FIELDS: the field
    Column *next                 # in the list of those that have memory of their own


# The columns of a batch that are read: one for each property.
cdef class Batch:
    cdef list names              # of the columns, which point to them
    cdef dict places             # name of a property -> number of its column
    cdef tuple capsules          # own what the columns point into
    cdef ArrowDeviceArray exported     # or this does, of a batch whose schema was kept
    # While the batch is read the two structs say that they were released: who takes the data over in the meantime, as
    # the interface lets everybody do, would free them. Their callbacks are kept here, and given back in the end.
    cdef ArrowSchema *schema
    cdef ArrowArray *array
    cdef void (*release_schema)(ArrowSchema *) noexcept
    cdef void (*release_array)(ArrowArray *) noexcept
    cdef int64_t rows
    cdef Column **columns
    cdef Column *spare           # the next of those behind the pointers: one for each name
    cdef Py_ssize_t spares
    cdef Column *first           # of those beyond that: inner ones

    cdef Column *new_column(self, name, int kind, int64_t offset, int64_t rows) except NULL
    cdef Column *resolve(
        self, name, bytes path, ArrowSchema *schema, ArrowArray *array, int64_t shift, int64_t rows, bint fold
    ) except? NULL
    cdef Column *bind(
        self, name, ArrowSchema *schema, ArrowArray *array, int64_t shift, int64_t rows
    ) except NULL
    cdef int bind_content(self, Column *column, ArrowArray *array) except -1
    cdef int bind_views(self, Column *column, ArrowArray *array) except -1


# A row of a batch, as a message.
cdef class RowMessage:
    cdef Batch batch
    cdef int64_t row


cdef tuple names_asked(list names, list others, list fold)
cdef int column_load(Column *column, int64_t place, int64_t row, Value *value, PyObject **owner) except -1
