/*
 * envelope.c - from a text to an envelope, with the checks in the order of protocol section 1: each
 * step runs over all members before the next begins, because the sender is told the first failing
 * step. One table has a row per header member: its requirements and error texts. Strings stay
 * slices of the text; only escaped ones are written out, into a scratch allocated once before. Of
 * the payload only the extent is known.
 */
#include <mcpx/envelope.h>

#include "lib/json/decisive.h"
#include "lib/json/scan.h"
#include "lib/protocol/grammar.h"

#include <stdlib.h>

/* ---- the members of a header ---- */

/* In the order of protocol section 1: the order of checks. */
enum field {
    FIELD_PROTOCOL,
    FIELD_ID,
    FIELD_TS,
    FIELD_FROM,
    FIELD_TO,
    FIELD_KIND,
    FIELD_CORRELATION_ID,
    FIELD_PAYLOAD,
    FIELD_COUNT
};

struct rule {
    struct mcpx_slice name;
    enum mcpx_json_type type; /* what its value must be */
    const char *missing;      /* error when it is absent; NULL: optional */
    const char *wrong;        /* error when its value is of another type */
};

static const char control_character[] = "control character in a header string";
static const char optional_string[] = "expected a string, or the member left out";

static const struct rule rules[FIELD_COUNT] = {
    [FIELD_PROTOCOL] = {{"protocol", 8},
                        MCPX_JSON_STRING,
                        "expected a member 'protocol' that says \"mcpx/v0.1\"",
                        "expected the string \"mcpx/v0.1\""},
    [FIELD_ID] = {{"id", 2},
                  MCPX_JSON_STRING,
                  "expected a member 'id' that names this envelope",
                  "expected a string that names this envelope"},
    [FIELD_TS] = {{"ts", 2}, MCPX_JSON_STRING, NULL, optional_string},
    [FIELD_FROM] = {{"from", 4}, MCPX_JSON_STRING, NULL, optional_string},
    [FIELD_TO] = {{"to", 2},
                  MCPX_JSON_ARRAY,
                  NULL,
                  "expected an array of strings, or the member left out"},
    [FIELD_KIND] = {{"kind", 4},
                    MCPX_JSON_STRING,
                    "expected a member 'kind' that says what this is",
                    "expected a string like \"chat\" or \"mcp/request:tools/call:NAME\""},
    [FIELD_CORRELATION_ID] = {{"correlation_id", 14}, MCPX_JSON_STRING, NULL, optional_string},
    [FIELD_PAYLOAD] = {{"payload", 7},
                       MCPX_JSON_OBJECT,
                       "expected a member 'payload', {} if there is nothing to say",
                       "expected an object"},
};

/* The only possible field for a name of this length and beginning. */
static enum field candidate(struct mcpx_slice name)
{
    switch (name.len) {
    case 2:
        if (name.text[0] == 'i')
            return FIELD_ID;
        return name.text[1] == 's' ? FIELD_TS : FIELD_TO;
    case 4:
        return name.text[0] == 'k' ? FIELD_KIND : FIELD_FROM;
    case 7:
        return FIELD_PAYLOAD;
    case 8:
        return FIELD_PROTOCOL;
    case 14:
        return FIELD_CORRELATION_ID;
    default:
        return FIELD_COUNT;
    }
}

/* The field with the member's unescaped name; FIELD_COUNT when there is none. */
static enum field field_of(const struct mx_member *member)
{
    enum field field = 0;

    if (!member->name_escaped) {
        field = candidate(member->name);
        if (field < FIELD_COUNT && mcpx_slice_equal(member->name, rules[field].name))
            return field;
        return FIELD_COUNT;
    }
    while (field < FIELD_COUNT && !mx_member_is(member, rules[field].name.text))
        field++;
    return field;
}

/* The field whose name differs in letter case alone (mx_fold_compare); FIELD_COUNT for none. */
static enum field field_like(const struct mx_member *member)
{
    enum field field = 0;

    while (field < FIELD_COUNT &&
           mx_fold_compare(member->name, rules[field].name.text) != MX_LIKE)
        field++;
    return field;
}

/* True for most texts: ASCII alone, without a byte that needs a check. */
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

