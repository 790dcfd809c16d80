/*
 * http_fixture.c - see the header. Tokens are made by the router's own issuer, as in dev mode, so
 * that what the tests hold in hand is what clients hold.
 */
#include "http_fixture.h"
#include "tests/support/bearer.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/jwt.h"

#include "router/policy/identity/tokens_make.h"

#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

static void fill_steadily(void *context, void *bytes, size_t len)
{
    unsigned *state = context;

    for (size_t i = 0; i < len; i++) {
        *state = *state * 1103515245u + 12345u;
        ((unsigned char *)bytes)[i] = (unsigned char)(*state >> 16);
    }
}

static unsigned chance_state = 1;
static const struct chance chance = {fill_steadily, &chance_state};

static void add_fs(struct tokens *tokens)
{
    json_auto_t *topics = json_pack("[s]", "room-*");
    json_auto_t *grants = json_loads(FIXTURE_FS_GRANTS, 0, NULL);
    struct grant_list list = {0};
    struct tokens_person person = {
        .id = MCPX_SLICE("fs"), .topics = topics, .grants = &list, .routing = ROUTING_DEFAULT};
    const char *secret = strchr(FIXTURE_FS_BEARER, ' ') + 1;
    struct mcpx_fault fault;

    EVP_Digest(secret, strlen(secret), person.token_sha256, NULL, EVP_sha256(), NULL);
    cr_assert_eq(grant_list_add_all(&list, grants, NULL, &fault), MCPX_OK);
    cr_assert_eq(tokens_add(tokens, &person, &fault), MCPX_OK);
    tokens_sort(tokens);
    grant_list_fini(&list);
}

#define SECRET "0123456789abcdef0123456789abcdef"

struct fixture router;
struct answer answer;

/* Until the end of a test. */
static char *kept[32];
static size_t kept_count;

static const char *keep(char *bearer)
{
    cr_assert(bearer && kept_count < sizeof kept / sizeof *kept);
    return kept[kept_count++] = bearer;
}

void answer_forget(void)
{
    json_decref(answer.json);
    mcpx_text_fini(&answer.text);
    answer = (struct answer){.status = 0};
}

void fixture_init(void)
{
    static char local[] = "http://localhost:*", remote[] = "https://*.example.org";

    router = (struct fixture){
        .config = {.hub = hub_config_default(),
                   .origins.count = 2,
                   .tokens = tokens_new(NULL)},
        .origins = {local, remote},
        .now = {.mono_ms = 70000, .wall_ms = 1795303080001},
    };
    router.config.origins.text = router.origins;
    router.config.hub.create = true;
    cr_assert_eq(jwt_ring_add(&router.config.tokens->ring, SECRET_KEY("k1", "HS256"),
                              MCPX_SLICE(SECRET)),
                 MCPX_OK);
    add_fs(router.config.tokens);
    router.api = (struct http_api){.hub = hub_new(&router.config.hub, chance),
                                   .config = &router.config,
                                   .tickets = tickets_new(chance, 0),
                                   .changes = changes_new(),
                                   .started = {7766, 1795303017999}};
    cr_assert(router.api.hub && router.api.tickets && router.api.changes);
}

void fixture_remake_hub(void)
{
    hub_free(router.api.hub);
    router.api.hub = hub_new(&router.config.hub, chance);
    cr_assert(router.api.hub);
}

void fixture_fini(void)
{
    hub_free(router.api.hub);
    tickets_free(router.api.tickets);
    changes_free(router.api.changes);
    tokens_free(router.config.tokens);
    while (kept_count > 0)
        free(kept[--kept_count]);
    answer_forget();
}

void fixture_again(void)
{
    fixture_fini();
    fixture_init();
}

static char *issue(const char *participant, const char *topic, const char *capabilities)
{
    struct mcpx_text out = {0};
    struct mcpx_fault fault;

    if (strcmp(participant, "fs") == 0) { /* has one of its own */
        mcpx_text_puts(&out, FIXTURE_FS_BEARER);
        return out.text;
    }
    mcpx_text_puts(&out, "Bearer ");
    cr_assert_eq(tokens_issue(router.config.tokens, mcpx_slice_of(participant),
                              mcpx_slice_of(topic), mcpx_slice_of(capabilities), router.now,
                              &fault, &out),
                 MCPX_OK, "no token for %s in %s", participant, topic);
    return out.text;
}

const char *fixture_bearer(const char *participant, const char *topic,
                           const char *capabilities)
{
    return keep(issue(participant, topic, capabilities));
}

const char *fixture_signed(const char *claims)
{
    struct mcpx_text out = {0};
    char *token = jwt_make("{\"alg\":\"HS256\",\"kid\":\"k1\"}", claims, "SHA256", SECRET);

    mcpx_text_puts(&out, "Bearer ");
    mcpx_text_puts(&out, token);
    free(token);
    return keep(out.text);
}

