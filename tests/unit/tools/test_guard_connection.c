/*
 * What breaks for whom: an agent whose words arrive changed, late or in the wrong name; or one
 * that hears what the guard was to keep from it because it came in an odd shape: in fragments,
 * around a ping, in the same packet as the handshake. Protocol: sections 5 and 7; RFC 6455.
 */
#include "lib/base/scoped.h"
#include "tests/support/envelope_text.h"
#include "tests/support/frame_text.h"
#include "tools/mcpx-bridge/guard/guard.h"

#include <criterion/criterion.h>

#define MASK "\x11\x22\x33\x44"
#define ENV(rest) "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e1\"," rest "}"
#define WELCOME                                                                               \
    ENV("\"from\":\"system:gateway\",\"to\":[\"us\"],\"kind\":\"system/welcome\","            \
        "\"payload\":{\"you\":{\"id\":\"us\"}}")
#define CHAT ENV("\"from\":\"bob\",\"kind\":\"chat\", \"payload\": {\"n\":1e400}")
#define EVIL ENV("\"from\":\"bob\",\"kind\":\"chat\",\"payload\":{\"method\":\"m\",\"id\":1}")
#define ASK                                                                                   \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"q1\",\"to\":[\"bob\"],\"kind\":\"mcp/request:"      \
    "ping\",\"payload\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}"
#define ANSWER                                                                                \
    ENV("\"from\":\"bob\",\"to\":[\"us\"],\"kind\":\"mcp/response:ping\","                    \
        "\"correlation_id\":\"q1\",\"payload\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")
#define REQUEST "GET /ws?topic=t HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n"
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define SWITCHED "HTTP/1.1 101 Switching Protocols\r\n\r\n"

static size_t left_out[GUARD_VERDICT_COUNT];

static void count(void *user, enum guard_verdict verdict, const struct guard_judge *judge)
{
    (void)user;
    (void)judge;
    left_out[verdict]++;
}

struct scene {
    struct guard_asked asked;
    struct guard_connection *connection;
};

static void open_scene(struct scene *scene, size_t max)
{
    struct guard_connection_config config = {&scene->asked, max, count, NULL};

    memset(left_out, 0, sizeof left_out);
    scene->asked = (struct guard_asked){.max = 16};
    scene->connection = guard_connection_new(&config);
}

static void close_scene(struct scene *scene)
{
    guard_connection_free(scene->connection);
    bridge_calls_fini(&scene->asked.calls);
}

static void agent_says(struct scene *scene, struct mcpx_slice bytes)
{
    guard_connection_from_agent(scene->connection, bytes);
}

static void router_says(struct scene *scene, struct mcpx_slice bytes)
{
    guard_connection_from_router(scene->connection, bytes);
}

/* What has come out since the last time it was asked. */
static void expect_out(struct mcpx_text *out, struct mcpx_slice expected, const char *what)
{
    cr_expect(mcpx_slice_equal(mcpx_text_view(out), expected), "%s: '%.*s' instead of '%.*s'",
              what, (int)out->len, out->text ? out->text : "", (int)expected.len,
              expected.text ? expected.text : "");
    mcpx_text_reset(out);
}

static void expect_agent(struct scene *scene, struct mcpx_slice expected, const char *what)
{
    expect_out(&scene->connection->to_agent, expected, what);
}

static void expect_router(struct scene *scene, struct mcpx_slice expected, const char *what)
{
    expect_out(&scene->connection->to_router, expected, what);
}

static void frame(struct mcpx_text *out, unsigned first, const char *text)
{
    add_frame(out, first, NULL, mcpx_slice_of(text));
}

/* A scene whose agent is welcomed and nothing is left to be written. */
static void join(struct scene *scene)
{
    mx_scoped_text welcome = {0};

    open_scene(scene, 65536);
    agent_says(scene, MCPX_SLICE(REQUEST));
    expect_router(scene, MCPX_SLICE(REQUEST), "the request");
    router_says(scene, MCPX_SLICE(SWITCHED));
    expect_agent(scene, MCPX_SLICE(SWITCHED), "the answer");
    frame(&welcome, FIRST_TEXT, WELCOME);
    router_says(scene, mcpx_text_view(&welcome));
    expect_agent(scene, mcpx_text_view(&welcome), "the welcome");
    cr_assert(guard_connection_wants_agent(scene->connection));
}

