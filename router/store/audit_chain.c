/*
 * audit_chain.c - the chain as it grows. Its whole state is a number and a digest, so that taking
 * back a batch that did not fit on the disk is copying a struct.
 */
#include "router/store/audit_chain.h"

#include "lib/core/format.h"
#include "lib/core/ident.h"
#include <mcpx/json.h>

void audit_chain_begin(struct audit_chain *chain)
{
    *chain = (struct audit_chain){.seq = 1};
    memcpy(chain->prev, audit_prev_none, sizeof chain->prev);
}

/* `line` has its line feed. */
static enum mcpx_err follow(struct audit_chain *chain, struct mcpx_slice line)
{
    enum mcpx_err err = mcpx_digest_bytes(line, chain->prev);

    if (!err)
        chain->seq++;
    return err;
}

enum mcpx_err audit_chain_continue(struct audit_chain *chain, struct mcpx_slice text)
{
    struct audit_chain next = {0};
    struct audit_line line;
    struct mcpx_text whole = {0};
    enum mcpx_err err = MCPX_ENOMEM;

    if (!audit_line_read(text, &line))
        return MCPX_EINVALID;
    next.seq = line.seq;
    next.unsigned_count = line.what != AUDIT_CHECKPOINT;
    mx_format(&whole, "%s\n", text);
    if (!whole.failed)
        err = follow(&next, mcpx_text_view(&whole));
    mcpx_text_fini(&whole);
    if (!err)
        *chain = next;
    return err;
}

/* Takes what was appended behind `start` into the chain. */
static uint64_t taken(struct audit_chain *chain, struct mcpx_text *out, size_t start)
{
    uint64_t seq = chain->seq;

    if (!out->failed &&
        follow(chain, (struct mcpx_slice){out->text + start, out->len - start}) == MCPX_OK)
        return seq;
    out->failed = true;
    return 0;
}

uint64_t audit_chain_add(struct audit_chain *chain, const struct audit_note *note,
                         bool payloads, struct mcpx_text *out)
{
    struct audit_head head = {chain->seq, chain->prev};
    size_t start = out->len;
    uint64_t seq;

    audit_line_add(out, &head, note, payloads);
    seq = taken(chain, out, start);
    chain->unsigned_count += seq != 0;
    return seq;
}

void audit_chain_signed_text(struct mcpx_text *out, const struct audit_head *head,
                             struct mcpx_slice time)
{
    mx_format(out, "mcpx-audit-checkpoint\n%s\n%s\n%s\n", head->seq, time, head->prev);
}

void audit_chain_checkpoint(struct mcpx_text *out, const struct audit_head *head,
                            int64_t wall_ms, struct mcpx_slice key_id,
                            struct mcpx_slice signature)
{
    audit_line_begin(out, head, AUDIT_CHECKPOINT, wall_ms);
    mx_format(out, ",\"key\":%q,\"signature\":%q}\n", key_id, signature);
}

uint64_t audit_chain_sign(struct audit_chain *chain, const struct audit_key *key,
                          int64_t wall_ms, struct mcpx_text *out)
{
    struct audit_head head = {chain->seq, chain->prev};
    char time[MX_TIME_LEN + 1], signature[AUDIT_SIGNATURE_LEN + 1];
    struct mcpx_text text = {0};
    size_t start = out->len;
    uint64_t seq;

    mx_time_format(wall_ms, time);
    audit_chain_signed_text(&text, &head, mcpx_slice_of(time));
    if (text.failed || !audit_key_sign(key, mcpx_text_view(&text), signature))
        out->failed = true;
    else
        audit_chain_checkpoint(out, &head, wall_ms, mcpx_slice_of(audit_key_id(key)),
                               mcpx_slice_of(signature));
    mcpx_text_fini(&text);
    seq = taken(chain, out, start);
    if (seq)
        chain->unsigned_count = 0;
    return seq;
}