/* Finds the error of a string or an array of strings (between them stands no backslash, and no
 * control character but white space): a control character, escaped or not, or half a surrogate
 * pair. Returns NULL, or a sentence and its place in the inside of the value. Protocol: section
 * 1. */
static const char *find_unfit(const struct mx_member *member, size_t *offset)
{
    struct mcpx_slice raw = mx_inside_of(member->value);
    const char *found;
    size_t at = 0;

    if (is_simple(member, raw))
        return NULL;
    *offset = find_control(raw);
    while ((found = memchr(raw.text + at, '\\', *offset - at)) != NULL) {
        struct mx_escape escape;

        at = (size_t)(found - raw.text);
        mx_escape_decode(raw, at, &escape);
        if (escape.is_lone ||
            mx_control_find((struct mcpx_slice){escape.bytes, escape.len}) < escape.len) {
            *offset = at;
            return escape.is_lone ? "half a surrogate pair in a header string"
                                  : control_character;
        }
        at += escape.raw_len;
    }
    return *offset < raw.len ? control_character : NULL;
}

/* ---- an envelope ---- */

struct reading {
    struct mcpx_envelope *envelope;
    struct mcpx_fault *fault;
    const struct mx_scan *scan;
    const struct mx_member *fields[FIELD_COUNT]; /* members by field; NULL where absent */
    size_t used; /* bytes of the envelope's scratch that are taken */
};

void mcpx_envelope_init(struct mcpx_envelope *envelope)
{
    memset(envelope, 0, sizeof *envelope);
}

void mcpx_envelope_fini(struct mcpx_envelope *envelope)
{
    free(envelope->scratch);
    memset(envelope, 0, sizeof *envelope);
}

/* Refuses the text for an error at `where`, a place in the text; FIELD_COUNT: no field. */
static enum mcpx_err refuse_envelope(struct reading *reading, enum field field,
                                     const char *where, const char *reason)
{
    reading->fault->field = field < FIELD_COUNT ? rules[field].name.text : "";
    reading->fault->offset = (size_t)(where - reading->envelope->text.text);
    reading->fault->reason = reason;
    return MCPX_EINVALID;
}

static enum mcpx_err check_shape(struct reading *reading)
{
    const struct mx_scan *scan = reading->scan;
    const struct mx_member *last;

    if (scan->type != MCPX_JSON_OBJECT)
        return refuse_envelope(reading, FIELD_COUNT, scan->value.text, "expected an object");
    if (scan->total <= MCPX_MEMBERS_MAX)
        return MCPX_OK;
    last = &scan->members[scan->count - 1];
    return refuse_envelope(reading, FIELD_COUNT, last->value.text + last->value.len,
                           "expected at most 64 members");
}

/* Fills in the fields; returns how many of the members are fields. */
static size_t find_fields(struct reading *reading)
{
    size_t found = 0;

    memset(reading->fields, 0, sizeof reading->fields);
    for (size_t i = 0; i < reading->scan->count; i++) {
        enum field field = field_of(&reading->scan->members[i]);

        if (field == FIELD_COUNT)
            continue;
        reading->fields[field] = &reading->scan->members[i];
        found++;
    }
    return found;
}

static enum mcpx_err check_names(struct reading *reading)
{
    const struct mx_scan *scan = reading->scan;
    const struct mx_member *twice = mx_scan_duplicate(scan);

    if (twice)
        return refuse_envelope(reading, field_of(twice), twice->name.text - 1,
                               "expected each member once, found this name again");
    if (find_fields(reading) == scan->count) /* as most texts have it */
        return MCPX_OK;
    for (size_t i = 0; i < scan->count; i++) {
        const struct mx_member *member = &scan->members[i];
        enum field like = field_of(member) < FIELD_COUNT ? FIELD_COUNT : field_like(member);

        if (like < FIELD_COUNT)
            return refuse_envelope(reading, like, member->name.text - 1,
                                   "named like this member but for letter case: some readers "
                                   "would take it for this one");
    }
    return MCPX_OK;
}

