/*
 * fuzz_config.c - any bytes as a configuration file. Either it is taken and complete, or there
 * is at least one line that says why not. docs/configuration.md is what is promised. Behind a line
 * `---` stands the file that a reload finds in its place; without one that is the same.
 */
#define _GNU_SOURCE /* memmem */
#include "lib/base/scoped.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/tokens.h"
#include "tests/fuzz/fuzz.h"
#include <mcpx/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void fill(void *context, void *bytes, size_t len)
{
    (void)context;
    memset(bytes, 7, len);
}

static char path[] = "/tmp/mcpx-fuzz-config-XXXXXX";

static void remove_file(void)
{
    unlink(path);
}

static void write_file(struct mcpx_slice text)
{
    static bool made;
    FILE *file;

    if (!made) {
        int fd = mkstemp(path);

        if (fd < 0 || atexit(remove_file) != 0)
            abort();
        close(fd);
        made = true;
    }
    file = fopen(path, "w");
    if (!file || fwrite(text.text, 1, text.len, file) != text.len || fclose(file) != 0)
        abort();
}

/* Takes it and is complete, or says why not. */
static bool load(struct mcpx_slice text, const struct config *before, struct config *config)
{
    struct config_sources sources = {.file = path, .chance = {fill, NULL}, .before = before};
    struct mcpx_text errors = {0};
    enum mcpx_err err;

    write_file(text);
    err = config_load(&sources, &errors, config);
    if ((err == MCPX_OK) != (errors.len == 0) || (err && err != MCPX_ECONFIG))
        abort();
    if (!err &&
        (!config->tokens || config->listen_count == 0 || config->hub.history_bytes == 0))
        abort();
    if (err && errors.text[errors.len - 1] != '\n')
        abort();
    mcpx_text_fini(&errors);
    return !err;
}

static void insist_json(const struct mcpx_text *text)
{
    struct mcpx_slice value;

    if (text->failed || mcpx_json_check(mcpx_text_view(text), 0, &value, NULL))
        abort();
}

/* How many have changed; every row is JSON. */
static size_t count_changes(const struct config *before, const struct config *after,
                            size_t counts[3])
{
    struct difference difference = {0};
    struct mcpx_text rows = {0};
    size_t count;

    if (difference_find(before->tokens, after->tokens, &difference))
        abort();
    count = difference.count;
    if (difference_write(&difference, SIZE_MAX, &rows) != count)
        abort();
    insist_json(&rows);
    memcpy(counts, difference.counts, sizeof difference.counts);
    difference_fini(&difference);
    mcpx_text_fini(&rows);
    return count;
}

/* What a reload tells: of equal policies nothing, and backwards the opposite. */
static void compare(const struct config *before, const struct config *after)
{
    mx_scoped_text errors = {0}, settings = {0};
    size_t there[3], back[3], count = count_changes(before, after, there);
    bool live = config_compare(before, after, &errors, &settings);

    if (live != (errors.len == 0))
        abort();
    insist_json(&settings);
    if (count != count_changes(after, before, back) ||
        there[DIFFERENCE_ADDED] != back[DIFFERENCE_REMOVED] ||
        there[DIFFERENCE_REMOVED] != back[DIFFERENCE_ADDED] ||
        there[DIFFERENCE_CHANGED] != back[DIFFERENCE_CHANGED])
        abort();
    if (count > 0 && strcmp(before->rev, after->rev) == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n---\n";
    struct mcpx_slice first = {(const char *)data, size}, second = first;
    const char *between = memmem(data, size, mark, sizeof mark - 1);
    struct config before = {0}, after = {0};

    if (between) {
        first.len = (size_t)(between - first.text);
        second.text = between + sizeof mark - 1;
        second.len = size - first.len - (sizeof mark - 1);
    }
    if (load(first, NULL, &before) && load(second, &before, &after))
        compare(&before, &after);
    config_fini(&after);
    config_fini(&before);
    return 0;
}