struct peer *fixture_join_as(const char *participant, const char *topic,
                             const char *capabilities)
{
    char *bearer = issue(participant, topic, capabilities);
    struct admission admission = {.topic = mcpx_slice_of(topic)};
    struct grant *grant = NULL;
    struct peer *peer = NULL;

    cr_assert_eq(tokens_verify(router.config.tokens, mcpx_slice_of(bearer + 7),
                               admission.topic, router.now, &grant),
                 MCPX_OK);
    cr_assert_eq(hub_admit(router.api.hub, grant, &admission, NULL, router.now, &peer),
                 MCPX_OK);
    grant_unref(grant);
    free(bearer);
    return peer;
}

struct peer *fixture_join(const char *participant, const char *topic)
{
    return fixture_join_as(participant, topic, "[\"*\"]");
}

void fixture_say(struct peer *peer, const char *text)
{
    struct verdict verdict;

    hub_route(router.api.hub, peer, mcpx_slice_of(text), router.now, &verdict);
    cr_assert_eq(verdict.err, MCPX_OK, "%s: %s", text, mcpx_strerror(verdict.err));
}

bool answer_has(const char *line)
{
    size_t len = strlen(line);

    for (const char *at = strstr(answer.text.text, line); at; at = strstr(at + 1, line)) {
        if (at + len <= answer.head.text + answer.head.len && at[-1] == '\n' &&
            at[len] == '\r')
            return true;
    }
    return false;
}

const char *answer_string(const char *name)
{
    const char *value = json_string_value(json_object_get(answer.json, name));

    return value ? value : "";
}

bool json_equals(const json_t *value, const char *text)
{
    json_t *other = json_loads(text, JSON_DECODE_ANY, NULL);
    bool equal = other && value && json_equal(value, other);

    json_decref(other);
    return equal;
}

static void take_apart(void)
{
    const char *end;

    cr_assert_not(answer.text.failed);
    cr_assert_eq(strncmp(answer.text.text, "HTTP/1.1 ", 9), 0, "%s", answer.text.text);
    answer.status = atoi(answer.text.text + 9);
    end = strstr(answer.text.text, "\r\n\r\n");
    cr_assert(end);
    answer.head = (struct mcpx_slice){answer.text.text, (size_t)(end + 4 - answer.text.text)};
    answer.body = (struct mcpx_slice){end + 4, answer.text.len - answer.head.len};
    answer.json = json_loadb(answer.body.text, answer.body.len, 0, NULL);
}

static void check_manners(const struct ask *ask)
{
    char length[64];

    snprintf(length, sizeof length, "Content-Length: %zu", answer.body.len);
    cr_expect(answer_has("Connection: close"), "%s", ask->target);
    cr_expect(answer_has("Cache-Control: no-store"), "%s", ask->target);
    cr_expect(answer_has("X-Content-Type-Options: nosniff"), "%s", ask->target);
    cr_expect(answer_has("Vary: Origin"), "%s", ask->target);
    if (answer.status == 204)
        cr_expect_not(strstr(answer.text.text, "Content-Length"), "%s", ask->target);
    else if (strcmp(ask->method, "HEAD") != 0)
        cr_expect(answer_has(length), "%s: %s", ask->target, answer.text.text);
    else
        cr_expect_eq(answer.body.len, 0, "%s", ask->target);
    if (answer.status == 401)
        cr_expect(answer_has("WWW-Authenticate: Bearer"), "%s", ask->target);
    if (answer.status < 400 || strcmp(ask->method, "HEAD") == 0)
        return;
    cr_expect(answer_has("Content-Type: application/problem+json"), "%s", ask->target);
    cr_expect_str_eq(answer_string("type"), "about:blank", "%s", ask->target);
    cr_expect_eq(json_integer_value(json_object_get(answer.json, "status")), answer.status);
    cr_expect_str_neq(answer_string("title"), "", "%s", ask->target);
    cr_expect_str_neq(answer_string("code"), "", "%s", ask->target);
    cr_expect_str_neq(answer_string("error"), "", "%s", ask->target);
}

void fixture_ask(const struct ask *ask)
{
    struct http_request request = {.method = mcpx_slice_of(ask->method),
                                   .target = mcpx_slice_of(ask->target),
                                   .authorization = mcpx_slice_of(ask->authorization),
                                   .origin = mcpx_slice_of(ask->origin),
                                   .named = router.named,
                                   .body = mcpx_slice_of(ask->body)};
    struct http_reply reply = {0};

    answer_forget();
    http_answer(&router.api, &request, router.now, &reply);
    http_reply_write(&reply, &answer.text);
    http_reply_fini(&reply);
    take_apart();
    check_manners(ask);
}

void fixture_get(const char *target, const char *authorization)
{
    fixture_ask(&(struct ask){"GET", target, authorization, NULL, NULL});
}

void fixture_post(const char *target, const char *authorization, const char *body)
{
    fixture_ask(&(struct ask){"POST", target, authorization, NULL, body});
}
