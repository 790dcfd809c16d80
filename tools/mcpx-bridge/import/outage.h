/*
 * outage.h - why the server is not available.
 */
#ifndef MCPX_BRIDGE_IMPORT_OUTAGE_H
#define MCPX_BRIDGE_IMPORT_OUTAGE_H

#include <mcpx/child.h>

struct import;

/** The child is gone: sets the sentence and the data for requests from now on. */
void import_outage_note(struct import *import, const struct mcpx_child_report *report);

/** This server will never work: import_failure() tells so from now on. */
void import_give_up(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Why it makes no sense to go on, as a sentence: the program cannot be executed, or the server
 * refuses to be initialised. NULL otherwise. Lent until the next call.
 */
const char *import_failure(const struct import *import);

/** Why the server has gone, a sentence; NULL when it is ready, or has not gone so far. */
const char *import_outage(const struct import *import);

#endif
