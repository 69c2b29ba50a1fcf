# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Truth values of the rows of a batch, as Arrow: by the kernel if it supports the selector and the columns, else row by
row by the machine.

The only module that knows both ways. The machine evaluates a block in which the kernel finds damage, too: it reads only
what it needs, and so raises the exact error, or finds that the damage does not matter.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from mqsel.columns._arrow cimport ArrowArray, Batch, RowMessage, names_asked
from mqsel.columns._columns cimport BLOCK, DECLINED
from mqsel.columns._formulas cimport run_alone, run_truths
from mqsel.columns._kernel cimport AGAIN, BatchRun, Kernel, call_end
from mqsel.machine._image cimport Image
from mqsel.machine._vm cimport (
    ERR, FALSE, TRUE, UNKNOWN, Frame, Machine, Pace, clock_nanoseconds, pace_look, pace_start,
)

import sys
from _thread import allocate_lock, start_new_thread
from importlib import import_module

from mqsel.columns import wordings
from mqsel.columns._kernel import TooLargeError
from mqsel.columns.lookup import may_be_read, names_of, narrowed
from mqsel.arguments import check_count
from mqsel.errors import ArgumentError, PropertyTypeError, UndocumentedError
from mqsel.logic.formulas import NEVER, all_of, complement
from mqsel.logic.normal import normal
from mqsel.language.dialect import core_of
from mqsel.language.optimizer import optimize as optimized
from mqsel.machine.origin import selector_of

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef extern from "_loops.h" nogil:
    void bits_of_mask(uint8_t *bits, const uint8_t *mask, int rows)

cdef enum:
    MAX_ROOTS = 4            # truth values that are asked for
    FEW_ROWS = 8             # so many rows the machine evaluates before a kernel has begun
    LEAST_PART = 1 << 18     # rows for which a thread pays: to begin takes 50 us, 50,000 rows of W1
    MOST_PARTS = 1 << 16     # whatever number of threads is asked for
    # To compare a schema with the last one takes pyarrow 60 ns if both are one, if not microseconds, more than names.
    SHARED = 1000
    TRUSTED = 16             # batches from one look at that to the next
    NO_ANSWER = 4            # in place of a truth value: no document says which it is

# What is asked for, in the order of asking: a row that has one truth value is not asked for the next.
cdef tuple _ONE = (TRUE,)
cdef tuple _TWO = (TRUE, UNKNOWN)
cdef tuple _THREE = (TRUE, UNKNOWN, ERR)
cdef tuple _ONE_OR_NONE = (TRUE, NO_ANSWER)

cdef dict _modules = sys.modules


@cython.final
cdef class Plan:
    """What a machine keeps for its batches."""

    cdef tuple names             # of what is read, as Batch takes them
    cdef bint answers_all
    cdef bint has_order
    cdef bint has_clock
    cdef bint is_checked         # that the code is of the text
    cdef object form             # the normal form; None before a kernel is made
    cdef dict kernels            # truth values that are asked for -> Kernel, or why the machine goes row by row
    # A schema of pyarrow, the places of its columns that may be read, None for all, the capsule of the schema of these,
    # None before a batch was exported, and the names of all: one tuple, as threads set it.
    cdef tuple places
    cdef bint are_anew           # whoever gives the batches makes a schema for each
    cdef int trusted             # so many more batches before that is looked at again


cdef Plan plan_of(Machine machine):
    cdef Image *image
    cdef Plan plan
    cdef Py_ssize_t slot
    if machine.plan is None:
        machine.prepare()
        image = machine.image
        core = core_of(machine.program.dialect)
        plan = Plan()
        wordings.check_names(machine.program.slots)
        plan.names = names_asked(
            [<object> image.names[slot] for slot in range(image.slot_count)],
            [None if image.aliases[slot] == NULL else <object> image.aliases[slot] for slot in range(image.slot_count)],
            [machine.folded is not None] * image.slot_count,
        )
        plan.answers_all = core.answers_all
        plan.has_order = core.has_greatest
        plan.has_clock = core.has_clock
        plan.kernels = {}
        machine.plan = plan
    return machine.plan


