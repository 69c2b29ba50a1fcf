"""Types of the parser: what it stands on is read by place, not by name."""

cimport cython

from mqsel._rows cimport row


@cython.freelist(8)
cdef class _Open:
    cdef public str kind  # _ROOT, _PAREN, _NOT, _SIGN, _BETWEEN, _IN, _LIKE or an operator
    cdef public int strength  # how strongly it binds
    cdef public Py_ssize_t start  # where it began
    cdef public list operands  # those that it has
    cdef public list operators  # those between them
    cdef public bint negated  # NOT stands before its word
    cdef public bint pending  # it needs more than an operand


cdef class _Parser:
    cdef str text  # the selector
    cdef object dialect  # its dialect
    cdef object rules  # those of its product
    cdef object grammar  # what the texts of that are read by
    cdef readonly object core  # what nodes have of it
    cdef object other  # what a test is of another type
    cdef object columns  # the tokens
    cdef list kinds  # of the tokens
    cdef list values  # of the tokens
    cdef list starts  # of the tokens
    cdef list stops  # of the tokens
    cdef Py_ssize_t at  # the next token
    cdef int depth  # constructs within each other
    cdef Py_ssize_t start  # of the operand that has just been completed
    cdef list stack  # the open constructs
    cdef list order  # the nodes that have been made

    @cython.locals(top=_Open, kinds=list, kind=str, at=cython.Py_ssize_t)
    cdef tuple operand(self)

    @cython.locals(top=_Open, kind=str)
    cdef object literal(self, Py_ssize_t at)

    @cython.locals(top=_Open, kinds=list, kind=str, binding=cython.int, limit=cython.int)
    cdef bint operators(self, object left, int strength, dict binary, dict tests, int chains) except -1

    @cython.locals(top=_Open)
    cdef object join(self, str kind, int binding, object left, int strength, int chains)

    @cython.locals(top=_Open, kind=str)
    cdef tuple reduce(self, object left, int strength, int binding)
    cdef object predicate(self, object left, int strength)
    cdef object in_list(self, bint negated, object identifier, Py_ssize_t start)
    cdef object take(self, str kind, str expected)
    cdef _Open close(self)
    cdef object open(self, _Open construct)
    cdef object deepen(self)
