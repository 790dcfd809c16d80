/*
 * colour.h - whether output has colours, and which.
 */
#ifndef TOOLS_COLOUR_H
#define TOOLS_COLOUR_H

#include "tools/common/command.h"

#include <mcpx/text.h>

/** The row of --color, for a list of options. */
#define COLOUR_OPTION                                                                         \
    OPTION("--color", "auto|always|never", VALUE_CHOICE, 0,                                   \
           "colours; auto, the default, means on a terminal, unless NO_COLOR is set or "      \
           "CLICOLOR_FORCE is")

/**
 * Whether output to a terminal (`tty`), or to something else, has colours, with that value of
 * --color or NULL. The first of these that applies decides:
 *
 *   --color always, --color never
 *   a NO_COLOR that is not empty: no
 *   a CLICOLOR_FORCE that is neither empty nor "0": yes
 *   otherwise: yes for a terminal that is not "dumb"
 */
bool colour_is_wanted(const char *option, bool tty);

/** The same for standard output and this command line. */
bool colour_for(const struct arguments *arguments);

/** What a piece of text is; each has its own colour. */
enum paint {
    PAINT_NONE,
    PAINT_DIM,
    PAINT_NAME,
    PAINT_REQUEST,
    PAINT_RESPONSE,
    PAINT_PROPOSAL,
    PAINT_BAD,
    PAINT_COUNT
};

/** Appends the sequence that starts a paint; nothing when `on` is false or for PAINT_NONE. */
void paint_begin(struct mcpx_text *out, enum paint paint, bool on);

/** Appends the sequence that ends it. */
void paint_end(struct mcpx_text *out, enum paint paint, bool on);

#endif
