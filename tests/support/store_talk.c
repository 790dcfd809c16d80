/*
 * store_talk.c - every wait ends with what is waited for, or fails the test.
 */
#include "tests/support/store_talk.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is said ---- */

/* Chats PREFIX0, PREFIX1 ... up to `count`. */
void talk_say(struct rude *rude, const char *prefix, int count)
{
    char id[32];

    for (int i = 0; i < count; i++) {
        snprintf(id, sizeof id, "%s%d", prefix, i);
        rude_chat(rude, id, "{\"t\":\"x\"}");
    }
}

void talk_expect(struct rude *rude, const char *id)
{
    char part[64];
    struct frame frame;

    snprintf(part, sizeof part, "\"id\":\"%s\"", id);
    cr_assert(rude_expect(rude, part, &frame), "no %s", id);
}

/* PREFIX`first`, and all up to `end`, each once and in order; other frames may be between them. */
void talk_expect_order(struct rude *rude, const char *prefix, int first, int end)
{
    char begin[64], part[64];
    struct frame frame;

    snprintf(begin, sizeof begin, "\"id\":\"%s", prefix);
    for (int i = first; i < end; i++) {
        snprintf(part, sizeof part, "\"id\":\"%s%d\"", prefix, i);
        cr_assert(rude_expect(rude, begin, &frame), "no %s", part);
        cr_assert(frame_holds(&frame, part), "expected %s, found %.*s", part, (int)frame.len,
                  frame.payload);
    }
}

/* Joins and reads the welcome. Copies the epoch, of 32 digits. */
void talk_enter(struct rude *rude, struct store_router *router, const char *participant,
                const char *query, char *epoch)
{
    static const char member[] = "\"epoch\":\"";
    struct frame frame;
    const char *at;
    char text[4096];

    rude_join(rude, &router->daemon, participant, "room", query);
    cr_assert(rude_expect(rude, "system/welcome", &frame));
    snprintf(text, sizeof text, "%.*s", (int)frame.len, frame.payload);
    at = strstr(text, member);
    cr_assert_not_null(at);
    if (epoch)
        snprintf(epoch, 33, "%s", at + strlen(member));
}

/* ---- HTTP ---- */

/* The whole answer; to be shut. */
int talk_get(struct rude *rude, struct store_router *router, const char *path,
             const char *participant)
{
    char request[9000];

    snprintf(request, sizeof request,
             "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path,
             rude_token(&router->daemon, participant, "room", "[\"*\"]"));
    return rude_http(rude, &router->daemon, request);
}

bool talk_history_holds(struct store_router *router, const char *id)
{
    char part[64];
    struct rude rude;
    bool found;

    snprintf(part, sizeof part, "\"id\":\"%s\"", id);
    cr_assert_eq(talk_get(&rude, router, "/v0.1/topics/room/history?limit=1000", "reader"),
                 200, "%s", rude.in.text);
    found = strstr(rude.in.text, part) != NULL;
    rude_shut(&rude);
    return found;
}

/* True once /readyz answers with this status and text. */
bool talk_becomes(struct store_router *router, int status, const char *text)
{
    long end_ms = support_now_ms() + DAEMON_PATIENCE_MS;
    bool found = false;
    struct rude rude;

    while (!found && support_now_ms() < end_ms) {
        found = rude_http(&rude, &router->daemon, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n") ==
                    status &&
                strstr(rude.in.text, text);
        rude_shut(&rude);
    }
    return found;
}

void talk_start(struct store_router *router, const char *store, const char *audit,
                const char *more)
{
    store_place_make(&router->place, store, audit, more);
    daemon_start(&router->daemon, router->place.config, 0);
}

void talk_end(struct store_router *router)
{
    if (router->daemon.pid)
        cr_expect_eq(daemon_stop(&router->daemon), 0);
    router->daemon.pid = 0;
}

void talk_stop(struct store_router *router)
{
    talk_end(router);
    store_place_remove(&router->place);
}

/* The status of /readyz, once. */
int talk_ready(struct store_router *router)
{
    struct rude rude;
    int status = rude_http(&rude, &router->daemon, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");

    rude_shut(&rude);
    return status;
}

/* ---- a disk of its own ---- */

void talk_set_disk(const struct store_router *router, const char *word)
{
    file_write_text(store_place_path(&router->place, "disk"), word);
}

void talk_restart_on_disk(struct store_router *router)
{
    const char *folder = getenv("MCPX_BINARY_DIR"), *others = getenv("LD_PRELOAD");
    char preload[8192], before[4000];

    talk_set_disk(router, "fine");
    snprintf(before, sizeof before, "%s", others ? others : "");
    snprintf(preload, sizeof preload, "%s/tests/libslow_disk.so %s", folder ? folder : "build",
             before);
    setenv("LD_PRELOAD", preload, 1);
    setenv("MCPX_SLOW_DISK", store_place_path(&router->place, "disk"), 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    daemon_restart(&router->daemon, router->place.config, SIGTERM);
    setenv("LD_PRELOAD", before, 1);
}