cdef tuple places_in(Machine machine, Plan plan, schema):
    """Return the places of a Plan for a schema of pyarrow. Each column that is not read takes 0.3 us to export."""
    cdef tuple known = plan.places
    cdef int64_t began = 0
    plan.trusted -= 1
    if known is not None and (plan.trusted <= 0 or not plan.are_anew):
        if plan.trusted <= 0:
            began = clock_nanoseconds()
        # Metadata count: they make extension types, which are not read.
        is_known = schema.equals(known[0], True)
        if began > 0:
            plan.are_anew = clock_nanoseconds() - began > SHARED
            plan.trusted = TRUSTED
        if is_known:
            return known
    try:
        names = schema.names
    except UnicodeDecodeError:
        return (schema, None, None, None)
    if known is not None and names == known[3]:
        places = known[1]
    else:
        wordings.check_names(names_of(schema))
        places = may_be_read(names, machine.program.slots, core_of(machine.program.dialect).naming)
        # Without a column a table has no chunks, and so no rows.
        places = None if len(places) == len(names) else places or [0]
    known = plan.places = (schema, places, None, names)
    return known


# ---- the kernels of a machine ------------------------------------------------------------------------------------

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
    cdef Plan plan = plan_of(machine)
    found = plan.kernels.get(truths)
    if found is None:
        if plan.form is None:
            plan.form = normal(optimized(selector_of(machine.program)))
        try:
            formulas = tuple([formula_of(plan.form, truth) for truth in truths])
            found = Kernel(formulas, machine.program.slots, plan.has_order)
        except TooLargeError as reason:
            found = str(reason)
        plan.kernels[truths] = found
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
    found = kernel_for(machine, Batch(plan_of(machine).names, batch), _THREE)
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

