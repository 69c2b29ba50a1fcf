/* Loops over one block of rows: plain C that compilers turn into vector instructions.

   A mask has a byte a row, 1 or 0. Where a loop takes `join`, it adds rows to a mask instead of making one.
   Knows no column, no property and no selector; trusts its callers for every length. */

#ifndef MQSEL_LOOPS_H
#define MQSEL_LOOPS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Each loop several times, for any x86-64 and for those with wider vectors; the first call decides. Integers take 0.40,
   0.17 with AVX2; doubles 0.84, 0.17; texts beside a constant 0.97, 0.45, with AVX-512 0.30 ns a row. Sanitizers come
   too late for it. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#if __GNUC__ >= 12
#define LOOP __attribute__((target_clones("arch=x86-64-v4", "avx2", "default"), unused)) static
#else
#define LOOP __attribute__((target_clones("avx2", "default"), unused)) static
#endif
#elif defined(__GNUC__)
#define LOOP __attribute__((unused)) static
#else
#define LOOP static
#endif

#ifdef __GNUC__
#define UNUSED __attribute__((unused))
#else
#define UNUSED
#endif

/* What compilers do not make of plain C: bits of comparisons. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2"), unused)) static
#define INLINE __attribute__((target("avx2"), always_inline, unused)) static inline
#define BIT_OF _mm256_set1_epi64x((int64_t) 0x8040201008040201ull) /* the bit of each number of up to 7 */
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#endif

typedef uint8_t mask_t;

/* Of the memory that is kept between two batches; sanitizers see the ends of what is new only. */
#ifdef __SANITIZE_ADDRESS__
#define MOST_ROOM ((size_t) 0)
#else
#define MOST_ROOM ((size_t) 1 << 22)
#endif

/* Eight bytes as a number whose lowest byte is the first. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define IN_ORDER(word) __builtin_bswap64(word)
#else
#define IN_ORDER(word) (word)
#endif

static inline uint64_t word_at(const uint8_t *data) {
    uint64_t word;
    memcpy(&word, data, 8);
    return IN_ORDER(word);
}

static inline void word_put(uint8_t *data, uint64_t word) {
    word = IN_ORDER(word);
    memcpy(data, &word, 8);
}

/* Ask for memory that the next block will read. Columns are read by turns, a few thousand bytes of each, which is too
   little for the processor to foresee: W2 4.0 -> 2.6 ns a row with it. Into the second cache: the first has too little
   room for the next block of three columns (W2 of dictionaries 1.70 -> 1.54, of plain columns 1.0 -> 0.7 of Polars). */
static inline void fetch_ahead(const void *from, int64_t size) {
#ifdef __GNUC__
    for (int64_t at = 0; at < size; at += 64) __builtin_prefetch((const char *) from + at, 0, 2);
#endif
}

/* ---- masks ---- */

#define EIGHT 0x0101010101010101ull

/* rows of `mask` where there is a value, and those without one if `missing` */
LOOP void mask_settle(mask_t *restrict mask, const mask_t *restrict valid, mask_t missing, int rows) {
    if (valid)
        for (int i = 0; i < rows; i++) mask[i] = (mask[i] & valid[i]) | (missing & (valid[i] ^ 1));
}

LOOP void mask_invert(mask_t *mask, int rows) {
    for (int i = 0; i < rows; i++) mask[i] ^= 1;
}

LOOP void mask_and(mask_t *restrict mask, const mask_t *restrict other, int rows) {
    for (int i = 0; i < rows; i++) mask[i] &= other[i];
}

LOOP void mask_or(mask_t *restrict mask, const mask_t *restrict other, int rows) {
    for (int i = 0; i < rows; i++) mask[i] |= other[i];
}

/* `yes` where 1, `no` where 0 */
LOOP void mask_choose(mask_t *mask, const mask_t *where, mask_t yes, mask_t no, int rows) {
    for (int i = 0; i < rows; i++) mask[i] = (mask_t) ((where[i] & yes) | ((where[i] ^ 1) & no));
}

/* the bits from bit `at` on, a byte each; reads no byte in which none of them stands */
LOOP void mask_of_bits(mask_t *restrict mask, const uint8_t *restrict bits, int64_t at, int rows) {
    int shift = (int) (at & 7), i = 0;
    bits += at >> 3;
    for (; i < rows >> 3; i++) {
        uint64_t word = shift ? (uint8_t) (bits[i] >> shift | bits[i + 1] << (8 - shift)) : bits[i];
        /* bit k to byte k: halves, quarters, bits move apart */
        word = (word | word << 28) & 0x0000000f0000000full;
        word = (word | word << 14) & 0x0003000300030003ull;
        word_put(mask + 8 * i, (word | word << 7) & EIGHT);
    }
    for (i *= 8; i < rows; i++) mask[i] = bits[(shift + i) >> 3] >> ((shift + i) & 7) & 1;
}

/* the other way round, from bit 0 on; the last byte is filled up with zeros */
LOOP void bits_of_mask(uint8_t *restrict bits, const mask_t *restrict mask, int rows) {
    int i = 0;
    for (; i < rows >> 3; i++) {
        uint64_t word = word_at(mask + 8 * i);
        word |= word >> 7;
        word |= word >> 14;
        bits[i] = (uint8_t) (word | word >> 28);
    }
    if (rows & 7) bits[i] = 0;
    for (i *= 8; i < rows; i++) bits[i >> 3] |= (uint8_t) (mask[i] << (i & 7));
}

/* the rows of bits where there is a value, and those without one if `missing`; of them those in `active`, if there is
   one. Fills the last word up with zeros. */
LOOP void bits_finish(uint64_t *restrict words, const uint64_t *restrict valid, int missing,
                      const uint64_t *restrict active, int rows) {
    uint64_t without = missing ? ~0ull : 0;
    int count = (rows + 63) >> 6;
    if (valid)
        for (int i = 0; i < count; i++) words[i] = (words[i] & valid[i]) | (without & ~valid[i]);
    if (active)
        for (int i = 0; i < count; i++) words[i] &= active[i];
    if (rows & 63) words[count - 1] &= ~0ull >> (64 - (rows & 63));
}

