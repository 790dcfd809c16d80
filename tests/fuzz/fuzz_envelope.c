/*
 * fuzz_envelope.c - any bytes: what is accepted keeps every promise that envelope.h makes about
 * it, and no reader that ignores letter case finds another member in it; what is refused has a
 * fault inside the text, and the envelope can be used again after both.
 */
#include <mcpx/envelope.h>

#include "lib/json/escape.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/fold_judge.h"

static void check_header_text(struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        must((unsigned char)text.text[i] >= 0x20 && text.text[i] != 0x7f);
    must(mx_utf8_is_valid(text, NULL));
}

static void check_id(struct mcpx_slice id, bool required)
{
    must(id.text || !required);
    must(!id.text || (id.len >= 1 && id.len <= MCPX_ID_MAX));
    check_header_text(id);
}

static void check_accepted(const struct mcpx_envelope *envelope)
{
    struct mcpx_slice text = envelope->text;
    size_t payload_at = (size_t)(envelope->payload.text - text.text);

    check_id(envelope->id, true);
    check_id(envelope->from, false);
    check_id(envelope->correlation_id, false);
    check_header_text(envelope->ts);
    check_header_text(envelope->kind.text);
    must(envelope->kind.text.len >= 1 && envelope->kind.text.len <= MCPX_KIND_MAX);
    must(envelope->to_count <= MCPX_TO_MAX && (envelope->has_to || !envelope->to_count));
    for (size_t i = 0; i < envelope->to_count; i++)
        check_id(envelope->to[i], true);
    must(text.text[envelope->open_at] == '{');
    must(payload_at < text.len && envelope->payload.len <= text.len - payload_at);
    must(envelope->payload.text[0] == '{');
    must(envelope->payload.text[envelope->payload.len - 1] == '}');
    must(envelope->kind_at + envelope->kind_raw_len <= text.len);
    must(text.text[envelope->kind_at] == '"');
    must(text.text[envelope->kind_at + envelope->kind_raw_len - 1] == '"');
}

/* Accepted: no member is like one of the eight. Refused for that: there is one. */
static void check_names(struct mcpx_slice text, const struct mcpx_fault *fault)
{
    static const char *const names[] = {"protocol",       "id",     "ts", "from", "to", "kind",
                                        "correlation_id", "payload"};
    json_t *object = json_loadb(text.text, text.len, JSON_ALLOW_NUL, NULL);

    if (!object) /* jansson holds no 1e400 and no name with U+0000 */
        return;
    for (size_t i = 0; !fault && i < sizeof names / sizeof *names; i++)
        must(!fold_finds_like(object, names[i]));
    if (fault && strncmp(fault->reason, "named like", 10) == 0)
        must(fold_finds_like(object, fault->field));
    json_decref(object);
}

static void check_text(struct mcpx_slice text, size_t depth, struct mcpx_envelope *envelope)
{
    struct mcpx_fault fault = {NULL, NULL, text.len + 1};
    enum mcpx_err err = mcpx_envelope_parse(text, depth, envelope, &fault);

    if (err == MCPX_OK) {
        check_accepted(envelope);
        check_names(text, NULL);
        return;
    }
    must(err == MCPX_EINVALID || err == MCPX_EUTF8);
    check_names(text, &fault);
    must(fault.reason && fault.field && fault.offset <= text.len);
    check_id(envelope->id, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mcpx_slice sound = {
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"\\u0065\",\"kind\":\"chat\",\"payload\":{}}",
        65};
    struct mcpx_slice text = {(const char *)data, size};
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    mcpx_envelope_init(&envelope);
    check_text(text, 512, &envelope);
    must(mcpx_envelope_parse(sound, 512, &envelope, &fault) == MCPX_OK);
    must(envelope.id.len == 1 && !envelope.from.text && !envelope.has_to);
    check_text(text, 2, &envelope);
    mcpx_envelope_fini(&envelope);
    return 0;
}
