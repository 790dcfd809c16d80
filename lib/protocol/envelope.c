/*
 * envelope.c - from a text to an envelope, in the order of checks that protocol section 1 fixes:
 * each step runs over all members before the next begins, because the first failing step is what
 * the sender is told. Strings stay slices of the text; only escaped ones are written out, into a
 * scratch that is made large enough before the first of them is. The payload's extent is all
 * that is ever known of it.
 */
#include <mcpx/envelope.h>

#include "lib/json/scan.h"
#include "lib/protocol/field.h"

#include <stdlib.h>

static const char too_long[] = "expected at most 256 bytes";
static const char too_short[] = "expected 1 to 256 bytes, found an empty string";

/* An envelope while it is read. */
struct reading {
    struct mcpx_envelope *envelope;
    struct mcpx_fault *fault;
    const struct mx_scan *scan;
    const struct mx_member *fields[MX_FIELD_COUNT]; /* members by field; NULL where absent */
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

/* Refuses the text because of what stands at `where`, which lies in it; MX_FIELD_COUNT: no field. */
static enum mcpx_err refuse_envelope(struct reading *reading, enum mx_field field,
                                     const char *where, const char *reason)
{
    reading->fault->field = field < MX_FIELD_COUNT ? mx_field_rules[field].name.text : "";
    reading->fault->offset = (size_t)(where - reading->envelope->text.text);
    reading->fault->reason = reason;
    return MCPX_EINVALID;
}

static enum mcpx_err check_shape(struct reading *reading)
{
    const struct mx_scan *scan = reading->scan;
    const struct mx_member *last;

    if (scan->type != MCPX_JSON_OBJECT)
        return refuse_envelope(reading, MX_FIELD_COUNT, scan->value.text,
                               "expected an object");
    if (scan->total <= MCPX_MEMBERS_MAX)
        return MCPX_OK;
    last = &scan->members[scan->count - 1];
    return refuse_envelope(reading, MX_FIELD_COUNT, last->value.text + last->value.len,
                           "expected at most 64 members");
}

static const char named_like[] =
    "named like this member but for letter case: some readers would take it for this one";

static enum mcpx_err check_twice(struct reading *reading)
{
    const struct mx_member *twice = mx_scan_duplicate(reading->scan);

    if (!twice)
        return MCPX_OK;
    return refuse_envelope(reading, mx_field_of(twice), twice->name.text - 1,
                           "expected each member once, found this name again");
}

/* Fills in the fields; returns how many of the members are fields. */
static size_t find_fields(struct reading *reading)
{
    size_t found = 0;

    memset(reading->fields, 0, sizeof reading->fields);
    for (size_t i = 0; i < reading->scan->count; i++) {
        enum mx_field field = mx_field_of(&reading->scan->members[i]);

        if (field == MX_FIELD_COUNT)
            continue;
        reading->fields[field] = &reading->scan->members[i];
        found++;
    }
    return found;
}

/* A member that one reader takes for a field and another does not. Most texts have fields only. */
static const struct mx_member *find_like(const struct mx_scan *scan, enum mx_field *field)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct mx_member *member = &scan->members[i];

        if (mx_field_of(member) == MX_FIELD_COUNT &&
            (*field = mx_field_like(member)) < MX_FIELD_COUNT)
            return member;
    }
    return NULL;
}

static enum mcpx_err check_names(struct reading *reading)
{
    const struct mx_member *like;
    enum mx_field field;
    enum mcpx_err err = check_twice(reading);

    if (err || find_fields(reading) == reading->scan->count)
        return err;
    like = find_like(reading->scan, &field);
    return like ? refuse_envelope(reading, field, like->name.text - 1, named_like) : MCPX_OK;
}

