/*
 * audit_share.c - a bucket for each name that has lately used some of its share, in a table of
 * fixed size: a map that grows would let an attacker choose how much memory it takes. A name that
 * finds no place shares the last bucket with all others.
 */
#include "router/store/audit/audit_share.h"

static bool is_unused(const struct audit_share *share, int64_t mono_ms)
{
    return share->lost == 0 && mono_ms - share->at_ms >= share->used_ms;
}

static struct audit_share *find(struct audit_shares *shares, struct mcpx_slice name,
                                int64_t mono_ms)
{
    struct audit_share *unused = NULL;

    if (name.len > AUDIT_SHARE_NAME)
        return &shares->shares[AUDIT_SHARES];
    for (size_t i = 0; i < AUDIT_SHARES; i++) {
        struct audit_share *share = &shares->shares[i];

        if (mcpx_slice_equal((struct mcpx_slice){share->name, share->len}, name) &&
            name.len > 0)
            return share;
        if (!unused && is_unused(share, mono_ms))
            unused = share;
    }
    if (!unused || name.len == 0)
        return &shares->shares[AUDIT_SHARES];
    *unused = (struct audit_share){.len = name.len, .at_ms = mono_ms};
    memcpy(unused->name, name.text, name.len);
    return unused;
}

static void lose(struct audit_share *share, uint64_t count, struct mcpx_now now)
{
    if (share->lost == 0) {
        share->since = now.wall_ms;
        share->lost_ms = now.mono_ms;
    }
    share->lost += count;
    share->until = now.wall_ms;
}

bool audit_share_take(struct audit_shares *shares, struct mcpx_slice name, struct mcpx_now now)
{
    struct audit_share *share = find(shares, name, now.mono_ms);
    int64_t used_ms = share->used_ms - (now.mono_ms - share->at_ms);

    share->at_ms = now.mono_ms;
    share->used_ms = used_ms > 0 ? used_ms : 0;
    if (share->used_ms <= (int64_t)(AUDIT_SHARE - 1) * AUDIT_SHARE_MS) {
        share->used_ms += AUDIT_SHARE_MS;
        return true;
    }
    lose(share, 1, now);
    return false;
}

void audit_share_lose(struct audit_shares *shares, uint64_t count, struct mcpx_now now)
{
    lose(&shares->shares[AUDIT_SHARES], count, now);
}

bool audit_share_tell(struct audit_shares *shares, int64_t mono_ms, bool all,
                      struct audit_note *out)
{
    for (size_t i = 0; i <= AUDIT_SHARES; i++) {
        struct audit_share *share = &shares->shares[i];

        if (share->lost == 0 || (!all && mono_ms - share->lost_ms < AUDIT_SHARE_TOLD_MS))
            continue;
        *out = (struct audit_note){.what = AUDIT_LOST,
                                   .wall_ms = share->until,
                                   .reason = MCPX_SLICE("share"),
                                   .count = share->lost,
                                   .since = share->since,
                                   .until = share->until};
        if (i < AUDIT_SHARES)
            out->from = (struct mcpx_slice){share->name, share->len};
        share->lost = 0;
        return true;
    }
    return false;
}
