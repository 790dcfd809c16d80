/*
 * trouble.h - why there is no server.
 */
#ifndef MCPX_BRIDGE_IMPORT_TROUBLE_H
#define MCPX_BRIDGE_IMPORT_TROUBLE_H

#include <mcpx/child.h>

struct import;

/** The child is gone: sentence and data for everybody who asks from now on. */
void import_trouble_note(struct import *import, const struct mcpx_child_report *report);

/** There is no hope for this server: import_failure() tells so from now on. */
void import_give_up(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Why there is no use in going on, as a sentence: the program cannot be executed, or the server
 * refuses to be initialised. NULL while there is. Lent until the next call.
 */
const char *import_failure(const struct import *import);

#endif
