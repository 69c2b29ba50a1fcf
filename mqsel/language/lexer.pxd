"""Types of the loop over characters, which as objects would take longer than the expression that it spares."""

cimport cython

from mqsel._rows cimport row

cdef int _OTHER, _SPACE, _NAME, _STRING, _DIGIT, _ONE, _TWO


@cython.locals(
    at=cython.Py_ssize_t,
    start=cython.Py_ssize_t,
    size=cython.Py_ssize_t,
    one=cython.Py_UCS4,
    what=cython.int,
    point=cython.Py_ssize_t,
    number=cython.longlong,
    is_doubled=cython.bint,
    is_last=cython.bint,
    classes=bytes,
    parts=bytes,
    known=dict,
    names=dict,
    kinds=list,
    values=list,
    starts=list,
    stops=list,
)
cdef object _read(str text, Py_ssize_t at, object lexicon, object dialect)
