/*
 * provenance.c - records the origin of a result. It digests only values that passed through. A
 * caller's name is copied and never opened: otherwise a participant could make this machine hash
 * its files, or query the network.
 */
#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/base/map.h"
#include "lib/contract/wrap.h"
#include "lib/json/digest.h"
#include "lib/json/json_write.h"

#include <mcpx/json.h>

#include <stdlib.h>

/* Made ids, and ids of a call. For a deterministic id, only the beginning of its name's SHA-1 is
 * kept, with the number of requests for it. Names with an equal beginning share one counter; their
 * ids stay different. */

enum { UUID_BYTES = 16 };

/* 235fd3ef-2f17-599e-b514-ca718a7069ee: version 5 of urn:mcpx:ids in the namespace of URLs. */
static const unsigned char id_namespace[UUID_BYTES] = {0x23, 0x5f, 0xd3, 0xef, 0x2f, 0x17,
                                                       0x59, 0x9e, 0xb5, 0x14, 0xca, 0x71,
                                                       0x8a, 0x70, 0x69, 0xee};

static const char *const purposes[] = {
    [MCPX_ID_REQUEST] = "req:", [MCPX_ID_SPAN] = "span:", [MCPX_ID_RUN] = "run:"};

struct mcpx_ids {
    struct mx_map counts; /* requests, by the beginning of a name's SHA-1 */
};

struct mcpx_ids *mcpx_ids_new(void)
{
    return calloc(1, sizeof(struct mcpx_ids));
}

void mcpx_ids_free(struct mcpx_ids *ids)
{
    if (!ids)
        return;
    mx_map_fini(&ids->counts);
    free(ids);
}

/* RFC 9562 sections 4.1 and 4.2. */
static void write_uuid(const unsigned char *bytes, int version, char *out)
{
    unsigned char uuid[UUID_BYTES];

    memcpy(uuid, bytes, sizeof uuid);
    uuid[6] = (unsigned char)((uuid[6] & 0x0f) | version << 4);
    uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
    mx_hex_format(uuid, sizeof uuid, out);
}

void mcpx_id_random(const unsigned char random[16], char out[MCPX_ID_LEN + 1])
{
    write_uuid(random, 4, out);
}

/* Writes the name of an id: namespace, purpose and call. Its SHA-1 is the first id. */
static void write_name(struct mcpx_text *out, enum mcpx_id_purpose purpose,
                       struct mcpx_slice tool, struct mcpx_slice arguments)
{
    enum mcpx_err err;

    mcpx_text_add(out, (const char *)id_namespace, sizeof id_namespace);
    mx_format(out, "%s{\"arguments\":", purposes[purpose]);
    err = mcpx_canonical_add(out, arguments.text ? arguments : MCPX_SLICE("{}"), NULL);
    if (err == MCPX_ENOMEM)
        out->failed = true;
    else if (err)
        mcpx_text_slice(out, arguments);
    mcpx_text_puts(out, ",\"tool\":");
    mx_canonical_string(out, tool);
    mcpx_text_puts(out, "}");
}

/* The SHA-1 of the name; from the second time on, of the numbered name. */
static bool next_sum(struct mcpx_ids *ids, struct mcpx_text *name,
                     unsigned char sum[MX_SHA1_BYTES])
{
    size_t at = 0;
    uint64_t hash, count;

    if (name->failed || !mx_sha1(mcpx_text_view(name), sum))
        return false;
    memcpy(&hash, sum, sizeof hash);
    count = mx_map_next(&ids->counts, hash, &at);
    if (count > 0) {
        mx_format(name, "#%s", count + 1);
        if (name->failed || !mx_sha1(mcpx_text_view(name), sum))
            return false;
        mx_map_remove(&ids->counts, hash, count);
    } else if (!mx_map_reserve(&ids->counts)) {
        return false;
    }
    mx_map_put(&ids->counts, hash, count + 1);
    return true;
}

