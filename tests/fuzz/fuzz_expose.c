/*
 * fuzz_expose.c - any life of an expose: lines of any text from its client, answers, questions,
 * notifications, refusals, rejections and departures of any shape from the topic, in any order.
 * What the client gets is one JSON message on one line; each of its requests is answered at most as
 * often as it was made; what goes to the topic is one JSON object. Each life is lived twice,
 * without terms and under some, where every call that was admitted ends.
 *
 * The input is lines; the first byte says what the rest is, and a digit after it names a
 * participant:
 *   c TEXT   the client writes       a RPC   the oldest request to it is answered
 *   q RPC    it asks                 n RPC   it notifies
 *   r j f    the oldest is refused, rejected, fulfilled
 *   + -      it comes, it goes       J L     we join, we lose the connection
 *   t TEXT   time passes             e RPC   our last proposal has its place
 */
#include "tests/fuzz/fuzz.h"
#include "tools/mcpx-bridge/expose/expose.h"
#include "tools/mcpx-bridge/expose/state.h"

#include <stdio.h>

enum { DRAFTS_MAX = 256, PARTICIPANTS = 3 };

struct draft {
    void *tag;
    char to;
    bool over;
};

struct stage {
    struct expose *expose;
    struct mcpx_now now;
    struct draft drafts[DRAFTS_MAX];
    size_t count;
    size_t requests, answers;
    bool here[PARTICIPANTS];
    bool joined;
};

/* ---- what the server does ---- */

static void take_line(struct stage *stage, struct mcpx_slice line)
{
    struct mcpx_slice value;

    must(!memchr(line.text, '\n', line.len));
    must(mcpx_json_check(line, 0, &value, NULL) == MCPX_OK);
    must(mcpx_json_type(value) == MCPX_JSON_OBJECT);
    if (mcpx_json_get(value, "result").text || mcpx_json_get(value, "error").text)
        stage->answers++;
}

static void take_draft(struct stage *stage, const struct mcpx_draft *draft,
                       struct bridge_outcome *outcome)
{
    struct mcpx_slice value;

    must(mcpx_json_check(draft->payload, 0, &value, NULL) == MCPX_OK);
    must(mcpx_json_type(value) == MCPX_JSON_OBJECT);
    must(draft->to_count == 1 && draft->to[0].len == 1);
    if (stage->now.mono_ms % 11 == 10) {
        outcome->err = MCPX_ELIMIT;
        return;
    }
    if (draft->tag && stage->count < DRAFTS_MAX)
        stage->drafts[stage->count++] =
            (struct draft){draft->tag, draft->to[0].text[0], false};
    outcome->id = MCPX_SLICE("e");
}

static void take_response(const struct bridge_action *action)
{
    struct mcpx_rpc rpc;

    must(mcpx_slice_equal(action->about, MCPX_SLICE("q")));
    must(mcpx_rpc_read(action->text, &rpc, NULL) == MCPX_OK);
    must(rpc.form == MCPX_RPC_RESULT || rpc.form == MCPX_RPC_ERROR);
}

static void fetch(struct stage *stage)
{
    const struct bridge_action *action;

    while ((action = expose_next(stage->expose)) != NULL) {
        struct bridge_outcome outcome = {0};

        must(action->text.len > 0 || action->about.len > 0 || action->draft.payload.len > 0);
        if (action->type == BRIDGE_WRITE)
            take_line(stage, action->text);
        else if (action->type == BRIDGE_SEND)
            take_draft(stage, &action->draft, &outcome);
        else if (action->type == BRIDGE_RESPOND)
            take_response(action);
        expose_done(stage->expose, &outcome, stage->now);
    }
}

static size_t message_max(const void *user)
{
    (void)user;
    return 1000;
}

/* Some calls may be made, some proposed, some neither. */
static bool may(const void *user, const struct mcpx_question *question)
{
    struct mcpx_slice context = question->kind->context;
    bool is_request = question->kind->type.len == strlen("mcp/request");

    (void)user;
    if (!context.len)
        return true;
    return context.text[0] % 3 == (is_request ? 0 : 1) || context.text[0] % 3 == 2;
}

static bool could(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    (void)user;
    (void)kind;
    return participant.len == 1;
}

static struct mcpx_slice self(const void *user)
{
    (void)user;
    return MCPX_SLICE("a");
}

static bool is_behind(const void *user)
{
    return ((const struct stage *)user)->now.mono_ms % 13 == 12;
}

