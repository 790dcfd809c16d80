/*
 * audit.h - the lines of an audit: which somebody wants to see, which belong to one envelope, and
 * how each is shown: docs/audit.md.
 */
#ifndef MCPXCTL_AUDIT_AUDIT_H
#define MCPXCTL_AUDIT_AUDIT_H

#include "lib/base/map.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/audit/audit_verify.h"
#include "tools/mcpxctl/core/line.h"

/** Sorts of lines that can be asked for at once. */
enum { PICK_SORTS_MAX = AUDIT_OTHER };

/** A choice. Zero-initialised picks all lines. */
struct pick {
    struct filter filter;    /* kinds and sender */
    struct mcpx_slice topic; /* absent = all */
    /* `what`, `what_count`: names of sorts; none = all. */
    struct mcpx_slice what[PICK_SORTS_MAX];
    size_t what_count;
    int64_t since_ms; /* lines of this instant and later */
    int64_t until_ms; /* lines before this instant; 0 = no end */
};

/**
 * Reads --kind, --from, --topic, --what, --since and --until. Returns STATUS_OK or an exit code,
 * having complained.
 */
int pick_read(const struct arguments *arguments, struct pick *out);

/** True when the line is wanted. A line without a kind is none of any kind. */
bool pick_takes(const struct pick *pick, const struct audit_line *line);

/** The kind in a line, else the one that was sent; absent when there is none. */
struct mcpx_slice pick_kind(const struct audit_line *line);

/** How many times all lines are shown at most: an envelope so many answers back is not found. */
enum { FOLLOW_PASSES = 64 };

/** What belongs together. Zero-initialised is ready for follow_add. */
struct follow {
    struct mx_map ids;   /* hashes of envelopes' ids */
    struct mx_map lines; /* hashes of the numbers of their lines */
    bool grown;          /* something was added since this was last set to false */
};

/** Adds an envelope by its id. */
void follow_add(struct follow *follow, struct mcpx_slice id);

/** Learns from a line which other envelopes belong to those that are known. */
void follow_learn(struct follow *follow, const struct audit_line *line);

/** Another folder begins, whose lines have numbers of their own. */
void follow_next_folder(struct follow *follow);

/** True when the line belongs to one of the envelopes. Lines are shown in order. */
bool follow_takes(struct follow *follow, const struct audit_line *line);

/** Frees what it holds. */
void follow_fini(struct follow *follow);

/** Appends a line as a sentence of a few words, made visible, with its line end. */
void shown_line(struct mcpx_text *out, const struct audit_line *line);

/**
 * Appends what verify found, for people or as one JSON object.
 *
 * folder   as it was named
 * file     name of the file that the verdict means; "" when there is no damage
 */
void shown_verdict(struct mcpx_text *out, const struct audit_verdict *verdict, bool json,
                   const char *folder, const char *file);

/** A form. */
enum export_form { EXPORT_JSON, EXPORT_CSV, EXPORT_CLOUDEVENTS, EXPORT_OCSF };

/** The form of that name, as --format lists them. `name` is one of them. */
enum export_form export_form_of(const char *name);

/** Appends what stands before all lines: the names of CSV's columns; nothing for other forms. */
void export_head(struct mcpx_text *out, enum export_form form);

/**
 * Appends a line with its end.
 *
 * source   of CloudEvents: a URI reference
 */
void export_line(struct mcpx_text *out, enum export_form form, const struct audit_line *line,
                 struct mcpx_slice source);

#endif
