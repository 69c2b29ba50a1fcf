# What the machine reads of a program: fields that only the verifier sets.


cdef class Verified:
    cdef readonly str text              # the selector
    cdef readonly object dialect        # Dialect
    cdef readonly tuple slots           # names of properties, exact str
    cdef readonly tuple constants       # each of a type that _verifier knows
    cdef readonly bytes words           # the code, 4 bytes an instruction, little-endian
    cdef readonly bytes span_table      # start and length for each instruction, as program.py writes them
    cdef readonly Py_ssize_t exact      # address of the exact code
    cdef readonly int value_depth       # what the value stack holds at most
    cdef readonly int truth_depth       # what the truth stack holds at most
    cdef readonly object source         # the Selector that compiles to its code; None until note_source, not pickled