static enum mcpx_err check_types(struct reading *reading)
{
    for (enum mx_field field = 0; field < MX_FIELD_COUNT; field++) {
        const struct mx_field_rule *rule = &mx_field_rules[field];
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

    for (enum mx_field field = 0; field < MX_FIELD_PAYLOAD; field++)
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

static enum mcpx_err check_length(struct reading *reading, enum mx_field field,
                                  const char *where, size_t len)
{
    if (len == 0)
        return refuse_envelope(reading, field, where, too_short);
    if (len > MCPX_ID_MAX)
        return refuse_envelope(reading, field, where, too_long);
    return MCPX_OK;
}

/* Reads an id-like member if it is there. */
static enum mcpx_err read_id(struct reading *reading, enum mx_field field,
                             struct mcpx_slice *out)
{
    const struct mx_member *member = reading->fields[field];

    if (!member)
        return MCPX_OK;
    *out = read_string(reading, member->value, member->value_escaped);
    return check_length(reading, field, member->value.text, out->len);
}

static enum mcpx_err read_addressees(struct reading *reading)
{
    const struct mx_member *member = reading->fields[MX_FIELD_TO];
    struct mcpx_envelope *envelope = reading->envelope;

    envelope->to_count = 0;
    envelope->has_to = member != NULL;
    if (!member)
        return MCPX_OK;
    MCPX_JSON_EACH(walk, member->value) {
        struct mcpx_slice *to;
        enum mcpx_err err;

        if (mcpx_json_type(walk.value) != MCPX_JSON_STRING)
            return refuse_envelope(reading, MX_FIELD_TO, walk.value.text,
                                   "expected only strings in this array");
        if (envelope->to_count == MCPX_TO_MAX)
            return refuse_envelope(reading, MX_FIELD_TO, walk.value.text,
                                   "expected at most 256 addressees");
        to = &envelope->to[envelope->to_count++];
        *to = read_string(reading, walk.value, member->value_escaped);
        err = check_length(reading, MX_FIELD_TO, walk.value.text, to->len);
        if (err)
            return err;
    }
    return MCPX_OK;
}

static enum mcpx_err read_kind(struct reading *reading)
{
    const struct mx_member *member = reading->fields[MX_FIELD_KIND];
    struct mcpx_envelope *envelope = reading->envelope;
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_slice kind = read_string(reading, member->value, member->value_escaped);

    envelope->kind_at = (size_t)(member->value.text - envelope->text.text);
    envelope->kind_raw_len = member->value.len;
    if (mcpx_kind_parse(kind, &envelope->kind, &fault) == MCPX_OK)
        return MCPX_OK;
    /* with escapes an offset in the kind is none in the text */
    return refuse_envelope(reading, MX_FIELD_KIND,
                           member->value.text + (member->value_escaped ? 0 : 1 + fault.offset),
                           fault.reason);
}

/* Lengths, addressees and the kind's grammar, member by member in the table's order. */
static enum mcpx_err read_fields(struct reading *reading)
{
    struct mcpx_envelope *envelope = reading->envelope;
    const struct mx_member *ts = reading->fields[MX_FIELD_TS];
    enum mcpx_err err;

    envelope->ts = (struct mcpx_slice){NULL, 0};
    envelope->from = envelope->ts;
    envelope->correlation_id = envelope->ts;
    envelope->open_at = (size_t)(reading->scan->value.text - envelope->text.text);
    envelope->payload = reading->fields[MX_FIELD_PAYLOAD]->value;
    err = read_id(reading, MX_FIELD_ID, &envelope->id);
    if (ts)
        envelope->ts = read_string(reading, ts->value, ts->value_escaped);
    if (!err)
        err = read_id(reading, MX_FIELD_FROM, &envelope->from);
    if (!err)
        err = read_addressees(reading);
    if (!err)
        err = read_kind(reading);
    if (!err)
        err = read_id(reading, MX_FIELD_CORRELATION_ID, &envelope->correlation_id);
    return err;
}

static enum mcpx_err check_characters(struct reading *reading)
{
    for (enum mx_field field = 0; field < MX_FIELD_PAYLOAD; field++) {
        const struct mx_member *member = reading->fields[field];
        const char *reason;
        size_t offset = 0;

        if (!member)
            continue;
        reason = mx_field_unfit(member, &offset);
        if (reason)
            return refuse_envelope(reading, field, member->value.text + 1 + offset, reason);
    }
    return MCPX_OK;
}

static enum mcpx_err check_protocol(struct reading *reading)
{
    const struct mx_member *member = reading->fields[MX_FIELD_PROTOCOL];
    struct mcpx_slice protocol = read_string(reading, member->value, member->value_escaped);

    if (mcpx_slice_equal(protocol, MCPX_SLICE(MCPX_PROTOCOL)))
        return MCPX_OK;
    return refuse_envelope(reading, MX_FIELD_PROTOCOL, member->value.text,
                           mx_field_rules[MX_FIELD_PROTOCOL].wrong);
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

        if (mx_field_of(found) != MX_FIELD_ID && mx_field_like(found) != MX_FIELD_ID)
            continue;
        if (member)
            return absent;
        member = found;
    }
    if (!member || mx_field_of(member) != MX_FIELD_ID || member->type != MCPX_JSON_STRING ||
        mx_field_unfit(member, &offset))
        return absent;
    memset(reading->fields, 0, sizeof reading->fields);
    reading->fields[MX_FIELD_ID] = member;
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
