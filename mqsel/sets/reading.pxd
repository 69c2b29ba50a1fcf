"""Types of the loop over selectors: what it stands on is read by place."""

from mqsel._rows cimport field
from mqsel.logic.normal cimport Writer


cdef class Formulas:
    cdef object texts  # by key
    cdef object own  # by key, dialects that are not the usual one
    cdef object usual  # the dialect of the others
    cdef object keys  # in order
    cdef object left  # those that are still to come
    cdef readonly object key  # of the selector that was read last
    cdef readonly list options  # match options of those that were read
    cdef Writer writer
    cdef object dialect  # of the selector that was read last
    cdef set seen  # texts that were read once
    cdef dict begun  # by dialect what is known of it: the next two
    cdef dict known  # formulas and match options, by text
    cdef dict names  # what properties are called, by names as written

    cdef object read(self, object key, str text)
