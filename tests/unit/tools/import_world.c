/*
 * import_world.c - see import_world.h. Envelopes are not parsed here: what the session would
 * have told is put into an event by hand.
 * Includes import_world.h, Criterion only.
 */
#include "import_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct world {
    struct import *import;
    struct mcpx_now now;
    struct mcpx_text out;
    bool log, deaf, nochat;
    size_t narrow;
    unsigned sent;
};

/* ---- the port ---- */

static void line(struct world *world, const char *what, struct mcpx_slice text)
{
    mcpx_text_puts(&world->out, what);
    mcpx_text_slice(&world->out, text);
    mcpx_text_puts(&world->out, "\n");
}

static enum mcpx_err on_write(void *user, struct mcpx_slice text)
{
    struct world *world = user;

    cr_expect(!memchr(text.text, '\n', text.len), "a newline inside a line");
    if (world->deaf)
        return MCPX_ELIMIT;
    line(world, "child ", text);
    return MCPX_OK;
}

static void on_kill(void *user)
{
    line(user, "kill", MCPX_SLICE(""));
}

static enum mcpx_err on_respond(void *user, struct mcpx_slice request,
                                struct mcpx_slice payload)
{
    struct world *world = user;

    if (world->narrow && payload.len > world->narrow)
        return MCPX_ETOOBIG;
    mcpx_text_puts(&world->out, "reply ");
    mcpx_text_slice(&world->out, request);
    line(world, " ", payload);
    return MCPX_OK;
}

static void on_drop(void *user, struct mcpx_slice request)
{
    line(user, "drop ", request);
}

static enum mcpx_err on_send(void *user, const struct mcpx_draft *draft, struct mcpx_slice *id)
{
    static char name[16];
    struct world *world = user;

    mcpx_text_puts(&world->out, "say ");
    mcpx_text_puts(&world->out, draft->type);
    for (size_t i = 0; i < draft->to_count; i++) {
        mcpx_text_puts(&world->out, i == 0 ? " to=" : ",");
        mcpx_text_slice(&world->out, draft->to[i]);
    }
    if (draft->correlation_id.text) {
        mcpx_text_puts(&world->out, " about=");
        mcpx_text_slice(&world->out, draft->correlation_id);
    }
    if (draft->tag) {
        mcpx_text_puts(&world->out, " tag=");
        mcpx_text_number(&world->out, (int64_t)(uintptr_t)draft->tag);
    }
    line(world, " ", draft->payload);
    snprintf(name, sizeof name, "q%u", ++world->sent);
    if (id)
        *id = mcpx_slice_of(name);
    return MCPX_OK;
}

static void on_forget(void *user, struct mcpx_slice id)
{
    line(user, "forget ", id);
}

static bool on_may(void *user, struct mcpx_slice kind)
{
    const struct world *world = user;

    (void)kind;
    return !world->nochat;
}

static struct mcpx_slice on_self(void *user)
{
    (void)user;
    return MCPX_SLICE("server");
}

static size_t on_message_max(void *user)
{
    return ((struct world *)user)->narrow;
}

static void on_log(void *user, const char *text)
{
    struct world *world = user;

    if (world->log)
        line(world, "log ", mcpx_slice_of(text));
}

/* ---- what happens ---- */

/* The words of a step: verb, then at most two more, then a rest. */
struct words {
    char verb[16], first[32], second[32];
    struct mcpx_slice rest;
};

static const char *word(const char *at, char *out, size_t size)
{
    size_t len = strcspn(at, " ");

    snprintf(out, size, "%.*s", (int)len, at);
    return at[len] ? at + len + 1 : at + len;
}

static void report(struct world *world, enum mcpx_child_state state, int signal, int code)
{
    char text[40];
    struct mcpx_child_report report = {state, 42, code, signal, signal ? 500 : -1, text};

    snprintf(text, sizeof text, signal ? "killed by signal %d" : "exited with code %d",
             signal ? signal : code);
    import_state(world->import, &report, world->now);
}

/* It exits, and its keeper would start it again. */
static void report_end(struct world *world, int code)
{
    char text[40];
    struct mcpx_child_report report = {MCPX_CHILD_DOWN, 42, code, 0, 500, text};

    snprintf(text, sizeof text, "exited with code %d", code);
    import_state(world->import, &report, world->now);
}

