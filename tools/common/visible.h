/*
 * visible.h - what others wrote, made safe to look at: nothing moves the cursor, nothing hides,
 * nothing turns around.
 */
#ifndef TOOLS_VISIBLE_H
#define TOOLS_VISIBLE_H

#include "lib/core/format.h"

/**
 * Appends text as one line for a terminal. Control characters (C0, DEL, C1), line and paragraph
 * separators, and characters that are invisible or change the direction of text are written as
 * JSON would escape them, "\u202e"; bytes that are no UTF-8 as "\xff". All else stands as it is,
 * so JSON text without white space between its tokens still means the same.
 */
void text_visible(struct mcpx_text *out, struct mcpx_slice text);

/** The same, and blanks other than the space of ASCII are escaped too: they look alike. */
void text_visible_exact(struct mcpx_text *out, struct mcpx_slice text);

/**
 * Appends a text that was composed for a terminal, or may end on one: the same, but what is below
 * 0x20 stands as it is, because layout and colours are ours. JSON keeps its meaning here too: its
 * strings hold no such byte.
 */
void text_shown(struct mcpx_text *out, struct mcpx_slice text);

/** Appends text made visible, keeping line ends and tabs. */
void text_lines(struct mcpx_text *out, struct mcpx_slice text);

/**
 * The same as text_visible, cut after about `columns` characters with "..." where something is missing. Escapes are
 * never cut.
 */
void text_visible_short(struct mcpx_text *out, struct mcpx_slice text, size_t columns);

/**
 * The same for a JSON value: a string as it reads, anything else as it stands; nothing for an
 * absent one.
 */
void text_visible_value(struct mcpx_text *out, struct mcpx_slice value, size_t columns);

/**
 * As mx_format, with texts made visible; a number is a number.
 *
 *     %s   as text_visible has it
 *     %x   as text_visible_exact has it
 *     %v   as text_visible_value has it, uncut
 */
#define text_format(out, format, ...)                                                         \
    text_format_pieces((out), (format),                                                       \
                       MX_NTH(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),                 \
                       (const struct mx_piece[]){MX_PIECES(__VA_ARGS__)})

/** The function behind text_format. */
void text_format_pieces(struct mcpx_text *out, const char *format, size_t count,
                        const struct mx_piece *pieces);

/**
 * Appends a JSON value laid out for people: a member or item per line, two spaces per level,
 * strings and numbers with their own bytes, made visible exactly. Empty arrays and objects stand on
 * one line. White space of the original is dropped, nothing else.
 *
 * value    well-formed JSON
 * indent   spaces before every line but the first
 */
void text_pretty(struct mcpx_text *out, struct mcpx_slice value, size_t indent);

/**
 * Appends a JSON value without white space between its tokens; not made visible.
 *
 * value   well-formed JSON
 */
void text_compact(struct mcpx_text *out, struct mcpx_slice value);

#endif
