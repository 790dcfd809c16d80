/*
 * world.c - drives the hub the way the edge does and writes down what participants read.
 *
 *     < welcome alice [chat,chat/x] with bob,carol; head m7; history 2; resumed
 *     < welcome again alice [chat]; head m7                   after a change of grants
 *     < presence leave bob (timeout)
 *     < history m1 m2 complete                                one line per page
 *     < error rate_limited re m9 retry_after_ms=10            members that the error is known by
 *     < chat m1 from alice                                    everything else: kind, id, from
 *     < ping
 *     < close 4003
 *
 * Includes world.h, frames.h, jansson, Criterion.
 */
#include "tests/support/world.h"

#include "tests/support/frames.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOMEBODIES_MAX = 64, WORDS_MAX = 16, TELL_WITHIN = 50 };

struct somebody {
    char name[64];
    struct peer *peer; /* NULL once gone */
    struct mcpx_text read;
    struct mcpx_text lines;
    char *last;
    char *last_error;
};

struct world {
    struct hub *hub;
    struct mcpx_now now;
    uint64_t random;
    struct somebody somebodies[SOMEBODIES_MAX];
    size_t count;
};

static const int64_t beginning_wall_ms = 1767225600000; /* 2026-01-01T00:00:00Z */

static void chance_fill(void *context, void *bytes, size_t len)
{
    struct world *world = context;

    for (size_t i = 0; i < len; i++) {
        world->random = world->random * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char *)bytes)[i] = (unsigned char)(world->random >> 56);
    }
}

struct world *world_with(const struct hub_config *config)
{
    struct world *world = calloc(1, sizeof *world);

    cr_assert_not_null(world);
    world->now = (struct mcpx_now){1000, beginning_wall_ms};
    world->hub = hub_new(config, (struct chance){chance_fill, world});
    cr_assert_not_null(world->hub);
    return world;
}

struct world *world_new(void)
{
    struct hub_config config = hub_config_default();

    return world_with(&config);
}

struct hub *world_hub(const struct world *world)
{
    return world->hub;
}

struct mcpx_now world_now(const struct world *world)
{
    return world->now;
}

static struct somebody *find(const struct world *world, const char *name)
{
    for (size_t i = 0; i < world->count; i++)
        if (strcmp(world->somebodies[i].name, name) == 0 && world->somebodies[i].peer)
            return (struct somebody *)&world->somebodies[i];
    cr_assert_fail("nobody called %s is connected", name);
    return NULL;
}

/* ---- arriving ---- */

static void parse_condition(struct mcpx_grant *grant, struct mcpx_slice *to, const char *word)
{
    if (strncmp(word, "to=", 3) == 0) {
        *to = mcpx_slice_of(word + 3);
        grant->to = to;
        grant->to_count = 1;
    } else {
        cr_assert_eq(strncmp(word, "expires=", 8), 0, "%s is no condition", word);
        grant->expires_ms = beginning_wall_ms + atoll(word + 8);
    }
}

static struct grant *grant_for(const char *name, const struct arrival *arrival)
{
    struct mcpx_grant grants[WORDS_MAX] = {{{0}, NULL, 0, 0}};
    struct mcpx_slice deny[WORDS_MAX], to[WORDS_MAX];
    size_t grant_count = 0, deny_count = 0;
    char *grant_words = strdup(arrival->grants ? arrival->grants : "");
    char *deny_words = strdup(arrival->deny ? arrival->deny : "");
    struct mcpx_capset *capset;
    struct grant *grant;
    char *rest;