static const char *name_of(size_t index)
{
    static const char names[] = "012";

    return names + index;
}

static bool roster(const void *user, size_t index, struct mcpx_slice *id)
{
    const struct stage *stage = user;

    for (size_t i = 0; i < PARTICIPANTS; i++) {
        if (!stage->here[i] || index-- > 0)
            continue;
        *id = (struct mcpx_slice){name_of(i), 1};
        return true;
    }
    return false;
}

/* ---- what the topic does ---- */

static void tell(struct stage *stage, struct mcpx_event event, char from,
                 struct mcpx_slice text)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc = {.form = MCPX_RPC_BODY};
    struct mcpx_slice value = MCPX_SLICE("{}");

    if (mcpx_json_check(text, 0, &value, NULL) == MCPX_OK &&
        mcpx_rpc_read(value, &rpc, NULL) != MCPX_OK && event.type == MCPX_EVENT_RESPONSE)
        return;
    mcpx_envelope_init(&envelope);
    envelope.id = MCPX_SLICE("q");
    envelope.from = (struct mcpx_slice){&from, 1};
    envelope.to_count = 1;
    envelope.payload = value;
    if (event.type == MCPX_EVENT_OBSERVED) { /* the echo of our own proposal */
        envelope.id = MCPX_SLICE("e");
        envelope.to[0] = MCPX_SLICE("0");
        mcpx_kind_parse(MCPX_SLICE("mcp/proposal:tools/call:a"), &envelope.kind, NULL);
    }
    event.envelope = &envelope;
    event.rpc = &rpc;
    if (event.type == MCPX_EVENT_RESPONSE && rpc.form != MCPX_RPC_RESULT &&
        rpc.form != MCPX_RPC_ERROR)
        return;
    if (event.type == MCPX_EVENT_REQUEST && rpc.form != MCPX_RPC_REQUEST)
        return;
    if (event.type == MCPX_EVENT_NOTIFICATION && rpc.form != MCPX_RPC_NOTIFICATION)
        return;
    expose_event(stage->expose, &event, stage->now);
}

static void about_oldest(struct stage *stage, enum mcpx_event_type type, char who,
                         struct mcpx_slice text)
{
    struct mcpx_event event = {.type = type,
                               .err = text.len % 2 ? MCPX_ECAPABILITY : MCPX_ERATE,
                               .alternative = {"x", text.len % 3 ? 1 : 0},
                               .same = text.len % 2};

    for (size_t i = 0; i < stage->count; i++) {
        struct draft *draft = &stage->drafts[i];

        if (draft->over || draft->to != who)
            continue;
        draft->over = type != MCPX_EVENT_FULFILLING;
        event.tag = draft->tag;
        tell(stage, event, who, text);
        return;
    }
}

static void presence(struct stage *stage, char who, bool here)
{
    size_t index = (size_t)(who - '0');
    struct mcpx_event event = {.type = MCPX_EVENT_PRESENCE,
                               .presence = here ? MCPX_PRESENCE_JOIN : MCPX_PRESENCE_LEAVE};

    if (who < '0' || index >= PARTICIPANTS)
        return;
    stage->here[index] = here;
    event.participant = (struct mcpx_slice){name_of(index), 1};
    if (stage->joined)
        expose_event(stage->expose, &event, stage->now);
}

static void connection(struct stage *stage, bool joined)
{
    struct mcpx_event event = {.type = joined ? MCPX_EVENT_JOINED : MCPX_EVENT_LEFT,
                               .reason = MCPX_SLICE("broken")};

    stage->joined = joined;
    expose_event(stage->expose, &event, stage->now);
}

static void say(struct stage *stage, struct mcpx_slice line)
{
    struct mcpx_rpc rpc;
    struct mcpx_slice value;
    bool unread = mcpx_json_check(line, 512, &value, NULL) != MCPX_OK ||
                  mcpx_rpc_read(value, &rpc, NULL) != MCPX_OK || rpc.form == MCPX_RPC_BODY ||
                  rpc.form == MCPX_RPC_REQUEST;

    stage->requests += unread;
    expose_line(stage->expose, line, stage->now);
}