/* the same of a mask, whose whole words of eight rows are read */
LOOP void bits_settle(uint64_t *restrict words, const mask_t *restrict mask, const uint64_t *restrict valid,
                      int missing, const uint64_t *restrict active, int rows) {
    uint8_t *bits = (uint8_t *) words;
    words[((rows + 63) >> 6) - 1] = 0;
    for (int i = 0; i < (rows + 7) >> 3; i++) {
        uint64_t word = word_at(mask + 8 * i) & EIGHT; /* behind the last row may stand anything */
        word |= word >> 7;
        word |= word >> 14;
        bits[i] = (uint8_t) (word | word >> 28);
    }
    bits_finish(words, valid, missing, active, rows);
}

/* the bits from bit `at` on, from bit 0 on; reads no byte in which none of them stands */
LOOP void bits_of_bits(uint64_t *restrict words, const uint8_t *restrict bits, int64_t at, int rows) {
    uint8_t *to = (uint8_t *) words;
    int shift = (int) (at & 7), i = 0;
    bits += at >> 3;
    for (; i < rows >> 6; i++)
        word_put(to + 8 * i, shift ? word_at(bits + 8 * i) >> shift | (uint64_t) bits[8 * i + 8] << (64 - shift)
                                   : word_at(bits + 8 * i));
    if (rows & 63) words[i] = 0;
    for (i *= 8; i < rows >> 3; i++) to[i] = (uint8_t) (bits[i] >> shift | (shift ? bits[i + 1] << (8 - shift) : 0));
    for (i *= 8; i < rows; i++) to[i >> 3] |= (uint8_t) ((bits[(shift + i) >> 3] >> ((shift + i) & 7) & 1) << (i & 7));
}

/* ---- masks of a bit a row, in words of 64; those that change one report whether a bit is left ---- */

LOOP int words_and(uint64_t *restrict words, const uint64_t *restrict other, int count) {
    uint64_t left = 0;
    for (int i = 0; i < count; i++) left |= words[i] &= other[i];
    return left != 0;
}

LOOP int words_or(uint64_t *restrict words, const uint64_t *restrict other, int count) {
    uint64_t left = 0;
    for (int i = 0; i < count; i++) left |= words[i] |= other[i];
    return left != 0;
}

LOOP int words_and_not(uint64_t *restrict words, const uint64_t *restrict other, int count) {
    uint64_t left = 0;
    for (int i = 0; i < count; i++) left |= words[i] &= ~other[i];
    return left != 0;
}

LOOP void words_invert(uint64_t *words, int count) {
    for (int i = 0; i < count; i++) words[i] = ~words[i];
}

/* the bits of `where` become `value` */
LOOP void words_put(uint64_t *restrict words, const uint64_t *restrict where, int value, int count) {
    for (int i = 0; i < count; i++) words[i] = value ? words[i] | where[i] : words[i] & ~where[i];
}

LOOP int words_count(const uint64_t *words, int count) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        /* bits by twos, fours, eights, then added up by a product: what vectors can do */
        uint64_t word = words[i] - (words[i] >> 1 & 0x5555555555555555ull);
        word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
        word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
        found += (int) (word * EIGHT >> 56);
    }
    return found;
}

/* the place of the lowest bit of a word that has one */
static inline int lowest_bit(uint64_t word) {
#ifdef __GNUC__
    return __builtin_ctzll(word);
#else
    int place = 0;
    while (!(word >> place & 1)) place++;
    return place;
#endif
}

/* The places of bits that are few. Two are written at once: the processor need not foresee how many there are. */
UNUSED static int words_places(const uint64_t *words, int count, uint16_t *places) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        uint64_t word = words[i];
        while (word) {
            uint64_t rest = word & (word - 1);
            places[found] = (uint16_t) (64 * i + lowest_bit(word));
            places[found + 1] = (uint16_t) (64 * i + lowest_bit(rest | 1ull << 63));
            found += 1 + (rest != 0);
            word = rest & (rest - 1);
        }
    }
    return found;
}

/* ---- numbers ---- */

/* One comparison where one is enough: of int64 two take 0.29, one 0.16 ns a row. */
#define WITHIN(T, LEAST, MOST)                                                                                  \
    LOOP void within_##T(const T *restrict values, int rows, T low, T high, mask_t *restrict mask, int join) { \
        if (join)                                                                                               \
            for (int i = 0; i < rows; i++) mask[i] |= (values[i] >= low) & (values[i] <= high);                \
        else if (high == (MOST))                                                                                \
            for (int i = 0; i < rows; i++) mask[i] = values[i] >= low;                                          \
        else if (low == (LEAST))                                                                                \
            for (int i = 0; i < rows; i++) mask[i] = values[i] <= high;                                         \
        else if (low == high)                                                                                   \
            for (int i = 0; i < rows; i++) mask[i] = values[i] == low;                                          \
        else                                                                                                    \
            for (int i = 0; i < rows; i++) mask[i] = (values[i] >= low) & (values[i] <= high);                 \
    }
WITHIN(int8_t, INT8_MIN, INT8_MAX) WITHIN(int16_t, INT16_MIN, INT16_MAX) WITHIN(int32_t, INT32_MIN, INT32_MAX)
WITHIN(int64_t, INT64_MIN, INT64_MAX) WITHIN(uint8_t, 0, UINT8_MAX) WITHIN(uint16_t, 0, UINT16_MAX)
WITHIN(uint32_t, 0, UINT32_MAX) WITHIN(float, -INFINITY, INFINITY) WITHIN(double, -INFINITY, INFINITY)

#define NANS(T)                                                                                        \
    LOOP void nans_##T(const T *restrict values, int rows, mask_t *restrict mask, int join) {         \
        for (int i = 0; i < rows; i++) mask[i] = (mask_t) ((mask[i] & join) | (values[i] != values[i])); \
    }
NANS(float) NANS(double)

#define WIDEN(T)                                                                                       \
    LOOP void widen_##T(const void *restrict values, int rows, int64_t *restrict wide) {              \
        for (int i = 0; i < rows; i++) wide[i] = (int64_t) ((const T *) values)[i];                   \
    }
WIDEN(int8_t) WIDEN(int16_t) WIDEN(int32_t) WIDEN(int64_t) WIDEN(uint8_t) WIDEN(uint16_t) WIDEN(uint32_t)

LOOP void widen_float(const float *restrict values, int rows, double *restrict wide) {
    for (int i = 0; i < rows; i++) wide[i] = values[i];
}

