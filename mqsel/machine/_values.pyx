# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Property values: reading Python objects as values, and the Record, which holds one for each name of a schema.

What reads the exact types of the commonest messages is inline in the .pxd; everything else is here. Knows schemas;
knows no program, and of messages the Record alone. Follows language §1.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Check, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_Check, PyBytes_FromStringAndSize
from cpython.float cimport PyFloat_Check
from cpython.long cimport PyLong_Check
from cpython.memoryview cimport PyMemoryView_Check
from cpython.object cimport PyTypeObject
from cpython.unicode cimport PyUnicode_Check
from libc.stdlib cimport calloc, free

from collections.abc import Mapping

from mqsel.carets import shortened
from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.machine import wordings
from mqsel.machine.schema import as_schema
from mqsel.values import TYPE_NAMES as _TYPES
from mqsel.values import Float32, Int8, Int16, Int32

cdef extern from "Python.h":
    PyTypeObject PyLong_Type
    object PyUnicode_FromObject(object text)

SMALL = [Int32(number) for number in range(-1, 1024)]
_INTEGERS = {MQTYPE_BOOLEAN: bool, MQTYPE_INT8: Int8, MQTYPE_INT16: Int16}
_NAMES_OF_TYPES = {int(number): name for name, number in _TYPES.items()}


cdef void *zeroed(Py_ssize_t count, size_t size) except NULL:
    cdef void *memory = calloc(count + 1, size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef int value_load(Value *value, PyObject **owner, object name, object item) except -1:
    """Read any Python object as a property value, and own what the value points to."""
    if not value_read(value, <PyObject *> item):
        value_load_other(value, owner, name, item)
    elif value.tag == STRING or value.tag == BYTES:
        value_object(value, owner, value.tag, value.mqtype, value.it.o)
    return 0


# numpy scalars that are no subclass of a Python type, by the name of theirs, so that nothing imports numpy: how to read
# them, and as what.
_NUMPY = {
    "bool": (bool, MQTYPE_BOOLEAN),
    "bool_": (bool, MQTYPE_BOOLEAN),
    "int8": (int, MQTYPE_INT8),
    "int16": (int, MQTYPE_INT16),
    "int32": (int, MQTYPE_INT32),
    "int64": (int, MQTYPE_INT64),
    "uint8": (int, MQTYPE_INT16),
    "uint16": (int, MQTYPE_INT32),
    "uint32": (int, MQTYPE_INT64),
    "uint64": (int, MQTYPE_INT64),
    "longlong": (int, MQTYPE_INT64),
    "ulonglong": (int, MQTYPE_INT64),
    "float16": (float, MQTYPE_FLOAT32),
    "float32": (float, MQTYPE_FLOAT32),
}


cdef int value_load_other(Value *value, PyObject **owner, object name, object item) except -1:
    """Read wrappers, subclasses, buffers, numpy scalars and too large integers. Foreign code runs: own all else.

    An instance of a subclass has the value that its base class stores, whatever it overrides.
    """
    cdef object found = type(item)
    cdef object plain
    cdef int wanted = MQTYPE_INT64
    cdef int overflow = 0
    if PyLong_Check(item):
        if found is Int32:
            wanted = MQTYPE_INT32
        elif found is Int16:
            wanted = MQTYPE_INT16
        elif found is Int8:
            wanted = MQTYPE_INT8
        value_integer(value, INT64, MQTYPE_INT64, PyLong_AsLongLongAndOverflow(<PyObject *> item, &overflow))
        if overflow or not value_fit(value, wanted):
            value_refuse(value, wanted, name)
    elif PyFloat_Check(item):
        value_float(value, FLOAT64, MQTYPE_FLOAT64, PyFloat_AS_DOUBLE(item))
        if found is Float32:
            value_fit(value, MQTYPE_FLOAT32)
    elif PyUnicode_Check(item):
        plain = PyUnicode_FromObject(item)
        value_object(value, owner, STRING, MQTYPE_STRING, <PyObject *> plain)
    elif PyBytes_Check(item):
        plain = PyBytes_FromStringAndSize(PyBytes_AS_STRING(item), PyBytes_GET_SIZE(item))
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> plain)
    elif PyByteArray_Check(item):
        plain = PyBytes_FromStringAndSize(PyByteArray_AS_STRING(item), PyByteArray_GET_SIZE(item))
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> plain)
    elif PyMemoryView_Check(item):
        try:
            plain = item.tobytes()
        except (ValueError, NotImplementedError) as error:
            raise wordings.not_a_property(name, item, f"its bytes cannot be read: {error}") from error
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> plain)
    else:
        try:
            read, wanted = _NUMPY[found.__name__ if found.__module__ == "numpy" else ""]
            plain = read(item)
        except MemoryError:
            raise
        except Exception as error:  # also what a class of that name raises
            raise wordings.not_a_property(name, item) from error
        # Exactly a bool, int or float: nothing to be read again.
        if not value_read(value, <PyObject *> plain) or not value_fit(value, wanted):
            value_refuse(value, wanted, name)
    return 0


