/*
 * Holds an import against its transcripts, which say what would break for whom. All stories that
 * differ are shown, with file and line. Issue: participants; protocol sections 2 and 6.
 */
#include "import_world.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LETS_MAX = 16 };

struct player {
    const char *file;
    char story[120];
    size_t line, in_line, stories;
    struct import_config config;
    struct world *world; /* NULL until something happens in the story */
    struct mcpx_text in, expected, unfolded, config_text, terms;
    struct {
        char name[32];
        struct mcpx_text text;
    } lets[LETS_MAX];
    size_t let_count;
};

static void add_let(struct player *player, const char *name, struct mcpx_slice text)
{
    cr_assert_lt(player->let_count, LETS_MAX);
    snprintf(player->lets[player->let_count].name, 32, "%s", name);
    mcpx_text_slice(&player->lets[player->let_count++].text, text);
}

/* What $NAME stands for; `at` points behind the dollar and is moved behind the name. */
static struct mcpx_slice let_at(const struct player *player, const char **at)
{
    size_t len = 0;

    while (isupper((unsigned char)(*at)[len]) || isdigit((unsigned char)(*at)[len]) ||
           (*at)[len] == '_')
        len++;
    for (size_t i = 0; i < player->let_count; i++)
        if (strlen(player->lets[i].name) == len &&
            memcmp(player->lets[i].name, *at, len) == 0) {
            *at += len;
            return mcpx_text_view(&player->lets[i].text);
        }
    cr_assert(false, "%s:%zu: no such name: %.*s", player->file, player->line, (int)len, *at);
    return (struct mcpx_slice){0};
}

static const char *unfold(struct player *player, const char *text)
{
    mcpx_text_reset(&player->unfolded);
    mcpx_text_puts(&player->unfolded, "");
    while (*text) {
        char byte = *text++;

        if (byte == '@')
            mcpx_text_puts(&player->unfolded, "\"jsonrpc\":\"2.0\"");
        else if (byte == '$')
            mcpx_text_slice(&player->unfolded, let_at(player, &text));
        else
            mcpx_text_add(&player->unfolded, &byte, 1);
    }
    return player->unfolded.text;
}

/* Lets the step that was read happen, now that all it should lead to has been read as well. */
static void step(struct player *player)
{
    const char *out;

    if (player->in.len == 0)
        return;
    if (!player->world)
        player->world = world_new(&player->config, player->terms.text);
    out = world_happen(player->world, player->in.text);
    cr_expect_str_eq(out, player->expected.len ? player->expected.text : "",
                     "%s:%zu: %s\n%s\n  should lead to\n%s  and led to\n%s", player->file,
                     player->in_line, player->story, player->in.text,
                     player->expected.len ? player->expected.text : "  nothing\n",
                     *out ? out : "  nothing\n");
    mcpx_text_reset(&player->in);
    mcpx_text_reset(&player->expected);
}

