/*
 * fuzz_guard.c - a conversation of any bytes through a connection: lines beginning with ">" are
 * text messages of the agent, with "<" those of the router; anything else is given raw to both, in
 * turns. What reaches the agent after the handshake are whole frames, and none of the messages in
 * them can be executed by who looks at method and id only, in whatever letter case, unless it is a
 * request.
 */
#include "lib/base/scoped.h"
#include "lib/wire/frames.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/fold_judge.h"
#include "tools/mcpx-bridge/guard/guard.h"

#include <mcpx/json.h>

static const char request[] = "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n";
static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
static const char welcome[] =
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"w\",\"from\":\"system:gateway\",\"to\":[\"us\"],"
    "\"kind\":\"system/welcome\",\"payload\":{\"you\":{\"id\":\"us\"}}}";

/* A frame with a mask of zeros, or none. */
static void add_frame(struct mcpx_text *out, bool masked, struct mcpx_slice text)
{
    unsigned bit = masked ? 0x80 : 0;

    mcpx_text_add(out, "\x81", 1);
    if (text.len < 126) {
        mcpx_text_add(out, &(char){(char)(bit | (unsigned)text.len)}, 1);
    } else {
        mcpx_text_add(out, &(char){(char)(bit | 126)}, 1);
        mcpx_text_add(out, &(char){(char)(text.len >> 8)}, 1);
        mcpx_text_add(out, &(char){(char)text.len}, 1);
    }
    if (masked)
        mcpx_text_add(out, "\0\0\0", 4);
    mcpx_text_slice(out, text);
}

static void say(struct guard_connection *connection, struct mcpx_slice line)
{
    mx_scoped_text frame = {0};
    bool agent = line.len && line.text[0] == '>';

    if (!line.len || (line.text[0] != '>' && line.text[0] != '<') || line.len > 65535) {
        guard_connection_from_router(connection, line);
        guard_connection_from_agent(connection, line);
        return;
    }
    add_frame(&frame, agent, (struct mcpx_slice){line.text + 1, line.len - 1});
    if (agent)
        guard_connection_from_agent(connection, mcpx_text_view(&frame));
    else
        guard_connection_from_router(connection, mcpx_text_view(&frame));
}

/* For whoever reads it, letter case or not. */
static bool has(struct mcpx_slice payload, const char *name)
{
    json_t *object = json_loadb(payload.text, payload.len, JSON_ALLOW_NUL, NULL);
    bool found = mcpx_json_count(payload, name) || (object && fold_finds_like(object, name));

    json_decref(object);
    return found;
}

static void check_message(struct mcpx_slice text)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    mcpx_envelope_init(&envelope);
    must(mcpx_envelope_parse(text, 0, &envelope, &fault) == MCPX_OK);
    must(envelope.from.text);
    if (!mcpx_kind_is_reserved(&envelope.kind)) {
        must(!mcpx_slice_equal(envelope.from, MCPX_SLICE("us")));
        if (has(envelope.payload, "method") && has(envelope.payload, "id"))
            must(mcpx_slice_equal(envelope.kind.type, MCPX_SLICE("mcp/request")));
    }
    mcpx_envelope_fini(&envelope);
}

static void check_told(struct mcpx_slice told)
{
    struct mx_frames frames = {.max = 1 << 20};
    struct mx_frames_found found;
    enum mx_frames_step step;

    must(told.len >= sizeof answer - 1);
    told.text += sizeof answer - 1;
    told.len -= sizeof answer - 1;
    mx_frames_feed(&frames, told);
    while ((step = mx_frames_next(&frames, &found)) != MX_FRAMES_MORE) {
        must(step == MX_FRAMES_MESSAGE || step == MX_FRAMES_CONTROL);
        if (step == MX_FRAMES_MESSAGE)
            check_message(found.payload);
    }
    must(!frames.open && !frames.bytes_len);
    mx_frames_fini(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct guard_asked asked = {.max = 4};
    struct guard_connection_config config = {&asked, 4096, NULL, NULL};
    struct guard_connection *connection = guard_connection_new(&config);
    struct mcpx_slice rest = {(const char *)data, size};
    struct mcpx_text hello = {0};

    guard_connection_from_agent(connection, mcpx_slice_of(request));
    guard_connection_from_router(connection, mcpx_slice_of(answer));
    add_frame(&hello, false, mcpx_slice_of(welcome));
    guard_connection_from_router(connection, mcpx_text_view(&hello));
    while (rest.len) {
        const char *end = memchr(rest.text, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.text) : rest.len;

        say(connection, (struct mcpx_slice){rest.text, len});
        len += end ? 1 : 0;
        rest.text += len;
        rest.len -= len;
    }
    check_told(mcpx_text_view(&connection->to_agent));
    mcpx_text_fini(&hello);
    guard_connection_free(connection);
    bridge_calls_fini(&asked.calls);
    return 0;
}