cdef object int32_made(int64_t number):
    return (<object (*)(PyObject *, object, PyObject *)> PyLong_Type.tp_new)(<PyObject *> Int32, (number,), NULL)


cdef object value_python(Value *value):
    """Return a value as the Python object that would be read as it."""
    if value.mqtype == MQTYPE_INT32:
        return int32_python(value.it.i)
    if value.tag == STRING or value.tag == BYTES:
        return <object> value.it.o
    if value.tag == NULL_VALUE:
        return None
    if value.tag == FLOAT32 or value.tag == FLOAT64:
        return Float32(value.it.d) if value.tag == FLOAT32 else value.it.d
    return value.it.i if value.mqtype == MQTYPE_INT64 else _INTEGERS[value.mqtype](value.it.i)


cdef str value_type(Value *value):
    """Return the name of the type of a value."""
    return _NAMES_OF_TYPES[value.mqtype]


cdef bint value_fit(Value *value, int wanted) noexcept:
    """Narrow an int to a declared integer type, a number to a float. Returns whether it has the type, or is NULL.

    Args:
        wanted: an MQTYPE, or 0 where none is declared.
    """
    cdef int64_t limit
    if wanted == 0 or value.mqtype == wanted or value.mqtype == MQTYPE_NULL:
        return True
    if MQTYPE_INT8 <= wanted <= MQTYPE_INT64 and MQTYPE_INT8 <= value.mqtype <= MQTYPE_INT64:
        limit = <int64_t> 1 << ((wanted >> 1) - 1) if wanted < MQTYPE_INT64 else 0
        if limit and not -limit <= value.it.i < limit:
            return False
        value.tag = INT64 if wanted == MQTYPE_INT64 else INT32
        value.mqtype = wanted
        return True
    if wanted >= MQTYPE_FLOAT32 and wanted <= MQTYPE_FLOAT64 and MQTYPE_INT8 <= value.mqtype <= MQTYPE_FLOAT64:
        # One rounding, straight from the integer.
        value.it.d = as_float(value) if wanted == MQTYPE_FLOAT32 else as_double(value)
        value.tag = FLOAT32 if wanted == MQTYPE_FLOAT32 else FLOAT64
        value.mqtype = wanted
        return True
    return False


cdef int value_refuse(Value *value, int wanted, str name) except -1:
    """Raise what says why a value does not fit."""
    found = value_type(value)
    if MQTYPE_INT8 <= wanted <= MQTYPE_INT64 and MQTYPE_INT8 <= value.mqtype <= MQTYPE_INT64:
        limits = "64 bits" if wanted == MQTYPE_INT64 else _NAMES_OF_TYPES[wanted]
        raise wordings.integer_outside(name, limits)
    raise PropertyTypeError(
        f"property '{name}' is {found}: the schema declares {_NAMES_OF_TYPES[wanted]}",
        name=name,
        value_type=found,
        hint="convert the value, or declare the type it has",
    )