Test(guard_passage, lets_the_agent_speak_only_when_it_is_known_who_it_is)
{
    struct mcpx_text early = {0}, late = {0}, welcome = {0}, answer = {0};
    struct scene scene;

    open_scene(&scene, 65536);
    mcpx_text_puts(&late, REQUEST);
    add_frame(&early, FIRST_TEXT, MASK, mcpx_slice_of(ASK));
    mcpx_text_slice(&late, mcpx_text_view(&early));
    agent_says(&scene, mcpx_text_view(&late));
    expect_router(&scene, MCPX_SLICE(REQUEST), "only the request");
    router_says(&scene, MCPX_SLICE(SWITCHED));
    expect_router(&scene, MCPX_SLICE(""), "still nothing");
    frame(&welcome, FIRST_TEXT, WELCOME);
    router_says(&scene, mcpx_text_view(&welcome));
    expect_router(&scene, mcpx_text_view(&early), "what was said early");
    frame(&answer, FIRST_TEXT, ANSWER);
    mcpx_text_reset(&scene.connection->to_agent);
    router_says(&scene, mcpx_text_view(&answer));
    expect_agent(&scene, mcpx_text_view(&answer), "the answer to it");
    mcpx_text_fini(&early);
    mcpx_text_fini(&late);
    mcpx_text_fini(&welcome);
    mcpx_text_fini(&answer);
    close_scene(&scene);
}

Test(guard_passage, keeps_a_bounded_part_of_what_is_said_early)
{
    struct scene scene;

    open_scene(&scene, 65536);
    agent_says(&scene, MCPX_SLICE(REQUEST));
    for (int i = 0; i < 65536; i++) {
        cr_assert(guard_connection_wants_agent(scene.connection), "%d", i);
        agent_says(&scene, MCPX_SLICE("x"));
    }
    cr_expect_not(guard_connection_wants_agent(scene.connection));
    close_scene(&scene);
}

Test(guard_passage, gives_up_while_it_waits_and_no_later)
{
    static const struct {
        const char *agent, *router, *answer, *why;
        bool waiting, needs_agent;
    } rows[] = {
        {"GET / HT", "", "HTTP/1.1 408 ", "request took too long", true, true},
        {REQUEST, "", "HTTP/1.1 504 ", "did not answer", true, true},
        {REQUEST, "HTTP/1.1 1", "HTTP/1.1 504 ", "did not answer", true, true},
        {REQUEST, SWITCHED, SWITCHED, "did not welcome", true, true},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", CONTINUE, CONTINUE "HTTP/1.1 504 ",
         "did not answer", true, false},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nx",
         "HTTP/1.1 200 OK\r\n\r\nx", NULL, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct scene scene;
        const struct mcpx_text *out;
        const char *why;

        open_scene(&scene, 65536);
        agent_says(&scene, mcpx_slice_of(rows[i].agent));
        router_says(&scene, mcpx_slice_of(rows[i].router));
        cr_expect_eq(guard_connection_is_waiting(scene.connection), rows[i].waiting, "row %zu",
                     i);
        cr_expect_eq(guard_connection_needs_agent(scene.connection), rows[i].needs_agent,
                     "row %zu", i);
        guard_connection_give_up(scene.connection);
        why = scene.connection->end;
        cr_expect(rows[i].why ? why && strstr(why, rows[i].why) : !why, "row %zu: %s", i,
                  why ? why : "goes on");
        out = &scene.connection->to_agent;
        cr_expect(strncmp(out->text, rows[i].answer, strlen(rows[i].answer)) == 0,
                  "row %zu: %s", i, out->text);
        close_scene(&scene);
    }
}

Test(guard_passage, does_not_give_up_an_agent_that_is_welcome)
{
    struct scene scene;

    join(&scene);
    cr_expect_not(guard_connection_is_waiting(scene.connection));
    cr_expect_not(guard_connection_needs_agent(scene.connection));
    guard_connection_give_up(scene.connection);
    cr_expect_null(scene.connection->end);
    close_scene(&scene);
}

