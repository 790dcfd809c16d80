/*
 * import_world.c - see import_world.h. Envelopes are not parsed here: what the session would
 * have told is put into an event by hand.
 */
#include "import_world.h"

#include "import_crowd.h"
#include "lib/json/json_write.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct world {
    struct import_pool *pool;
    struct bridge_terms terms;
    struct mcpx_now now;
    struct mcpx_text out;
    bool log, deaf, nochat, mute, full, barren, brief;
    size_t unsent, unsent_bytes; /* what the session has not sent */
    const char *limits;          /* of the router, as its welcome says */
    size_t number;               /* of the topic or server that the step names */
    size_t narrow, topics;
    unsigned sent;
    char left[40]; /* who left last */
};

/* ---- what is wanted ---- */

static void line(struct world *world, const char *what, struct mcpx_slice text)
{
    mcpx_text_puts(&world->out, what);
    mcpx_text_slice(&world->out, text);
    mcpx_text_puts(&world->out, "\n");
}

/* A verb, and the number of a server or topic unless it is 0. */
static void verb(struct world *world, const char *what, size_t number)
{
    mcpx_text_puts(&world->out, what);
    if (number) {
        mcpx_text_puts(&world->out, "/");
        mcpx_text_number(&world->out, (int64_t)number);
    }
}

static void act_write(struct world *world, const struct bridge_action *action,
                      struct bridge_outcome *outcome)
{
    cr_expect(!memchr(action->text.text, '\n', action->text.len), "a newline inside a line");
    outcome->err = world->deaf ? MCPX_ELIMIT : MCPX_OK;
    if (world->deaf)
        return;
    verb(world, "child", action->server);
    line(world, " ", action->text);
}

static void act_start(struct world *world, const struct bridge_action *action,
                      struct bridge_outcome *outcome)
{
    outcome->err = world->barren ? MCPX_ESYSTEM : MCPX_OK;
    if (world->barren)
        return;
    verb(world, "start", action->server);
    line(world, " for ", action->about);
}

static void act_respond(struct world *world, const struct bridge_action *action,
                        struct bridge_outcome *outcome)
{
    if (world->mute)
        outcome->err = MCPX_ECAPABILITY;
    else if (world->full)
        outcome->err = MCPX_ELIMIT;
    else if (world->narrow && action->text.len > world->narrow)
        outcome->err = MCPX_ETOOBIG;
    world->full = false;
    if (outcome->err)
        return;
    verb(world, "reply", action->topic);
    mcpx_text_puts(&world->out, " ");
    mcpx_text_slice(&world->out, action->about);
    if (world->brief && action->text.len > 1000) {
        mcpx_text_puts(&world->out, " ");
        mcpx_text_number(&world->out, (int64_t)action->text.len);
        line(world, " bytes", MCPX_SLICE(""));
    } else {
        line(world, " ", action->text);
    }
}

static void act_send(struct world *world, const struct bridge_action *action,
                     struct bridge_outcome *outcome)
{
    static char name[16];
    const struct mcpx_draft *draft = &action->draft;

    if (world->mute || (world->nochat && strcmp(draft->type, "chat") == 0)) {
        outcome->err = MCPX_ECAPABILITY;
        return;
    }
    verb(world, "say", action->topic);
    mcpx_text_puts(&world->out, " ");
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
    outcome->id = mcpx_slice_of(name);
}

static void act(struct world *world, const struct bridge_action *action,
                struct bridge_outcome *outcome)
{
    switch (action->type) {
    case BRIDGE_WRITE:
        act_write(world, action, outcome);
        break;
    case BRIDGE_KILL:
    case BRIDGE_STOP:
        verb(world, action->type == BRIDGE_KILL ? "kill" : "stop", action->server);
        line(world, "", MCPX_SLICE(""));
        break;
    case BRIDGE_START:
        act_start(world, action, outcome);
        break;
    case BRIDGE_RESPOND:
        act_respond(world, action, outcome);
        break;
    case BRIDGE_DROP:
    case BRIDGE_FORGET:
        verb(world, action->type == BRIDGE_DROP ? "drop" : "forget", action->topic);
        line(world, " ", action->about);
        break;
    case BRIDGE_SEND:
        act_send(world, action, outcome);
        break;
    case BRIDGE_LOG:
        if (world->log)
            line(world, "log ", action->text);
        break;
    }
}

/* The members of a record that tell its story: "validation add error timeout". */
static void write_records(struct world *world)
{
    static const char *const members[] = {"eventName", "aliasName", "toolName",
                                          "tool",      "status",    "errorCategory"};
    struct mcpx_calls *calls = import_pool_calls(world->pool);
    enum mcpx_record which;
    struct mcpx_slice record, cause;

    while (calls && mcpx_calls_next_record(calls, &which, &record)) {
        cr_assert_eq(mcpx_json_check(record, 0, &record, NULL), MCPX_OK);
        cause = mcpx_json_get(mcpx_json_get(record, "error"), "cause");
        mcpx_text_puts(&world->out, which == MCPX_RECORD_TELEMETRY ? "event" : "validation");
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            if (mcpx_json_get(record, members[i]).text)
                mx_format(&world->out, " %s", mcpx_json_get(record, members[i]));
        line(world, cause.text ? " " : "", cause);
    }
}