    for (char *word = strtok_r(grant_words, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        if (grant_count > 0 && strchr(word, '='))
            parse_condition(&grants[grant_count - 1], &to[grant_count - 1], word);
        else
            grants[grant_count++].pattern = mcpx_slice_of(word);
    }
    for (char *word = strtok_r(deny_words, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        deny[deny_count++] = mcpx_slice_of(word);
    cr_assert_eq(mcpx_capset_new(grants, grant_count, deny, deny_count, NULL, NULL, &capset),
                 MCPX_OK, "cannot compile the grants of %s", name);
    grant = grant_new(mcpx_identity_of(mcpx_slice_of(name)), capset, arrival->prefers,
                      arrival->expires_ms ? beginning_wall_ms + arrival->expires_ms : 0);
    grant->instances = arrival->instances;
    mcpx_capset_unref(capset);
    free(grant_words);
    free(deny_words);
    return grant;
}

enum mcpx_err world_arrives(struct world *world, const char *name,
                            const struct arrival *arrival)
{
    struct grant *grant = grant_for(name, arrival);
    struct somebody *somebody = &world->somebodies[world->count];
    struct admission admission = {
        .topic = mcpx_slice_of(arrival->topic ? arrival->topic : "room"),
        .routing = arrival->routing,
        .has_history = arrival->history >= 0,
        .history = arrival->history > 0 ? (size_t)arrival->history : 0,
        .after = mcpx_slice_of(arrival->after),
        .instance = arrival->instance,
        .instance_key = mcpx_slice_of(arrival->key),
    };
    enum mcpx_err err;

    cr_assert_lt(world->count, (size_t)SOMEBODIES_MAX);
    err = hub_admit(world->hub, grant, &admission, somebody, world->now, &somebody->peer);
    grant_unref(grant);
    if (err)
        return err;
    snprintf(somebody->name, sizeof somebody->name, "%.*s", (int)peer_id(somebody->peer).len,
             peer_id(somebody->peer).text);
    world->count++;
    return MCPX_OK;
}

void world_joins(struct world *world, const char *name, const char *grants)
{
    enum mcpx_err err =
        world_arrives(world, name, &(struct arrival){.grants = grants, .history = -1});

    cr_assert_eq(err, MCPX_OK, "%s was refused: %s", name, mcpx_strerror(err));
}

/* ---- acting ---- */

enum mcpx_err world_says_bytes(struct world *world, const char *name, const char *text,
                               size_t len)
{
    struct verdict verdict;
    char *copy = malloc(len ? len : 1); /* so that a sanitizer sees a read past the end */

    cr_assert_not_null(copy);
    if (len)
        memcpy(copy, text, len);
    hub_route(world->hub, find(world, name)->peer, (struct mcpx_slice){copy, len}, world->now,
              &verdict);
    free(copy);
    return verdict.err;
}

enum mcpx_err world_says(struct world *world, const char *name, const char *text)
{
    struct mcpx_text whole = {0};
    enum mcpx_err err;

    if (text[0] != '{' || strstr(text, "\"protocol\""))
        return world_says_bytes(world, name, text, strlen(text));
    mcpx_text_puts(&whole, "{\"protocol\":\"mcpx/v0.1\",");
    mcpx_text_puts(&whole, text + 1);
    if (!strstr(text, "\"payload\"")) {
        whole.len--;
        mcpx_text_puts(&whole, ",\"payload\":{}}");
    }
    err = world_says_bytes(world, name, whole.text, whole.len);
    mcpx_text_fini(&whole);
    return err;
}

void world_drops(struct world *world, const char *name)
{
    struct somebody *somebody = find(world, name);

    hub_depart(world->hub, somebody->peer, MCPX_ECLOSED, world->now);
    somebody->peer = NULL;
}

void world_stalls(struct world *world, const char *name)
{
    peer_stall(find(world, name)->peer);
}

void world_reads_on(struct world *world, const char *name)
{
    peer_unstall(find(world, name)->peer, world->now);
}

void world_kicks(struct world *world, const char *name)
{
    hub_condemn(world->hub, find(world, name)->peer, MCPX_EKICKED, world->now);
}

void world_regrants(struct world *world, const char *name, const char *grants)
{
    struct grant *grant = grant_for(name, &(struct arrival){.grants = grants});

    cr_assert_eq(hub_regrant(world->hub, find(world, name)->peer, grant, world->now), MCPX_OK);
    grant_unref(grant);
}

void world_waits(struct world *world, int64_t ms)
{
    int64_t end = world->now.mono_ms + ms;

    while (world->now.mono_ms < end) {
        int64_t step = end - world->now.mono_ms < 1000 ? end - world->now.mono_ms : 1000;

        world->now.mono_ms += step;
        world->now.wall_ms += step;
        hub_tick(world->hub, world->now);
    }
}

/* ---- reading ---- */

static const char *text_of(const json_t *object, const char *name)
{
    const json_t *text = json_object_get(object, name);

    return json_is_string(text) ? json_string_value(text) : "null";
}

/* "a,b": the strings of an array, or a member of its objects. */
static void put_names(struct mcpx_text *out, const json_t *array, const char *member)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);

        mcpx_text_puts(out, i > 0 ? "," : "");
        mcpx_text_puts(out, member ? text_of(item, member) : json_string_value(item));
    }
}

