/*
 * fuzz_session.c - any texts in any order, and everything else that can happen to a session between
 * them. Whatever comes, what we sent ends at most once, and every event is complete.
 *
 * The input is a list of steps, one per line; the first byte says which:
 *     r TEXT    a message comes                 w        welcomed as "me"
 *     q TO      a request is sent               p TO     a proposal is sent
 *     m KIND    another message is sent         a ID     the request with that id is answered
 *     c         connected                       d CODE   disconnected
 *     t MS      time passes                     o        everything is written
 *     f ID      no longer waited for            e        events are fetched
 * Envelopes of ours have the ids 00000000-0000-4000-8000-000000000001, 2, ...
 */
#include "tests/fuzz/fuzz.h"

#include <mcpx/session.h>

#include <stdlib.h>

enum { SENT_MAX = 512 };

struct play {
    struct mcpx_session *session;
    struct mcpx_now now;
    unsigned char count;
    size_t sent;
    unsigned char ends[SENT_MAX], delivered[SENT_MAX];
};

static void fill(void *context, void *bytes, size_t len)
{
    struct play *play = context;

    memset(bytes, 0, len);
    if (len == 16 && play->session) /* an id; the key of the tables is drawn before */
        ((unsigned char *)bytes)[15] = ++play->count;
}

/* ---- what is told ---- */

static bool is_end(enum mcpx_event_type type)
{
    return type == MCPX_EVENT_RESPONSE || type == MCPX_EVENT_EXPIRED ||
           type == MCPX_EVENT_REFUSED || type == MCPX_EVENT_REJECTED;
}

static bool has_rpc(enum mcpx_event_type type)
{
    return type == MCPX_EVENT_REQUEST || type == MCPX_EVENT_NOTIFICATION ||
           type == MCPX_EVENT_PROPOSAL || type == MCPX_EVENT_RESPONSE ||
           type == MCPX_EVENT_FULFILLING;
}

static void check_event(struct play *play, const struct mcpx_event *event)
{
    must((unsigned)event->type < MCPX_EVENT_COUNT);
    must(!has_rpc(event->type) || (event->envelope && event->rpc));
    must(!event->envelope || event->envelope->id.len > 0);
    must(event->type != MCPX_EVENT_VIOLATION || event->fault.reason);
    must(event->type != MCPX_EVENT_PRESENCE || event->participant.len > 0);
    if (event->tag) {
        size_t index = (size_t)((unsigned char *)event->tag - play->ends);

        must(index < play->sent && event->own.len == 36);
        must(!is_end(event->type) || ++play->ends[index] == 1);
        must(event->type != MCPX_EVENT_DELIVERED || ++play->delivered[index] == 1);
    }
}

static void fetch(struct play *play)
{
    struct mcpx_event event;

    while (mcpx_session_event(play->session, &event))
        check_event(play, &event);
}

/* What the next connection would ask for fits into a request line. */
static void check_place(const struct play *play)
{
    struct mcpx_place place;

    if (!mcpx_session_place(play->session, &place))
        return;
    must(place.epoch.len > 0 && place.epoch.len <= 64 && place.serial < 1000000000000000000);
    must(!memchr(place.epoch.text, '\\', place.epoch.len) &&
         !memchr(place.epoch.text, '"', place.epoch.len));
    must(place.after.len <= MCPX_ID_MAX && !place.after.text == !place.after.len);
}

/* ---- steps ---- */

static void hear(struct play *play, struct mcpx_slice text)
{
    char *copy = malloc(text.len ? text.len : 1); /* so that a read past the end shows */

    must(copy);
    if (text.len)
        memcpy(copy, text.text, text.len);
    mcpx_session_receive(play->session, (struct mcpx_slice){copy, text.len}, play->now);
    check_place(play);
    free(copy);
}