/* After every input: all that is wanted is done. */
static void act_on_all(struct world *world)
{
    const struct bridge_action *action;

    write_records(world);
    while ((action = import_pool_next(world->pool, world->now)) != NULL) {
        struct bridge_outcome outcome = {0};

        act(world, action, &outcome);
        import_pool_done(world->pool, &outcome, world->now);
        write_records(world);
    }
}

/* ---- what happens ---- */

static void join(struct world *world)
{
    for (size_t i = 0; i < world->topics; i++)
        import_pool_joined(world->pool, i, MCPX_SLICE("server"), world->narrow,
                           mcpx_slice_of(world->limits));
}

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

/* Cuts "/1" off a verb: the number of the server or topic it is about. */
static size_t number_of(char *verb)
{
    char *slash = strchr(verb, '/');

    if (!slash)
        return 0;
    *slash = '\0';
    return (size_t)strtoul(slash + 1, NULL, 10);
}

/* `retry_ms` is -1 when its keeper would not start it again. */
static void report(struct world *world, enum mcpx_child_state state, int signal, int code,
                   int64_t retry_ms)
{
    char text[40];
    struct mcpx_child_report report = {state, 42, code, signal, retry_ms, text};

    snprintf(text, sizeof text, signal ? "killed by signal %d" : "exited with code %d",
             signal ? signal : code);
    import_pool_state(world->pool, world->number, &report, world->now);
    act_on_all(world);
}

static void event(struct world *world, enum mcpx_event_type type, const struct words *words)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.type = type,
                               .envelope = &envelope,
                               .rpc = &rpc,
                               .reason = MCPX_SLICE("no grant"),
                               .presence = strcmp(words->verb, "came") == 0
                                               ? MCPX_PRESENCE_JOIN
                                               : MCPX_PRESENCE_LEAVE,
                               .retry_ms = -1,
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
        envelope.payload = words->rest;
        if (mcpx_rpc_read(words->rest, &rpc, &fault) != MCPX_OK) {
            cr_assert_eq(type, MCPX_EVENT_VIOLATION, "%s: %s", words->rest.text, fault.reason);
            event.violation = MCPX_VIOLATION_RPC;
            event.fault = fault;
        }
    }
    if (type == MCPX_EVENT_NOTIFICATION && strcmp(words->second, "own") == 0)
        event.own = MCPX_SLICE("q1");
    else if (type == MCPX_EVENT_NOTIFICATION && strcmp(words->second, "-") != 0)
        envelope.correlation_id = mcpx_slice_of(words->second);
    if (strcmp(words->verb, "fulfil") == 0) {
        event.proposal = MCPX_SLICE("p");
        event.proposer = MCPX_SLICE("pam");
    }
    mcpx_kind_parse(MCPX_SLICE("mcp/request:tools/call:safe"), &envelope.kind, NULL);
    if (type == MCPX_EVENT_PRESENCE)
        snprintf(world->left, sizeof world->left, "%s",
                 event.presence == MCPX_PRESENCE_LEAVE ? words->first : "");
    import_pool_event(world->pool, world->number, &event, world->now);
    act_on_all(world);
}

static void server(struct world *world, const char *text)
{
    import_pool_line(world->pool, world->number, mcpx_slice_of(text), world->now);
    act_on_all(world);
}

static void get_ready(struct world *world)
{
    report(world, MCPX_CHILD_STARTING, 0, -1, -1);
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
    {"left", MCPX_EVENT_PRESENCE, 1},   {"came", MCPX_EVENT_PRESENCE, 1},
    {"end", MCPX_EVENT_LEFT, 0},        {"fulfil", MCPX_EVENT_REQUEST, 2},
};

static bool try_event(struct world *world, struct words *words, const char *rest)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (strcmp(words->verb, events[i].verb) != 0)
            continue;
        if (events[i].words > 0)
            rest = word(rest, words->first, sizeof words->first);
        for (char *at = words->first; (at = strchr(at, '+')) != NULL;)
            *at = ' ';
        if (events[i].words > 1)
            rest = word(rest, words->second, sizeof words->second);
        words->rest = mcpx_slice_of(rest);
        event(world, events[i].type, words);
        return true;
    }
    return false;
}

static void narrow(struct world *world, size_t bytes)
{
    world->narrow = bytes;
    join(world);
}

/* The session has that many messages that it has not sent; below 64 it takes more. */
static void be_busy(struct world *world, size_t count)
{
    world->unsent = count;
    act_on_all(world);
}

/* A router that takes 60 messages and 60,000 bytes a minute of us. */
static void slow_down(struct world *world)
{
    world->limits = "{\"messages_per_minute\":60,\"bytes_per_minute\":60000}";
    join(world);
}

