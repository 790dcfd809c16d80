/*
 * field.h - the members an envelope's header is made of: which they are, where they stand in a
 * scanned text, and whether their characters are fit for a header.
 */
#ifndef MX_FIELD_H
#define MX_FIELD_H

#include "lib/json/scan.h"

/* In the order in which protocol section 1 lists them, which is the order of checks. */
enum mx_field {
    MX_FIELD_PROTOCOL,
    MX_FIELD_ID,
    MX_FIELD_TS,
    MX_FIELD_FROM,
    MX_FIELD_TO,
    MX_FIELD_KIND,
    MX_FIELD_CORRELATION_ID,
    MX_FIELD_PAYLOAD,
    MX_FIELD_COUNT
};

/** What is known of a field. */
struct mx_field_rule {
    struct mcpx_slice name;   /* as in the text */
    enum mcpx_json_type type; /* what its value must be */
    const char *missing;      /* what to say when it is absent; NULL when it may be */
    const char *wrong;        /* what to say when its value is of another type */
};

extern const struct mx_field_rule mx_field_rules[MX_FIELD_COUNT];

/** The field a member's name, unescaped, stands for; MX_FIELD_COUNT when for none. */
enum mx_field mx_field_of(const struct mx_member *member);

/** The field whose name differs in letter case alone (mx_fold_compare); MX_FIELD_COUNT for none. */
enum mx_field mx_field_like(const struct mx_member *member);

/**
 * Looks for what no header string may hold: a control character (mx_control_find), escaped or not,
 * and half a surrogate pair. Protocol: section 1.
 *
 * member   a string, or an array of strings (between them nothing is a backslash or such a
 *          character but white space)
 * offset   filled with the place of the first such character in the inside of the value, when
 *          there is one; unspecified otherwise
 *
 * Returns what is wrong with it, a static sentence, or NULL.
 */
const char *mx_field_unfit(const struct mx_member *member, size_t *offset);

#endif
