/*
 * provenance.c - the record of what an answer was made from. Digested is only what passed through:
 * what a caller names is copied and never opened, so that no guest can have files of this machine
 * hashed, or the network asked.
 */
#include "lib/contract/wrap.h"

#include "lib/core/format.h"
#include "lib/core/ident.h"
#include "lib/core/json_write.h"

#include <mcpx/json.h>

/* Code points that the contract allows. */
enum { NAME_MAX_POINTS = 200, VERSION_MAX = 100 };

/* Appends a member's value as it came, if it is there. */
static void copy_member(struct mcpx_text *out, struct mcpx_slice object, const char *name)
{
    struct mcpx_slice value = mcpx_json_get(object, name);

    if (value.text)
        mx_json_add_raw(out, name, value);
}

/* An artifact.v0.1 from a reference that keeps its contract: this one has one of the two names. */
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

enum mcpx_err mx_artifacts_add(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                               struct mcpx_slice list)
{
    enum mcpx_err result = MCPX_OK;
    struct mcpx_json_walk walk;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    mcpx_json_walk_start(&walk, list);
    while (mcpx_json_walk_next(&walk)) {
        enum mcpx_err err = mcpx_contracts_validate(
            wrapper->contracts, MCPX_CONTRACT_ARTIFACT_REF, walk.value, &wrapper->report);

        if (err == MCPX_ENOMEM)
            return err;
        if (err)
            result = MCPX_EINVALID;
        else
            add_artifact(out, walk.value);
    }
    return out->failed ? MCPX_ENOMEM : result;
}

/* Appends the digest of a value as a member. */
static enum mcpx_err add_digest(struct mcpx_text *out, struct mcpx_slice text, bool is_json)
{
    char sum[MCPX_SHA256_LEN + 1];
    enum mcpx_err err =
        is_json ? mcpx_digest_json(text, sum, NULL) : mcpx_digest_bytes(text, sum);

    if (!err)
        mx_format(out, ",\"digest\":{\"alg\":\"sha256\",\"value\":%q}", sum);
    return err == MCPX_OK || err == MCPX_ENOMEM ? err : MCPX_EINVALID;
}

/* Appends an artifact that passed through: a string is the text that it stands for. */
static enum mcpx_err add_passed(struct mcpx_text *out, const char *id, struct mcpx_slice value,
                                const struct mx_record *record)
{
    bool is_json = mcpx_json_type(value) != MCPX_JSON_STRING;
    struct mcpx_text plain = {0};
    struct mcpx_slice text = value;
    enum mcpx_err err = MCPX_OK;

    if (!is_json && !mcpx_json_add_unescaped(&plain, value))
        err = MCPX_EINVALID;
    if (!is_json)
        text = mcpx_text_view(&plain);
    mx_format(out,
              "{\"schema_version\":\"artifact.v0.1\",\"artifact_id\":%q,\"media_type\":%q", id,
              is_json ? "application/json" : "text/plain");
    if (record->is_full)
        mx_format(out, ",\"size_bytes\":%s", text.len);
    if (!err && record->has_digests)
        err = add_digest(out, text, is_json);
    mcpx_text_puts(out, "}");
    if (plain.failed)
        err = MCPX_ENOMEM;
    mcpx_text_fini(&plain);
    return err;
}

static enum mcpx_err add_run_id(struct mcpx_text *out, const struct mcpx_wrap *call,
                                bool is_deterministic)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    char digits[MCPX_ID_LEN + 1];
    const char *at = digits;
    enum mcpx_err err = MCPX_OK;

    if (is_deterministic || call->run_id.len != MCPX_ID_LEN)
        err = mx_id_of_run(call->request_id, digits);
    else
        memcpy(digits, call->run_id.text, MCPX_ID_LEN);
    mcpx_text_puts(out, ",\"run_id\":\"");
    for (size_t i = 0; !err && i < sizeof groups / sizeof *groups; i++) {
        mcpx_text_puts(out, i ? "-" : "");
        mcpx_text_add(out, at, groups[i]);
        at += groups[i];
    }
    mcpx_text_puts(out, "\"");
    return err;
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

/* What was done to get here; only what is true. */
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

/* Appends the digest of the record so far, which ends with the brace that is then taken away. */
static enum mcpx_err add_integrity(struct mcpx_text *record)
{
    char sum[MCPX_SHA256_LEN + 1];
    enum mcpx_err err = mcpx_digest_json(mcpx_text_view(record), sum, NULL);

    if (err)
        return err;
    record->len--;
    mx_format(record, ",\"integrity\":{\"record_digest\":{\"alg\":\"sha256\",\"value\":%q}}}",
              sum);
    return MCPX_OK;
}

static enum mcpx_err add_artifacts(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                                   const struct mx_answer *answer,
                                   const struct mx_record *record)
{
    struct mcpx_slice arguments = answer->call->arguments, none = MCPX_SLICE("{}");
    enum mcpx_err err;

    mcpx_text_puts(out, ",\"inputs\":[");
    err = add_passed(out, "arguments", arguments.text ? arguments : none, record);
    mx_format(out, "%s],\"outputs\":[", &wrapper->artifacts);
    if (!err && answer->value.text)
        err = add_passed(out, "result", answer->value, record);
    mcpx_text_puts(out, "]");
    return err;
}

enum mcpx_err mx_record_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                                const struct mx_record *record)
{
    const struct mcpx_wrap *call = answer->call;
    bool has_parent = record->is_full && call->parent.len > 0;
    struct mcpx_text *out = &wrapper->record;
    char time[MX_TIME_LEN + 1];
    enum mcpx_err err;

    mcpx_text_puts(out, "{\"schema_version\":\"prov.record.v0.1\"");
    err = add_run_id(out, call, record->is_deterministic);
    add_tool(out, call);
    if (!err)
        err = add_artifacts(out, wrapper, answer, record);
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
    if (!err && out->failed)
        err = MCPX_ENOMEM;
    if (!err && record->is_full)
        err = add_integrity(out);
    return !err && out->failed ? MCPX_ENOMEM : err;
}