static void happen(struct stage *stage, struct mcpx_slice line)
{
    struct mcpx_slice rest = {line.text + 1, line.len ? line.len - 1 : 0};
    char who = rest.len ? rest.text[0] : '0';
    struct mcpx_slice text = {rest.text + (rest.len > 0), rest.len ? rest.len - 1 : 0};

    switch (line.len ? line.text[0] : 0) {
    case 'c':
        say(stage, rest);
        break;
    case 'a':
        about_oldest(stage, MCPX_EVENT_RESPONSE, who, text);
        break;
    case 'r':
        about_oldest(stage, MCPX_EVENT_REFUSED, who, text);
        break;
    case 'j':
        about_oldest(stage, MCPX_EVENT_REJECTED, who, text);
        break;
    case 'f':
        about_oldest(stage, MCPX_EVENT_FULFILLING, who, text);
        break;
    case 'q':
        tell(stage, (struct mcpx_event){.type = MCPX_EVENT_REQUEST}, who, text);
        break;
    case 'n':
        tell(stage, (struct mcpx_event){.type = MCPX_EVENT_NOTIFICATION}, who, text);
        break;
    case 'e':
        tell(stage, (struct mcpx_event){.type = MCPX_EVENT_OBSERVED}, 'a', text);
        break;
    case '+':
    case '-':
        presence(stage, who, line.text[0] == '+');
        break;
    case 'J':
    case 'L':
        connection(stage, line.text[0] == 'J');
        break;
    case 't':
        stage->now.mono_ms += (int64_t)(rest.len * 997);
        expose_tick(stage->expose, stage->now);
        must(expose_deadline(stage->expose) > stage->now.mono_ms);
        break;
    default:
        break;
    }
    fetch(stage);
    must(stage->answers <= stage->requests);
}

static bool has_client_call(const struct bridge_calls *calls)
{
    for (const struct bridge_call *call = calls->first; call; call = call->next)
        if (call->purpose == EXPOSE_FOR_CLIENT)
            return true;
    return false;
}

static struct mcpx_instant instant(const void *user)
{
    const struct stage *stage = user;

    return (struct mcpx_instant){stage->now.wall_ms, stage->now.mono_ms * 1000};
}

/* Terms under which everything happens to a call that can happen. */
static const struct bridge_terms *read_terms(void)
{
    static struct bridge_terms terms = {.deterministic = true};
    struct mcpx_schema_report report = {0};

    if (terms.terms)
        return &terms;
    terms.shelf = mcpx_shelf_new();
    terms.contracts = mcpx_contracts_new(terms.shelf);
    must(mcpx_terms_read(terms.contracts,
                         MCPX_SLICE("{\"result\":\"response.v1\",\"context\":{\"policy\":"
                                    "\"default\"},\"log\":{},\"tools\":{\"a\":{\"result\":"
                                    "\"as-is\"},\"b\":{\"tier\":\"pro\"}}}"),
                         &report, &terms.terms) == MCPX_OK);
    mcpx_schema_report_fini(&report);
    return &terms;
}

/* Every call leaves one line, and what it takes is given back. */
static void drain(struct stage *stage)
{
    struct mcpx_calls *calls = expose_calls(stage->expose);
    enum mcpx_record which;
    struct mcpx_slice line, value;

    while (calls && mcpx_calls_next_record(calls, &which, &line))
        must(mcpx_json_check(line, 0, &value, NULL) == MCPX_OK);
    must(!calls || mcpx_calls_count(calls) == 0);
}

static void chance(const void *user, void *bytes, size_t len)
{
    (void)user;
    memset(bytes, 0, len);
}

static void live(struct mcpx_slice input, const struct bridge_terms *terms)
{
    static struct stage stage;
    struct expose_view view = {&stage,    may,     could,  roster, message_max,
                               is_behind, instant, chance, self};
    struct expose_config config = {.topic = "t",
                                   .nonce = "n",
                                   .plain = input.len % 2,
                                   .room = (enum expose_room_mode)(input.len % 3),
                                   .discover = input.len % 4 == 3,
                                   .channel = input.len % 6 > 2,
                                   .terms = terms,
                                   .request_ms = 60000,
                                   .proposal_ms = 60000,
                                   .heartbeat_ms = 15000};
    const char *at = input.text, *end = at + input.len;

    stage = (struct stage){.now = {1000, 1000}};
    stage.expose = expose_new(&config, &view);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);

        happen(&stage, (struct mcpx_slice){at, len});
        at += len + 1;
    }
    expose_abandon(stage.expose, MCPX_SLICE("gone"));
    fetch(&stage);
    must(expose_is_idle(stage.expose) && !has_client_call(&stage.expose->calls));
    must(stage.answers <= stage.requests);
    drain(&stage);
    expose_free(stage.expose);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice input = {(const char *)data, size};

    live(input, NULL);
    live(input, read_terms());
    return 0;
}
