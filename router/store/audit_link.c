/*
 * audit_link.c - what is kept of a line while a chain is verified: its place, its number and two
 * digests. The text is gone when the next line is read.
 */
#include "router/store/audit_link.h"

#include <mcpx/json.h>

bool audit_link_joins(const struct audit_link *link, const struct audit_link *next)
{
    return next->readable && memcmp(next->prev, link->sum, MCPX_SHA256_LEN) == 0;
}

bool audit_link_read(const struct audit_row *row, struct mcpx_text *scratch,
                     struct audit_link *out)
{
    struct audit_line line = {0};
    struct mcpx_slice signature = {0};

    *out = (struct audit_link){.file = row->file,
                               .row = row->row,
                               .named = row->named,
                               .ended = row->ended,
                               .readable = audit_line_read(row->text, &line)};
    if (out->readable) {
        out->seq = line.seq;
        out->what = line.what;
        memcpy(out->prev, line.prev.text, MCPX_SHA256_LEN);
    }
    if (out->readable && out->what == AUDIT_CHECKPOINT)
        signature = mcpx_json_get(line.whole, "signature");
    if (signature.len > 0 && mcpx_digest_bytes(signature, out->signature))
        return false;
    mcpx_text_reset(scratch);
    mcpx_text_slice(scratch, row->text);
    mcpx_text_puts(scratch, row->ended ? "\n" : "");
    return !scratch->failed && mcpx_digest_bytes(mcpx_text_view(scratch), out->sum) == MCPX_OK;
}

uint64_t audit_break_seq(const struct audit_break *at)
{
    return at->has_before ? at->before.seq + 1 : at->broken.named;
}
