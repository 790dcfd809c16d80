/* line.h - envelopes for a reader: a filter, and each on a line. */
#ifndef MCPXCTL_LINE_H
#define MCPXCTL_LINE_H

#include "lib/protocol/pattern.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/snapshot.h"

#include <mcpx/envelope.h>

/** A filter of envelopes. Zero-initialised lets everything pass. */
struct filter {
    bool by_kind;
    struct mx_pattern kinds; /* covers the kinds wanted, when `by_kind` */
    struct mcpx_slice from;  /* the only sender wanted; absent = all */
};

/**
 * Makes a filter. A pattern means the same as in a grant (protocol section 3), but it covers the
 * router's own kinds too.
 *
 * pattern   NULL = all kinds; borrowed
 * from      NULL = all senders; else this one and its instances; borrowed
 *
 * Returns as mx_pattern_parse.
 */
enum mcpx_err filter_make(const char *pattern, const char *from, struct mcpx_fault *fault,
                          struct filter *out);

/** Makes the filter of --kind and --from; ends the program for a bad pattern. */
void filter_read(const struct arguments *arguments, struct filter *out);

bool filter_passes_from(const struct filter *filter, struct mcpx_slice from);

/** True when an envelope with this kind and sender passes. */
bool filter_passes(const struct filter *filter, const struct mcpx_kind *kind,
                   struct mcpx_slice from);

/** True when standard output has colours, according to --color. */
bool colour_for(const struct arguments *arguments);

struct line_style {
    bool json;          /* the envelope's own bytes; of those below only `digest` counts */
    bool colour;        /* with colours */
    bool past;          /* dimmed: history */
    size_t columns;     /* characters of a payload to show */
    size_t brief;       /* bytes of the id to show; 0 = all */
    const char *digest; /* shown behind the id, as ID@DIGEST; NULL = none */
    int64_t until_ms;   /* shown before the payload, if it is one: not 0, INT64_MAX */
};

/** The style for --json and --color. */
struct line_style line_style_of(const struct arguments *arguments);

/**
 * Appends "03:10:00 ID  from -> to  kind  payload" and a newline. Times are local; all text of
 * participants is made visible (visible.h). A chat shows its text; a JSON-RPC message shows the
 * arguments, the result's text or the error's message.
 *
 * warning   a sentence to put before the payload; NULL = none
 */
void line_write(struct mcpx_text *out, const struct entry *entry,
                const struct line_style *style, const char *warning);

/** Appends an envelope without line ends: white space that ends lines becomes blanks. */
void envelope_write_json(struct mcpx_text *out, struct mcpx_slice envelope);

/** Appends "HH:MM:SS" in local time, or "--:--:--" for -1. */
void time_write(struct mcpx_text *out, int64_t at_ms);

/** Appends addressees as people read them: "everyone", or ids separated by ", ". */
void addressees_write(struct mcpx_text *out, const struct mcpx_slice *to, size_t count);

/** Appends the most telling part of a payload, compact and made visible. */
void gist_write(struct mcpx_text *out, const struct entry *entry, size_t columns);

#endif
