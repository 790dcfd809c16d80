/*
 * colour.c - the usual rules about colours, and those of the eight colours of every terminal that
 * are used here.
 */
#include "tools/common/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_set(const char *value)
{
    return value && value[0];
}

bool colour_is_wanted(const struct colour_reasons *reasons)
{
    if (reasons->option && strcmp(reasons->option, "always") == 0)
        return true;
    if (reasons->option && strcmp(reasons->option, "never") == 0)
        return false;
    if (is_set(reasons->no_color))
        return false;
    if (is_set(reasons->clicolor_force) && strcmp(reasons->clicolor_force, "0") != 0)
        return true;
    return reasons->tty && !(reasons->term && strcmp(reasons->term, "dumb") == 0);
}

bool colour_for(const struct arguments *arguments)
{
    struct colour_reasons reasons = {
        .option = arguments_value(arguments, "--color"),
        .no_color = getenv("NO_COLOR"),
        .clicolor_force = getenv("CLICOLOR_FORCE"),
        .term = getenv("TERM"),
        .tty = isatty(STDOUT_FILENO),
    };

    return colour_is_wanted(&reasons);
}

static const char *const sequences[PAINT_COUNT] = {
    [PAINT_NONE] = "",
    [PAINT_DIM] = "\x1b[2m",
    [PAINT_NAME] = "\x1b[1m",
    [PAINT_REQUEST] = "\x1b[36m",
    [PAINT_RESPONSE] = "\x1b[32m",
    [PAINT_PROPOSAL] = "\x1b[33m",
    [PAINT_BAD] = "\x1b[31m",
};

void paint_begin(struct mcpx_text *out, enum paint paint, bool on)
{
    if (on)
        mcpx_text_puts(out, sequences[paint]);
}

void paint_end(struct mcpx_text *out, enum paint paint, bool on)
{
    if (on && paint != PAINT_NONE)
        mcpx_text_puts(out, "\x1b[0m");
}
