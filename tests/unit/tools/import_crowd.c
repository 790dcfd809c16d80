/*
 * import_crowd.c - see import_crowd.h. They are made of ordinary steps, as a transcript is.
 */
#include "import_crowd.h"
#include "lib/base/scoped.h"

#include <mcpx/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server asks `count` questions of whoever may be asked; what comes of it is not compared. */
static void ask_often(struct world *world, long count)
{
    for (long i = 0; i < count; i++)
        world_go_on(world,
                    "server {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\"}");
    world_forget_out(world);
}

/* mallory subscribes to `count` resources, and the server agrees; as above. */
static void subscribe_often(struct world *world, long count)
{
    char text[200];

    for (long i = 0; i < count; i++) {
        snprintf(text, sizeof text,
                 "request mallory s {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                 "\"resources/subscribe\",\"params\":{\"uri\":\"f:///%ld\"}}",
                 i);
        world_go_on(world, text);
        snprintf(text, sizeof text, "server {\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{}}",
                 i + 3);
        world_go_on(world, text);
    }
    world_forget_out(world);
}

static void flood(struct world *world, long count)
{
    char text[160];

    for (long i = 0; i < count; i++) {
        snprintf(text, sizeof text, "server {\"jsonrpc\":\"2.0\",\"method\":\"n%ld\"}", i);
        world_go_on(world, text);
    }
}

/* `begin`: of the result, up to the long string. */
static void answer_at_length(struct world *world, const char *words, const char *begin)
{
    char *size, id[24];
    mx_scoped_text text = {0};

    snprintf(id, sizeof id, "%ld", strtol(words, &size, 10));
    mcpx_text_puts(&text, "server {\"jsonrpc\":\"2.0\",\"id\":");
    mcpx_text_puts(&text, id);
    mcpx_text_puts(&text, ",\"result\":{");
    mcpx_text_puts(&text, begin);
    for (long left = strtol(size, NULL, 10); left > 0; left--)
        mcpx_text_puts(&text, "n");
    mcpx_text_puts(&text, "\"}}");
    world_go_on(world, "brief");
    world_go_on(world, text.text);
}

#define STATE "\"resultType\":\"input_required\",\"requestState\":\""

/* From the call with that number on, the server wants input so many times. */
static void ask_again(struct world *world, const char *words)
{
    char *count, text[40];
    long number = strtol(words, &count, 10);

    for (long end = number + strtol(count, NULL, 10); number < end; number++) {
        snprintf(text, sizeof text, "%ld 1", number);
        answer_at_length(world, text, STATE);
        world_go_on(world, "wait 250");
    }
    world_forget_out(world);
}

bool crowd_happens(struct world *world, const char *verb, const char *rest)
{
    long number = strtol(rest, NULL, 10);

    if (strcmp(verb, "questions") == 0)
        ask_often(world, number);
    else if (strcmp(verb, "subscribe") == 0)
        subscribe_often(world, number);
    else if (strcmp(verb, "flood") == 0)
        flood(world, number);
    else if (strcmp(verb, "long") == 0)
        answer_at_length(world, rest, "\"n\":\"");
    else if (strcmp(verb, "state") == 0)
        answer_at_length(world, rest, STATE);
    else if (strcmp(verb, "rounds") == 0)
        ask_again(world, rest);
    else
        return false;
    return true;
}
