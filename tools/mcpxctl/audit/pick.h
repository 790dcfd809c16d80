/*
 * pick.h - which lines of an audit somebody wants to see.
 */
#ifndef MCPXCTL_AUDIT_PICK_H
#define MCPXCTL_AUDIT_PICK_H

#include "router/store/audit_line.h"
#include "tools/mcpxctl/filter.h"

/** Sorts of lines that can be asked for at once. */
enum { PICK_SORTS_MAX = AUDIT_OTHER };

/**
 * A choice. Zero-initialised picks all lines.
 *
 * filter             kinds and sender
 * topic              absent = all
 * what, what_count   names of sorts; none = all
 * since_ms           lines of this instant and later
 * until_ms           lines before this instant; 0 = no end
 */
struct pick {
    struct filter filter;
    struct mcpx_slice topic;
    struct mcpx_slice what[PICK_SORTS_MAX];
    size_t what_count;
    int64_t since_ms, until_ms;
};

/**
 * Reads --kind, --from, --topic, --what, --since and --until. Returns STATUS_OK or an exit code,
 * having complained. pick_fini is due in any case.
 */
int pick_read(const struct arguments *arguments, struct pick *out);

/** Frees what it holds. */
void pick_fini(struct pick *pick);

/** True when the line is wanted. A line without a kind is none of any kind. */
bool pick_takes(const struct pick *pick, const struct audit_line *line);

/** Appends a member's text, unescaped; nothing when it is absent or no string. */
void pick_text(struct mcpx_text *out, const struct audit_line *line, const char *name);

#endif
