/*
 * world.c - drives the hub the way the edge does and writes down what participants read.
 * transcript.c says how messages read; "< ping" and "< close 4003" are the rest.
 * A system/position is noted and not written down: see world_place.
 */
#define _GNU_SOURCE /* memmem */
#include "tests/support/world.h"
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"

#include "tests/support/frames.h"
#include "tests/support/reader_place.h"
#include "tests/support/transcript.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOMEBODIES_MAX = 512, WORDS_MAX = 16, TELL_WITHIN = 50 };

struct somebody {
    char name[64];
    struct peer *peer; /* NULL once gone */
    struct mcpx_text read;
    struct mcpx_text lines;
    char *last;
    char *last_error;
    char *last_told;
    struct reader_place place;
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

static struct world *latest;

struct world *world_with(const struct hub_config *config)
{
    struct world *world = calloc(1, sizeof *world);

    cr_assert_not_null(world);
    world_end();
    latest = world;
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

struct peer *world_peer(const struct world *world, const char *name)
{
    return find(world, name)->peer;
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
        .instance = arrival->instance,
        .instance_key = mcpx_slice_of(arrival->key),
    };
    enum mcpx_err err;

    if (arrival->place)
        reader_place_ask(arrival->place, &admission);

    cr_assert_lt(world->count, (size_t)SOMEBODIES_MAX);
    err = hub_admit(world->hub, grant, &admission, somebody, world->now, &somebody->peer);
    grant_unref(grant);
    if (err)
        return err;
    snprintf(somebody->name, sizeof somebody->name, "%.*s", (int)peer_id(somebody->peer).len,
             peer_id(somebody->peer).text);
    somebody->place = (struct reader_place){.serial = 0};
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

void world_says_long(struct world *world, const char *name, unsigned number, size_t size)
{
    static const char end[] = "\"}}";
    char *text = malloc(size + 100);
    int head =
        sprintf(text, "{\"id\":\"long-%u\",\"kind\":\"chat\",\"payload\":{\"x\":\"", number);

    memset(text + head, 'x', size);
    memcpy(text + head + size, end, sizeof end);
    world_says(world, name, text);
    free(text);
}

void world_drops(struct world *world, const char *name)
{
    struct somebody *somebody = find(world, name);

    hub_leave(world->hub, somebody->peer, MCPX_ECLOSED, world->now);
    somebody->peer = NULL;
}

void world_stalls(struct world *world, const char *name)
{
    peer_stall(find(world, name)->peer);
}

void world_holds_back(struct world *world, const char *name)
{
    peer_hold_back(find(world, name)->peer);
}

void world_reads_once(struct world *world, const char *name)
{
    struct somebody *somebody = find(world, name);
    struct output output;

    cr_assert(peer_peek(somebody->peer, &output), "nothing for %s", name);
    mcpx_text_add(&somebody->read, output.bytes, output.len);
    peer_pop(somebody->peer);
}

void world_reads_on(struct world *world, const char *name)
{
    peer_unstall(find(world, name)->peer, world->now);
}

void world_kicks(struct world *world, const char *name)
{
    hub_disconnect(world->hub, find(world, name)->peer, MCPX_EKICKED, world->now);
}

void world_regrants(struct world *world, const char *name, const char *grants)
{
    struct grant *grant = grant_for(name, &(struct arrival){.grants = grants});
    struct peer *peer = find(world, name)->peer;

    cr_assert_eq(hub_update_grants(world->hub, peer, grant, false, world->now), MCPX_OK);
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

/* False for what is not written down. */
static bool put_message(struct somebody *somebody, struct mcpx_slice text)
{
    json_t *envelope = json_loadb(text.text, text.len, JSON_ALLOW_NUL, NULL);
    const char *named = json_string_value(json_object_get(envelope, "kind"));
    const char *kind = named ? named : ""; /* jansson cannot read every number there is */
    bool is_written = strcmp(kind, "system/position") != 0;
    char **kept;

    reader_place_note(&somebody->place, envelope);
    if (strcmp(kind, "system/error") == 0)
        kept = &somebody->last_error;
    else if (strncmp(kind, "system/", 7) == 0)
        kept = &somebody->last_told;
    else
        kept = &somebody->last;
    free(*kept);
    *kept = strndup(text.text, text.len);
    if (is_written)
        transcript_put(&somebody->lines, envelope);
    json_decref(envelope);
    return is_written;
}

/* After how long one who is sent away may come back. */
static void put_again(struct somebody *somebody, struct mcpx_slice payload)
{
    static const char words[] = "; retry_after_ms=";
    const char *at = memmem(payload.text, payload.len, words, strlen(words));

    if (!at)
        return;
    at += strlen(words);
    mcpx_text_puts(&somebody->lines, ", again in ");
    mcpx_text_slice(&somebody->lines,
                    (struct mcpx_slice){at, (size_t)(payload.text + payload.len - at)});
}

static void put_frame(struct somebody *somebody, const struct frame_view *frame)
{
    size_t before = somebody->lines.len;
    char number[32];

    mcpx_text_puts(&somebody->lines, somebody->name);
    mcpx_text_puts(&somebody->lines, " < ");
    if (frame->opcode == 1) {
        if (!put_message(somebody, frame->payload)) {
            somebody->lines.len = before;
            return;
        }
    } else if (frame->opcode == 8) {
        snprintf(number, sizeof number, "close %d", frame->close_code);
        mcpx_text_puts(&somebody->lines, number);
        put_again(somebody, frame->payload);
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
    hub_tick(world->hub, world->now);
    if (hub_due(world->hub) > world->now.mono_ms + TELL_WITHIN)
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

void world_expect_at(struct world *world, const char *transcript, const char *file, int line)
{
    mx_scoped_text all = {0};

    world_read(world, &all);
    cr_expect_str_eq(all.text, transcript, "%s:%d read:\n%s\nexpected:\n%s", file, line,
                     all.text, transcript);
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

const char *world_told(const struct world *world, const char *name)
{
    for (size_t i = world->count; i > 0; i--)
        if (strcmp(world->somebodies[i - 1].name, name) == 0)
            return or_nothing(world->somebodies[i - 1].last_told);
    return "";
}

struct reader_place world_place(const struct world *world, const char *name)
{
    for (size_t i = world->count; i > 0; i--)
        if (strcmp(world->somebodies[i - 1].name, name) == 0)
            return world->somebodies[i - 1].place;
    cr_assert_fail("nobody called %s was here", name);
    return (struct reader_place){.serial = 0};
}

const char *world_last(const struct world *world, const char *name)
{
    return or_nothing(find(world, name)->last);
}

const char *world_last_error(const struct world *world, const char *name)
{
    return or_nothing(find(world, name)->last_error);
}

void world_end(void)
{
    struct world *world = latest;

    latest = NULL;
    for (size_t i = 0; world && i < world->count; i++) {
        mcpx_text_fini(&world->somebodies[i].read);
        mcpx_text_fini(&world->somebodies[i].lines);
        free(world->somebodies[i].last);
        free(world->somebodies[i].last_error);
        free(world->somebodies[i].last_told);
    }
    hub_free(world ? world->hub : NULL);
    free(world);
}