static void begin(struct player *player, const char *story)
{
    step(player);
    world_free(player->world);
    player->world = NULL;
    player->config = (struct import_config){0};
    mcpx_text_fini(&player->terms);
    player->stories++;
    snprintf(player->story, sizeof player->story, "%.100s", story);
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

static void configure(struct player *player, const char *name, const char *value)
{
    if (configure_number(&player->config, name, strtol(value, NULL, 10)))
        return;
    if (strcmp(name, "protocol") == 0) {
        player->config.protocol = strcmp(value, "2025-11-25") == 0   ? IMPORT_PROTOCOL_LEGACY
                                  : strcmp(value, "2026-07-28") == 0 ? IMPORT_PROTOCOL_MODERN
                                                                     : IMPORT_PROTOCOL_AUTO;
        return;
    }
    if (strcmp(name, "once") == 0) {
        player->config.once = true;
        return;
    }
    if (strcmp(name, "ask") == 0) {
        player->config.ask_newest = strcmp(value, "newest") == 0;
        return;
    }
    if (strcmp(name, "terms") == 0) {
        mcpx_text_puts(&player->terms, value);
        return;
    }
    mcpx_text_reset(&player->config_text);
    mcpx_text_puts(&player->config_text, value);
    if (strcmp(name, "roots") == 0) {
        player->config.roots = player->config_text.text;
        return;
    }
    cr_assert_str_eq(name, "capabilities");
    player->config.capabilities = player->config_text.text;
}

static void read_line(struct player *player, char *line)
{
    char name[32] = "";
    int rest = 0;

    if (!*line || *line == '#')
        return;
    if (sscanf(line, "let %31s %n", name, &rest) == 1)
        add_let(player, name, mcpx_slice_of(unfold(player, line + rest)));
    else if (sscanf(line, "with %31s %n", name, &rest) == 1)
        configure(player, name, unfold(player, line + rest));
    else if (strncmp(line, "story ", 6) == 0)
        begin(player, line + 6);
    else if (strncmp(line, "> ", 2) == 0) {
        step(player);
        player->in_line = player->line;
        mcpx_text_puts(&player->in, unfold(player, line + 2));
    } else {
        mcpx_text_puts(&player->expected, unfold(player, line));
        mcpx_text_puts(&player->expected, "\n");
    }
}

static void play(const char *file, size_t stories)
{
    struct player player = {.file = file};
    char path[512], line[4096];
    FILE *stream;

    snprintf(path, sizeof path, "%s/tests/unit/tools/import/%s", getenv("MCPX_SOURCE_DIR"),
             file);
    stream = fopen(path, "r");
    cr_assert(stream, "cannot read %s", path);
    add_let(&player, "VERSION", mcpx_slice_of(mcpx_version()));
    add_let(&player, "CR", MCPX_SLICE("\r"));
    add_let(&player, "LF", MCPX_SLICE("\n"));
    add_let(&player, "ESC", MCPX_SLICE("\x1b"));
    while (fgets(line, sizeof line, stream)) {
        player.line++;
        line[strcspn(line, "\n")] = '\0';
        read_line(&player, line);
    }
    fclose(stream);
    step(&player);
    world_free(player.world);
    cr_expect_geq(player.stories, stories, "%s has %zu stories", file, player.stories);
    for (size_t i = 0; i < player.let_count; i++)
        mcpx_text_fini(&player.lets[i].text);
    mcpx_text_fini(&player.in);
    mcpx_text_fini(&player.expected);
    mcpx_text_fini(&player.unfolded);
    mcpx_text_fini(&player.config_text);
    mcpx_text_fini(&player.terms);
}

Test(import, serves_a_table_as_written)
{
    play("life.txt", 15);
}

Test(import, asks_for_its_server_as_written)
{
    play("questions.txt", 6);
}

Test(import, meets_servers_of_both_eras_as_written)
{
    play("eras.txt", 15);
}

Test(import, reads_what_is_almost_json_as_written)
{
    play("almost.txt", 8);
}

Test(import, gives_everybody_a_share_as_written)
{
    play("shares.txt", 4);
}

Test(import, lets_receivers_take_turns_as_written)
{
    play("turns.txt", 6);
}

Test(import, sits_at_several_tables_as_written)
{
    play("topics.txt", 4);
}

Test(import, keeps_participants_apart_as_written)
{
    play("places.txt", 9);
}

Test(import, keeps_its_terms_as_written)
{
    play("terms.txt", 15);
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
    begin = clock() - begin;
    world_free(world);
    return (double)begin * 1000 / CLOCKS_PER_SEC;
}

static size_t count_unsubscribed(const char *out)
{
    size_t count = 0;

    while ((out = strstr(out, "resources/unsubscribe"))) {
        count++;
        out++;
    }
    return count;
}

Test(import, ends_every_subscription_of_who_leaves)
{
    struct import_config config = {0};
    struct world *world = world_new(&config, NULL);

    world_happen(world, "ready");
    world_happen(world, "subscribe 128");
    cr_expect_eq(count_unsubscribed(world_happen(world, "left mallory")), 64);
    cr_expect_eq(count_unsubscribed(world_happen(world, "wait 1")), 64);
    cr_expect_eq(count_unsubscribed(world_happen(world, "wait 1")), 0);
    world_free(world);
}

/* One who leaves with thousands of subscriptions stops the bridge for everybody. */
Test(import, ends_many_subscriptions_a_few_at_a_time)
{
    double many = time_after(2450, "left mallory");

    cr_expect_lt(many, 20, "%.1f ms", many);
}
