"""Types of the writer of formulas: what it remembers is read by place, not by name."""

cimport cython

from mqsel._rows cimport field, row
from mqsel.language.checker cimport may_err
from mqsel.logic.formulas cimport all_of, any_of, leaf
from mqsel.logic.sets cimport numbers, numbers_from


cdef int _SEEN


cdef _only(object value)
cdef _of_strings(object texts)
cdef _of_bytes(object texts)
cdef _beside(object values, object others)
cdef _flipped(object made)


@cython.locals(found=list, stack=list, is_and=cython.bint, negative=cython.bint)
cdef _operands(object chain)


cdef class Writer:
    cdef dict subjects  # one object for equal trees
    cdef dict tests  # normal forms, by what they say
    cdef bytearray seen  # parts of hashes of what has been written
    cdef dict memory  # complements
    cdef object names  # what to call properties
    cdef bint may_err  # whether any part of a selector can be ERR

    cpdef true_of(self, object selector, object names)
    cpdef write(self, object selector, object names, int wanted)
    cpdef condition(self, object root, int wanted)
    cdef int of_operands(self, int wanted, object connective) except -1
    cdef remembered(self, object node, int wanted)

    @cython.locals(number=cython.Py_ssize_t, place=cython.Py_ssize_t, mark=cython.int)
    cdef remember(self, object said, object made)
    cdef predicate(self, object node, int wanted)
    cdef connective(self, object node, list operands, int wanted)
    cdef chain(self, list operands, int wanted, object connective)
    cdef test(self, object subject, str kind, object found, object rest, object other, int wanted)
    cdef text(self, object subject, str kind, object texts, object other, int wanted)
    cdef comparison(self, object operator, object left, object right, object other, int wanted)
    cdef constant(self, str operator, object subject, object literal, object other, int wanted)
    cdef between(self, object node, int wanted)
    cdef read(self, object name)

    @cython.locals(made=list, said=list, first=cython.Py_ssize_t)
    cdef operand(self, object root)
