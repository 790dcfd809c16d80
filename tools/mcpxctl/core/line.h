/*
 * line.h - envelopes for a reader: which of them, and each on a line.
 */
#ifndef MCPXCTL_LINE_H
#define MCPXCTL_LINE_H

#include "lib/protocol/pattern.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/snapshot.h"

#include <mcpx/envelope.h>

/** A choice. Zero-initialised lets everything pass. */
struct filter {
    bool by_kind;
    struct mx_pattern kinds; /* covers the kinds wanted, when `by_kind` */
    struct mcpx_slice from;  /* the only sender wanted; absent = all */
};

/**
 * Makes a filter. A pattern means what it means in a grant (protocol section 3), except that it
 * covers the router's own kinds too.
 *
 * pattern   NULL = all kinds; borrowed
 * from      NULL = all senders; else this one and its instances; borrowed
 *
 * Returns as mx_pattern_parse.
 */
enum mcpx_err filter_make(const char *pattern, const char *from, struct mcpx_fault *fault,
                          struct filter *out);

/**
 * Makes the filter that --kind and --from ask for. Returns STATUS_OK; STATUS_USAGE, having
 * complained.
 */
int filter_read(const struct arguments *arguments, struct filter *out);

/** Whether the sender passes. */
bool filter_passes_from(const struct filter *filter, struct mcpx_slice from);

/** Whether the envelope with this kind and sender passes. */
bool filter_passes(const struct filter *filter, const struct mcpx_kind *kind,
                   struct mcpx_slice from);

/** Whether standard output has colours, as --color asks. */
bool colour_for(const struct arguments *arguments);

/** How lines look. */
struct line_style {
    bool json;          /* as it came, in place of all below but `digest` */
    bool colour;        /* with colours */
    bool past;          /* dimmed: history */
    size_t columns;     /* characters of a payload to show */
    size_t brief;       /* bytes of the id to show; 0 = all */
    const char *digest; /* shown behind the id, as ID@DIGEST; NULL = none */
    int64_t until_ms;   /* shown before the payload, when > 0 */
};

/** What --json and --color ask for. */
struct line_style line_style_of(const struct arguments *arguments);

/**
 * Appends "03:10:00 ID  from -> to  kind  payload" and a newline. Times are local; all that
 * participants wrote is made visible (visible.h). Of a chat with a text the text is shown, of a
 * JSON-RPC message what its kind does not say: arguments, the result's text, the error's message.
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

/** Appends the part of a payload that tells most, compact and made visible. */
void gist_write(struct mcpx_text *out, const struct entry *entry, size_t columns);

#endif