cdef int bits_where(Machine machine, Batch batch, tuple truths, int64_t few, int threads, uint8_t *room) except -1:
    """Fill a bitmap for each truth value, one behind the other: of the rows that have it; filled up with zeros.

    Args:
        few: so many rows go through the machine.
        threads: so many there are at most.
        room: of the bitmaps.
    """
    cdef Parts parts
    cdef Plan plan
    cdef uint8_t *bits[MAX_ROOTS]
    cdef int number
    for number in range(len(truths)):
        bits[number] = room + number * ((batch.rows + 7) // 8)
    kernel = None
    if batch.rows > few:
        kernel = kernel_for(machine, batch, truths)
    else:
        plan = plan_of(machine)
        if not plan.is_checked:
            selector_of(machine.program)  # or whether it is refused would depend on how many rows there are
            plan.is_checked = True
    if not isinstance(kernel, Kernel):
        bits_by_rows(machine, batch, truths, 0, batch.rows, bits)
    else:
        parts = Parts()
        parts.machine, parts.kernel, parts.batch, parts.truths = machine, kernel, batch, truths
        parts.bits = bits
        parts.count = <int> max(1, min(threads, batch.rows // LEAST_PART))
        parts.size = (batch.rows // parts.count // BLOCK + 1) * BLOCK
        parts.failed = parts.count
        parts.errors = [None] * parts.count
        run_parts(parts)
    return 0


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


@cython.final
cdef class Parts:
    """A batch in parts of equal size, each run by a thread; their bits go to the same bitmaps."""

    cdef Machine machine
    cdef Kernel kernel
    cdef Batch batch
    cdef tuple truths
    cdef uint8_t **bits          # bitmaps, which who waits for the threads holds
    cdef int64_t size            # rows of a part: whole blocks
    cdef int count
    cdef int failed              # the first that failed: those behind it end early
    cdef list errors             # of each part, or None

    def run(self, int number, lock=None):
        """Run a part, and unlock what is waited for."""
        try:
            bits_by_kernel(self, number)
        except BaseException as error:
            self.errors[number] = error
            self.failed = min(self.failed, number)
        finally:
            if lock is not None:
                lock.release()


cdef int run_parts(Parts parts) except -1:
    """Run all parts, the first by this thread. Raises what the first that failed raised, or an interrupt."""
    # All before the first thread: while one runs nothing may end this function.
    locks = [allocate_lock() for _ in range(1, parts.count)]
    for number, lock in enumerate(locks, 1):
        lock.acquire()
        try:
            start_new_thread(parts.run, (number, lock))
        except (MemoryError, RuntimeError):  # the system has no more threads
            parts.run(number, lock)
    parts.run(0)
    for lock in locks:
        while True:
            try:
                lock.acquire()
                break
            except BaseException as error:  # Ctrl-C; the threads still write
                parts.errors[0] = error
                parts.failed = -1
    for error in parts.errors:
        if error is not None:
            raise error
    return 0


cdef int bits_by_kernel(Parts parts, int number) except -1:
    cdef int64_t start = number * parts.size
    cdef int64_t stop = min(start + parts.size, parts.batch.rows)
    cdef int rows
    cdef int status = 0
    cdef int by_null = -1
    cdef BatchRun *call = parts.kernel.start(parts.batch.columns, parts.batch.rows)
    # Where a mismatch is not UNKNOWN, that comes from a NULL alone.
    if UNKNOWN in parts.truths and UNKNOWN not in core_of(parts.machine.program.dialect).others.values():
        by_null = 1
    call.turned = clock_nanoseconds()
    try:
        while start < stop and parts.failed >= number:
            with nogil:
                while start < stop and status == 0 and parts.failed >= number:
                    rows = call.rows if call.rows < stop - start else <int> (stop - start)
                    status = run_truths(call, start, rows, by_null, parts.bits)
                    if status == 0:
                        start = run_alone(call, start + rows, stop, <uint64_t *> parts.bits[0])
            if status == DECLINED:
                bits_by_rows(parts.machine, parts.batch, parts.truths, start, start + rows, parts.bits)
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
    cdef Batch columns = Batch(plan_of(machine).names, batch)
    cdef bytes result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> columns.rows)
    cdef uint8_t *each = <uint8_t *> PyBytes_AS_STRING(result)
    cdef int64_t row, size
    cdef bytes bits
    cdef const uint8_t *mine
    if by_rows:
        evaluate(machine, columns, machine.exact, 0, columns.rows, each)
        return result
    memset(each, FALSE, columns.rows)
    asked = _THREE if plan_of(machine).answers_all else (*_THREE, NO_ANSWER)
    size = (columns.rows + 7) // 8
    bits = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> (len(asked) * size))
    mine = <const uint8_t *> PyBytes_AS_STRING(bits)
    bits_where(machine, columns, asked, 0, 1, <uint8_t *> mine)
    for truth in asked:
        for row in range(columns.rows):
            if mine[row >> 3] >> (row & 7) & 1:
                each[row] = <uint8_t> truth
        mine += size
    return result


def match_batch(Machine machine not None, batch, now=None, threads=None):
    """Do what `Matcher.match_batch` says."""
    pyarrow = library("match_batch")
    cdef Plan plan = plan_of(machine)
    if now is not None or plan.has_clock:
        machine = machine._at(now)
    asked = _ONE if plan.answers_all else _ONE_OR_NONE
    return answers(pyarrow, machine, plan_of(machine), batch, asked, threads)


def truth_batch(Machine machine not None, batch, now=None, threads=None):
    """Do what `Matcher.truth_batch` says."""
    pyarrow = library("truth_batch")
    cdef Plan plan = plan_of(machine)
    if now is not None or plan.has_clock:
        machine = machine._at(now)
    asked = _TWO if plan.answers_all else (*_TWO, NO_ANSWER)
    return answers(pyarrow, machine, plan_of(machine), batch, asked, threads)


def library(caller: str):
    """Import pyarrow."""
    try:
        return _modules.get("pyarrow") or import_module("pyarrow")
    except ImportError as error:
        raise wordings.package_missing(caller, "pyarrow", "arrow") from error


cdef object answers(pyarrow, Machine machine, Plan plan, batch, tuple asked, threads):
    """Answer for one chunk after the other, and join what they gave: all that is asked for but TRUE is null."""
    cdef Batch columns
    cdef list found = []
    cdef tuple places = None
    cdef bint is_batch = isinstance(batch, pyarrow.RecordBatch)
    cdef int most = 0
    if threads is not None:
        check_count("threads", threads, "a number from 1 on")
    if is_batch or isinstance(batch, pyarrow.Table):
        places = places_in(machine, plan, batch.schema)
        if places[1] is not None:
            batch = batch.select(places[1])
    else:
        batch = narrowed(pyarrow, batch, machine.program.slots, core_of(machine.program.dialect).naming)
    for chunk in chunks(pyarrow, batch):
        try:
            columns = Batch(plan.names, chunk, places[2] if is_batch else None)
            if is_batch and places[2] is None:
                plan.places = (places[0], places[1], columns.capsules[0], places[3])
            if columns.rows >= 2 * LEAST_PART:
                most = min(pyarrow.cpu_count() if threads is None else threads, MOST_PARTS)
            found.append(answer(pyarrow, machine, columns, asked, most))
        except PropertyTypeError as error:
            if error.index is not None:
                error.index += sum(map(len, found))
            raise
    if len(found) == 1:
        return found[0]
    return pyarrow.concat_arrays([pyarrow.array([], pyarrow.bool_()), *found])


cdef object answer(pyarrow, Machine machine, Batch columns, tuple asked, int threads):
    """Answer for one chunk, in memory that its answers own: by Arrow's interface, in 0.7 us, by buffers in 1.0."""
    cdef ArrowArray array
    cdef int64_t size = (columns.rows + 7) // 8
    cdef int64_t at
    cdef int others = len(asked) - 1
    cdef uint8_t missing = 0
    cdef const void **buffers = <const void **> malloc(2 * sizeof(void *) + (others + 1) * size)
    cdef uint8_t *values = <uint8_t *> (buffers + 2)
    cdef uint8_t *known = values + size
    if buffers == NULL:
        raise MemoryError
    memset(&array, 0, sizeof(array))
    array.private_data = buffers
    array.release = answer_release
    try:
        bits_where(machine, columns, asked, FEW_ROWS, threads, values)
        slice_of, import_from, boolean = builders(pyarrow)
        for at in range(others * size):
            missing |= known[at]
        if missing == 0 and 0 < columns.rows <= 8:
            return slice_of(8 * values[0], columns.rows)
        if missing:
            for at in range(size):
                known[at] = <uint8_t> ~(known[at] | known[at + size] if others > 1 else known[at])
        buffers[0] = known if missing else NULL
        buffers[1] = values
        array.length = columns.rows
        array.null_count = -1 if missing else 0
        array.n_buffers = 2
        array.buffers = buffers
        return import_from(<size_t> &array, boolean)
    finally:
        if array.release != NULL:  # nobody took it
            array.release(&array)


cdef void answer_release(ArrowArray *array) noexcept:
    free(array.private_data)
    array.release = NULL


cdef tuple _builders = None


cdef tuple builders(pyarrow):
    """Return what makes answers of pyarrow: a name of a module takes 30 ns to look up.

    The first slices an array of all answers of eight rows: that takes 0.5 us, to import one of few rows 0.7.
    """
    global _builders
    if _builders is None:
        from_buffers, boolean = pyarrow.Array.from_buffers, pyarrow.bool_()
        patterns = from_buffers(boolean, 2048, [None, pyarrow.py_buffer(bytes(range(256)))], null_count=0)
        _builders = (patterns.slice, pyarrow.Array._import_from_c, boolean)
    return _builders


cpdef object chunks(pyarrow, batch):
    """Return the arrays of a batch with an ``__arrow_c_array__``. Errors of its producer become ours."""
    try:
        is_batch = isinstance(batch, pyarrow.RecordBatch)
        if is_batch or isinstance(batch, (pyarrow.Table, pyarrow.Array, pyarrow.ChunkedArray)):
            # Microseconds: holds the last offsets against the sizes of the buffers, which the interface does not give.
            # Without rows pyarrow refuses slices of views that came by the interface, and nothing is read.
            if len(batch):
                batch.validate()
        if is_batch:
            return (batch,)
        for fields in (getattr(batch, "type", None), getattr(batch, "schema", None)):
            if isinstance(fields, (pyarrow.StructType, pyarrow.Schema)):
                wordings.check_names(names_of(fields))
        if isinstance(batch, pyarrow.ChunkedArray):  # a reader of its stream takes no structs that are null or sliced
            return batch.chunks or [pyarrow.nulls(0, batch.type)]
        if hasattr(batch, "__arrow_c_array__"):
            return (batch,)
    except (ArgumentError, MemoryError):
        raise
    except Exception as error:
        raise wordings.not_a_batch(batch, f"{type(error).__name__}: {error}") from error
    return chunks_of_stream(pyarrow, batch)


def chunks_of_stream(pyarrow, batch):
    try:
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
