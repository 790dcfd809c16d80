/*
 * ids.c - ids that are made, and ids that a call brings along. Of a deterministic id's name only
 * the beginning of its SHA-1 is remembered, with how often it was asked for. Should two names share
 * that, their numbers are counted together; their ids stay different.
 */
#include "lib/contract/canonical.h"
#include "lib/contract/digest.h"
#include "lib/contract/wrap.h"
#include "lib/core/ident.h"
#include "lib/core/map.h"
#include <mcpx/json.h>

#include <stdlib.h>

enum { UUID_BYTES = 16 };

/* 235fd3ef-2f17-599e-b514-ca718a7069ee: version 5 of urn:mcpx:ids in the namespace of URLs. */
static const unsigned char id_namespace[UUID_BYTES] = {0x23, 0x5f, 0xd3, 0xef, 0x2f, 0x17,
                                                       0x59, 0x9e, 0xb5, 0x14, 0xca, 0x71,
                                                       0x8a, 0x70, 0x69, 0xee};

static const char *const purposes[] = {
    [MCPX_ID_REQUEST] = "req:", [MCPX_ID_SPAN] = "span:", [MCPX_ID_RUN] = "run:"};

struct mcpx_ids {
    struct mx_map counts; /* how often, under the beginning of a name's SHA-1 */
};

struct mcpx_ids *mcpx_ids_new(void)
{
    return (struct mcpx_ids *)calloc(1, sizeof(struct mcpx_ids));
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

/* The namespace, the purpose and the call: what the first id of a name is the SHA-1 of. */
static void write_name(struct mcpx_text *out, enum mcpx_id_purpose purpose,
                       struct mcpx_slice tool, struct mcpx_slice arguments)
{
    enum mcpx_err err = MCPX_OK;

    mcpx_text_add(out, (const char *)id_namespace, sizeof id_namespace);
    mcpx_text_puts(out, purposes[purpose]);
    mcpx_text_puts(out, "{\"arguments\":");
    if (arguments.text)
        err = mcpx_canonical_add(out, arguments, NULL);
    else
        mcpx_text_puts(out, "{}");
    if (err == MCPX_ENOMEM)
        out->failed = true;
    else if (err)
        mcpx_text_slice(out, arguments);
    mcpx_text_puts(out, ",\"tool\":");
    mx_canonical_string(out, tool);
    mcpx_text_puts(out, "}");
}

/* The SHA-1 of the name; and of what it is from the second time on. */
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
        mcpx_text_puts(name, "#");
        mcpx_text_number(name, (int64_t)count + 1);
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
    struct mcpx_text name = {0};
    unsigned char sum[MX_SHA1_BYTES];
    bool done;

    write_name(&name, purpose, tool, arguments);
    done = next_sum(ids, &name, sum);
    mcpx_text_fini(&name);
    if (!done)
        return MCPX_ENOMEM;
    write_uuid(sum, 5, out);
    return MCPX_OK;
}

enum mcpx_err mx_id_of_run(struct mcpx_slice request_id, char out[MCPX_ID_LEN + 1])
{
    struct mcpx_text name = {0};
    unsigned char sum[MX_SHA1_BYTES];
    bool done;

    mcpx_text_add(&name, (const char *)id_namespace, sizeof id_namespace);
    mcpx_text_puts(&name, purposes[MCPX_ID_RUN]);
    mcpx_text_slice(&name, request_id);
    done = !name.failed && mx_sha1(mcpx_text_view(&name), sum);
    mcpx_text_fini(&name);
    if (!done)
        return MCPX_ENOMEM;
    write_uuid(sum, 5, out);
    return MCPX_OK;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Appends what a string is without blanks around it; false when it is no string, or all blanks. */
static bool add_trimmed(struct mcpx_text *out, struct mcpx_slice value)
{
    struct mcpx_text plain = {0};
    struct mcpx_slice rest = {0};

    if (mcpx_json_add_unescaped(&plain, value))
        rest = mcpx_text_view(&plain);
    while (rest.len > 0 && is_blank(rest.text[rest.len - 1]))
        rest.len--;
    for (; rest.len > 0 && is_blank(*rest.text); rest.len--)
        rest.text++;
    out->failed = out->failed || plain.failed;
    mcpx_text_slice(out, rest);
    mcpx_text_fini(&plain);
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
        bool is_digit = (text.text[i] >= '0' && text.text[i] <= '9') ||
                        (text.text[i] >= 'a' && text.text[i] <= 'f');

        if (traceparent_form[i] == 'x' ? !is_digit : text.text[i] != '-')
            return false;
    }
    /* A later version may have more to say. */
    return text.len == len || (memcmp(text.text, "00", 2) != 0 && text.text[len] == '-');
}

static bool is_zeros(const char *digits, size_t len)
{
    return strspn(digits, "0") >= len;
}

/* The trace id of a traceparent; absent when it is none. */
static struct mcpx_slice trace_of(const struct mcpx_text *traceparent)
{
    struct mcpx_slice none = {0}, text = mcpx_text_view(traceparent);

    if (!has_form(text) || memcmp(text.text, "ff", 2) == 0 ||
        is_zeros(text.text + TRACE_AT, TRACE_LEN) ||
        is_zeros(text.text + PARENT_AT, PARENT_LEN))
        return none;
    return (struct mcpx_slice){text.text + TRACE_AT, TRACE_LEN};
}

void mcpx_trace_id_add(struct mcpx_text *out, const struct mcpx_id_sources *from,
                       struct mcpx_slice request_id)
{
    struct mcpx_text traceparent = {0};
    struct mcpx_slice trace;

    if (add_trimmed(out, mcpx_json_get(from->context, "traceId")))
        return;
    mcpx_json_add_unescaped(&traceparent, mcpx_json_get(from->meta, "traceparent"));
    trace = trace_of(&traceparent);
    mcpx_text_slice(out, trace.text ? trace : request_id);
    out->failed = out->failed || traceparent.failed;
    mcpx_text_fini(&traceparent);
}
