/* What Cython 3.3 does wrong where there is no memory, put right before its code is read.

   An item that cannot be appended to the list of a comprehension is released twice. So a call that fails takes a
   reference first; where the item is released once, that object leaks. */

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