/* integers as doubles, or as floats, which are then doubles again; in the same place perhaps */
LOOP void doubles_of(const int64_t *values, void *wide, int rows, int as_float) {
    for (int i = 0; i < rows; i++) {
        double made = as_float ? (double) (float) values[i] : (double) values[i];
        memcpy((char *) wide + 8 * i, &made, 8);
    }
}

/* whether a number beyond int64 is among those with a value */
LOOP int beyond_int64(const int64_t *values, const mask_t *valid, int rows) {
    int found = 0;
    if (valid)
        for (int i = 0; i < rows; i++) found |= (values[i] < 0) & valid[i];
    else
        for (int i = 0; i < rows; i++) found |= values[i] < 0;
    return found;
}

#define ADD 0
#define SUBTRACT 1
#define MULTIPLY 2
#define DIVIDE 3
#define REMAINDER 4

/* Java's int and long: wrapping. A quotient by zero is none, and noted in `error`; the least integer by -1 wraps. */
#define WRAPPED(a, sign, b) (narrow ? (int64_t) (int32_t) ((uint64_t) (a) sign (uint64_t) (b)) \
                                    : (int64_t) ((uint64_t) (a) sign (uint64_t) (b)))

LOOP void integers_do(int op, const int64_t *left, const int64_t *right, int64_t *result, int rows, int narrow) {
    if (op == ADD)
        for (int i = 0; i < rows; i++) result[i] = WRAPPED(left[i], +, right[i]);
    else if (op == SUBTRACT)
        for (int i = 0; i < rows; i++) result[i] = WRAPPED(left[i], -, right[i]);
    else
        for (int i = 0; i < rows; i++) result[i] = WRAPPED(left[i], *, right[i]);
}

LOOP void integers_with(int op, const int64_t *left, int64_t right, int64_t *result, int rows, int narrow) {
    if (op == ADD)
        for (int i = 0; i < rows; i++) result[i] = WRAPPED(left[i], +, right);
    else if (op == SUBTRACT)
        for (int i = 0; i < rows; i++) result[i] = WRAPPED(left[i], -, right);
    else
        for (int i = 0; i < rows; i++) result[i] = WRAPPED(left[i], *, right);
}

static inline void integers_divide(const int64_t *left, const int64_t *right, int64_t *result, int rows, int narrow,
                                   mask_t *error) {
    for (int i = 0; i < rows; i++) {
        int64_t divisor = right[i];
        error[i] = divisor == 0;
        if (divisor == 0 || divisor == -1)
            result[i] = WRAPPED(0, -, left[i]);
        else
            result[i] = left[i] / divisor;
    }
}

static inline void integers_remainder(const int64_t *left, const int64_t *right, int64_t *result, int rows,
                                      mask_t *error) {
    for (int i = 0; i < rows; i++) {
        int64_t divisor = right[i];
        error[i] = divisor == 0;
        result[i] = divisor == 0 || divisor == -1 ? 0 : left[i] % divisor;
    }
}

/* Floats are kept as doubles: rounding a sum, difference, product or quotient of two of them once more is exact. */
#define FLOATED(value) (single ? (double) (float) (value) : (value))

LOOP void doubles_with(int op, const double *left, double right, double *result, int rows, int single) {
    if (op == ADD)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] + right);
    else if (op == SUBTRACT)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] - right);
    else if (op == MULTIPLY)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] * right);
    else if (op == DIVIDE)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] / right);
    else
        for (int i = 0; i < rows; i++) result[i] = fmod(left[i], right); /* of floats a float */
}

LOOP void doubles_do(int op, const double *left, const double *right, double *result, int rows, int single) {
    if (op == ADD)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] + right[i]);
    else if (op == SUBTRACT)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] - right[i]);
    else if (op == MULTIPLY)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] * right[i]);
    else if (op == DIVIDE)
        for (int i = 0; i < rows; i++) result[i] = FLOATED(left[i] / right[i]);
    else
        for (int i = 0; i < rows; i++) result[i] = fmod(left[i], right[i]);
}

LOOP void integers_negate(const int64_t *values, int64_t *result, int rows, int narrow) {
    for (int i = 0; i < rows; i++) result[i] = WRAPPED(0, -, values[i]);
}

LOOP void doubles_negate(const double *values, double *result, int rows) {
    for (int i = 0; i < rows; i++) result[i] = -values[i];
}

LOOP void integers_compare(const int64_t *left, const int64_t *right, int rows, mask_t less, mask_t equal,
                           mask_t greater, mask_t *mask) {
    for (int i = 0; i < rows; i++)
        mask[i] = (mask_t) ((less & -(left[i] < right[i])) | (equal & -(left[i] == right[i]))
                            | (greater & -(left[i] > right[i])));
}

LOOP void doubles_compare(const double *left, const double *right, int rows, mask_t less, mask_t equal,
                          mask_t greater, mask_t unordered, mask_t *mask) {
    for (int i = 0; i < rows; i++) {
        int below = left[i] < right[i], same = left[i] == right[i], above = left[i] > right[i];
        mask[i] = (mask_t) ((less & -below) | (equal & -same) | (greater & -above)
                            | (unordered & -!(below | same | above)));
    }
}

/* ---- dictionaries ---- */

#define EVERY -2    /* instead of the one word with a 1: all have one */
#define FEW_WORDS 64 /* so many are tested as bits of a number, which vectors can do */

/* A mask from one byte a word, of `count`. Where one word alone has a 1, it is `only`; of few words `few` has a bit each.
   Whether all indices are of a word: if not, the mask means nothing. */
#define WORDS_OF(T)                                                                                            \
    LOOP int words_##T(const void *restrict from, int rows, const mask_t *restrict words, uint64_t count,      \
                       int64_t only, uint64_t few, mask_t *restrict mask) {                                    \
        const T *indices = from;                                                                               \
        uint32_t low = (uint32_t) few, high = (uint32_t) (few >> 32);                                          \
        T most = 0;                                                                                            \
        if (only >= 0) {                                                                                       \
            for (int i = 0; i < rows; i++) {                                                                   \
                most = most > indices[i] ? most : indices[i];                                                  \
                mask[i] = indices[i] == (T) only;                                                              \
            }                                                                                                  \
        } else if (only != EVERY && count <= FEW_WORDS) {                                                      \
            for (int i = 0; i < rows; i++) {                                                                   \
                most = most > indices[i] ? most : indices[i];                                                  \
                mask[i] = ((indices[i] & 32 ? high : low) >> (indices[i] & 31)) & 1;                           \
            }                                                                                                  \
        } else {                                                                                               \
            for (int i = 0; i < rows; i++) most = most > indices[i] ? most : indices[i];                       \
            if (only == EVERY)                                                                                 \
                memset(mask, 1, (size_t) rows);                                                                \
            else if (most < count)                                                                             \
                for (int i = 0; i < rows; i++) mask[i] = words[indices[i]];                                    \
        }                                                                                                      \
        return most < count || rows == 0;                                                                      \
    }
