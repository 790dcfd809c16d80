/*
 * settled.c - tests state a configuration as text and compare lines. The file's random path
 * would make every expected line different, so it is replaced by a fixed word.
 */
#include "tests/support/settled.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* 2026-11-22T00:00:00Z: dates in the texts of tests lie before or after it for ever. */
static const int64_t test_wall_ms = 1795305600000;

static void fill(void *context, void *bytes, size_t len)
{
    static unsigned char next;

    (void)context;
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] = next++;
}

struct chance settled_chance(void)
{
    return (struct chance){fill, NULL};
}

/* Every occurrence of the path becomes FILE. */
static void hide_path(struct mcpx_text *text, const char *path)
{
    struct mcpx_text out = {0};
    const char *at = text->text ? text->text : "";
    const char *found;

    while ((found = strstr(at, path))) {
        mcpx_text_add(&out, at, (size_t)(found - at));
        mcpx_text_puts(&out, "FILE");
        at = found + strlen(path);
    }
    mcpx_text_puts(&out, at);
    mcpx_text_fini(text);
    *text = out;
}

struct settled settled_load_from(const char *text, struct config_sources sources)
{
    struct settled settled = {0};
    char path[] = "/tmp/mcpx-config-XXXXXX";

    if (text) {
        int fd = mkstemp(path);
        FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

        if (!file || fputs(text, file) < 0 || fclose(file) != 0)
            abort();
        sources.file = path;
    }
    sources.chance = settled_chance();
    sources.wall_ms = test_wall_ms;
    settled.err = config_load(&sources, &settled.errors, &settled.config);
    hide_path(&settled.errors, path);
    if (!settled.err)
        hide_path(&settled.config.warnings, path);
    if (text)
        unlink(path);
    return settled;
}

struct settled settled_load(const char *text, const char *const *environment, bool dev)
{
    return settled_load_from(text,
                             (struct config_sources){.environment = environment, .dev = dev});
}

void settled_fini(struct settled *settled)
{
    config_fini(&settled->config);
    mcpx_text_fini(&settled->errors);
}

const char *settled_warnings(struct settled *settled)
{
    return settled->config.warnings.text;
}
