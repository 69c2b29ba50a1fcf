/* What Cython 3.3 does wrong where there is no memory, put right before its code is read.

   An item that cannot be appended to the list of a comprehension is released twice. So a call that fails takes a
   reference first; where the item is released once, that object leaks.

   CPython 3.11 loses an exception where there is no memory for its traceback: a call returns NULL and no exception is
   set. An `except` clause asks whether none is a class; that none is not one leaves it to PyErr_Occurred, which ends in
   a SystemError, not in a read of address 0.

   What this header cannot put right: `with` hands __exit__ a traceback that may be none, and counts a reference to it.
   Compiled code has `try` and `finally` in its place; a test sees to it. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

static inline int mqsel_list_append(PyObject *list, PyObject *item) {
    int failed = PyList_Append(list, item);
    if (failed < 0) {
        Py_INCREF(item);
    }
    return failed;
}
#define PyList_Append mqsel_list_append

#undef PyExceptionClass_Check
#define PyExceptionClass_Check(type) \
    ((type) != NULL && PyType_Check(type) && \
     PyType_FastSubclass((PyTypeObject *)(type), Py_TPFLAGS_BASE_EXC_SUBCLASS))