/* a negative index is a great one */
WORDS_OF(uint8_t) WORDS_OF(uint16_t) WORDS_OF(uint32_t) WORDS_OF(uint64_t)

#ifdef AVX2
/* what packing two by two leaves in the wrong half */
#define IN_TURN(vector) _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))

/* 32 numbers as bytes; what is none of 0 to 127 as a greater one. */
INLINE __m256i bytes_at(const uint8_t *from, int width) {
    const __m256i *at = (const __m256i *) from;
    __m256i first = _mm256_loadu_si256(at);
    if (width == 1) return first;
    if (width == 2) return _mm256_permute4x64_epi64(_mm256_packs_epi16(first, _mm256_loadu_si256(at + 1)), 0xd8);
    return IN_TURN(_mm256_packs_epi16(_mm256_packs_epi32(first, _mm256_loadu_si256(at + 1)),
                                      _mm256_packs_epi32(_mm256_loadu_si256(at + 2), _mm256_loadu_si256(at + 3))));
}

/* The same as bits, of few words: a byte is looked up as a byte of `few` and a bit of that. 1.4 -> 0.7 instructions a row.
   Asks for what stands `ahead` rows further on by the way, which is the next block, unless that is 0. */
INLINE int words_bits_of(const uint8_t *indices, int width, int rows, uint64_t count, uint64_t few, uint64_t *words,
                         int ahead) {
    uint8_t last[128] = {0}, most[32], top = 0;
    uint32_t *bits = (uint32_t *) words;
    __m256i all = _mm256_setzero_si256(), seven = _mm256_set1_epi8(7), table = _mm256_set1_epi64x((int64_t) few);
    words[((rows + 63) >> 6) - 1] = 0;
    for (int i = 0; i < rows; i += 32) {
        const uint8_t *from = indices + width * i;
        if (rows - i < 32)
            from = memcpy(last, from, (size_t) (width * (rows - i)));
        else if (ahead)
            fetch_ahead(from + width * ahead, 32 * width);
        __m256i at = bytes_at(from, width), bit = _mm256_shuffle_epi8(BIT_OF, _mm256_and_si256(at, seven));
        all = _mm256_max_epu8(all, at);
        at = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(at, 3), seven));
        bits[i >> 5] = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(at, bit), bit));
    }
    _mm256_storeu_si256((__m256i *) most, all);
    for (int k = 0; k < 32; k++) top = top > most[k] ? top : most[k];
    return top < count;
}

AVX2 int words_bits_avx2(const uint8_t *indices, int width, int rows, uint64_t count, uint64_t few, uint64_t *words,
                         int ahead) {
    return width == 1 ? words_bits_of(indices, 1, rows, count, few, words, ahead)
         : width == 2 ? words_bits_of(indices, 2, rows, count, few, words, ahead)
                      : words_bits_of(indices, 4, rows, count, few, words, ahead);
}

/* Of a larger dictionary, in which one word alone has a 1, by indices of four bytes. */
AVX2 int word_bits_avx2(const uint32_t *indices, int rows, uint64_t count, int64_t only, uint64_t *words, int ahead) {
    uint32_t last[32] = {0}, most[8], top = 0, *bits = (uint32_t *) words;
    __m256i one = _mm256_set1_epi32((int) only), all = _mm256_setzero_si256();
    words[((rows + 63) >> 6) - 1] = 0;
    for (int i = 0; i < rows; i += 32) {
        const uint32_t *from = indices + i;
        __m256i part[4];
        if (rows - i < 32)
            from = memcpy(last, from, sizeof *from * (size_t) (rows - i));
        else if (ahead)
            fetch_ahead(from + ahead, 128);
        for (int k = 0; k < 4; k++) {
            __m256i at = _mm256_loadu_si256((const __m256i *) (from + 8 * k));
            all = _mm256_max_epu32(all, at);
            part[k] = _mm256_cmpeq_epi32(at, one);
        }
        bits[i >> 5] = (uint32_t) _mm256_movemask_epi8(
            IN_TURN(_mm256_packs_epi16(_mm256_packs_epi32(part[0], part[1]), _mm256_packs_epi32(part[2], part[3]))));
    }
    _mm256_storeu_si256((__m256i *) most, all);
    for (int k = 0; k < 8; k++) top = top > most[k] ? top : most[k];
    return top < count;
}

/* Which numbers are from `low` to `high`: their distance from `low`, of 64 bits without a sign, tells. */
AVX2 void within_bits_avx2(const int64_t *values, int rows, int64_t low, int64_t high, uint64_t *words) {
    int64_t last[32] = {0};
    uint32_t *bits = (uint32_t *) words;
    __m256i shift = _mm256_set1_epi64x((int64_t) ((1ull << 63) - (uint64_t) low));
    __m256i most = _mm256_set1_epi64x((int64_t) ((uint64_t) high - (uint64_t) low + (1ull << 63)));
    __m256i pairs = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
                                     0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    words[((rows + 63) >> 6) - 1] = 0;
    for (int i = 0; i < rows; i += 32) {
        const int64_t *from = values + i;
        __m256i part[8];
        if (rows - i < 32)
            from = memcpy(last, from, sizeof *from * (size_t) (rows - i));
        else
            fetch_ahead(from + rows, 256);
        for (int k = 0; k < 8; k++)
            part[k] = _mm256_cmpgt_epi64(
                _mm256_add_epi64(_mm256_loadu_si256((const __m256i *) (from + 4 * k)), shift), most);
        for (int k = 0; k < 4; k++) part[k] = _mm256_packs_epi32(part[2 * k], part[2 * k + 1]);
        part[0] = _mm256_packs_epi16(_mm256_packs_epi16(part[0], part[1]), _mm256_packs_epi16(part[2], part[3]));
        part[0] = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(part[0], 0xd8), pairs);
        bits[i >> 5] = ~(uint32_t) _mm256_movemask_epi8(part[0]);
    }
}

