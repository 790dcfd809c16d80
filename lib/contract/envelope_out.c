/*
 * envelope_out.c - writes mcp.envelope.v0.1 around a value. The caller states its wishes in the
 * `_meta` of the call; an invalid wish becomes a warning and changes nothing else.
 */
#include "lib/contract/wrap.h"

#include "lib/json/json_write.h"
#include "lib/json/number.h"

/* Limits of the contract in code points. */
enum { CODE_MAX = 200, MESSAGE_MAX = 2000, ID_MAX = 200 };

struct wishes {
    struct mx_record record;
    bool wants_record;
    struct mcpx_slice bytes_max; /* a number; absent: no limit */
};

static void warn_of_member(struct mcpx_text *out, const char *member, const char *expected)
{
    mx_json_begin_object(out, NULL);
    mx_format(out, "\"code\":\"ADAPTER.META.INVALID\",\"message\":\"%s %s\"", member,
              expected);
    mx_format(out, ",\"details\":{\"member\":%q}}", member);
}

/* Reads a boolean member; `fallback` when it is missing or, with a warning, not a boolean. */
static bool read_bool(struct mcpx_text *warnings, struct mcpx_slice object, const char *name,
                      bool fallback)
{
    struct mcpx_slice value = mcpx_json_get(object, name);

    if (mcpx_json_type(value) == MCPX_JSON_BOOL)
        return value.text[0] == 't';
    if (value.text)
        warn_of_member(warnings, name, "must be true or false");
    return fallback;
}

static bool read_mode(struct mcpx_text *warnings, struct mcpx_slice meta)
{
    struct mcpx_slice value = mcpx_json_get(meta, "provenance_mode");
    bool is_full = mcpx_json_equals(value, MCPX_SLICE("full"));

    if (value.text && !is_full && !mcpx_json_equals(value, MCPX_SLICE("minimal")))
        warn_of_member(warnings, "provenance_mode", "must be minimal or full");
    return is_full;
}

static struct mcpx_slice read_limit(struct mcpx_text *warnings, struct mcpx_slice preferences)
{
    struct mcpx_slice value = mcpx_json_get(preferences, "max_output_bytes");
    struct mx_number number;

    if (!value.text)
        return value;
    if (mcpx_json_type(value) == MCPX_JSON_NUMBER && mx_number_read(value, &number) &&
        mx_number_is_integer(&number) && !number.negative)
        return value;
    warn_of_member(warnings, "max_output_bytes", "must be a whole number, at least 0");
    return (struct mcpx_slice){NULL, 0};
}

/* Reads the wishes, and lists warnings and artifacts in the wrapper. */
static void read_wishes(struct mcpx_wrapper *wrapper, struct mcpx_slice meta,
                        struct wishes *out)
{
    struct mcpx_slice preferences = mcpx_json_get(meta, "io.mcpx/preferences");
    struct mcpx_slice artifacts = mcpx_json_get(meta, "io.mcpx/artifacts");
    struct mcpx_text *warnings = &wrapper->warnings;

    mcpx_text_reset(warnings);
    mcpx_text_reset(&wrapper->artifacts);
    mx_json_begin_array(warnings, NULL);
    if (preferences.text && mcpx_json_type(preferences) != MCPX_JSON_OBJECT)
        warn_of_member(warnings, "io.mcpx/preferences", "must be an object");
    out->record.is_deterministic = read_bool(warnings, preferences, "deterministic", true);
    out->bytes_max = read_limit(warnings, preferences);
    out->wants_record = read_bool(warnings, meta, "capture_provenance", false);
    out->record.has_digests = read_bool(warnings, meta, "capture_artifacts", false);
    out->record.is_full = read_mode(warnings, meta);
    if (out->wants_record && artifacts.text &&
        !mx_artifacts_add(&wrapper->artifacts, wrapper, artifacts))
        warn_of_member(warnings, "io.mcpx/artifacts", "must be a list of artifact.ref.v0.1");
}

