/*
 * tickets.h - tickets: single-use secrets for browsers, which cannot send an Authorization header.
 */
#ifndef POLICY_TICKETS_H
#define POLICY_TICKETS_H

#include "router/hub/hub.h"
#include "router/policy/grants/grant.h"

/** The seconds that a ticket lives, and the number that may be outstanding. */
enum { TICKETS_LIFE_S = 30, TICKETS_MAX = 4096 };

struct tickets;

/**
 * Makes an empty table. A participant may have `each` unexpired tickets; 0 = no limit of its own.
 * Returns NULL when memory runs out.
 */
struct tickets *tickets_new(struct chance chance, size_t each);

/** Sets another quota from now on; issued tickets stay. */
void tickets_set_each(struct tickets *tickets, size_t each);

/** Frees it and releases its grants. NULL is allowed. */
void tickets_free(struct tickets *tickets);

/**
 * Issues a ticket of 256 random bits for one topic.
 *
 * grant    kept until the ticket is used or expires
 * topic    borrowed, copied
 * ticket   the text of the ticket (base64url, no padding) is appended
 *
 * Returns MCPX_OK, MCPX_ELIMIT when TICKETS_MAX unexpired tickets are outstanding, MCPX_ESHARE
 * when the participant has `each` of them, MCPX_ENOMEM.
 */
enum mcpx_err tickets_issue(struct tickets *tickets, struct grant *grant,
                            struct mcpx_slice topic, struct mcpx_now now,
                            struct mcpx_text *ticket);

/** Voids the tickets of a participant for the topics with `reaches` true. Returns their number. */
size_t tickets_void(struct tickets *tickets, struct mcpx_slice identity,
                    bool (*reaches)(void *context, struct mcpx_slice topic), void *context);

/**
 * Uses up a ticket. It is compared by its SHA-256, so that timing reveals nothing.
 *
 * out   filled with a grant, of which the caller owns one reference; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ETOKEN (unknown, used or expired), or MCPX_EFORBIDDEN (other topic; the
 * ticket is used up all the same).
 */
enum mcpx_err tickets_use(struct tickets *tickets, struct mcpx_slice ticket,
                          struct mcpx_slice topic, struct mcpx_now now, struct grant **out);

#endif
