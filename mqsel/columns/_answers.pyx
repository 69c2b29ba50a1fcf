# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Truth values of the rows of a batch, as Arrow: by the kernel if it supports the selector and the columns, else row by
row by the machine.

The only module that knows both ways. The machine evaluates a block in which the kernel finds damage, too: it reads only
what it needs, and so raises the exact error, or finds that the damage does not matter.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memset

from mqsel.columns._arrow cimport Batch, RowMessage
from mqsel.columns._columns cimport BLOCK, DECLINED
from mqsel.columns._formulas cimport run_truths
from mqsel.columns._kernel cimport AGAIN, BatchRun, Kernel, call_end
from mqsel.machine._image cimport Image
from mqsel.machine._vm cimport (
    ERR, FALSE, TRUE, UNKNOWN, Frame, Machine, Pace, clock_nanoseconds, pace_look, pace_start,
)

import sys
from importlib import import_module

from mqsel.columns import wordings
from mqsel.columns._kernel import TooLargeError
from mqsel.errors import PropertyTypeError, UndocumentedError
from mqsel.logic.formulas import NEVER, all_of, complement
from mqsel.logic.normal import normal
from mqsel.language.dialect import core_of
from mqsel.language.optimizer import optimize as optimized
from mqsel.machine.origin import check_source, selector_of

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef extern from "_loops.h" nogil:
    void bits_of_mask(uint8_t *bits, const uint8_t *mask, int rows)

cdef enum:
    MAX_ROOTS = 4            # truth values that are asked for
    FEW_ROWS = 8             # so many rows the machine evaluates before a kernel has begun
    NO_ANSWER = 4            # in place of a truth value: no document says which it is

# What is asked for, in the order of asking: a row that has one truth value is not asked for the next.
cdef tuple _ONE = (TRUE,)
cdef tuple _TWO = (TRUE, UNKNOWN)
cdef tuple _THREE = (TRUE, UNKNOWN, ERR)
cdef tuple _ONE_OR_NONE = (TRUE, NO_ANSWER)


cdef Batch batch_of(Machine machine, batch):
    """Find the columns that a machine reads."""
    cdef Image *image
    cdef Py_ssize_t slot
    machine.prepare()
    image = machine.image
    return Batch(
        [<object> image.names[slot] for slot in range(image.slot_count)],
        [None if image.aliases[slot] == NULL else <object> image.aliases[slot] for slot in range(image.slot_count)],
        batch,
        [machine.folded is not None] * image.slot_count,
    )


# ---- the kernels of a machine ------------------------------------------------------------------------------------

cdef object kernels_of(Machine machine):
    """Return the normal form of a machine's selector, and the kernels made so far."""
    if machine.kernels is None:
        machine.kernels = (normal(optimized(selector_of(machine.program))), {})
    return machine.kernels


cdef object formula_of(form, int truth):
    """Return the formula of rows that have a truth value; that of UNKNOWN is only asked of those that are not TRUE.

    What has a formula has an answer.
    """
    if truth == NO_ANSWER:
        return NEVER
    if truth == UNKNOWN:
        return all_of([complement(form.false), complement(form.error)])
    return form.true if truth == TRUE else form.error


cdef object kernel_for(Machine machine, Batch batch, tuple truths):
    """Return a Kernel that finds the rows with each of some truth values, or why the machine goes row by row."""
    cdef Kernel kernel
    form, made = kernels_of(machine)
    if truths not in made:
        try:
            made[truths] = Kernel(tuple([formula_of(form, truth) for truth in truths]), machine.program.slots)
        except TooLargeError as reason:
            made[truths] = str(reason)
    found = made[truths]
    if isinstance(found, str):
        return found
    kernel = found
    reason = kernel.refuses(batch.columns, batch.rows)
    return kernel if reason is None else reason


def refusal(Machine machine not None, batch) -> str | None:
    """Return why the rows of a batch go through the machine one by one, or None where the kernel takes them.

    Args:
        batch: anything with ``__arrow_c_array__`` whose array is a struct.
    """
    found = kernel_for(machine, batch_of(machine, batch), _THREE)
    return found if isinstance(found, str) else None


# ---- row by row --------------------------------------------------------------------------------------------------

