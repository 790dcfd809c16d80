/*
 * field.c - one table of header members, read by the checks in envelope.c instead of a function
 * per member, so that a rule is a row and its sentence stands next to it.
 * Includes field.h, escape.h and plain.h only.
 */
#include "lib/core/field.h"

#include "lib/core/escape.h"
#include "lib/core/plain.h"

static const char optional_string[] = "expected a string, or the member left out";

static const struct mx_field_rule rules[MX_FIELD_COUNT] = {
    [MX_FIELD_PROTOCOL] = {{"protocol", 8},
                           MX_STRING,
                           "expected a member 'protocol' that says \"mcpx/v0.1\"",
                           "expected the string \"mcpx/v0.1\""},
    [MX_FIELD_ID] = {{"id", 2},
                     MX_STRING,
                     "expected a member 'id' that names this envelope",
                     "expected a string that names this envelope"},
    [MX_FIELD_TS] = {{"ts", 2}, MX_STRING, NULL, optional_string},
    [MX_FIELD_FROM] = {{"from", 4}, MX_STRING, NULL, optional_string},
    [MX_FIELD_TO] = {{"to", 2},
                     MX_ARRAY,
                     NULL,
                     "expected an array of strings, or the member left out"},
    [MX_FIELD_KIND] = {{"kind", 4},
                       MX_STRING,
                       "expected a member 'kind' that says what this is",
                       "expected a string like \"chat\" or \"mcp/request:tools/call:NAME\""},
    [MX_FIELD_CORRELATION_ID] = {{"correlation_id", 14}, MX_STRING, NULL, optional_string},
    [MX_FIELD_PAYLOAD] = {{"payload", 7},
                          MX_OBJECT,
                          "expected a member 'payload', {} if there is nothing to say",
                          "expected an object"},
};

const struct mx_field_rule *mx_field_rule(enum mx_field field)
{
    return &rules[field];
}

/* The first byte before the rest: it settles most comparisons without a call. */
static bool is_spelt(struct mcpx_slice name, struct mcpx_slice wanted)
{
    return name.len == wanted.len && name.text[0] == wanted.text[0] &&
           memcmp(name.text, wanted.text, wanted.len) == 0;
}

enum mx_field mx_field_of(const struct mx_member *member)
{
    enum mx_field field;

    for (field = 0; field < MX_FIELD_COUNT; field++) {
        if (member->name_escaped ? mx_member_is(member, rules[field].name.text)
                                 : is_spelt(member->name, rules[field].name))
            break;
    }
    return field;
}

const char *mx_field_unfit(struct mcpx_slice raw, size_t *offset)
{
    struct mx_escape escape;

    const unsigned char *begin = (const unsigned char *)raw.text;
    const unsigned char *end = begin + raw.len;
    size_t at = 0;

    while ((at = (size_t)(mx_plain_header(begin + at, end) - begin)) < raw.len) {
        unsigned char byte = begin[at];

        *offset = at;
        if (byte == 0x7f)
            return "control character in a header string";
        mx_escape_decode(raw, at, &escape);
        if (escape.is_lone)
            return "half a surrogate pair in a header string";
        byte = (unsigned char)escape.bytes[0];
        if (byte < 0x20 || byte == 0x7f)
            return "control character in a header string";
        at += escape.raw_len;
    }
    return NULL;
}