static void send(struct play *play, const char *type, struct mcpx_slice to,
                 const char *payload)
{
    struct mcpx_draft draft = {
        .type = type, .to = &to, .to_count = to.len > 0, .payload = mcpx_slice_of(payload)};

    if (play->sent == SENT_MAX)
        return;
    draft.tag = &play->ends[play->sent];
    if (mcpx_session_send(play->session, &draft, play->now, NULL, NULL) == MCPX_OK)
        play->sent++;
}

static void send_other(struct play *play, struct mcpx_slice kind)
{
    char type[128] = "";

    memcpy(type, kind.text, kind.len < sizeof type ? kind.len : sizeof type - 1);
    send(play, type, (struct mcpx_slice){NULL, 0},
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
}

static void answer(struct play *play, struct mcpx_slice id)
{
    mcpx_session_respond(play->session, id,
                         MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), play->now,
                         NULL);
}

static void write_out(struct play *play)
{
    struct mcpx_slice text;

    while (mcpx_session_output(play->session, &text)) {
        must(text.len > 0 && text.text[0] == '{' && text.text[text.len - 1] == '}');
        mcpx_session_written(play->session);
    }
}

static int64_t number_in(struct mcpx_slice text)
{
    int64_t number = 0;

    for (size_t i = 0; i < text.len && i < 9 && text.text[i] >= '0' && text.text[i] <= '9';
         i++)
        number = number * 10 + (text.text[i] - '0');
    return number;
}

static void step_transport(struct play *play, char what, struct mcpx_slice rest)
{
    if (what == 'r') {
        hear(play, rest);
    } else if (what == 'w') {
        hear(play, MCPX_SLICE("{\"protocol\":\"mcpx/v0.1\",\"id\":\"w\",\"from\":"
                              "\"system:gateway\",\"kind\":\"system/welcome\",\"payload\":{"
                              "\"you\":{\"id\":\"me\",\"capabilities\":[\"*\"]},"
                              "\"participants\":[],\"history\":{\"count\":0}}}"));
    } else if (what == 'c') {
        mcpx_session_connected(play->session, play->now);
    } else if (what == 'd') {
        mcpx_session_disconnected(play->session, (int)number_in(rest), rest, play->now);
    } else if (what == 'o') {
        write_out(play);
    } else if (what == 't') {
        play->now.mono_ms += number_in(rest);
        play->now.wall_ms += number_in(rest);
        mcpx_session_tick(play->session, play->now);
        must(mcpx_session_deadline(play->session) > play->now.mono_ms);
    }
}

static void step(struct play *play, struct mcpx_slice line)
{
    char what = line.len > 0 ? line.text[0] : ' ';
    struct mcpx_slice rest = {line.text + (line.len > 0), line.len - (line.len > 0)};

    if (what == 'q')
        send(play, "mcp/request", rest,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"x\"}}");
    else if (what == 'p')
        send(play, "mcp/proposal", rest,
             "{\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}");
    else if (what == 'm')
        send_other(play, rest);
    else if (what == 'a')
        answer(play, rest);
    else if (what == 'f')
        mcpx_session_forget(play->session, rest);
    else if (what == 'e')
        fetch(play);
    else
        step_transport(play, what, rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct play play = {.now = {1000, 1780000000000}};
    struct mcpx_session_config config = {
        .observe = size % 2,
        .directed = size % 3 == 0,
        .instance = size % 5 == 0,
        .inbound_max = 8,
        .pending_max = 16,
        .fill = fill,
        .context = &play,
    };
    const char *at = (const char *)data, *end = at + size;

    if (size == 0 || mcpx_session_new(&config, &play.session))
        return 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        if (!stop)
            stop = end;
        step(&play, (struct mcpx_slice){at, (size_t)(stop - at)});
        at = stop + 1;
    }
    step(&play, MCPX_SLICE("t999999999"));
    fetch(&play);
    must(mcpx_session_pending_count(play.session) == 0);
    mcpx_session_free(play.session);
    return 0;
}