/* As `views_look_once`, as bits: 10.6 -> 3.9 instructions a row. */
AVX2 int views_bits_avx2(const uint8_t *views, int rows, const uint64_t *kept, const uint64_t *key, uint64_t *seen,
                         uint64_t *words) {
    uint8_t *bits = (uint8_t *) words;
    uint64_t each[4], sizes;
    __m256i keep = _mm256_setr_epi64x((int64_t) kept[0], (int64_t) kept[1], (int64_t) kept[0], (int64_t) kept[1]);
    __m256i want = _mm256_setr_epi64x((int64_t) key[0], (int64_t) key[1], (int64_t) key[0], (int64_t) key[1]);
    __m256i most = _mm256_setzero_si256(), all = most, every = _mm256_set1_epi32(-1);
    int i = 0;
    words[((rows + 63) >> 6) - 1] = 0;
    for (; i + 8 <= rows; i += 8) {
        __m256i part[4];
        fetch_ahead(views + 16 * i + 4096, 128);
        for (int k = 0; k < 4; k++) {
            __m256i two = _mm256_loadu_si256((const __m256i *) (views + 16 * i + 32 * k));
            most = _mm256_max_epu32(most, two);
            all = _mm256_or_si256(all, two);
            part[k] = _mm256_cmpeq_epi64(_mm256_and_si256(two, keep), want);
        }
        part[0] = _mm256_packs_epi16(_mm256_packs_epi32(part[0], part[1]), _mm256_packs_epi32(part[2], part[3]));
        part[0] = IN_TURN(_mm256_cmpeq_epi32(part[0], every));
        bits[i >> 3] = (uint8_t) _mm256_movemask_ps(_mm256_castsi256_ps(part[0]));
    }
    _mm256_storeu_si256((__m256i *) each, most);
    sizes = (uint32_t) each[0] > (uint32_t) each[2] ? (uint32_t) each[0] : (uint32_t) each[2];
    _mm256_storeu_si256((__m256i *) each, all);
    *seen |= each[0] >> 32 | each[1] | each[2] >> 32 | each[3];
    for (; i < rows; i++) {
        uint64_t head = word_at(views + 16 * i), rest = word_at(views + 16 * i + 8);
        sizes = sizes > (uint32_t) head ? sizes : (uint32_t) head;
        *seen |= head >> 32 | rest;
        bits[i >> 3] |= (uint8_t) ((((head & kept[0]) == key[0]) & ((rest & kept[1]) == key[1])) << (i & 7));
    }
    return sizes <= 12;
}
#endif

/* Whether the processor can, and all indices are of a word; `width` bytes have each. */
UNUSED static int words_bits(const void *indices, int width, int rows, uint64_t count, int64_t only, uint64_t few,
                             uint64_t *words, int ahead) {
#ifdef AVX2
    if (HAS_AVX2 && count <= FEW_WORDS && width <= 4)
        return words_bits_avx2(indices, width, rows, count, few, words, ahead);
    return HAS_AVX2 && only >= 0 && width == 4 && word_bits_avx2(indices, rows, count, only, words, ahead);
#else
    return 0;
#endif
}

/* Whether the processor can. */
UNUSED static int within_bits(const int64_t *values, int rows, int64_t low, int64_t high, uint64_t *words) {
#ifdef AVX2
    if (HAS_AVX2) within_bits_avx2(values, rows, low, high, words);
    return HAS_AVX2;
#else
    return 0;
#endif
}

/* Whether the processor can, and no text is longer than its view. */
UNUSED static int views_bits(const uint8_t *views, int rows, const uint64_t *kept, const uint64_t *key,
                             uint64_t *seen, uint64_t *words) {
#ifdef AVX2
    return HAS_AVX2 && views_bits_avx2(views, rows, kept, key, seen, words);
#else
    return 0;
#endif
}

/* ---- what there is for integers of each kind, in the order of ColumnKind ---- */

#define BETWEEN(T, LEAST, MOST)                                                                                      \
    UNUSED static void between_##T(const void *values, int rows, int64_t low, int64_t high, mask_t *mask, int join) { \
        if (low <= (MOST) && high >= (LEAST))                                                                        \
            within_##T(values, rows, (T) (low > (LEAST) ? low : (LEAST)), (T) (high < (MOST) ? high : (MOST)), mask, \
                       join);                                                                                        \
        else if (!join)                                                                                              \
            memset(mask, 0, (size_t) rows);                                                                          \
    }
BETWEEN(int8_t, INT8_MIN, INT8_MAX) BETWEEN(int16_t, INT16_MIN, INT16_MAX) BETWEEN(int32_t, INT32_MIN, INT32_MAX)
BETWEEN(int64_t, INT64_MIN, INT64_MAX) BETWEEN(uint8_t, 0, UINT8_MAX) BETWEEN(uint16_t, 0, UINT16_MAX)
BETWEEN(uint32_t, 0, UINT32_MAX)

typedef struct {
    int width;
    void (*between)(const void *values, int rows, int64_t low, int64_t high, mask_t *mask, int join);
    void (*widen)(const void *values, int rows, int64_t *wide);
    int (*words)(const void *, int rows, const mask_t *words, uint64_t count, int64_t only, uint64_t few, mask_t *);
} IntegerLoops;

#define LOOPS_OF(T, U) {sizeof(T), between_##T, widen_##T, words_##U}
/* numbers beyond int64 are refused, not compared */
UNUSED static const IntegerLoops INTEGER_LOOPS[8] = {
    LOOPS_OF(int8_t, uint8_t), LOOPS_OF(int16_t, uint16_t), LOOPS_OF(int32_t, uint32_t), LOOPS_OF(int64_t, uint64_t),
    LOOPS_OF(uint8_t, uint8_t), LOOPS_OF(uint16_t, uint16_t), LOOPS_OF(uint32_t, uint32_t),
    {sizeof(uint64_t), NULL, widen_int64_t, words_uint64_t},
};

/* ---- texts: a key is the eight bytes from a text's beginning on, a tail the eight before its end; where a text is
   shorter they hold what stands behind or before it, so each is compared with as many bytes as the other side has ---- */

static const uint64_t HEADS[9] = {0, 0xffull, 0xffffull, 0xffffffull, 0xffffffffull, 0xffffffffffull,
                                  0xffffffffffffull, 0xffffffffffffffull, 0xffffffffffffffffull};