/* Warns when the value is longer than the caller's limit. */
static void check_limit(struct mcpx_wrapper *wrapper, struct mcpx_slice value,
                        struct mcpx_slice bytes_max)
{
    struct mcpx_text *warnings = &wrapper->warnings, *digits = &wrapper->line;
    struct mx_number bytes, limit;

    mcpx_text_reset(digits);
    mcpx_text_number(digits, (int64_t)value.len);
    warnings->failed = warnings->failed || digits->failed;
    if (!bytes_max.text || digits->failed || !mx_number_read(mcpx_text_view(digits), &bytes) ||
        !mx_number_read(bytes_max, &limit) || mx_number_compare(&bytes, &limit) <= 0)
        return;
    mx_json_begin_object(warnings, NULL);
    mx_format(warnings,
              "\"code\":\"ADAPTER.OUTPUT.OVER_SOFT_LIMIT\","
              "\"message\":\"result is larger than max_output_bytes\","
              "\"details\":{\"bytes\":%s,\"limit\":%s}}",
              digits, bytes_max);
}

/* Appends a string value, cut after `points`; `fallback` when it is empty or cannot be read. */
static void add_cut(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                    struct mcpx_slice string, size_t points, const char *fallback)
{
    struct mcpx_slice text = mcpx_slice_of(fallback);

    mcpx_text_reset(&wrapper->line);
    if (mcpx_json_add_unescaped(&wrapper->line, string) && wrapper->line.len > 0)
        text = mcpx_text_view(&wrapper->line);
    mcpx_json_add_string(out, mx_cut(text, points));
    wrapper->failed |= wrapper->line.failed;
}

/* True for members of the tool's error that are also members of the envelope's errors. */
static bool has_place(const struct mcpx_json_walk *walk)
{
    return mcpx_json_walk_at(walk, "code") || mcpx_json_walk_at(walk, "message") ||
           (mcpx_json_walk_at(walk, "retryable") &&
            mcpx_json_type(walk->value) == MCPX_JSON_BOOL);
}

/* The object with the details: the error, or its `details` if it has no other members. */
static struct mcpx_slice details_of(struct mcpx_slice error)
{
    struct mcpx_slice details = mcpx_json_get(error, "details");
    size_t others = 0;

    MCPX_JSON_EACH(walk, error)
        others += !has_place(&walk);
    return others == 1 && mcpx_json_type(details) == MCPX_JSON_OBJECT ? details : error;
}

/* Appends members as details: scalars as they are, containers as their JSON text. */
static void add_details(struct mcpx_text *out, struct mcpx_slice error)
{
    struct mcpx_slice details = details_of(error);
    bool any = false;

    MCPX_JSON_EACH(walk, details) {
        enum mcpx_json_type type = mcpx_json_type(walk.value);

        if (details.text == error.text && has_place(&walk))
            continue;
        mx_format(out, "%s\"%s\":", any ? "," : ",\"details\":{", walk.name);
        any = true;
        if (type == MCPX_JSON_OBJECT || type == MCPX_JSON_ARRAY)
            mcpx_json_add_string(out, walk.value);
        else
            mcpx_text_slice(out, walk.value);
    }
    if (any)
        mcpx_text_puts(out, "}");
}

static void add_structured(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                           struct mcpx_slice error)
{
    struct mcpx_slice retryable = mcpx_json_get(error, "retryable");

    mx_json_begin_object(out, NULL);
    mcpx_text_puts(out, "\"code\":");
    add_cut(out, wrapper, mcpx_json_get(error, "code"), CODE_MAX,
            mcpx_cause_in_envelope(MCPX_CAUSE_FAILED));
    mcpx_text_puts(out, ",\"message\":");
    add_cut(out, wrapper, mcpx_json_get(error, "message"), MESSAGE_MAX, "unspecified error");
    if (mcpx_json_type(retryable) == MCPX_JSON_BOOL)
        mx_format(out, ",\"retryable\":%s", retryable);
    add_details(out, error);
    mx_json_end_object(out);
}