@cython.final
@cython.no_gc  # what it holds, plain strings and byte strings, refers to nothing
cdef class Record:
    """A message that you can fill again and again: one typed slot for each property of a schema.

    Args:
        schema: The layout: a list of names, a list of (name, type) pairs, or a mapping of names to types.
        values: A mapping, or a sequence in the order of the schema. The default is None: every property is NULL.

    Raises: PropertyTypeError: if a value is not one of the declared type.
    """

    def __cinit__(self, schema, values=None):
        cdef Py_ssize_t place
        cdef Py_ssize_t count
        self.schema = as_schema(schema)
        self.places = {name: place for place, name in enumerate(self.schema.names)}
        count = len(self.schema.names)
        self.values = <Value *> zeroed(count + 1, sizeof(Value))
        self.owners = <PyObject **> zeroed(count, sizeof(PyObject *))
        for place in range(count + 1):
            value_null(&self.values[place])
        self.count = count

    def __init__(self, schema, values=None):
        if values is not None:
            self.fill(values)

    def __dealloc__(self):
        cdef Py_ssize_t place
        if self.owners != NULL:
            for place in range(self.count):
                Py_XDECREF(self.owners[place])
        free(self.owners)
        free(self.values)

    cdef int put(self, Py_ssize_t place, object value) except -1:
        cdef Value fresh
        cdef PyObject *owner = NULL
        cdef PyObject *old
        cdef int wanted
        name, declared = self.schema.names[place], self.schema.types[place]
        value_load(&fresh, &owner, name, value)
        wanted = 0 if declared is None else _TYPES[declared]
        if not value_fit(&fresh, wanted):
            Py_XDECREF(owner)
            value_refuse(&fresh, wanted, name)
        old = self.owners[place]
        self.owners[place] = owner
        self.values[place] = fresh
        Py_XDECREF(old)
        return 0

    def fill(self, values) -> None:
        """Set every property.

        Args:
            values: A mapping, in which a missing name is NULL, or a sequence of the length of the schema.

        Raises: PropertyTypeError: if a value is not one of the declared type.
        """
        cdef Py_ssize_t place
        if isinstance(values, Mapping):
            for place in range(self.count):
                self.put(place, values.get(self.schema.names[place]))
        elif isinstance(values, (tuple, list)):
            fixed = tuple(values)
            if len(fixed) != self.count:
                raise wordings.wrong_length(len(fixed), self.count)
            for place in range(self.count):
                self.put(place, fixed[place])
        else:
            raise wordings.not_a_message(values, True)

    def clear(self) -> None:
        """Set every property to NULL."""
        cdef Py_ssize_t place
        for place in range(self.count):
            self.put(place, None)

    def __setitem__(self, name, value):
        self.put(self.place(name), value)

    def __getitem__(self, name):
        cdef Py_ssize_t place = self.place(name)
        return value_python(&self.values[place])

    def keys(self) -> tuple:
        """Return the names of the properties. ``dict(record)`` is also a message."""
        return self.schema.names

    def __iter__(self):
        return iter(self.schema.names)

    def __contains__(self, name):
        return isinstance(name, str) and name in self.places

    def place(self, name) -> int:
        """Return the position of a property in the schema.

        Args:
            name: The name of the property.

        Raises: ArgumentError: if the schema has no such name.
        """
        place = self.places.get(name) if isinstance(name, str) else None
        if place is None:
            raise ArgumentError(f"the schema of this record has no {shortened(name)}")
        return place

    def as_tuple(self) -> tuple:
        """Return the values in the order of the schema, the narrow types in their wrappers."""
        cdef Py_ssize_t place
        return tuple([value_python(&self.values[place]) for place in range(self.count)])

    def __len__(self):
        return self.count

    def __eq__(self, other):
        if type(other) is not Record:
            return NotImplemented
        return self.schema == other.schema and values_equal(self, <Record> other)

    __hash__ = None

    def __repr__(self):
        values = ", ".join(f"{name}={value!r}" for name, value in zip(self.schema.names, self.as_tuple()))
        return f"<mqsel.Record {values}>"

    def __reduce__(self):
        return Record, (self.schema, self.as_tuple())


cdef bint values_equal(Record left, Record right) noexcept:
    """Compare types and contents: 1, 1.0 and TRUE are three values, 0.0 and -0.0 two, NaN is one."""
    cdef Py_ssize_t place
    cdef Value *a
    cdef Value *b
    for place in range(left.count):
        a = &left.values[place]
        b = &right.values[place]
        if a.mqtype != b.mqtype:
            return False
        if a.tag == STRING:
            if not string_equal(a.it.o, b.it.o):
                return False
        elif a.tag == BYTES:
            if not bytes_equal(a.it.o, b.it.o):
                return False
        elif a.tag != NULL_VALUE and a.it.i != b.it.i:
            return False
    return True
