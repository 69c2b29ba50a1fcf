/* Faults for a build with MQSEL_FAULTS=1: what setup.py includes before everything else in each extension.

   Where the environment variable MQSEL_FAULTS_AT holds the address of a long long, each allocation of C code, and each
   point that calls mqsel_fault(), counts it down, and the one that brings it to zero fails. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>

static long long *mqsel_left = NULL;

static inline int mqsel_fault(void) {
    if (mqsel_left == NULL) {
        const char *address = getenv("MQSEL_FAULTS_AT");
        static long long none = 0;
        mqsel_left = address == NULL ? &none : (long long *) strtoull(address, NULL, 10);
    }
    return __atomic_load_n(mqsel_left, __ATOMIC_RELAXED) > 0
        && __atomic_sub_fetch(mqsel_left, 1, __ATOMIC_RELAXED) == 0;
}

#define mqsel_fault mqsel_fault
#define malloc(size) (mqsel_fault() ? NULL : malloc(size))
#define calloc(count, size) (mqsel_fault() ? NULL : calloc(count, size))
#define realloc(memory, size) (mqsel_fault() ? NULL : realloc(memory, size))
