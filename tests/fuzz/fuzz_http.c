/*
 * fuzz_http.c - any request gets one well-formed answer that holds no token. The input is text:
 * method, target, Authorization and Origin on a line each (an empty line = no such header), then
 * the body. The router behind it is in dev mode and takes tokens in the query, so that everything
 * can be reached; it knows the token in `secret` and one topic with history.
 */
#include "router/api/api.h"
#include "router/policy/identity/tokens_make.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bearer.h"
#include "tests/support/hub_defaults.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

static const struct mcpx_now now = {.mono_ms = 5000, .wall_ms = 1795303080001};
static const char secret[] = "fs-static-token";

#define MUST(condition)                                                                       \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            abort();                                                                          \
        }                                                                                     \
    } while (0)

static void fill_steadily(void *context, void *bytes, size_t len)
{
    (void)context;
    memset(bytes, 7, len);
}

static const struct chance chance = {fill_steadily, NULL};

static void add_participant(struct tokens *tokens)
{
    json_auto_t *topics = json_pack("[s]", "room-*");
    json_auto_t *grants = json_loads("[\"*\"]", 0, NULL);
    struct grant_list list = {0};
    struct tokens_person person = {
        .id = MCPX_SLICE("fs"), .topics = topics, .grants = &list, .routing = ROUTING_DEFAULT};
    struct mcpx_fault fault;

    EVP_Digest(secret, strlen(secret), person.token_sha256, NULL, EVP_sha256(), NULL);
    MUST(!grant_list_add_all(&list, grants, NULL, &fault));
    MUST(!tokens_add(tokens, &person, &fault));
    tokens_sort(tokens);
    grant_list_fini(&list);
}

static void fill_topic(const struct http_api *api)
{
    static const char *const texts[] = {
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"kind\":\"chat\",\"payload\":{}}",
        "{\"protocol\":\"mcpx/"
        "v0.1\",\"id\":\"m2\",\"kind\":\"chat\",\"payload\":{\"\\\"]\":1}}",
    };
    struct admission admission = {.topic = MCPX_SLICE("room-1")};
    struct grant *grant = NULL;
    struct verdict verdict;
    struct peer *peer;

    MUST(!tokens_verify(api->config->tokens, mcpx_slice_of(secret), admission.topic, now,
                        &grant));
    MUST(!hub_admit(api->hub, grant, &admission, NULL, now, &peer));
    for (size_t i = 0; i < 2; i++)
        hub_route(api->hub, peer, mcpx_slice_of(texts[i]), now, &verdict);
    grant_unref(grant);
}

/* Made once; no request changes it but by issuing tickets, and by what its peer may do. */
static struct http_api *get_api(void)
{
    static char origin[] = "http://localhost:*";
    static char *origins[] = {origin};
    static struct config config;
    static struct http_api api;

    if (api.hub)
        return &api;
    config.hub = hub_config_default();
    config.origins.text = origins;
    config.origins.count = 1;
    config.dev = true;
    config.query_token = true;
    config.tokens = tokens_new(NULL);
    MUST(config.tokens);
    MUST(!jwt_ring_add(&config.tokens->ring, SECRET_KEY("k1", "HS256"),
                       MCPX_SLICE("0123456789abcdef0123456789abcdef")));
    add_participant(config.tokens);
    api.config = &config;
    api.hub = hub_new(&config.hub, chance);
    MUST(api.hub);
    fill_topic(&api);
    return &api;
}

/* Cuts a line off the input; absent when it is empty. */
static struct mcpx_slice take_line(struct mcpx_slice *rest)
{
    const char *end = rest->len ? memchr(rest->text, '\n', rest->len) : NULL;
    struct mcpx_slice line = {rest->text, end ? (size_t)(end - rest->text) : rest->len};
    size_t taken = line.len + (end ? 1 : 0);

    rest->text += taken;
    rest->len -= taken;
    return line.len ? line : (struct mcpx_slice){0};
}

static void check_length(const char *head, size_t body_len, bool is_head)
{
    const char *length = strstr(head, "\r\nContent-Length: ");

    MUST((length == NULL) == (strncmp(head + 9, "204", 3) == 0));
    if (!length || is_head)
        MUST(body_len == 0);
    else
        MUST(strtoul(length + 18, NULL, 10) == body_len);
}

static bool holds_secret(struct mcpx_slice text)
{
    const size_t len = sizeof secret - 1;

    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.text + i, secret, len) == 0)
            return true;
    }
    return false;
}

/* The value of `topic` in a query. */
static struct mcpx_slice topic_of(struct mcpx_slice query)
{
    static const struct mcpx_slice name = {"topic=", 6};
    struct mcpx_slice value = {0};

    for (size_t i = 0; i + name.len <= query.len && !value.text; i++)
        if (memcmp(query.text + i, name.text, name.len) == 0)
            value = (struct mcpx_slice){query.text + i, query.len - i};
    for (size_t i = 0; i < value.len; i++)
        if (value.text[i] == '&')
            value.len = i;
    return value;
}

/*
 * An origin, the names in a path, that of a topic and grants are written back on purpose, whatever
 * they hold.
 */
static void check_answer(const struct mcpx_text *answer, const struct http_request *request)
{
    const char *query =
        request->target.len ? memchr(request->target.text, '?', request->target.len) : NULL;
    size_t path_len = query ? (size_t)(query - request->target.text) : request->target.len;
    struct mcpx_slice path = {request->target.text, path_len};
    struct mcpx_slice asked = {query, request->target.len - path_len};
    bool may_hold = holds_secret(request->origin) || holds_secret(request->body) ||
                    holds_secret(path) || holds_secret(topic_of(asked));
    char *end;

    MUST(!answer->failed);
    MUST(strncmp(answer->text, "HTTP/1.1 ", 9) == 0);
    MUST(strlen(answer->text) == answer->len);
    MUST(may_hold || !strstr(answer->text, secret));
    end = strstr(answer->text, "\r\n\r\n");
    MUST(end);
    *end = '\0';
    check_length(answer->text, answer->len - (size_t)(end + 4 - answer->text),
                 mcpx_slice_equal(request->method, MCPX_SLICE("HEAD")));
}

static void check_admission(const struct http_api *api, struct http_request request)
{
    struct admission admission = {0};
    struct http_reply reply = {0};

    request.join = &admission;
    http_answer(api, &request, now, &reply);
    MUST((reply.grant != NULL) == (reply.err == MCPX_OK && !reply.preflight));
    MUST(!reply.grant || mcpx_topic_name_is_valid(admission.topic));
    MUST(!reply.grant || admission.instance <= INSTANCES_MAX ||
         admission.instance == INSTANCE_AUTO);
    MUST(!reply.grant || admission.instance || !admission.instance_key.text);
    http_reply_fini(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice rest = {(const char *)data, size};
    struct http_api *api = get_api();
    struct http_request request = {0};
    struct http_reply reply = {0};
    struct mcpx_text answer = {0};

    request.method = take_line(&rest);
    request.target = take_line(&rest);
    request.authorization = take_line(&rest);
    request.origin = take_line(&rest);
    request.body = rest;
    api->tickets = tickets_new(chance, 0);
    api->changes = changes_new();
    MUST(api->tickets && api->changes);
    http_answer(api, &request, now, &reply);
    http_reply_write(&reply, &answer);
    http_reply_fini(&reply);
    check_answer(&answer, &request);
    check_admission(api, request);
    mcpx_text_fini(&answer);
    tickets_free(api->tickets);
    changes_free(api->changes);
    return 0;
}
