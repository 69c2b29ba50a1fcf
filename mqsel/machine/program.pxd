"""Types of the reader of programs, which every executor runs on arrival."""

cimport cython


@cython.locals(reader=_Reader)
cdef tuple _read(bytes data)


cdef class _Reader:
    cdef bytes data  # what is read
    cdef Py_ssize_t at  # the next byte

    cpdef bytes take(self, object length)
    cpdef number(self)
    cpdef zigzag(self)
    cpdef str text(self)
    cpdef Py_ssize_t count(self) except -1

    @cython.locals(tag=bytes)
    cdef constant(self)
