/*
 * unmask.h - what a WebSocket client sends is XORed with four bytes, over and over (RFC 6455
 * section 5.3). Undone in place, through whatever vector unit the machine has (unmask.c chooses).
 */
#ifndef MX_UNMASK_H
#define MX_UNMASK_H

#include <mcpx/base.h>

/**
 * Undoes the mask, or puts it on, in place.
 *
 * key     the four bytes as they stand in the frame
 * phase   how many bytes of the payload came before these
 */
void mx_unmask(unsigned char *bytes, size_t len, const unsigned char key[4], size_t phase);

/** A way to do mx_unmask; `key` begins with the byte for `bytes[0]`. */
typedef void mx_unmasker(unsigned char *bytes, size_t len, const unsigned char key[4]);

/**
 * One of them.
 *
 * name     for tests
 * usable   false on a machine that lacks the instructions
 * unmask   mx_unmask, done this way
 */
struct mx_unmask_unit {
    const char *name;
    bool (*usable)(void);
    mx_unmasker *unmask;
};

/** Those there are for this architecture, the fastest first; the last is usable everywhere. */
extern const struct mx_unmask_unit mx_unmask_units[];
extern const size_t mx_unmask_unit_count;

mx_unmasker mx_unmask_portable, mx_unmask_sse2, mx_unmask_avx2;

#endif
