/*
 * Holds an import against its transcripts, which say what would break for whom. Issue:
 * participants; protocol sections 2 and 6.
 */
#include "import_world.h"
#include "player.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct story {
    struct import_config config;
    struct mcpx_text roots, capabilities, terms;
    struct world *world; /* NULL until something happens */
};

static void *begin(void)
{
    return calloc(1, sizeof(struct story));
}

static void end(void *played)
{
    struct story *story = played;

    world_free(story->world);
    mcpx_text_fini(&story->roots);
    mcpx_text_fini(&story->capabilities);
    mcpx_text_fini(&story->terms);
    free(story);
}

static bool configure_number(struct import_config *config, const char *name, long value)
{
    if (strcmp(name, "request_ms") == 0)
        config->request_ms = value;
    else if (strcmp(name, "answers_max") == 0)
        config->answers_max = (size_t)value;
    else if (strcmp(name, "wait_bytes") == 0)
        config->wait_bytes = (size_t)value;
    else if (strcmp(name, "calls_max") == 0)
        config->calls_max = (size_t)value;
    else if (strcmp(name, "topics") == 0)
        config->topics = (size_t)value;
    else if (strcmp(name, "isolate") == 0)
        config->isolate_max = (size_t)value;
    else if (strcmp(name, "idle_ms") == 0)
        config->isolate_idle_ms = value;
    else
        return false;
    return true;
}

static void configure(void *played, const char *name, const char *value)
{
    struct story *story = played;
    struct import_config *config = &story->config;

    if (configure_number(config, name, strtol(value, NULL, 10)))
        return;
    if (strcmp(name, "protocol") == 0)
        config->protocol = strcmp(value, "2025-11-25") == 0   ? IMPORT_PROTOCOL_LEGACY
                           : strcmp(value, "2026-07-28") == 0 ? IMPORT_PROTOCOL_MODERN
                                                              : IMPORT_PROTOCOL_AUTO;
    else if (strcmp(name, "once") == 0)
        config->once = true;
    else if (strcmp(name, "ask") == 0)
        config->ask_newest = strcmp(value, "newest") == 0;
    else if (strcmp(name, "terms") == 0)
        mcpx_text_puts(&story->terms, value);
    else if (strcmp(name, "roots") == 0)
        mcpx_text_puts(&story->roots, value);
    else if (strcmp(name, "capabilities") == 0)
        mcpx_text_puts(&story->capabilities, value);
    else
        cr_assert(false, "no such setting: %s", name);
}

static const char *happen(void *played, const char *in)
{
    struct story *story = played;

    story->config.roots = story->roots.text;
    story->config.capabilities = story->capabilities.text;
    if (!story->world)
        story->world = world_new(&story->config, story->terms.text);
    return world_happen(story->world, in);
}

static const struct player_side import = {"import", begin, configure, happen, end};

static const struct {
    const char *file;
    size_t stories;
} files[] = {
    {"life.txt", 15},  {"questions.txt", 6}, {"handshake.txt", 18}, {"almost.txt", 8},
    {"shares.txt", 4}, {"turns.txt", 6},     {"topics.txt", 5},     {"places.txt", 13},
    {"terms.txt", 15}, {"rounds.txt", 9},    {"tasks.txt", 4},      {"pins.txt", 8},
};

Test(import, does_what_is_written)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        play(&import, files[i].file, files[i].stories);
}

/* Processor time of a step in milliseconds, after `count` subscriptions of mallory. */
static double time_after(int count, const char *step)
{
    struct import_config config = {0};
    struct world *world = world_new(&config, NULL);
    char text[40];
    clock_t begin;

    snprintf(text, sizeof text, "subscribe %d", count);
    world_happen(world, "ready");
    world_happen(world, text);
    begin = clock();
    world_happen(world, step);
    world_happen(world, "wait 0");
    begin = clock() - begin;
    world_free(world);
    return (double)begin * 1000 / CLOCKS_PER_SEC;
}

static size_t count_unsubscribed(const char *out)
{
    size_t count = 0;

    for (; (out = strstr(out, "resources/unsubscribe")); out++)
        count++;
    return count;
}

Test(import, ends_every_subscription_of_who_leaves)
{
    struct import_config config = {0};
    struct world *world = world_new(&config, NULL);

    world_happen(world, "ready");
    world_happen(world, "subscribe 128");
    world_happen(world, "left mallory");
    cr_expect_eq(count_unsubscribed(world_happen(world, "wait 0")), 128);
    cr_expect_eq(count_unsubscribed(world_happen(world, "wait 1")), 0);
    world_free(world);
}

/* A leaver with thousands of subscriptions stops all. Other programs only make it longer. */
Test(import, ends_many_subscriptions_in_little_time)
{
    double many = 20;

    for (int i = 0; i < 9 && many >= 20; i++)
        many = time_after(2450, "left mallory");
    cr_expect_lt(many, 20, "%.1f ms", many);
}

/* Begins a task of that participant; `id` is its id, and 3 less than the request's number. */
static void begin_task(struct world *world, const char *who, int id)
{
    char text[200];

    snprintf(text, sizeof text,
             "request %s e%d {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"x\",\"task\":{}}}",
             who, id);
    world_happen(world, text);
    snprintf(
        text, sizeof text,
        "server {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"task\":{\"taskId\":\"%d\"}}}",
        id + 3, id);
    world_happen(world, text);
}

static bool knows_task(struct world *world, const char *who, int id)
{
    char text[200];

    snprintf(text, sizeof text,
             "request %s g%d {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\","
             "\"params\":{\"taskId\":\"%d\"}}",
             who, id, id);
    return strncmp(world_happen(world, text), "child", 5) == 0;
}

/* One who begins tasks without end must not end those of the others. */
Test(import, forgets_the_oldest_task_of_who_has_too_many)
{
    struct import_config config = {0};
    struct world *world = world_new(&config, NULL);

    world_happen(world, "ready");
    begin_task(world, "ann", 0);
    for (int id = 1; id <= 513; id++)
        begin_task(world, "mallory", id);
    cr_expect(knows_task(world, "ann", 0));
    cr_expect_not(knows_task(world, "mallory", 1));
    cr_expect(knows_task(world, "mallory", 2));
    world_free(world);
}
