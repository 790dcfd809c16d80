/*
 * party.h - clients of the library at a real router, for tests: joined with one line, waited for
 * with one line, and any lie they are told fails the test.
 */
#ifndef SUPPORT_PARTY_H
#define SUPPORT_PARTY_H

#include "tests/support/daemon.h"
#include <mcpx/client.h>

/** "ws://127.0.0.1:PORT" of a daemon's first listener; lent until the next call. */
const char *party_url(int port);

/** Settings of a participant in `topic` with every grant; token and URL are lent for one call. */
struct mcpx_client_config party_config(const struct daemon *daemon, const char *participant,
                                       const char *topic);

/** Makes a client, or fails the test. */
struct mcpx_client *party_open(const struct mcpx_client_config *config);

/** party_config and party_open, and waits for JOINED. */
struct mcpx_client *party_join(const struct daemon *daemon, const char *participant,
                               const char *topic);

/**
 * Waits for an event of this type, passing over all others. Fails the test when it does not come,
 * or on a VIOLATION that was not asked for.
 */
void party_expect(struct mcpx_client *client, enum mcpx_event_type type,
                  struct mcpx_event *event);

/** Sends a broadcast `chat` with this payload, or fails the test. */
void party_chat(struct mcpx_client *client, const char *payload);

/** Sends a draft of this type to one participant, or fails the test. */
void party_send(struct mcpx_client *client, const char *type, const char *to,
                const char *payload);

/** Closes, waits for the end and frees it. Fails the test when the end does not come. */
void party_leave(struct mcpx_client *client);

/** True when the slice holds `part`. */
bool party_holds(struct mcpx_slice text, const char *part);

#endif
