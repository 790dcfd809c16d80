/*
 * colour.c - the usual rules about colours, and those of the eight colours of every terminal that
 * are used here.
 */
#include "tools/common/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_set(const char *variable, const char *unless)
{
    const char *value = getenv(variable);

    return value && value[0] && strcmp(value, unless) != 0;
}

bool colour_is_wanted(const char *option, bool tty)
{
    const char *term = getenv("TERM");

    if (option && strcmp(option, "auto") != 0)
        return strcmp(option, "always") == 0;
    if (is_set("NO_COLOR", ""))
        return false;
    return is_set("CLICOLOR_FORCE", "0") || (tty && !(term && strcmp(term, "dumb") == 0));
}

bool colour_for(const struct arguments *arguments)
{
    return colour_is_wanted(arguments_value(arguments, "--color"), isatty(STDOUT_FILENO));
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
