/*
 * audit.h - the lines of an audit: a filter, the lines of one envelope, and the formats of output:
 * docs/audit.md.
 */
#ifndef MCPXCTL_AUDIT_AUDIT_H
#define MCPXCTL_AUDIT_AUDIT_H

#include "lib/base/map.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/audit/audit_verify.h"
#include "tools/mcpxctl/core/line.h"

/** A filter of lines. Zero-initialised picks all. */
struct pick {
    struct filter filter;    /* kinds and sender */
    struct mcpx_slice topic; /* absent = all */
    bool by_sort;            /* only the sorts that are true in `sorts` */
    bool sorts[AUDIT_OTHER + 1];
    int64_t since_ms; /* lines of this instant and later */
    int64_t until_ms; /* lines before this instant; 0 = no end */
};

/** Reads --kind, --from, --topic, --what, --since and --until; ends the program for bad ones. */
void pick_read(const struct arguments *arguments, struct pick *out);

/** True when the line passes. A line without a kind does not pass a filter of kinds. */
bool pick_takes(const struct pick *pick, const struct audit_line *line);

/** The `kind` of a line, else its `kind_sent`; absent when it has neither. */
struct mcpx_slice pick_kind(const struct audit_line *line);

/** Limit of the passes over all lines. A chain of more answers is not followed to its end. */
enum { FOLLOW_PASSES = 64 };

/** The envelopes that belong together. Zero-initialised is ready for follow_add. */
struct follow {
    struct mx_map ids;   /* hashes of envelopes' ids */
    struct mx_map lines; /* hashes of the numbers of their lines */
    bool grown;          /* something was added since this was last set to false */
};

void follow_add(struct follow *follow, struct mcpx_slice id);

/** Learns more of these envelopes from a line. */
void follow_learn(struct follow *follow, const struct audit_line *line);

/** Begins another folder: its lines have numbers of their own. */
void follow_next_folder(struct follow *follow);

/** True when the line belongs to one of the envelopes. Call it with the lines in order. */
bool follow_takes(struct follow *follow, const struct audit_line *line);

void follow_fini(struct follow *follow);

/**
 * Appends the verdict of verify, for people or as one JSON object.
 *
 * folder   as on the command line
 * file     name of the damaged file; "" without damage
 */
void show_verdict(struct mcpx_text *out, const struct audit_verdict *verdict, bool json,
                  const char *folder, const char *file);

/**
 * A format of lines, in the order of the choices of --format; then the one for people, a sentence
 * of a few words, made visible.
 */
enum export_form { EXPORT_JSON, EXPORT_CSV, EXPORT_CLOUDEVENTS, EXPORT_OCSF, EXPORT_SENTENCE };

/** Appends the head of all lines: the names of CSV's columns; nothing for other forms. */
void export_head(struct mcpx_text *out, enum export_form form);

/** Appends a line with its end. `source` of CloudEvents: a URI reference. */
void export_line(struct mcpx_text *out, enum export_form form, const struct audit_line *line,
                 struct mcpx_slice source);

#endif
