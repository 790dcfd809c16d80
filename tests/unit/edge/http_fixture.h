/*
 * http_fixture.h - a router without sockets: a real hub, real tokens, a clock that stands still,
 * and one call that sends a request and takes the answer apart.
 */
#ifndef TEST_HTTP_FIXTURE_H
#define TEST_HTTP_FIXTURE_H

#include "router/api/http_api.h"

#include <jansson.h>

/**
 * Everything http_api borrows. Allowed origins: local pages on any port, and *.example.org.
 *
 * named   whom the certificate of those who ask stands for; absent = they show none
 */
struct fixture {
    struct config config;
    char *origins[2];
    struct http_api api;
    struct mcpx_now now;
    struct mcpx_slice named;
};

/** The static token of the configured participant "fs" (topics room-*, grants below). */
#define FIXTURE_FS_BEARER "Bearer fs-static-token"
#define FIXTURE_FS_GRANTS "[\"mcp/response:*\",\"chat\"]"

/** Makes it: topics come to be by joining, dev mode is off. Fails the test on error. */
void fixture_init(struct fixture *fixture);

/** Makes the hub anew from fixture->config.hub, which a test may have changed. */
void fixture_remake_hub(struct fixture *fixture);

/** Frees it. */
void fixture_fini(struct fixture *fixture);

/**
 * "Bearer TOKEN" for a participant in a topic, valid for a day. `capabilities` is a JSON array.
 * The caller frees it.
 */
char *fixture_bearer(struct fixture *fixture, const char *participant, const char *topic,
                     const char *capabilities);

/** Joins a participant with these capabilities, as JSON text. */
struct peer *fixture_join_as(struct fixture *fixture, const char *participant,
                             const char *topic, const char *capabilities);

/** Joins a participant that may send everything. */
struct peer *fixture_join(struct fixture *fixture, const char *participant, const char *topic);

/** Says a text and expects it to be accepted. */
void fixture_say(struct fixture *fixture, struct peer *peer, const char *text);

/** A request in C strings; NULL = absent. */
struct ask {
    const char *method;
    const char *target;
    const char *authorization;
    const char *origin;
    const char *body;
};

/**
 * An answer taken apart.
 *
 * status   the three digits
 * head     status line and headers
 * body     what follows the empty line
 * json     the body as JSON; NULL when it is none
 */
struct answer {
    struct mcpx_text text;
    int status;
    struct mcpx_slice head;
    struct mcpx_slice body;
    json_t *json;
};

/**
 * Asks and checks what every answer owes: its form, Content-Length, security headers, the
 * members of a problem.
 */
void fixture_ask(struct fixture *fixture, const struct ask *ask, struct answer *answer);

/** Frees the answer. */
void answer_fini(struct answer *answer);

/** True when the head holds this line, exactly. */
bool answer_has(const struct answer *answer, const char *line);

/** A string member of the JSON body; "" when there is none. */
const char *answer_string(const struct answer *answer, const char *name);

/** True when the text of a JSON value equals another text's. */
bool json_equals(const json_t *value, const char *text);

#endif