static void put_welcome(struct mcpx_text *out, const json_t *payload)
{
    const json_t *you = json_object_get(payload, "you");
    const json_t *others = json_object_get(payload, "participants");
    const json_t *history = json_object_get(payload, "history");
    json_int_t count = json_integer_value(json_object_get(history, "count"));
    char number[32];

    mcpx_text_puts(out, history ? "welcome " : "welcome again ");
    mcpx_text_puts(out, text_of(you, "id"));
    mcpx_text_puts(out, " [");
    put_names(out, json_object_get(you, "capabilities"), NULL);
    mcpx_text_puts(out, "]");
    if (json_array_size(others) > 0) {
        mcpx_text_puts(out, " with ");
        put_names(out, others, "id");
    }
    mcpx_text_puts(out, "; head ");
    mcpx_text_puts(out, text_of(json_object_get(payload, "topic"), "head"));
    if (count > 0) {
        snprintf(number, sizeof number, "; history %d", (int)count);
        mcpx_text_puts(out, number);
    }
    if (json_is_true(json_object_get(payload, "resumed")))
        mcpx_text_puts(out, "; resumed");
}

static void put_presence(struct mcpx_text *out, const json_t *payload)
{
    mcpx_text_puts(out, "presence ");
    mcpx_text_puts(out, text_of(payload, "event"));
    mcpx_text_puts(out, " ");
    mcpx_text_puts(out, text_of(json_object_get(payload, "participant"), "id"));
    if (json_object_get(payload, "reason")) {
        mcpx_text_puts(out, " (");
        mcpx_text_puts(out, text_of(payload, "reason"));
        mcpx_text_puts(out, ")");
    }
}

static void put_history(struct mcpx_text *out, const json_t *payload)
{
    const json_t *envelopes = json_object_get(payload, "envelopes");

    mcpx_text_puts(out, "history");
    for (size_t i = 0; i < json_array_size(envelopes); i++) {
        mcpx_text_puts(out, " ");
        mcpx_text_puts(out, text_of(json_array_get(envelopes, i), "id"));
    }
    if (json_is_true(json_object_get(payload, "complete")))
        mcpx_text_puts(out, " complete");
}

static void put_error(struct mcpx_text *out, const json_t *envelope, const json_t *payload)
{
    static const char *const members[] = {"field", "reason", "would_allow", "alternative"};
    static const char *const numbers[] = {"retry_after_ms", "missed"};
    char number[64];

    mcpx_text_puts(out, "error ");
    mcpx_text_puts(out, text_of(payload, "error"));
    if (json_object_get(envelope, "correlation_id")) {
        mcpx_text_puts(out, " re ");
        mcpx_text_puts(out, text_of(envelope, "correlation_id"));
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!json_object_get(payload, members[i]))
            continue;
        mcpx_text_puts(out, " ");
        mcpx_text_puts(out, members[i]);
        mcpx_text_puts(out, "=");
        mcpx_text_puts(out, text_of(payload, members[i]));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(payload, numbers[i]);

        snprintf(number, sizeof number, " %s=%d", numbers[i], (int)json_integer_value(value));
        mcpx_text_puts(out, value ? number : "");
    }
}

static void put_message(struct somebody *somebody, struct mcpx_slice text)
{
    struct mcpx_text *out = &somebody->lines;
    json_t *envelope = json_loadb(text.text, text.len, JSON_ALLOW_NUL, NULL);
    const json_t *payload = json_object_get(envelope, "payload");
    const char *kind = text_of(envelope, "kind");

    if (strcmp(kind, "system/welcome") == 0) {
        put_welcome(out, payload);
    } else if (strcmp(kind, "system/presence") == 0) {
        put_presence(out, payload);
    } else if (strcmp(kind, "system/history") == 0) {
        put_history(out, payload);
    } else if (strcmp(kind, "system/error") == 0) {
        put_error(out, envelope, payload);
        free(somebody->last_error);
        somebody->last_error = strndup(text.text, text.len);
    } else {
        mcpx_text_puts(out, kind);
        mcpx_text_puts(out, " ");
        mcpx_text_puts(out, text_of(envelope, "id"));
        mcpx_text_puts(out, " from ");
        mcpx_text_puts(out, text_of(envelope, "from"));
        free(somebody->last);
        somebody->last = strndup(text.text, text.len);
    }
    json_decref(envelope);
}

