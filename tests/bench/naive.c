/*
 * naive.c - each message becomes a tree of values, the tree is asked for its members, patterns
 * are walked one by one, and the tree is written out again. Correct for well-meant messages, and
 * what most gateways do.
 */
#include "tests/bench/naive.h"

#include "tests/bench/speech.h"

#include <jansson.h>
#include <stdlib.h>

static char *history[NAIVE_HISTORY];
static size_t next;

/* `*` stands for any run of bytes. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool is_granted(const char *kind)
{
    for (size_t i = 0; i < 8; i++)
        if (matches(speech_grants[i], kind))
            return true;
    return false;
}

void naive_route(struct mcpx_slice text)
{
    json_auto_t *message = json_loadb(text.text, text.len, 0, NULL);
    const char *kind = json_string_value(json_object_get(message, "kind"));
    const char *protocol = json_string_value(json_object_get(message, "protocol"));

    if (!json_is_string(json_object_get(message, "id")) || !kind || !is_granted(kind) ||
        !protocol || strcmp(protocol, "mcpx/v0.1") != 0 ||
        !json_is_object(json_object_get(message, "payload")))
        abort();
    free(history[next]);
    history[next] = json_dumps(message, JSON_COMPACT);
    next = (next + 1) % NAIVE_HISTORY;
}

void naive_fini(void)
{
    for (size_t i = 0; i < NAIVE_HISTORY; i++)
        free(history[i]);
}