#define KEYS(T, U)                                                                                               \
    /* the texts between offsets; eight bytes may be read from each of them on */                               \
    LOOP void keys_##T(const T *restrict offsets, const uint8_t *restrict data, int rows, uint64_t *restrict keys) { \
        for (int i = 0; i < rows; i++) keys[i] = word_at(data + offsets[i]);                                    \
    }                                                                                                           \
    /* and eight before the end of each */                                                                      \
    LOOP void tails_##T(const T *restrict offsets, const uint8_t *restrict data, int rows,                      \
                        uint64_t *restrict tails) {                                                             \
        for (int i = 0; i < rows; i++) tails[i] = word_at(data + offsets[i + 1] - 8);                           \
    }                                                                                                           \
    /* their lengths; 0 if one, or an offset, is negative */                                                              \
    LOOP int sizes_##T(const T *restrict offsets, int rows, int32_t *restrict sizes) {                          \
        T all = 0; /* a compare of 64 bits takes longer than the sign of a difference */                        \
        for (int i = 0; i < rows; i++) {                                                                        \
            T size = (T) ((U) offsets[i + 1] - (U) offsets[i]);                                                 \
            all |= size | offsets[i];                                                                           \
            sizes[i] = (int32_t) size;                                                                          \
        }                                                                                                       \
        return all >= 0;                                                                                        \
    }
KEYS(int32_t, uint32_t) KEYS(int64_t, uint64_t)

/* ---- views: 16 bytes a text. The head is its length and first four bytes; the rest is all that follows, of a text of up
   to twelve bytes, else where that stands ---- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define VIEW_SIZE(head) __builtin_bswap32((uint32_t) (head))
#else
#define VIEW_SIZE(head) ((uint32_t) (head))
#endif
#define SHORT_VIEW 12

/* Heads and rests. Reports whether no text is longer than its view; `bits` are those of all bytes but the lengths. */
LOOP int views_load(const uint8_t *restrict views, int rows, uint64_t *restrict heads, uint64_t *restrict rests,
                    uint64_t *bits) {
    uint64_t sizes = 0, all = 0;
    for (int i = 0; i < rows; i++) {
        uint64_t head = word_at(views + 16 * i), rest = word_at(views + 16 * i + 8), size = VIEW_SIZE(head);
        heads[i] = head;
        rests[i] = rest;
        sizes |= size | (size + (0x7fffffff - SHORT_VIEW)); /* bit 31: it is longer, or negative */
        all |= rest | head >> 32;
    }
    *bits |= all;
    return !(sizes >> 31);
}

/* The bytes of a view that are `kept` are those of a key; `rests` may be NULL. */
LOOP void views_equal(const uint64_t *restrict heads, const uint64_t *restrict rests, int rows,
                      const uint64_t *restrict kept, const uint64_t *restrict key, mask_t *restrict mask, int join) {
    uint64_t kept0 = kept[0], kept1 = kept[1], key0 = key[0], key1 = key[1];
    if (join && rests)
        for (int i = 0; i < rows; i++) mask[i] |= ((heads[i] & kept0) == key0) & ((rests[i] & kept1) == key1);
    else if (join)
        for (int i = 0; i < rows; i++) mask[i] |= (heads[i] & kept0) == key0;
    else if (rests)
        for (int i = 0; i < rows; i++) mask[i] = ((heads[i] & kept0) == key0) & ((rests[i] & kept1) == key1);
    else
        for (int i = 0; i < rows; i++) mask[i] = (heads[i] & kept0) == key0;
}

/* Both in one pass, where no other test asks for the heads: 0.42 to 0.52 instead of 0.54 to 0.61 ns a row. */
LOOP int views_look_once(const uint8_t *restrict views, int rows, const uint64_t *restrict kept,
                         const uint64_t *restrict key, uint64_t *bits, mask_t *restrict mask) {
    uint64_t sizes = 0, all = 0, kept0 = kept[0], kept1 = kept[1], key0 = key[0], key1 = key[1];
    if (kept1)
        for (int i = 0; i < rows; i++) {
            uint64_t head = word_at(views + 16 * i), rest = word_at(views + 16 * i + 8), size = VIEW_SIZE(head);
            sizes |= size | (size + (0x7fffffff - SHORT_VIEW));
            all |= rest | head >> 32;
            mask[i] = ((head & kept0) == key0) & ((rest & kept1) == key1);
        }
    else
        for (int i = 0; i < rows; i++) {
            uint64_t head = word_at(views + 16 * i), rest = word_at(views + 16 * i + 8), size = VIEW_SIZE(head);
            sizes |= size | (size + (0x7fffffff - SHORT_VIEW));
            all |= rest | head >> 32;
            mask[i] = (head & kept0) == key0;
        }
    *bits |= all;
    return !(sizes >> 31);
}

/* The rows of a mask whose text has so many bytes. */
LOOP void views_least(const uint64_t *restrict heads, int rows, uint32_t least, mask_t *restrict mask) {
    for (int i = 0; i < rows; i++) mask[i] &= VIEW_SIZE(heads[i]) >= least;
}

/* Short texts that end so: as `keys_begin` with tails. */
LOOP void views_end(const uint8_t *restrict views, int rows, uint64_t kept, uint64_t key, uint32_t least,
                    mask_t *restrict mask) {
    for (int i = 0; i < rows; i++) {
        uint32_t size = VIEW_SIZE(word_at(views + 16 * i)), some = size < 8 ? 8 : size;
        uint64_t tail = word_at(views + 16 * i + some - 4) << ((64 - 8 * (size < 8 ? size : 8)) & 63);
        mask[i] = ((tail & kept) == key) & (size >= least);
    }
}

/* Short texts with a place that is in `bits`, a bit a byte of the views, and at least `size` bytes before the end. */
LOOP void views_within(const uint64_t *restrict heads, int rows, const uint8_t *restrict bits, int size,
                       mask_t *restrict mask) {
    for (int i = 0; i < rows; i++) {
        int left = (int) VIEW_SIZE(heads[i]) - size + 1;
        uint32_t places = (uint32_t) (bits[2 * i] | bits[2 * i + 1] << 8) >> 4;
        mask[i] = (places & ((1u << (left > 0 ? left : 0)) - 1)) != 0;
    }
}

