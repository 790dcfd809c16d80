/*
 * field.c - one table of header members, read by the checks in envelope.c instead of a function
 * per member, so that a rule is a row and its sentence stands next to it.
 */
#include "lib/protocol/field.h"

#include "lib/base/plain.h"
#include "lib/json/decisive.h"
#include "lib/json/escape.h"
#include "lib/protocol/grammar.h"

static const char control_character[] = "control character in a header string";
static const char optional_string[] = "expected a string, or the member left out";

const struct mx_field_rule mx_field_rules[MX_FIELD_COUNT] = {
    [MX_FIELD_PROTOCOL] = {{"protocol", 8},
                           MCPX_JSON_STRING,
                           "expected a member 'protocol' that says \"mcpx/v0.1\"",
                           "expected the string \"mcpx/v0.1\""},
    [MX_FIELD_ID] = {{"id", 2},
                     MCPX_JSON_STRING,
                     "expected a member 'id' that names this envelope",
                     "expected a string that names this envelope"},
    [MX_FIELD_TS] = {{"ts", 2}, MCPX_JSON_STRING, NULL, optional_string},
    [MX_FIELD_FROM] = {{"from", 4}, MCPX_JSON_STRING, NULL, optional_string},
    [MX_FIELD_TO] = {{"to", 2},
                     MCPX_JSON_ARRAY,
                     NULL,
                     "expected an array of strings, or the member left out"},
    [MX_FIELD_KIND] = {{"kind", 4},
                       MCPX_JSON_STRING,
                       "expected a member 'kind' that says what this is",
                       "expected a string like \"chat\" or \"mcp/request:tools/call:NAME\""},
    [MX_FIELD_CORRELATION_ID] = {{"correlation_id", 14},
                                 MCPX_JSON_STRING,
                                 NULL,
                                 optional_string},
    [MX_FIELD_PAYLOAD] = {{"payload", 7},
                          MCPX_JSON_OBJECT,
                          "expected a member 'payload', {} if there is nothing to say",
                          "expected an object"},
};

/* The only field that a name of this length, beginning so, can be. */
static enum mx_field candidate(struct mcpx_slice name)
{
    switch (name.len) {
    case 2:
        if (name.text[0] == 'i')
            return MX_FIELD_ID;
        return name.text[1] == 's' ? MX_FIELD_TS : MX_FIELD_TO;
    case 4:
        return name.text[0] == 'k' ? MX_FIELD_KIND : MX_FIELD_FROM;
    case 7:
        return MX_FIELD_PAYLOAD;
    case 8:
        return MX_FIELD_PROTOCOL;
    case 14:
        return MX_FIELD_CORRELATION_ID;
    default:
        return MX_FIELD_COUNT;
    }
}

enum mx_field mx_field_of(const struct mx_member *member)
{
    enum mx_field field = 0;

    if (!member->name_escaped) {
        field = candidate(member->name);
        if (field < MX_FIELD_COUNT &&
            mcpx_slice_equal(member->name, mx_field_rules[field].name))
            return field;
        return MX_FIELD_COUNT;
    }
    while (field < MX_FIELD_COUNT && !mx_member_is(member, mx_field_rules[field].name.text))
        field++;
    return field;
}

enum mx_field mx_field_like(const struct mx_member *member)
{
    enum mx_field field = 0;

    while (field < MX_FIELD_COUNT &&
           mx_fold_compare(member->name, mx_field_rules[field].name.text) != MX_LIKE)
        field++;
    return field;
}

/* What is wrong with the escape at raw.text[at]; otherwise fills in its length. */
static const char *unfit_escape(struct mcpx_slice raw, size_t at, size_t *len)
{
    struct mx_escape escape;

    mx_escape_decode(raw, at, &escape);
    if (escape.is_lone)
        return "half a surrogate pair in a header string";
    if (mx_control_find((struct mcpx_slice){escape.bytes, escape.len}) < escape.len)
        return control_character;
    *len = escape.raw_len;
    return NULL;
}

/* Nearly always: nothing but ASCII, and nothing that would have to be looked at. */
static bool is_simple(const struct mx_member *member, struct mcpx_slice raw)
{
    const unsigned char *begin = (const unsigned char *)raw.text;

    return !member->value_escaped && !(raw.len > 0 && memchr(raw.text, 0x7f, raw.len)) &&
           mx_plain_ascii(begin, begin + raw.len) == begin + raw.len;
}

/* The first control character that stands there unescaped. Below 0x20 that is space in an array. */
static size_t find_control(struct mcpx_slice raw)
{
    size_t at = 0;

    for (;;) {
        at += mx_control_find((struct mcpx_slice){raw.text + at, raw.len - at});
        if (at == raw.len || (unsigned char)raw.text[at] >= 0x20)
            return at;
        at++;
    }
}

const char *mx_field_unfit(const struct mx_member *member, size_t *offset)
{
    struct mcpx_slice raw = mx_inside_of(member->value);
    const char *reason = NULL;
    size_t at = 0;

    if (is_simple(member, raw))
        return NULL;
    *offset = find_control(raw);
    if (*offset < raw.len)
        reason = control_character;
    while (at < *offset) {
        const char *found = memchr(raw.text + at, '\\', *offset - at);
        const char *wrong;
        size_t len = 0;

        if (!found)
            break;
        at = (size_t)(found - raw.text);
        wrong = unfit_escape(raw, at, &len);
        if (wrong) {
            *offset = at;
            return wrong;
        }
        at += len;
    }
    return reason;
}
