/*
 * player.c - see player.h. A step is compared when the next one begins, so that all that it should
 * lead to has been read.
 */
#include "player.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <mcpx/base.h>
#include <mcpx/text.h>
#include <stdio.h>
#include <stdlib.h>

enum { LETS_MAX = 24 };

struct player {
    const struct player_side *side;
    const char *file;
    char story[120];
    size_t line, in_line, stories;
    void *played; /* NULL before the first story */
    struct mcpx_text in, expected, unfolded;
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
    out = player->side->happen(player->played, player->in.text);
    if (!out)
        out = "";
    cr_expect_str_eq(out, player->expected.len ? player->expected.text : "",
                     "%s:%zu: %s\n%s\n  should lead to\n%s  and led to\n%s", player->file,
                     player->in_line, player->story, player->in.text,
                     player->expected.len ? player->expected.text : "  nothing\n",
                     *out ? out : "  nothing\n");
    mcpx_text_reset(&player->in);
    mcpx_text_reset(&player->expected);
}

static void end(struct player *player)
{
    step(player);
    if (player->played)
        player->side->end(player->played);
    player->played = NULL;
}

static void begin(struct player *player, const char *story)
{
    end(player);
    player->played = player->side->begin();
    player->stories++;
    snprintf(player->story, sizeof player->story, "%.100s", story);
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
        player->side->configure(player->played, name, unfold(player, line + rest));
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

void play(const struct player_side *side, const char *file, size_t stories)
{
    struct player player = {.side = side, .file = file};
    char path[512], line[4096];
    FILE *stream;

    snprintf(path, sizeof path, "%s/tests/unit/tools/%s/%s", getenv("MCPX_SOURCE_DIR"),
             side->folder, file);
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
    end(&player);
    cr_expect_geq(player.stories, stories, "%s has %zu stories", file, player.stories);
    for (size_t i = 0; i < player.let_count; i++)
        mcpx_text_fini(&player.lets[i].text);
    mcpx_text_fini(&player.in);
    mcpx_text_fini(&player.expected);
    mcpx_text_fini(&player.unfolded);
}