LOOP void keys_equal(const uint64_t *restrict keys, const int32_t *restrict sizes, int rows, uint64_t kept,
                     uint64_t key, int32_t size, mask_t *restrict mask, int join) {
    if (join)
        for (int i = 0; i < rows; i++) mask[i] |= ((keys[i] & kept) == key) & (sizes[i] == size);
    else
        for (int i = 0; i < rows; i++) mask[i] = ((keys[i] & kept) == key) & (sizes[i] == size);
}

LOOP void tails_equal(const uint64_t *restrict keys, const uint64_t *restrict tails, const int32_t *restrict sizes,
                      int rows, uint64_t key, uint64_t tail, int32_t size, mask_t *restrict mask, int join) {
    if (join)
        for (int i = 0; i < rows; i++) mask[i] |= (keys[i] == key) & (tails[i] == tail) & (sizes[i] == size);
    else
        for (int i = 0; i < rows; i++) mask[i] = (keys[i] == key) & (tails[i] == tail) & (sizes[i] == size);
}

/* the first bytes of keys, or the last ones of tails */
LOOP void keys_begin(const uint64_t *restrict keys, const int32_t *restrict sizes, int rows, uint64_t kept,
                     uint64_t key, int32_t least, mask_t *restrict mask, int join) {
    if (join)
        for (int i = 0; i < rows; i++) mask[i] |= ((keys[i] & kept) == key) & (sizes[i] >= least);
    else
        for (int i = 0; i < rows; i++) mask[i] = ((keys[i] & kept) == key) & (sizes[i] >= least);
}

/* Whether the text between two offsets of `width` bytes is one of up to eight. */
static inline int text_is(const void *offsets, int width, const uint8_t *data, int row, uint64_t kept, uint64_t key,
                          int64_t size) {
    const int32_t *narrow = (const int32_t *) offsets + row;
    const int64_t *wide = (const int64_t *) offsets + row;
    int64_t from = width == 4 ? narrow[0] : wide[0], to = width == 4 ? narrow[1] : wide[1];
    return (to - from == size) & ((word_at(data + from) & kept) == key);
}

#ifdef AVX2
/* Four texts from a row on, a bit each. */
INLINE int four_texts(const void *offsets, int width, const uint8_t *data, int row, __m256i kept, __m256i key,
                      __m256i size) {
    const int32_t *narrow = (const int32_t *) offsets + row;
    const int64_t *wide = (const int64_t *) offsets + row;
    __m128i low[2];
    __m256i sizes =
        width == 4 ? _mm256_cvtepi32_epi64(_mm_sub_epi32(_mm_loadu_si128((const __m128i *) (narrow + 1)),
                                                         _mm_loadu_si128((const __m128i *) narrow)))
                   : _mm256_sub_epi64(_mm256_loadu_si256((const __m256i *) (wide + 1)),
                                      _mm256_loadu_si256((const __m256i *) wide));
    for (int k = 0; k < 2; k++) {
        int64_t first = width == 4 ? narrow[2 * k] : wide[2 * k];
        int64_t second = width == 4 ? narrow[2 * k + 1] : wide[2 * k + 1];
        low[k] = _mm_insert_epi64(_mm_loadl_epi64((const __m128i *) (data + first)), (int64_t) word_at(data + second), 1);
    }
    __m256i texts = _mm256_and_si256(_mm256_inserti128_si256(_mm256_castsi128_si256(low[0]), low[1], 1), kept);
    return _mm256_movemask_pd(
        _mm256_castsi256_pd(_mm256_and_si256(_mm256_cmpeq_epi64(sizes, size), _mm256_cmpeq_epi64(texts, key))));
}

INLINE int texts_bits_of(const void *offsets, int width, const uint8_t *data, int rows, uint64_t kept, uint64_t key,
                         int64_t size, uint8_t *bits) {
    __m256i keep = _mm256_set1_epi64x((int64_t) kept), want = _mm256_set1_epi64x((int64_t) key);
    __m256i long_as = _mm256_set1_epi64x(size);
    int i = 0;
    for (; i + 8 <= rows; i += 8)
        bits[i >> 3] = (uint8_t) (four_texts(offsets, width, data, i, keep, want, long_as)
                                  | four_texts(offsets, width, data, i + 4, keep, want, long_as) << 4);
    return i;
}

AVX2 int texts_bits_avx2(const void *offsets, int width, const uint8_t *data, int rows, uint64_t kept, uint64_t key,
                         int64_t size, uint8_t *bits) {
    return width == 4 ? texts_bits_of(offsets, 4, data, rows, kept, key, size, bits)
                      : texts_bits_of(offsets, 8, data, rows, kept, key, size, bits);
}
#endif

/* The texts that are one, as bits of words that are zeros; eight bytes may be read from each of them on. Lengths, keys,
   a mask of bytes and then bits take 0.70 ns a row, this 0.38. */
UNUSED static void texts_bits(const void *offsets, int width, const uint8_t *data, int rows, uint64_t kept,
                              uint64_t key, int64_t size, uint64_t *words) {
    int i = 0;
#ifdef AVX2
    if (HAS_AVX2) i = texts_bits_avx2(offsets, width, data, rows, kept, key, size, (uint8_t *) words);
#endif
    for (; i < rows; i++)
        words[i >> 6] |= (uint64_t) text_is(offsets, width, data, i, kept, key, size) << (i & 63);
}

/* ---- codes: a text as the number, from 1 on, of the one of some short texts that it is; 0 if it is none ---- */

#define MOST_CODES 255
#define LEAST_PLACES 8 /* bits of a place in a table of a few */
#define MOST_PLACES 13

/* By a factor that gives each of the texts a place of its own: a text is compared with one other. */
typedef struct {
    uint64_t factor;
    int shift; /* of 64 bits, to leave a place */
    uint64_t texts[MOST_CODES + 1][2];
    uint8_t codes[1 << MOST_PLACES];
} CodeTable;

static inline uint64_t code_place(const CodeTable *table, uint64_t first, uint64_t second) {
    return (first ^ (second << 29 | second >> 35)) * table->factor >> table->shift;
}

static inline uint8_t code_of(const CodeTable *table, uint64_t first, uint64_t second) {
    uint8_t code = table->codes[code_place(table, first, second)];
    return code & (uint8_t) -((table->texts[code][0] == first) & (table->texts[code][1] == second));
}