Test(guard_passage, passes_the_agents_bytes_unchanged_and_learns_from_them)
{
    struct mcpx_text bytes = {0}, answer = {0};
    struct scene scene;

    join(&scene);
    add_frame(&bytes, 0x01, MASK, (struct mcpx_slice){ASK, 20});
    add_frame(&bytes, FIRST_PING, MASK, MCPX_SLICE("p"));
    add_frame(&bytes, 0x80, MASK, (struct mcpx_slice){&ASK[20], sizeof ASK - 21});
    for (size_t i = 0; i < bytes.len; i++)
        agent_says(&scene, (struct mcpx_slice){bytes.text + i, 1});
    expect_router(&scene, mcpx_text_view(&bytes), "every byte");
    frame(&answer, FIRST_TEXT, ANSWER);
    router_says(&scene, mcpx_text_view(&answer));
    expect_agent(&scene, mcpx_text_view(&answer), "the answer");
    router_says(&scene, mcpx_text_view(&answer));
    expect_agent(&scene, MCPX_SLICE(""), "the answer again");
    cr_expect_eq(left_out[GUARD_UNSOLICITED], 1);
    mcpx_text_fini(&bytes);
    mcpx_text_fini(&answer);
    close_scene(&scene);
}

Test(guard_passage, passes_or_leaves_out_whole_messages_in_pieces_of_any_size)
{
    mx_scoped_text in = {0}, out = {0};

    frame(&in, FIRST_TEXT, CHAT);
    frame(&in, 0x01, "{\"protocol\":\"mcpx/v0.1\",");
    frame(&in, FIRST_PING, "between");
    frame(&in, 0x80, &EVIL[1]);
    frame(&in, FIRST_BINARY, CHAT);
    frame(&in, FIRST_TEXT, CHAT);
    frame(&in, FIRST_CLOSE, "\x03\xe9");
    frame(&out, FIRST_TEXT, CHAT);
    frame(&out, FIRST_PING, "between");
    frame(&out, FIRST_TEXT, CHAT);
    frame(&out, FIRST_CLOSE, "\x03\xe9");
    for (size_t piece = 1; piece <= in.len; piece += piece < 40 ? 1 : 37) {
        struct scene scene;

        join(&scene);
        for (size_t at = 0; at < in.len; at += piece)
            router_says(&scene, (struct mcpx_slice){
                                    in.text + at, in.len - at < piece ? in.len - at : piece});
        expect_agent(&scene, mcpx_text_view(&out), "what is left");
        cr_expect_eq(left_out[GUARD_BINARY], 1);
        cr_expect_null(scene.connection->end);
        close_scene(&scene);
    }
}

Test(guard_passage, leaves_out_an_evil_message_whatever_its_fragments)
{
    static const size_t cuts[] = {0, 1, 30, sizeof EVIL - 2, sizeof EVIL - 1};

    for (size_t i = 0; i < COUNT(cuts); i++) {
        struct mcpx_text in = {0};
        struct scene scene;

        join(&scene);
        add_frame(&in, 0x01, NULL, (struct mcpx_slice){EVIL, cuts[i]});
        add_frame(&in, 0x00, NULL, MCPX_SLICE(""));
        add_frame(&in, 0x80, NULL,
                  (struct mcpx_slice){&EVIL[cuts[i]], sizeof EVIL - 1 - cuts[i]});
        router_says(&scene, mcpx_text_view(&in));
        expect_agent(&scene, MCPX_SLICE(""), "nothing");
        cr_expect_eq(left_out[GUARD_DISGUISE], 1, "cut at %zu", cuts[i]);
        mcpx_text_fini(&in);
        close_scene(&scene);
    }
}

Test(guard_passage, passes_an_ordinary_request_and_its_answer)
{
    static const char post[] =
        "POST /v0.1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"token\":\"x\"}";
    struct scene scene;

    open_scene(&scene, 65536);
    for (size_t i = 0; i < sizeof post - 1; i++)
        agent_says(&scene, (struct mcpx_slice){post + i, 1});
    expect_router(&scene, mcpx_slice_of(post), "the request");
    for (size_t i = 0; i < sizeof answer - 1; i++)
        router_says(&scene, (struct mcpx_slice){answer + i, 1});
    expect_agent(&scene, mcpx_slice_of(answer), "the answer");
    cr_expect_null(scene.connection->end);
    cr_expect(guard_connection_wants_agent(scene.connection));
    close_scene(&scene);
}

Test(guard_passage, passes_the_refusal_of_an_upgrade)
{
    static const char answer[] =
        "HTTP/1.1 401 Unauthorized\r\n\r\n{\"code\":\"unauthorized\"}";
    struct scene scene;

    open_scene(&scene, 65536);
    agent_says(&scene, MCPX_SLICE(REQUEST));
    router_says(&scene, mcpx_slice_of(answer));
    expect_agent(&scene, mcpx_slice_of(answer), "the refusal");
    cr_expect_null(scene.connection->end);
    close_scene(&scene);
}

