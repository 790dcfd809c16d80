/*
 * audit_told.c - one allocation for a note and all of its texts. They are cut here already, and
 * not only where the line is written, because what waits counts.
 */
#include "router/store/edge/audit_told.h"

#include "router/store/audit_line.h"
#include "router/store/edge/audit.h"

#include <stdlib.h>

#define TEXT(member) offsetof(struct audit_note, member)

/* Texts of a note; not the envelope, which only submissions have. */
static const size_t texts[] = {
    TEXT(topic), TEXT(from),  TEXT(kind_sent), TEXT(kind), TEXT(id),      TEXT(correlation_id),
    TEXT(grant), TEXT(error), TEXT(reason),    TEXT(by),   TEXT(address), TEXT(rev)};

enum { TEXT_COUNT = sizeof texts / sizeof *texts };

/* One byte more than a line shows, so that it shows that there was more. */
static size_t kept(struct mcpx_slice text)
{
    return text.len <= AUDIT_TEXT_MAX ? text.len : AUDIT_TEXT_MAX + 1;
}

static struct mcpx_slice *member(struct audit_note *note, size_t i)
{
    return (struct mcpx_slice *)((char *)note + texts[i]);
}

static void copy(struct mcpx_slice *text, char **at)
{
    size_t len = kept(*text);

    if (!text->text)
        return;
    memcpy(*at, text->text, len);
    *text = (struct mcpx_slice){*at, len};
    *at += len;
}

struct audit_told *audit_told_new(const struct audit_note *note)
{
    struct audit_note made = *note;
    size_t size = sizeof(struct audit_told);
    struct audit_told *out;
    struct mcpx_slice *to;
    char *at;

    made.to_count = note->to_count < AUDIT_TO_MAX ? note->to_count : AUDIT_TO_MAX;
    made.text = (struct mcpx_slice){0};
    for (size_t i = 0; i < TEXT_COUNT; i++)
        size += kept(*member(&made, i));
    for (size_t i = 0; i < made.to_count; i++)
        size += sizeof *to + kept(note->to[i]);
    out = malloc(size);
    if (!out)
        return NULL;
    *out = (struct audit_told){.size = size, .note = made};
    to = (struct mcpx_slice *)(out + 1);
    at = (char *)(to + made.to_count);
    out->note.to = to;
    for (size_t i = 0; i < made.to_count; i++) {
        to[i] = note->to[i];
        copy(&to[i], &at);
    }
    for (size_t i = 0; i < TEXT_COUNT; i++)
        copy(member(&out->note, i), &at);
    return out;
}