cdef int evaluate(Machine machine, Batch batch, uint32_t start, int64_t first, int64_t stop, uint8_t *truths) except -1:
    """Run the program from *start* on some rows; their truth values go to *truths*, a byte each."""
    cdef Frame *frame
    cdef RowMessage message = RowMessage(batch)
    cdef Pace pace
    cdef int64_t row = first
    pace_start(&pace)
    frame = machine.frame_take()
    try:
        while row < stop:
            try:  # outside of the loop: to enter it for each row would cost each
                while row < stop:
                    if row - first >= pace.due:
                        pace_look(&pace, <Py_ssize_t> (row - first))
                    message.row = row
                    truths[row - first] = <uint8_t> machine.dispatch_mapping(frame, message, start)
                    row += 1
            except UndocumentedError:
                truths[row - first] = NO_ANSWER
                row += 1
    finally:
        machine.frame_give(frame)
    return 0


# ---- a block of rows at a time -----------------------------------------------------------------------------------

cdef list bits_where(Machine machine, Batch batch, tuple truths, int64_t few):
    """Return a bitmap for each truth value: of the rows that have it; filled up with zeros.

    Args:
        few: so many rows go through the machine.
    """
    cdef list result = [PyBytes_FromStringAndSize(NULL, <Py_ssize_t> ((batch.rows + 7) // 8)) for _ in truths]
    cdef uint8_t *bits[MAX_ROOTS]
    for number, bitmap in enumerate(result):
        bits[<int> number] = <uint8_t *> PyBytes_AS_STRING(bitmap)
    kernel = None
    if batch.rows > few:
        kernel = kernel_for(machine, batch, truths)
    elif machine.kernels is None:
        check_source(machine.program)  # or whether it is refused would depend on how many rows there are
    if not isinstance(kernel, Kernel):
        bits_by_rows(machine, batch, truths, 0, batch.rows, bits)
    else:
        bits_by_kernel(machine, kernel, batch, truths, bits)
    return result


cdef int bits_by_rows(
    Machine machine, Batch batch, tuple truths, int64_t start, int64_t stop, uint8_t **bits
) except -1:
    """Fill the bitmaps from row *start*, whose bit is the first of its byte, to *stop*."""
    cdef uint8_t[BLOCK] found
    cdef uint8_t[BLOCK] mask
    cdef int number, row, rows, truth
    while start < stop:
        rows = <int> min(stop - start, BLOCK)
        evaluate(machine, batch, machine.exact if UNKNOWN in truths else 0, start, start + rows, found)
        for number, truth in enumerate(truths):
            for row in range(rows):
                mask[row] = found[row] == truth
            bits_of_mask(bits[number] + start // 8, mask, rows)
        start += rows
    return 0


cdef int bits_by_kernel(Machine machine, Kernel kernel, Batch batch, tuple truths, uint8_t **bits) except -1:
    cdef int64_t start = 0
    cdef int rows
    cdef int status = 0
    cdef int by_null = -1
    cdef BatchRun *call = kernel.start(batch.columns, batch.rows)
    # Where a mismatch is not UNKNOWN, that comes from a NULL alone.
    if UNKNOWN in truths and UNKNOWN not in core_of(machine.program.dialect).others.values():
        by_null = 1
    call.turned = clock_nanoseconds()
    try:
        while start < batch.rows:
            with nogil:
                while start < batch.rows and status == 0:
                    rows = call.rows if call.rows < batch.rows - start else <int> (batch.rows - start)
                    status = run_truths(call, start, rows, by_null, bits)
                    if status == 0:
                        start += rows
            if status == DECLINED:
                bits_by_rows(machine, batch, truths, start, start + rows, bits)
                start += rows
            elif status == AGAIN:
                PyErr_CheckSignals()
            status = 0
            call.turned = clock_nanoseconds()
    finally:
        call_end(call)
    return 0


# ---- answers -----------------------------------------------------------------------------------------------------

def truths(Machine machine not None, batch, *, by_rows: bool = False) -> bytes:
    """Return the truth value of each row: 0 FALSE, 1 TRUE, 2 UNKNOWN, 3 ERR; 4 where no document says which.

    Args:
        batch: anything with ``__arrow_c_array__`` whose array is a struct.
        by_rows: by the exact code of the program, row by row, whether or not the kernel takes them.

    Returns: shape (rows,), a byte each.

    Raises: PropertyTypeError: a column that is read has a type no property has, or is damaged.
        ArgumentError: no batch, or one that has a column twice.
    """
    cdef Batch columns = batch_of(machine, batch)
    cdef bytes result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> columns.rows)
    cdef uint8_t *each = <uint8_t *> PyBytes_AS_STRING(result)
    cdef int64_t row
    cdef bytes bits
    cdef int truth
    if by_rows:
        evaluate(machine, columns, machine.exact, 0, columns.rows, each)
        return result
    memset(each, FALSE, columns.rows)
    asked = _THREE if core_of(machine.program.dialect).is_documented else (*_THREE, NO_ANSWER)
    for truth, bits in zip(asked, bits_where(machine, columns, asked, 0), strict=True):
        for row in range(columns.rows):
            if (<const uint8_t *> PyBytes_AS_STRING(bits))[row >> 3] >> (row & 7) & 1:
                each[row] = <uint8_t> truth
    return result


def match_batch(Machine machine not None, batch):
    """Do what `Matcher.match_batch` says."""
    pyarrow = library("match_batch")
    return answers(pyarrow, machine, batch, _ONE if core_of(machine.program.dialect).is_documented else _ONE_OR_NONE)


def truth_batch(Machine machine not None, batch):
    """Do what `Matcher.truth_batch` says."""
    pyarrow = library("truth_batch")
    return answers(
        pyarrow, machine, batch, _TWO if core_of(machine.program.dialect).is_documented else (*_TWO, NO_ANSWER)
    )


def library(caller: str):
    """Import pyarrow."""
    try:
        return sys.modules.get("pyarrow") or import_module("pyarrow")
    except ImportError as error:
        raise wordings.package_missing(caller, "pyarrow", "arrow") from error


cdef object answers(pyarrow, Machine machine, batch, tuple asked):
    """Answer for one chunk after the other, and join what they gave: all that is asked for but TRUE is null."""
    cdef Batch columns
    cdef bytes known, values
    cdef list found = []
    for chunk in chunks(pyarrow, batch):
        try:
            columns = batch_of(machine, chunk)
            values, *nulls = bits_where(machine, columns, asked, FEW_ROWS)
            known = None
            if any([null.count(0) < len(null) for null in nulls]):
                known = outside(nulls)
        except PropertyTypeError as error:
            if error.index is not None:
                error.index += sum(map(len, found))
            raise
        buffers = [None if known is None else pyarrow.py_buffer(known), pyarrow.py_buffer(values)]
        found.append(pyarrow.Array.from_buffers(pyarrow.bool_(), columns.rows, buffers))
    if len(found) == 1:
        return found[0]
    return pyarrow.concat_arrays([pyarrow.array([], pyarrow.bool_()), *found])


cdef bytes outside(list bitmaps):
    """Return the bits that none of some bitmaps has."""
    cdef Py_ssize_t size = len(bitmaps[0])
    cdef bytes result = PyBytes_FromStringAndSize(NULL, size)
    cdef uint8_t *to = <uint8_t *> PyBytes_AS_STRING(result)
    cdef const uint8_t *given
    cdef Py_ssize_t at
    memset(to, 0xFF, size)
    for bits in bitmaps:
        given = <const uint8_t *> PyBytes_AS_STRING(<bytes> bits)
        for at in range(size):
            to[at] &= <uint8_t> ~given[at]
    return result


def chunks(pyarrow, batch):
    """Iterate over the arrays of a batch with an ``__arrow_c_array__``. Errors of its producer become ours."""
    try:
        if isinstance(batch, (pyarrow.RecordBatch, pyarrow.Table, pyarrow.Array, pyarrow.ChunkedArray)):
            # Microseconds: holds the last offsets against the sizes of the buffers, which the interface does not give.
            batch.validate()
        if hasattr(batch, "__arrow_c_array__"):
            yield batch
        else:
            reader = pyarrow.RecordBatchReader.from_stream(batch)
            is_empty = True
            for chunk in reader:
                is_empty = False
                yield chunk
            if is_empty:  # its columns are checked all the same
                yield pyarrow.nulls(0, pyarrow.struct(list(reader.schema)))
    except MemoryError:
        raise
    except Exception as error:
        raise wordings.not_a_batch(batch, f"{type(error).__name__}: {error}") from error
