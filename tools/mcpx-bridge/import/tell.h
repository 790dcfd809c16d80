/*
 * tell.h - log lines, announcements and notifications of an import.
 */
#ifndef MCPX_BRIDGE_IMPORT_TELL_H
#define MCPX_BRIDGE_IMPORT_TELL_H

#include <mcpx/session.h>

struct import;

/** Logs a sentence, cut at 500 bytes, control characters replaced. */
void import_say(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Says a sentence in every topic as chat, where we may; not for a server with an owner. */
void import_announce(struct import *import, const char *text);

/** Sends a notification of the server to its owner, or to everybody in every topic. */
void import_tell(struct import *import, struct mcpx_draft *draft);

/** Sends a notification of the server to the addressees of the draft, in one topic. */
void import_tell_topic(struct import *import, size_t topic, struct mcpx_draft *draft);

/** What came of such a notification. */
void import_told(struct import *import, enum mcpx_err err);

#endif
