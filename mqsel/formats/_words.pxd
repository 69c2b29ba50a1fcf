# Text eight bytes at a time: as a word, whose lowest byte is the first on any machine. No loop, and no branch to guess.

from libc.stdint cimport uint8_t, uint64_t

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