enum mcpx_err mcpx_ids_next(struct mcpx_ids *ids, enum mcpx_id_purpose purpose,
                            struct mcpx_slice tool, struct mcpx_slice arguments,
                            char out[MCPX_ID_LEN + 1])
{
    mx_scoped_text name = {0};
    unsigned char sum[MX_SHA1_BYTES];

    write_name(&name, purpose, tool, arguments);
    if (!next_sum(ids, &name, sum))
        return MCPX_ENOMEM;
    write_uuid(sum, 5, out);
    return MCPX_OK;
}

/* Writes the id of a request's run, of version 5, too. Returns false when memory runs out. */
static bool id_of_run(struct mcpx_slice request_id, char out[MCPX_ID_LEN + 1])
{
    mx_scoped_text name = {0};
    unsigned char sum[MX_SHA1_BYTES];

    mcpx_text_add(&name, (const char *)id_namespace, sizeof id_namespace);
    mx_format(&name, "%s%s", purposes[MCPX_ID_RUN], request_id);
    if (name.failed || !mx_sha1(mcpx_text_view(&name), sum))
        return false;
    write_uuid(sum, 5, out);
    return true;
}

/* Limits of the contract in code points. */
enum { NAME_MAX_POINTS = 200, VERSION_MAX = 100 };

/* Appends a member's value unchanged, if there is one. */
static void copy_member(struct mcpx_text *out, struct mcpx_slice object, const char *name)
{
    struct mcpx_slice value = mcpx_json_get(object, name);

    if (value.text)
        mx_json_add_raw(out, name, value);
}

/* Appends an artifact.v0.1 for a valid reference, which has one of the two names. */
static void add_artifact(struct mcpx_text *out, struct mcpx_slice reference)
{
    struct mcpx_slice id = mcpx_json_get(reference, "artifact_id");
    struct mcpx_slice type = mcpx_json_get(reference, "media_type");
    struct mcpx_slice unknown = MCPX_SLICE("\"application/octet-stream\"");

    mx_format(out,
              ",{\"schema_version\":\"artifact.v0.1\",\"artifact_id\":%s,\"media_type\":%s",
              id.text ? id : mcpx_json_get(reference, "locator"), type.text ? type : unknown);
    copy_member(out, reference, "locator");
    copy_member(out, reference, "digest");
    copy_member(out, reference, "labels");
    mcpx_text_puts(out, "}");
}

bool mx_artifacts_add(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                      struct mcpx_slice list)
{
    bool is_right = true;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY)
        return false;
    MCPX_JSON_EACH(walk, list) {
        enum mcpx_err err = mcpx_contracts_validate(
            wrapper->contracts, MCPX_CONTRACT_ARTIFACT_REF, walk.value, &wrapper->report);

        wrapper->failed |= err == MCPX_ENOMEM;
        is_right = is_right && !err;
        if (!err)
            add_artifact(out, walk.value);
    }
    return is_right;
}

/* Appends the digest of a value as a member. Returns false when it has none. */
static bool add_digest(struct mcpx_text *out, struct mcpx_slice text, bool is_json)
{
    char sum[MCPX_SHA256_LEN + 1] = "";
    enum mcpx_err err =
        is_json ? mcpx_digest_json(text, sum, NULL) : mcpx_digest_bytes(text, sum);

    mx_format(out, ",\"digest\":{\"alg\":\"sha256\",\"value\":%q}", sum);
    out->failed |= err == MCPX_ENOMEM;
    return !err;
}

/* Appends an artifact that passed through; a string counts as its unescaped text. Returns false
 * when it has no digest. */
