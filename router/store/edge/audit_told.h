/*
 * audit_told.h - a note on its way to the thread: its texts copied behind it, and cut to what a
 * line shows of them.
 */
#ifndef STORE_AUDIT_TOLD_H
#define STORE_AUDIT_TOLD_H

#include "router/store/audit_note.h"
#include "router/store/edge/belt.h"

/**
 * A copy of a note.
 *
 * size   bytes that it takes
 */
struct audit_told {
    struct oneway oneway;
    size_t size;
    struct audit_note note;
};

/** Gives a copy, to be freed; NULL when memory runs out. Of addressees AUDIT_TO_MAX are kept. */
struct audit_told *audit_told_new(const struct audit_note *note);

#endif