/* What needs no event. Returns false for other verbs. */
static bool try_state(struct world *world, const char *verb, int number)
{
    if (strcmp(verb, "start") == 0)
        report(world, MCPX_CHILD_STARTING, 0, -1, -1);
    else if (strcmp(verb, "ready") == 0)
        get_ready(world);
    else if (strcmp(verb, "down") == 0)
        report(world, MCPX_CHILD_DOWN, number, -1, 500);
    else if (strcmp(verb, "gone") == 0)
        report(world, MCPX_CHILD_DOWN, 0, number, -1);
    else if (strcmp(verb, "gone-once") == 0)
        report(world, MCPX_CHILD_DOWN, 0, number, 500);
    else if (strcmp(verb, "failed") == 0)
        report(world, MCPX_CHILD_FAILED, 0, 127, -1);
    else if (strcmp(verb, "stopped") == 0)
        report(world, MCPX_CHILD_STOPPED, 0, 0, -1);
    else if (strcmp(verb, "barren") == 0)
        world->barren = true;
    else if (strcmp(verb, "deaf") == 0 || strcmp(verb, "listening") == 0)
        world->deaf = verb[0] == 'd';
    else if (strcmp(verb, "nochat") == 0)
        world->nochat = true;
    else if (strcmp(verb, "mute") == 0)
        world->mute = true;
    else if (strcmp(verb, "full") == 0)
        world->full = true;
    else if (strcmp(verb, "brief") == 0)
        world->brief = true;
    else if (strcmp(verb, "busy") == 0)
        be_busy(world, (size_t)number);
    else if (strcmp(verb, "slow") == 0)
        slow_down(world);
    else if (strcmp(verb, "narrow") == 0)
        narrow(world, (size_t)number);
    else
        return false;
    return true;
}

void world_forget_out(struct world *world)
{
    mcpx_text_reset(&world->out);
    mcpx_text_puts(&world->out, "");
}

void world_go_on(struct world *world, const char *in)
{
    struct words words = {0};
    const char *why = import_pool_failure(world->pool), *rest;

    rest = word(in, words.verb, sizeof words.verb);
    world->number = number_of(words.verb);
    if (strcmp(words.verb, "server") == 0)
        server(world, rest);
    else if (strcmp(words.verb, "why") == 0)
        line(world, "why ", mcpx_slice_of(why ? why : "-"));
    else if (strcmp(words.verb, "wait") == 0) {
        world->now.mono_ms += strtol(rest, NULL, 10);
        import_pool_tick(world->pool, world->now);
        act_on_all(world);
        cr_expect_gt(import_pool_deadline(world->pool), world->now.mono_ms,
                     "wants to be woken for ever after: %s", in);
    } else if (!crowd_happens(world, words.verb, rest) && !try_event(world, &words, rest))
        cr_assert(try_state(world, words.verb, (int)strtol(rest, NULL, 10)),
                  "no such step: %s", in);
}

const char *world_happen(struct world *world, const char *in)
{
    world_forget_out(world);
    world->log = strncmp(in, "log ", 4) == 0;
    world_go_on(world, in + (world->log ? 4 : 0));
    return world->out.text;
}

/* ---- terms ---- */

/* What the router shows of mallory: nothing that she may call. Of who has left: nothing. */
static bool could(const void *user, size_t topic, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    const struct world *world = user;

    (void)topic;
    if (mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/response")))
        return !mcpx_slice_equal(participant, mcpx_slice_of(world->left));
    cr_expect(mcpx_slice_equal(kind->method, MCPX_SLICE("tools/call")));
    return !mcpx_slice_equal(participant, MCPX_SLICE("mallory"));
}

static bool unsent(const void *user, size_t topic, size_t *count, size_t *bytes)
{
    const struct world *world = user;

    (void)topic;
    *count = world->unsent;
    *bytes = world->unsent_bytes;
    return true;
}

static struct mcpx_instant instant(const void *user)
{
    const struct world *world = user;

    return (struct mcpx_instant){world->now.wall_ms, world->now.mono_ms * 1000};
}

static void read_terms(struct world *world, const char *text)
{
    struct mcpx_schema_report report = {0};

    world->terms.deterministic = true;
    world->terms.shelf = mcpx_shelf_new();
    world->terms.contracts = mcpx_contracts_new(world->terms.shelf);
    cr_assert_eq(mcpx_terms_read(world->terms.contracts, mcpx_slice_of(text), &report,
                                 &world->terms.terms),
                 MCPX_OK, "terms: %s", report.count ? report.errors[0].message.text : "");
    mcpx_schema_report_fini(&report);
}

struct world *world_new(const struct import_config *settings, const char *terms)
{
    struct world *world = calloc(1, sizeof *world);
    struct import_config copy = *settings, *config = &copy;

    cr_assert(world);
    if (terms) {
        read_terms(world, terms);
        config->terms = &world->terms;
    }
    config->view = (struct import_view){world, could, instant, NULL, unsent};
    world->limits = "{}";
    world->now = (struct mcpx_now){1000, 5000};
    world->topics = config->topics ? config->topics : 1;
    world->pool = import_pool_new(config);
    join(world);
    return world;
}

void world_free(struct world *world)
{
    if (!world)
        return;
    import_pool_free(world->pool);
    bridge_terms_fini(&world->terms);
    mcpx_text_fini(&world->out);
    free(world);
}