/* True when a value is an object with strings `code`, not empty, and `message`. */
static bool is_structured(struct mcpx_slice value)
{
    struct mcpx_slice code = mcpx_json_get(value, "code");

    return mcpx_json_type(code) == MCPX_JSON_STRING && code.len > 2 &&
           mcpx_json_type(mcpx_json_get(value, "message")) == MCPX_JSON_STRING;
}

/* Appends the tool's structured errors: the value is one, or its `error`, or items of `errors`. */
static bool add_all_structured(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                               struct mcpx_slice value)
{
    struct mx_error_walk walk = {.value = value};
    struct mcpx_slice at;
    bool any = false;

    while (mx_error_walk_next(&walk, &at)) {
        if (!is_structured(at))
            continue;
        add_structured(out, wrapper, at);
        any = true;
        if (walk.items.value.text != at.text)
            break;
    }
    return any;
}

static void add_errors(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                       const struct mx_answer *answer)
{
    const struct mcpx_failure *failure = answer->failure;
    mx_scoped_text details = {0};

    if (!failure)
        return;
    mx_json_begin_array(out, "errors");
    if (failure->cause != MCPX_CAUSE_FAILED ||
        !add_all_structured(out, wrapper, answer->value)) {
        mx_format(out, "{\"code\":%q,\"message\":", mcpx_cause_in_envelope(failure->cause));
        mx_reason_add(out, wrapper, answer, mx_reason(wrapper, answer), MESSAGE_MAX);
        mx_reason_details(&details, failure);
        if (details.len > 0 || details.failed)
            mx_format(out, ",\"details\":{%s}", &details);
        mcpx_text_puts(out, "}");
    }
    mx_json_end_array(out);
}

/* Composes the wanted record, or the reason for its absence. */
static void compose_record(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                           const struct wishes *wishes)
{
    struct mx_record record = wishes->record;

    mcpx_text_reset(&wrapper->record);
    record.errors = answer->failure != NULL;
    record.warnings = wrapper->warnings.len > 1;
    if (wishes->wants_record && mx_record_compose(wrapper, answer, &record))
        return;
    mcpx_text_reset(&wrapper->record);
    mcpx_text_puts(&wrapper->record, "null");
    if (!wishes->wants_record)
        return;
    mx_json_begin_object(&wrapper->warnings, NULL);
    mcpx_text_puts(&wrapper->warnings,
                   "\"code\":\"ADAPTER.PROVENANCE.UNAVAILABLE\","
                   "\"message\":\"arguments or result could be read in two ways and have "
                   "no digest\"}");
}

static void write_envelope(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                           bool has_meta)
{
    const struct mcpx_wrap *call = answer->call;
    struct mcpx_text *out = &wrapper->envelope;

    mcpx_text_reset(out);
    mx_format(out, "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":%s",
              answer->value.text ? answer->value : MCPX_SLICE("null"));
    add_errors(out, wrapper, answer);
    if (wrapper->warnings.len > 1)
        mx_format(out, ",\"warnings\":%s]", &wrapper->warnings);
    if (has_meta)
        mx_format(out,
                  ",\"meta\":{\"adapter\":\"mcpx-bridge\",\"request_id\":%q,"
                  "\"duration_ms\":%s}",
                  mx_cut(call->request_id, ID_MAX),
                  call->duration_ms > 0 ? call->duration_ms : 0);
    mx_format(out, ",\"provenance\":%s}", &wrapper->record);
    wrapper->failed |= wrapper->warnings.failed;
}

void mx_envelope_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer)
{
    struct wishes wishes = {.wants_record = false};

    read_wishes(wrapper, answer->call->meta, &wishes);
    if (answer->value.text)
        check_limit(wrapper, answer->value, wishes.bytes_max);
    compose_record(wrapper, answer, &wishes);
    write_envelope(wrapper, answer, !wishes.record.is_deterministic);
}