static void put_frame(struct somebody *somebody, const struct frame_view *frame)
{
    char number[32];

    mcpx_text_puts(&somebody->lines, somebody->name);
    mcpx_text_puts(&somebody->lines, " < ");
    if (frame->opcode == 1) {
        put_message(somebody, frame->payload);
    } else if (frame->opcode == 8) {
        snprintf(number, sizeof number, "close %d", frame->close_code);
        mcpx_text_puts(&somebody->lines, number);
    } else {
        cr_assert_eq(frame->opcode, 9);
        mcpx_text_puts(&somebody->lines, "ping");
    }
    mcpx_text_puts(&somebody->lines, "\n");
}

static void drain_now(struct world *world)
{
    struct peer *peer;
    struct output output;
    struct frame_view frame;

    while ((peer = hub_next_ready(world->hub))) {
        struct somebody *somebody = peer_owner(peer);

        while (peer_peek(peer, &output)) {
            mcpx_text_add(&somebody->read, output.bytes, output.len);
            peer_pop(peer);
        }
    }
    for (size_t i = 0; i < world->count; i++) {
        struct mcpx_slice stream = mcpx_text_view(&world->somebodies[i].read);

        while (stream.len > 0 && frame_cut(&stream, &frame))
            put_frame(&world->somebodies[i], &frame);
        cr_assert_eq(stream.len, 0, "%s got half a frame", world->somebodies[i].name);
        mcpx_text_reset(&world->somebodies[i].read);
    }
}

/* Presence that waits to be told together is waited for. */
static void drain(struct world *world)
{
    drain_now(world);
    if (hub_tick(world->hub, world->now) > world->now.mono_ms + TELL_WITHIN)
        return;
    world_waits(world, hub_due(world->hub) - world->now.mono_ms);
    drain_now(world);
}

static int by_name(const void *a, const void *b)
{
    const struct somebody *const *left = a, *const *right = b;
    int order = strcmp((*left)->name, (*right)->name);

    return order ? order : (*left > *right) - (*left < *right);
}

void world_read(struct world *world, struct mcpx_text *transcript)
{
    const struct somebody *order[SOMEBODIES_MAX];

    drain(world);
    for (size_t i = 0; i < world->count; i++)
        order[i] = &world->somebodies[i];
    qsort(order, world->count, sizeof *order, by_name);
    mcpx_text_puts(transcript, "");
    for (size_t i = 0; i < world->count; i++) {
        struct somebody *somebody = (struct somebody *)order[i];

        mcpx_text_slice(transcript, mcpx_text_view(&somebody->lines));
        mcpx_text_reset(&somebody->lines);
    }
}

void world_expect(struct world *world, const char *transcript)
{
    struct mcpx_text all = {0};

    world_read(world, &all);
    cr_expect_str_eq(all.text, transcript, "read:\n%s\nexpected:\n%s", all.text, transcript);
    mcpx_text_fini(&all);
}

void world_skip(struct world *world)
{
    drain(world);
    for (size_t i = 0; i < world->count; i++)
        mcpx_text_reset(&world->somebodies[i].lines);
}

static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

const char *world_last(const struct world *world, const char *name)
{
    return or_nothing(find(world, name)->last);
}

const char *world_last_error(const struct world *world, const char *name)
{
    return or_nothing(find(world, name)->last_error);
}

void world_free(struct world *world)
{
    for (size_t i = 0; i < world->count; i++) {
        mcpx_text_fini(&world->somebodies[i].read);
        mcpx_text_fini(&world->somebodies[i].lines);
        free(world->somebodies[i].last);
        free(world->somebodies[i].last_error);
    }
    hub_free(world->hub);
    free(world);
}
