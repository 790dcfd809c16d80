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

/** The one of the test that runs. */
extern struct fixture router;

/** The static token of the configured participant "fs" (topics room-*, grants below). */
#define FIXTURE_FS_BEARER "Bearer fs-static-token"
#define FIXTURE_FS_GRANTS "[\"mcp/response:*\",\"chat\"]"

/** Makes it, before each test: topics come to be by joining, dev mode is off. */
void fixture_init(void);

/** Makes the hub anew from router.config.hub, which a test may have changed. */
void fixture_remake_hub(void);

/** Frees it and the last answer, after each test. */
void fixture_fini(void);

/** Both, for a test that needs a fresh one for each of its rows. */
void fixture_again(void);

/**
 * "Bearer TOKEN" for a participant in a topic, valid for a day. `capabilities` is a JSON array.
 * Kept until fixture_fini.
 */
const char *fixture_bearer(const char *participant, const char *topic,
                           const char *capabilities);

/** "Bearer TOKEN" with these claims, signed with the router's key. Likewise kept. */
const char *fixture_signed(const char *claims);

/** Joins a participant with these capabilities, as JSON text. */
struct peer *fixture_join_as(const char *participant, const char *topic,
                             const char *capabilities);

/** Joins a participant that may send everything. */
struct peer *fixture_join(const char *participant, const char *topic);

/** Says a text and expects it to be accepted. */
void fixture_say(struct peer *peer, const char *text);

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

/** The last one. */
extern struct answer answer;

/**
 * Asks, takes the answer apart and checks what every answer owes: its form, Content-Length,
 * security headers, the members of a problem.
 */
void fixture_ask(const struct ask *ask);

/** The same for a GET, and for a POST. */
void fixture_get(const char *target, const char *authorization);
void fixture_post(const char *target, const char *authorization, const char *body);

/** Frees the last answer. */
void answer_forget(void);

/** True when the head holds this line, exactly. */
bool answer_has(const char *line);

/** A string member of the JSON body; "" when there is none. */
const char *answer_string(const char *name);

/** True when the text of a JSON value equals another text's. */
bool json_equals(const json_t *value, const char *text);

/** The body of the last answer, or a member of it, equals this text. */
#define EXPECT_ANSWER(expected)                                                               \
    cr_expect(json_equals(answer.json, expected), "%s", answer.text.text)
#define EXPECT_MEMBER(name, expected)                                                         \
    cr_expect(json_equals(json_object_get(answer.json, name), expected), "%s",                \
              answer.text.text)

#endif