static enum mcpx_err check_types(struct reading *reading)
{
    for (enum field field = 0; field < FIELD_COUNT; field++) {
        const struct rule *rule = &rules[field];
        const struct mx_member *member = reading->fields[field];

        if (!member && rule->missing)
            return refuse_envelope(reading, field, reading->scan->value.text, rule->missing);
        if (member && member->type != rule->type)
            return refuse_envelope(reading, field, member->value.text, rule->wrong);
    }
    return MCPX_OK;
}

/* Makes room for every escaped header string at once. Unescaped text is never the longer one. */
static bool reserve_scratch(struct reading *reading)
{
    struct mcpx_envelope *envelope = reading->envelope;
    size_t need = 0;
    char *scratch;

    for (enum field field = 0; field < FIELD_PAYLOAD; field++)
        if (reading->fields[field] && reading->fields[field]->value_escaped)
            need += reading->fields[field]->value.len;
    reading->used = 0;
    if (need <= envelope->scratch_size)
        return true;
    scratch = malloc(need);
    if (!scratch)
        return false;
    free(envelope->scratch);
    envelope->scratch = scratch;
    envelope->scratch_size = need;
    return true;
}

/* Unescapes a string value. Half surrogate pairs are found later, by check_characters. */
static struct mcpx_slice read_string(struct reading *reading, struct mcpx_slice value,
                                     bool escaped)
{
    struct mcpx_slice inside = mx_inside_of(value);
    char *out;
    size_t len;

    if (!escaped)
        return inside;
    out = reading->envelope->scratch + reading->used;
    mx_unescape(inside, out, &len);
    reading->used += len;
    return (struct mcpx_slice){out, len};
}

static enum mcpx_err check_length(struct reading *reading, enum field field, const char *where,
                                  size_t len)
{
    if (len == 0)
        return refuse_envelope(reading, field, where,
                               "expected 1 to 256 bytes, found an empty string");
    if (len > MCPX_ID_MAX)
        return refuse_envelope(reading, field, where, "expected at most 256 bytes");
    return MCPX_OK;
}

/* Reads an id-like member if it is there. */
static enum mcpx_err read_id(struct reading *reading, enum field field, struct mcpx_slice *out)
{
    const struct mx_member *member = reading->fields[field];

    if (!member)
        return MCPX_OK;
    *out = read_string(reading, member->value, member->value_escaped);
    return check_length(reading, field, member->value.text, out->len);
}

static enum mcpx_err read_addressees(struct reading *reading)
{
    const struct mx_member *member = reading->fields[FIELD_TO];
    struct mcpx_envelope *envelope = reading->envelope;

    envelope->to_count = 0;
    envelope->has_to = member != NULL;
    if (!member)
        return MCPX_OK;
    MCPX_JSON_EACH(walk, member->value) {
        struct mcpx_slice *to;
        enum mcpx_err err;

        if (mcpx_json_type(walk.value) != MCPX_JSON_STRING)
            return refuse_envelope(reading, FIELD_TO, walk.value.text,
                                   "expected only strings in this array");
        if (envelope->to_count == MCPX_TO_MAX)
            return refuse_envelope(reading, FIELD_TO, walk.value.text,
                                   "expected at most 256 addressees");
        to = &envelope->to[envelope->to_count++];
        *to = read_string(reading, walk.value, member->value_escaped);
        err = check_length(reading, FIELD_TO, walk.value.text, to->len);
        if (err)
            return err;
    }
    return MCPX_OK;
}

static enum mcpx_err read_kind(struct reading *reading)
{
    const struct mx_member *member = reading->fields[FIELD_KIND];
    struct mcpx_envelope *envelope = reading->envelope;
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_slice kind = read_string(reading, member->value, member->value_escaped);

    envelope->kind_at = (size_t)(member->value.text - envelope->text.text);
    envelope->kind_raw_len = member->value.len;
    if (mcpx_kind_parse(kind, &envelope->kind, &fault) == MCPX_OK)
        return MCPX_OK;
    /* escapes make offsets in kind and text differ */
    return refuse_envelope(reading, FIELD_KIND,
                           member->value.text + (member->value_escaped ? 0 : 1 + fault.offset),
                           fault.reason);
}

/* Lengths, addressees and the kind's grammar, member by member in the table's order. */
static enum mcpx_err read_fields(struct reading *reading)
{
    struct mcpx_envelope *envelope = reading->envelope;
    const struct mx_member *ts = reading->fields[FIELD_TS];
    enum mcpx_err err;