/* Whether each of `count` texts has a place of its own by some factor. */
UNUSED static int codes_fit(CodeTable *table, int count) {
    uint64_t factor = 0x9E3779B97F4A7C15ull; /* 2**64 divided by the golden ratio */
    int places = LEAST_PLACES;
    while (places < MOST_PLACES && 4 << places < count * count) places++;
    table->shift = 64 - places;
    for (int trial = 0; trial < 256; trial++, factor = factor * 6364136223846793005ull + 2) {
        int code = 1;
        table->factor = factor;
        memset(table->codes, 0, sizeof table->codes);
        for (; code <= count; code++) {
            uint8_t *at = &table->codes[code_place(table, table->texts[code][0], table->texts[code][1])];
            if (*at) break;
            *at = (uint8_t) code;
        }
        if (code > count) return 1;
    }
    return 0;
}

/* A text between offsets as two words: its first eight bytes; its length, and the ninth to twelfth. */
static inline uint64_t second_word(int32_t size, uint64_t tail) {
    return (uint32_t) size | (size > 8 ? tail >> (8 * (16 - size) & 63) << 32 : 0);
}

UNUSED static void codes_of_keys(const CodeTable *table, const uint64_t *restrict keys, const uint64_t *restrict tails,
                                 const int32_t *restrict sizes, int rows, uint8_t *restrict codes) {
    for (int i = 0; i < rows; i++)
        codes[i] = code_of(table, keys[i] & HEADS[sizes[i] < 8 ? sizes[i] : 8],
                           second_word(sizes[i], tails ? tails[i] : 0));
}

/* A view is two words; what stands behind a short text may be anything: these are its own bytes, by its length. */
static const uint64_t VIEW_KEPT[SHORT_VIEW + 1][2] = {
    {0xffffffffull, 0}, {0xffffffffffull, 0}, {0xffffffffffffull, 0}, {0xffffffffffffffull, 0}, {~0ull, 0},
    {~0ull, 0xffull}, {~0ull, 0xffffull}, {~0ull, 0xffffffull}, {~0ull, 0xffffffffull}, {~0ull, 0xffffffffffull},
    {~0ull, 0xffffffffffffull}, {~0ull, 0xffffffffffffffull}, {~0ull, ~0ull},
};

UNUSED static void codes_of_views(const CodeTable *table, const uint64_t *restrict heads,
                                  const uint64_t *restrict rests, int rows, uint8_t *restrict codes) {
    for (int i = 0; i < rows; i++) {
        uint32_t size = VIEW_SIZE(heads[i]);
        const uint64_t *kept = VIEW_KEPT[size < SHORT_VIEW ? size : SHORT_VIEW];
        codes[i] = code_of(table, heads[i] & kept[0], rests[i] & kept[1]);
    }
}

/* The rows whose code has a bit in `few`. */
UNUSED static void codes_bits_any(const uint8_t *restrict codes, int rows, const uint64_t *restrict few,
                                  uint64_t *restrict words) {
    for (int i = 0; i < rows; i += 64) {
        uint64_t word = 0;
        for (int k = 0; k < 64 && i + k < rows; k++) word |= (few[codes[i + k] >> 6] >> (codes[i + k] & 63) & 1) << k;
        words[i >> 6] = word;
    }
}

#ifdef AVX2
/* A code is looked up as a byte of `few` and a bit of that: 0.4 instructions a row. Codes are read up to a multiple of
   32, bits written likewise. */
AVX2 void codes_bits_avx2(const uint8_t *codes, int rows, const uint64_t *few, uint64_t *words) {
    uint32_t *bits = (uint32_t *) words;
    __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) few));
    __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (few + 2)));
    __m256i seven = _mm256_set1_epi8(7), most = _mm256_set1_epi8(31);
    words[((rows + 63) >> 6) - 1] = 0;
    for (int i = 0; i < rows; i += 32) {
        __m256i code = _mm256_loadu_si256((const __m256i *) (codes + i));
        __m256i at = _mm256_and_si256(_mm256_srli_epi16(code, 3), most);
        __m256i byte = _mm256_blendv_epi8(_mm256_shuffle_epi8(low, at), _mm256_shuffle_epi8(high, at),
                                          _mm256_slli_epi16(at, 3)); /* from the sixteenth byte on */
        __m256i bit = _mm256_shuffle_epi8(BIT_OF, _mm256_and_si256(code, seven));
        bits[i >> 5] = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit));
    }
}
#endif

UNUSED static void codes_bits(const uint8_t *codes, int rows, const uint64_t *few, uint64_t *words) {
#ifdef AVX2
    if (HAS_AVX2) {
        codes_bits_avx2(codes, rows, few, words);
        return;
    }
#endif
    codes_bits_any(codes, rows, few, words);
}

/* Places, of `count`, where four bytes of a text stand: those at the offsets `at` from its beginning. */
LOOP void places_find(const uint8_t *restrict data, int count, const uint8_t *text, const int64_t *at,
                      mask_t *restrict mask) {
    const uint8_t *second = data + at[1], *third = data + at[2], *last = data + at[3];
    uint8_t a = text[0], b = text[at[1]], c = text[at[2]], d = text[at[3]];
    for (int i = 0; i < count; i++) mask[i] = (data[i] == a) & (second[i] == b) & (third[i] == c) & (last[i] == d);
}

/* The texts with a place that is in `bits`, a bit a byte from `base` on, and at least `size` bytes before the text's end;
   eight bytes of the bits may be read from every place on. */
#define PLACES(T)                                                                                              \
    LOOP void places_within_##T(const T *restrict offsets, int rows, const uint8_t *restrict bits, int64_t base, \
                                int64_t size, mask_t *restrict mask) {                                         \
        for (int i = 0; i < rows; i++) {                                                                       \
            int64_t left = (int64_t) offsets[i + 1] - offsets[i] - size + 1, at = (int64_t) offsets[i] - base; \
            uint64_t found = 0;                                                                                \
            for (; left > 56; left -= 56, at += 56) found |= word_at(bits + (at >> 3)) >> (at & 7) << 8;       \
            if (left > 0) found |= (word_at(bits + (at >> 3)) >> (at & 7)) << (64 - left);                     \
            mask[i] = found != 0;                                                                              \
        }                                                                                                      \
    }
PLACES(int32_t) PLACES(int64_t)

/* whether all is ASCII */
LOOP int ascii_all(const uint8_t *data, int64_t size) {
    uint8_t bits = 0;
    for (int64_t i = 0; i < size; i++) bits |= data[i];
    return bits < 0x80;
}

#endif
