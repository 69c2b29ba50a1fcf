# Text eight bytes at a time: as a word, whose lowest byte is the first on any machine. No loop, and no branch to guess.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    static inline uint64_t word_at(const unsigned char *at) {
        uint64_t word;
        memcpy(&word, at, 8);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        return word;
    }

    /* The number of the lowest byte that is not zero. */
    static inline int word_first(uint64_t word) {
    #if defined(__GNUC__)
        return __builtin_ctzll(word) >> 3;
    #else
        int place = 0;
        while (!(word & 0xFF)) word >>= 8, place++;
        return place;
    #endif
    }
    """
    uint64_t word_at(const uint8_t *at) noexcept
    int word_first(uint64_t word) noexcept

cdef enum:
    WORD = 8


cdef inline uint64_t word_of(uint8_t byte) noexcept:
    """Return the word of eight times a byte."""
    return <uint64_t> 0x0101010101010101 * byte


cdef inline uint64_t word_find(uint64_t word, uint64_t wanted) noexcept:
    """Mark the bytes that a word shares with *wanted*: of the marks the lowest is right, those above it may not be."""
    word ^= wanted
    return (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL


cdef inline uint64_t word_cut(int count) noexcept:
    """Return the mask of the first bytes, fewer than eight."""
    return (<uint64_t> 1 << 8 * count) - 1


cdef inline uint32_t text_hash(const uint8_t *text, Py_ssize_t length) noexcept:
    """Return a hash of the first and the last word of a text, and its length."""
    cdef uint64_t first = 0
    cdef uint64_t last = 0
    if length >= 8:
        memcpy(&first, text, 8)
        memcpy(&last, text + length - 8, 8)
    else:
        memcpy(&first, text, length)
    first = (first ^ last * 0x9E3779B97F4A7C15ULL ^ <uint64_t> length) * 0xD6E8FEB86659FD93ULL
    return <uint32_t> (first >> 32)
