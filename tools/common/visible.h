/*
 * visible.h - text from others, made safe for a terminal: nothing moves the cursor, is hidden, or
 * changes the direction of text. Colours of output.
 */
#ifndef TOOLS_VISIBLE_H
#define TOOLS_VISIBLE_H

#include "lib/json/json_write.h"

/**
 * Appends text as one line for a terminal. Control characters (C0, DEL, C1), line and paragraph
 * separators, invisible characters and those that change the direction of text become escapes of
 * JSON, "\u202e". Bytes that are not UTF-8 become "\xff". Everything else is unchanged, so JSON
 * text without white space between its tokens still means the same.
 */
void text_visible(struct mcpx_text *out, struct mcpx_slice text);

/**
 * The same as text_visible, for a text that this program composed for a terminal. Bytes below 0x20
 * are unchanged, because they are our own layout and colours. JSON keeps its meaning here too: its
 * strings have no such byte.
 */
void text_shown(struct mcpx_text *out, struct mcpx_slice text);

/**
 * Appends the items of an array, or their `member`, made visible, with commas, behind `before`.
 * Returns false, and appends nothing, when there is none.
 */
bool text_list(struct mcpx_text *out, const char *before, struct mcpx_slice array,
               const char *member);

/** The same as text_visible, but line ends and tabs are unchanged. */
void text_lines(struct mcpx_text *out, struct mcpx_slice text);

/**
 * The same as text_visible, cut after about `columns` characters. "..." shows that something is
 * missing. Escapes are never cut.
 */
void text_visible_short(struct mcpx_text *out, struct mcpx_slice text, size_t columns);

/**
 * The same for a JSON value. A string is shown without quotes and escapes, anything else with its
 * own bytes. For an absent value nothing is appended.
 */
void text_visible_value(struct mcpx_text *out, struct mcpx_slice value, size_t columns);

/**
 * As mx_format, but texts are made visible; numbers and %q are written as mx_format writes them.
 *
 *     %s   as text_visible does
 *     %x   the same, and blanks other than the space of ASCII are escaped: they look alike
 *     %v   as text_visible_value does, without a cut
 */
#define text_format(out, format, ...)                                                         \
    text_format_pieces((out), (format),                                                       \
                       MX_NTH(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),                 \
                       (const struct mx_piece[]){MX_PIECES(__VA_ARGS__)})

/** Appends a member of an object by a format with one argument; nothing when it is absent. */
void text_member(struct mcpx_text *out, const char *format, struct mcpx_slice object,
                 const char *name);

/** The function behind text_format. */
void text_format_pieces(struct mcpx_text *out, const char *format, size_t count,
                        const struct mx_piece *pieces);

/**
 * Appends a JSON value in a layout for people: a member or item per line, two spaces per level.
 * Strings and numbers keep their own bytes, escaped as by %x. Empty arrays and
 * objects are on one line. White space of the original is left out, nothing else.
 *
 * value    well-formed JSON
 * indent   spaces before every line but the first
 */
void text_pretty(struct mcpx_text *out, struct mcpx_slice value, size_t indent);

/** Appends a well-formed JSON value without white space between tokens; not made visible. */
void text_compact(struct mcpx_text *out, struct mcpx_slice value);

/* ---- colours ---- */

/** The row of --color, for a list of options. */
#define COLOUR_OPTION                                                                         \
    OPTION("--color", "auto|always|never", VALUE_CHOICE, 0,                                   \
           "colours; auto, the default, means on a terminal, unless NO_COLOR is set or "      \
           "CLICOLOR_FORCE is")

/**
 * True when output has colours. `tty`: it goes to a terminal; `option`: the value of --color, or
 * NULL. The first of these decides:
 *
 *   --color always, --color never
 *   NO_COLOR, not empty: no
 *   CLICOLOR_FORCE, neither empty nor "0": yes
 *   otherwise: yes for a terminal other than "dumb"
 */
bool colour_is_wanted(const char *option, bool tty);

/** Sorts of text with a colour each. */
enum paint {
    PAINT_NONE,
    PAINT_DIM,
    PAINT_NAME,
    PAINT_REQUEST,
    PAINT_RESPONSE,
    PAINT_PROPOSAL,
    PAINT_BAD
};

/** Append the sequence that starts or ends a paint; nothing unless `on`, and for PAINT_NONE. */
void paint_begin(struct mcpx_text *out, enum paint paint, bool on);
void paint_end(struct mcpx_text *out, enum paint paint, bool on);

/** Appends a text between these sequences, made visible. */
void text_painted(struct mcpx_text *out, enum paint paint, bool on, struct mcpx_slice text);

#endif
