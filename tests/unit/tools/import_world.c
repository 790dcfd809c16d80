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

/* The words of a step: verb, then at most two more, then a rest with its quotes put in. */
struct words {
    char verb[16], first[32], second[32];
    struct mcpx_text rest;
};

static const char *word(const char *at, char *out, size_t size)
{
    size_t len = strcspn(at, " ");

    snprintf(out, size, "%.*s", (int)len, at);
    return at[len] ? at + len + 1 : at + len;
}

static void unfold(struct mcpx_text *out, const char *text)
{
    for (; *text; text++)
        if (*text == '@')
            mcpx_text_puts(out, "\"jsonrpc\":\"2.0\"");
        else
            mcpx_text_add(out, *text == '\'' ? "\"" : text, 1);
}

static void report(struct world *world, enum mcpx_child_state state, int signal, int code)
{
    char text[40];
    struct mcpx_child_report report = {state, 42, code, signal, signal ? 500 : -1, text};

    snprintf(text, sizeof text, signal ? "killed by signal %d" : "exited with code %d",
             signal ? signal : code);
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
        cr_assert_eq(mcpx_rpc_read(mcpx_text_view(&words->rest), &rpc, &fault), MCPX_OK,
                     "%s: %s", words->rest.text, fault.reason);
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
    struct mcpx_text unfolded = {0};

    unfold(&unfolded, text);
    import_line(world->import, mcpx_text_view(&unfolded), world->now);
    mcpx_text_fini(&unfolded);
}

static void get_ready(struct world *world)
{
    report(world, MCPX_CHILD_STARTING, 0, -1);
    server(world, "{@,'id':1,'error':{'code':-32601,'message':'no'}}");
    server(world, "{@,'id':2,'result':{'protocolVersion':'2025-11-25','capabilities':"
                  "{'tools':{}},'serverInfo':{'name':'s','version':'1'}}}");
    mcpx_text_reset(&world->out);
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
        unfold(&words->rest, rest);
        event(world, events[i].type, words);
        return true;
    }
    return false;
}

static void happen(struct world *world, const char *in)
{
    struct words words = {0};
    const char *rest = word(in, words.verb, sizeof words.verb);
    int number = (int)strtol(rest, NULL, 10);

    if (strcmp(words.verb, "start") == 0)
        report(world, MCPX_CHILD_STARTING, 0, -1);
    else if (strcmp(words.verb, "ready") == 0)
        get_ready(world);
    else if (strcmp(words.verb, "server") == 0)
        server(world, rest);
    else if (strcmp(words.verb, "down") == 0)
        report(world, MCPX_CHILD_DOWN, number, -1);
    else if (strcmp(words.verb, "gone") == 0)
        report(world, MCPX_CHILD_DOWN, 0, number);
    else if (strcmp(words.verb, "failed") == 0)
        report(world, MCPX_CHILD_FAILED, 0, 127);
    else if (strcmp(words.verb, "deaf") == 0)
        world->deaf = true;
    else if (strcmp(words.verb, "listening") == 0)
        world->deaf = false;
    else if (strcmp(words.verb, "nochat") == 0)
        world->nochat = true;
    else if (strcmp(words.verb, "narrow") == 0)
        world->narrow = (size_t)number;
    else if (strcmp(words.verb, "wait") == 0) {
        world->now.mono_ms += number;
        import_tick(world->import, world->now);
    } else
        cr_assert(try_event(world, &words, rest), "no such step: %s", in);
    mcpx_text_fini(&words.rest);
}

void play_with(const struct import_config *config, const struct step *steps)
{
    struct world world = {.now = {1000, 5000}};
    struct import_port port = {on_write, on_kill, on_respond,     on_send, on_forget,
                               on_may,   on_self, on_message_max, on_log,  &world};
    struct mcpx_text expected = {0};

    cr_assert_eq(import_new(config, &port, &world.import), MCPX_OK);
    for (const struct step *step = steps; step->in; step++) {
        world.log = strncmp(step->in, "log ", 4) == 0;
        mcpx_text_reset(&world.out);
        mcpx_text_reset(&expected);
        happen(&world, step->in + (world.log ? 4 : 0));
        unfold(&expected, step->out);
        mcpx_text_puts(&world.out, "");
        cr_expect(mcpx_slice_equal(mcpx_text_view(&world.out), mcpx_text_view(&expected)),
                  "%s\n  should lead to\n%s  and led to\n%s", step->in,
                  expected.text ? expected.text : "", world.out.text ? world.out.text : "");
    }
    mcpx_text_fini(&world.out);
    mcpx_text_fini(&expected);
    import_free(world.import);
}

void play(const struct step *steps)
{
    play_with(&(struct import_config){0}, steps);
}