static bool add_passed(struct mcpx_text *out, const char *id, struct mcpx_slice value,
                       const struct mx_record *record)
{
    bool is_json = mcpx_json_type(value) != MCPX_JSON_STRING;
    mx_scoped_text plain = {0};
    bool is_clear = is_json || mcpx_json_add_unescaped(&plain, value);
    struct mcpx_slice text = is_json ? value : mcpx_text_view(&plain);

    mx_format(out,
              "{\"schema_version\":\"artifact.v0.1\",\"artifact_id\":%q,\"media_type\":%q", id,
              is_json ? "application/json" : "text/plain");
    if (record->is_full)
        mx_format(out, ",\"size_bytes\":%s", text.len);
    if (record->has_digests)
        is_clear = add_digest(out, text, is_json) && is_clear;
    mcpx_text_puts(out, "}");
    out->failed |= plain.failed;
    return is_clear;
}

static void add_run_id(struct mcpx_text *out, const struct mcpx_wrap *call,
                       bool is_deterministic)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    char digits[MCPX_ID_LEN + 1] = "";
    const char *at = digits;

    if (is_deterministic || call->run_id.len != MCPX_ID_LEN)
        out->failed |= !id_of_run(call->request_id, digits);
    else
        memcpy(digits, call->run_id.text, MCPX_ID_LEN);
    mcpx_text_puts(out, ",\"run_id\":\"");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        mcpx_text_puts(out, i ? "-" : "");
        mcpx_text_add(out, at, groups[i]);
        at += groups[i];
    }
    mcpx_text_puts(out, "\"");
}

static void add_tool(struct mcpx_text *out, const struct mcpx_wrap *call)
{
    struct mcpx_slice version = MCPX_SLICE("0.0.0");

    if (call->tool_version.len > 0)
        version = call->tool_version;
    else if (call->server_version.len > 0)
        version = call->server_version;
    mx_format(out, ",\"tool\":{\"name\":%q,\"version\":%q,\"adapter\":\"mcp\"}",
              mx_cut(call->tool, NAME_MAX_POINTS), mx_cut(version, VERSION_MAX));
}

static void add_methods(struct mcpx_text *out, const struct mx_record *record, bool has_parent)
{
    const struct {
        bool is_true;
        const char *name;
    } methods[] = {
        {true, "adapter.wrap.envelope_v0_1"},
        {true, "adapter.provenance.attach_record_v0_1"},
        {true, "engine.prov.record_v0_1.build"},
        {record->errors, "adapter.errors.capture"},
        {record->warnings, "adapter.warnings.capture"},
        {record->has_digests, "integrity.digest.sha256"},
        {record->is_full, "integrity.record_digest.compute"},
        {has_parent, "lineage.parent.link"},
    };

    mx_json_begin_array(out, "methods");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (methods[i].is_true)
            mx_json_add_item(out, mcpx_slice_of(methods[i].name));
    }
    mx_json_end_array(out);
}

/* Appends the digest of the record so far, after removing its final brace. */
static void add_integrity(struct mcpx_text *record)
{
    char sum[MCPX_SHA256_LEN + 1] = "";

    record->failed |= mcpx_digest_json(mcpx_text_view(record), sum, NULL) != MCPX_OK;
    if (record->failed)
        return;
    record->len--;
    mx_format(record, ",\"integrity\":{\"record_digest\":{\"alg\":\"sha256\",\"value\":%q}}}",
              sum);
}

/* Appends the values that passed through. Returns false when one has no digest. */
static bool add_artifacts(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                          const struct mx_answer *answer, const struct mx_record *record)
{
    struct mcpx_slice arguments = answer->call->arguments, none = MCPX_SLICE("{}");
    bool is_clear;

    mcpx_text_puts(out, ",\"inputs\":[");
    is_clear = add_passed(out, "arguments", arguments.text ? arguments : none, record);
    mx_format(out, "%s],\"outputs\":[", &wrapper->artifacts);
    if (answer->value.text)
        is_clear = add_passed(out, "result", answer->value, record) && is_clear;
    mcpx_text_puts(out, "]");
    return is_clear;
}