    envelope->ts = (struct mcpx_slice){NULL, 0};
    envelope->from = envelope->ts;
    envelope->correlation_id = envelope->ts;
    envelope->open_at = (size_t)(reading->scan->value.text - envelope->text.text);
    envelope->payload = reading->fields[FIELD_PAYLOAD]->value;
    err = read_id(reading, FIELD_ID, &envelope->id);
    if (ts)
        envelope->ts = read_string(reading, ts->value, ts->value_escaped);
    if (!err)
        err = read_id(reading, FIELD_FROM, &envelope->from);
    if (!err)
        err = read_addressees(reading);
    if (!err)
        err = read_kind(reading);
    if (!err)
        err = read_id(reading, FIELD_CORRELATION_ID, &envelope->correlation_id);
    return err;
}

static enum mcpx_err check_characters(struct reading *reading)
{
    for (enum field field = 0; field < FIELD_PAYLOAD; field++) {
        const struct mx_member *member = reading->fields[field];
        const char *reason;
        size_t offset = 0;

        if (!member)
            continue;
        reason = find_unfit(member, &offset);
        if (reason)
            return refuse_envelope(reading, field, member->value.text + 1 + offset, reason);
    }
    return MCPX_OK;
}

static enum mcpx_err check_protocol(struct reading *reading)
{
    const struct mx_member *member = reading->fields[FIELD_PROTOCOL];
    struct mcpx_slice protocol = read_string(reading, member->value, member->value_escaped);

    if (mcpx_slice_equal(protocol, MCPX_SLICE(MCPX_PROTOCOL)))
        return MCPX_OK;
    return refuse_envelope(reading, FIELD_PROTOCOL, member->value.text,
                           rules[FIELD_PROTOCOL].wrong);
}

static enum mcpx_err read_envelope(struct reading *reading)
{
    enum mcpx_err err = check_shape(reading);

    if (!err)
        err = check_names(reading);
    if (!err)
        err = check_types(reading);
    if (err)
        return err;
    if (!reserve_scratch(reading)) {
        *reading->fault = (struct mcpx_fault){mcpx_strerror(MCPX_ENOMEM), "", 0};
        return MCPX_ENOMEM;
    }
    err = read_fields(reading);
    if (!err)
        err = check_characters(reading);
    if (!err)
        err = check_protocol(reading);
    return err;
}

/* The id of a refused envelope, if there is exactly one and it is fit to be quoted. */
static struct mcpx_slice salvage_id(struct reading *reading)
{
    const struct mcpx_slice absent = {NULL, 0};
    const struct mx_member *member = NULL;
    struct mcpx_slice id;
    size_t offset;

    if (reading->scan->type != MCPX_JSON_OBJECT || reading->scan->total > MCPX_MEMBERS_MAX)
        return absent;
    for (size_t i = 0; i < reading->scan->count; i++) {
        const struct mx_member *found = &reading->scan->members[i];

        if (field_of(found) != FIELD_ID && field_like(found) != FIELD_ID)
            continue;
        if (member)
            return absent;
        member = found;
    }
    if (!member || field_of(member) != FIELD_ID || member->type != MCPX_JSON_STRING ||
        find_unfit(member, &offset))
        return absent;
    memset(reading->fields, 0, sizeof reading->fields);
    reading->fields[FIELD_ID] = member;
    if (!reserve_scratch(reading))
        return absent;
    id = read_string(reading, member->value, member->value_escaped);
    return id.len >= 1 && id.len <= MCPX_ID_MAX ? id : absent;
}

enum mcpx_err mcpx_envelope_parse(struct mcpx_slice text, size_t depth_max,
                                  struct mcpx_envelope *envelope, struct mcpx_fault *fault)
{
    struct mx_scan scan;
    struct reading reading;
    enum mcpx_err err;

    envelope->text = text;
    envelope->id = (struct mcpx_slice){NULL, 0};
    err = mx_scan(text, depth_max, &scan, fault);
    if (err)
        return err;
    reading.envelope = envelope;
    reading.fault = fault;
    reading.scan = &scan;
    err = read_envelope(&reading);
    if (err)
        envelope->id = salvage_id(&reading);
    return err;
}