static void event(struct world *world, enum mcpx_event_type type, const struct words *words)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.type = type,
                               .envelope = &envelope,
                               .rpc = &rpc,
                               .reason = MCPX_SLICE("no grant"),
                               .presence = MCPX_PRESENCE_LEAVE,
                               .participant = mcpx_slice_of(words->first),
                               .violation = MCPX_VIOLATION_KIND,
                               .tag = (void *)(uintptr_t)strtoul(words->first, NULL, 10)};
    struct mcpx_fault fault = {0};

    mcpx_envelope_init(&envelope);
    envelope.from = mcpx_slice_of(words->first);
    envelope.to[0] = MCPX_SLICE("server");
    envelope.to_count = 1;
    envelope.id = mcpx_slice_of(words->second);
    if (words->rest.len) {
        cr_assert_eq(mcpx_rpc_read(words->rest, &rpc, &fault), MCPX_OK, "%s: %s",
                     words->rest.text, fault.reason);
        envelope.payload = rpc.text;
    }
    if (type == MCPX_EVENT_NOTIFICATION && strcmp(words->second, "own") == 0)
        event.own = MCPX_SLICE("q1");
    else if (type == MCPX_EVENT_NOTIFICATION && strcmp(words->second, "-") != 0)
        envelope.correlation_id = mcpx_slice_of(words->second);
    mcpx_kind_parse(MCPX_SLICE("mcp/request:tools/call:safe"), &envelope.kind, NULL);
    import_event(world->import, &event, world->now);
}

static void server(struct world *world, const char *text)
{
    import_line(world->import, mcpx_slice_of(text), world->now);
}

static void get_ready(struct world *world)
{
    report(world, MCPX_CHILD_STARTING, 0, -1);
    server(world,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"\"}}");
    server(world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":"
                  "\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":"
                  "{\"name\":\"s\",\"version\":\"1\"}}}");
    mcpx_text_reset(&world->out);
    mcpx_text_puts(&world->out, "");
}

/* Events: verb, what it is, how many words come before the rest. */
static const struct {
    const char *verb;
    enum mcpx_event_type type;
    int words;
} events[] = {
    {"request", MCPX_EVENT_REQUEST, 2}, {"notify", MCPX_EVENT_NOTIFICATION, 2},
    {"lie", MCPX_EVENT_VIOLATION, 2},   {"answer", MCPX_EVENT_RESPONSE, 1},
    {"expired", MCPX_EVENT_EXPIRED, 1}, {"refused", MCPX_EVENT_REFUSED, 1},
    {"left", MCPX_EVENT_PRESENCE, 1},
};

static bool try_event(struct world *world, struct words *words, const char *rest)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (strcmp(words->verb, events[i].verb) != 0)
            continue;
        rest = word(rest, words->first, sizeof words->first);
        if (events[i].words > 1)
            rest = word(rest, words->second, sizeof words->second);
        words->rest = mcpx_slice_of(rest);
        event(world, events[i].type, words);
        return true;
    }
    return false;
}

/* What needs no event. Returns false for other verbs. */
static bool try_state(struct world *world, const char *verb, int number)
{
    if (strcmp(verb, "start") == 0)
        report(world, MCPX_CHILD_STARTING, 0, -1);
    else if (strcmp(verb, "ready") == 0)
        get_ready(world);
    else if (strcmp(verb, "down") == 0)
        report(world, MCPX_CHILD_DOWN, number, -1);
    else if (strcmp(verb, "gone") == 0)
        report(world, MCPX_CHILD_DOWN, 0, number);
    else if (strcmp(verb, "gone-once") == 0)
        report_end(world, number);
    else if (strcmp(verb, "failed") == 0)
        report(world, MCPX_CHILD_FAILED, 0, 127);
    else if (strcmp(verb, "deaf") == 0 || strcmp(verb, "listening") == 0)
        world->deaf = verb[0] == 'd';
    else if (strcmp(verb, "nochat") == 0)
        world->nochat = true;
    else if (strcmp(verb, "narrow") == 0)
        world->narrow = (size_t)number;
    else
        return false;
    return true;
}

const char *world_happen(struct world *world, const char *in)
{
    struct words words = {0};
    const char *why = import_failure(world->import), *rest;

    mcpx_text_reset(&world->out);
    mcpx_text_puts(&world->out, "");
    world->log = strncmp(in, "log ", 4) == 0;
    rest = word(in + (world->log ? 4 : 0), words.verb, sizeof words.verb);
    if (strcmp(words.verb, "server") == 0)
        server(world, rest);
    else if (strcmp(words.verb, "why") == 0)
        line(world, "why ", mcpx_slice_of(why ? why : "-"));
    else if (strcmp(words.verb, "wait") == 0) {
        world->now.mono_ms += strtol(rest, NULL, 10);
        import_tick(world->import, world->now);
    } else if (!try_event(world, &words, rest))
        cr_assert(try_state(world, words.verb, (int)strtol(rest, NULL, 10)),
                  "no such step: %s", in);
    return world->out.text;
}

struct world *world_new(const struct import_config *config)
{
    struct world *world = calloc(1, sizeof *world);
    struct import_port port = {on_write, on_kill, on_respond,     on_drop, on_send, on_forget,
                               on_may,   on_self, on_message_max, on_log,  world};

    cr_assert(world);
    world->now = (struct mcpx_now){1000, 5000};
    cr_assert_eq(import_new(config, &port, &world->import), MCPX_OK);
    return world;
}

void world_free(struct world *world)
{
    if (!world)
        return;
    import_free(world->import);
    mcpx_text_fini(&world->out);
    free(world);
}