bool mx_record_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                       const struct mx_record *record)
{
    const struct mcpx_wrap *call = answer->call;
    bool has_parent = record->is_full && call->parent.len > 0;
    struct mcpx_text *out = &wrapper->record;
    char time[MX_TIME_LEN + 1];
    bool is_clear;

    mcpx_text_puts(out, "{\"schema_version\":\"prov.record.v0.1\"");
    add_run_id(out, call, record->is_deterministic);
    add_tool(out, call);
    is_clear = add_artifacts(out, wrapper, answer, record);
    add_methods(out, record, has_parent);
    mcpx_text_puts(out, ",\"evidence\":[],\"parents\":[");
    if (has_parent)
        mx_json_add_item(out, mx_cut(call->parent, NAME_MAX_POINTS));
    mcpx_text_puts(out, "]");
    if (record->is_full && !record->is_deterministic) {
        mx_time_format(call->wall_ms, time);
        mcpx_json_add_member(out, "time", mcpx_slice_of(time));
    }
    mcpx_text_puts(out, "}");
    if (is_clear && record->is_full)
        add_integrity(out);
    wrapper->failed |= out->failed;
    return is_clear;
}

/* Appends a string without blanks around it; false for other types, or all blanks. */
static bool add_trimmed(struct mcpx_text *out, struct mcpx_slice value)
{
    mx_scoped_text plain = {0};
    struct mcpx_slice rest = {0};

    if (mcpx_json_add_unescaped(&plain, value))
        rest = mx_trim(mcpx_text_view(&plain), " \t\n\r");
    out->failed = out->failed || plain.failed;
    mcpx_text_slice(out, rest);
    return rest.len > 0;
}

bool mcpx_request_id_add(struct mcpx_text *out, const struct mcpx_id_sources *from)
{
    static const char *const names[] = {"request_id", "requestId", "correlation_id",
                                        "correlationId"};

    if (add_trimmed(out, mcpx_json_get(from->context, "requestId")))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (add_trimmed(out, mcpx_json_get(from->meta, names[i])))
            return true;
    }
    mcpx_text_slice(out, from->envelope_id);
    return from->envelope_id.len > 0;
}

/* Digits of a version, a trace, a parent and flags: W3C Trace Context, section 3.2. */
static const char traceparent_form[] =
    "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

enum { TRACE_AT = 3, TRACE_LEN = 32, PARENT_AT = 36, PARENT_LEN = 16 };

static bool has_form(struct mcpx_slice text)
{
    size_t len = sizeof traceparent_form - 1;

    if (text.len < len)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool is_digit =
            mx_is_digit(text.text[i]) || (text.text[i] >= 'a' && text.text[i] <= 'f');

        if (traceparent_form[i] == 'x' ? !is_digit : text.text[i] != '-')
            return false;
    }
    /* A later version may have more members. */
    return text.len == len || (memcmp(text.text, "00", 2) != 0 && text.text[len] == '-');
}

/* The trace id of a traceparent; absent for other text. */
static struct mcpx_slice trace_of(const struct mcpx_text *traceparent)
{
    struct mcpx_slice none = {0}, text = mcpx_text_view(traceparent);

    if (!has_form(text) || memcmp(text.text, "ff", 2) == 0 ||
        strspn(text.text + TRACE_AT, "0") >= TRACE_LEN ||
        strspn(text.text + PARENT_AT, "0") >= PARENT_LEN)
        return none;
    return (struct mcpx_slice){text.text + TRACE_AT, TRACE_LEN};
}

void mcpx_trace_id_add(struct mcpx_text *out, const struct mcpx_id_sources *from,
                       struct mcpx_slice request_id)
{
    mx_scoped_text traceparent = {0};
    struct mcpx_slice trace;

    if (add_trimmed(out, mcpx_json_get(from->context, "traceId")))
        return;
    mcpx_json_add_unescaped(&traceparent, mcpx_json_get(from->meta, "traceparent"));
    trace = trace_of(&traceparent);
    mcpx_text_slice(out, trace.text ? trace : request_id);
    out->failed = out->failed || traceparent.failed;
}