Test(guard_passage, ends_with_what_it_cannot_follow)
{
    static const struct {
        const char *agent, *router, *why;
    } rows[] = {
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nbGET / HTTP/1.1\r\n", "",
         "one request"},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "",
         "send Content-Length"},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", SWITCHED, "unasked"},
        {"", SWITCHED, "unasked"},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", CONTINUE CONTINUE SWITCHED, "unasked"},
        {REQUEST, CONTINUE SWITCHED, "answered twice"},
        {REQUEST, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", "answered twice"},
        {REQUEST, "HTTP/1.1 101 S\n\n\x81\x01x\r\n\r\n", "CR and LF"},
        {REQUEST, "SMTP ready, not at all\r\n\r\n", "not HTTP"},
        {REQUEST, "HTTP/1.1 101 S\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
         "extension"},
        {REQUEST, SWITCHED "\xc1\x01x", "reserved"},
        {REQUEST, SWITCHED "\x81\x81zzzzx", "is masked"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct scene scene;
        const char *why;

        open_scene(&scene, 65536);
        agent_says(&scene, mcpx_slice_of(rows[i].agent));
        router_says(&scene, mcpx_slice_of(rows[i].router));
        why = scene.connection->end;
        cr_expect(why && strstr(why, rows[i].why), "row %zu: %s", i, why ? why : "goes on");
        mcpx_text_reset(&scene.connection->to_agent);
        router_says(&scene, MCPX_SLICE("more"));
        agent_says(&scene, MCPX_SLICE("more"));
        expect_agent(&scene, MCPX_SLICE(""), "nothing after the end");
        close_scene(&scene);
    }
}

Test(guard_passage, passes_no_handshake_that_comes_after_another_answer)
{
    mx_scoped_text in = {0}, out = {0};
    struct scene scene;

    mcpx_text_puts(&in, CONTINUE SWITCHED);
    frame(&in, FIRST_TEXT, EVIL);
    for (size_t piece = 1; piece <= in.len; piece += 7) {
        open_scene(&scene, 65536);
        agent_says(&scene, MCPX_SLICE(REQUEST));
        for (size_t at = 0; at < in.len; at += piece)
            router_says(&scene, (struct mcpx_slice){
                                    in.text + at, in.len - at < piece ? in.len - at : piece});
        mcpx_text_slice(&out, mcpx_text_view(&scene.connection->to_agent));
        cr_expect(out.len && strncmp(out.text, "HTTP/1.1 502 ", 13) == 0 &&
                      !strstr(out.text, "\"method\""),
                  "pieces of %zu: %s", piece, out.text);
        mcpx_text_reset(&out);
        close_scene(&scene);
    }
}

Test(guard_passage, passes_what_comes_before_an_ordinary_answer)
{
    static const char answer[] = CONTINUE "HTTP/1.1 200 OK\r\n\r\n" SWITCHED;
    struct scene scene;

    for (size_t piece = 1; piece < sizeof answer; piece++) {
        open_scene(&scene, 65536);
        agent_says(&scene, MCPX_SLICE("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        for (size_t at = 0; at < sizeof answer - 1; at += piece)
            router_says(&scene, (struct mcpx_slice){answer + at, sizeof answer - 1 - at < piece
                                                                     ? sizeof answer - 1 - at
                                                                     : piece});
        expect_agent(&scene, mcpx_slice_of(answer), "both heads and the body");
        cr_expect_null(scene.connection->end);
        close_scene(&scene);
    }
}

Test(guard_passage, ends_when_the_agent_does_not_mask)
{
    struct scene scene;

    join(&scene);
    agent_says(&scene, MCPX_SLICE("\x81\x01x"));
    cr_expect_str_eq(scene.connection->end, "a frame is not masked");
    close_scene(&scene);
}

Test(guard_passage, bounds_heads_and_messages)
{
    mx_scoped_text line = {0}, in = {0}, longest = {0};
    struct scene scene;

    for (int i = 0; i < 70000; i++)
        mcpx_text_puts(&line, "x");
    open_scene(&scene, 65536);
    agent_says(&scene, mcpx_text_view(&line));
    cr_expect_not_null(scene.connection->end);
    close_scene(&scene);

    join(&scene);
    frame(&in, FIRST_TEXT, line.text);
    frame(&in, FIRST_TEXT, CHAT);
    frame(&longest, FIRST_TEXT, CHAT);
    router_says(&scene, mcpx_text_view(&in));
    expect_agent(&scene, mcpx_text_view(&longest), "what follows the overlong one");
    cr_expect_eq(left_out[GUARD_LONG], 1);
    close_scene(&scene);
}
