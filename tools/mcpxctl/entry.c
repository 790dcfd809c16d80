/*
 * entry.c - copies an envelope into one allocation: the struct, its addressees, then its bytes.
 * Keeping struct mcpx_envelope itself was refused: it has room for 256 addressees, and a ledger
 * has many envelopes.
 */
#include "tools/mcpxctl/entry.h"

#include "lib/core/ident.h"

#include <mcpx/session.h> /* only for its table of sentences */

#include <stdlib.h>

#define SENTENCE(constant, name, sentence) [constant] = (sentence),

/* Copies the bytes behind those that are there already. */
static struct mcpx_slice keep(char **free_at, struct mcpx_slice text)
{
    struct mcpx_slice copy = {text.text ? *free_at : NULL, text.len};

    if (text.text && text.len > 0)
        memcpy(*free_at, text.text, text.len);
    *free_at += text.len;
    return copy;
}

static size_t size_of(const struct mcpx_envelope *envelope)
{
    size_t size = sizeof(struct entry) + envelope->to_count * sizeof(struct mcpx_slice);

    size += envelope->text.len + envelope->id.len + envelope->ts.len + envelope->from.len;
    size += envelope->correlation_id.len + envelope->kind.text.len;
    for (size_t i = 0; i < envelope->to_count; i++)
        size += envelope->to[i].len;
    return size;
}

enum mcpx_err entry_copy(const struct mcpx_envelope *envelope, struct entry **out)
{
    struct entry *entry = malloc(size_of(envelope));
    char *free_at;

    if (!entry)
        return MCPX_ENOMEM;
    *entry =
        (struct entry){.to = (struct mcpx_slice *)(entry + 1), .to_count = envelope->to_count};
    free_at = (char *)(entry->to + entry->to_count);
    entry->text = keep(&free_at, envelope->text);
    entry->payload = (struct mcpx_slice){
        entry->text.text + (envelope->payload.text - envelope->text.text),
        envelope->payload.len,
    };
    entry->id = keep(&free_at, envelope->id);
    entry->ts = keep(&free_at, envelope->ts);
    entry->from = keep(&free_at, envelope->from);
    entry->correlation_id = keep(&free_at, envelope->correlation_id);
    for (size_t i = 0; i < entry->to_count; i++)
        entry->to[i] = keep(&free_at, envelope->to[i]);
    /* It was parsed once already, so it parses. */
    mcpx_kind_parse(keep(&free_at, envelope->kind.text), &entry->kind, NULL);
    entry->at_ms = time_read(entry->ts);
    *out = entry;
    return MCPX_OK;
}

enum mcpx_err entry_new(struct mcpx_slice text, struct mcpx_fault *fault, struct entry **out)
{
    struct mcpx_envelope envelope;
    enum mcpx_err err;

    mcpx_envelope_init(&envelope);
    err = mcpx_envelope_parse(text, 0, &envelope, fault);
    if (!err)
        err = entry_copy(&envelope, out);
    mcpx_envelope_fini(&envelope);
    return err;
}

void entry_free(struct entry *entry)
{
    free(entry);
}

bool entry_is(const struct entry *entry, const char *type)
{
    return mcpx_slice_equal(entry->kind.type, mcpx_slice_of(type));
}

const char *entry_fault(const struct entry *entry)
{
    static const char *const sentences[] = {MCPX_VIOLATIONS(SENTENCE)};
    static struct mcpx_rpc rpc;

    if (!entry_is(entry, "mcp/request") && !entry_is(entry, "mcp/response") &&
        !entry_is(entry, "mcp/proposal"))
        return NULL;
    if (mcpx_rpc_read(entry->payload, &rpc, NULL) != MCPX_OK)
        return sentences[MCPX_VIOLATION_RPC];
    if (mcpx_rpc_agrees(&rpc, &entry->kind, NULL) != MCPX_OK)
        return sentences[MCPX_VIOLATION_KIND];
    return NULL;
}

int64_t time_read(struct mcpx_slice text)
{
    int64_t ms;

    return mx_time_parse(text, &ms) && ms >= 0 ? ms : -1;
}
