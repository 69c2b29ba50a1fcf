# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# Bytes that grow.

from libc.stdint cimport uint8_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy


cdef struct Text:
    uint8_t *at
    Py_ssize_t size
    Py_ssize_t room


cdef inline int text_put(Text *text, const void *what, Py_ssize_t size) except -1:
    cdef void *grown
    if size > text.room - text.size:
        grown = realloc(text.at, 2 * text.room + size)
        if grown == NULL:
            raise MemoryError
        text.at = <uint8_t *> grown
        text.room = 2 * text.room + size
    if size > 0:
        memcpy(text.at + text.size, what, size)
        text.size += size
    return 0
