/*
 * audit_verify.c - reads a chain once, in constant memory, up to the first line that does not fit.
 * A line fits when its number is the next one and it names the line before. What was done to a line
 * that does not fit is seen only from what follows it, so the line behind is read, too; the rest is
 * audit_diagnose.c.
 */
#include "router/store/audit/audit_verify.h"

#include "lib/json/json_write.h"
#include "router/store/audit/audit_chain.h"
#include <mcpx/json.h>

#define DAMAGE_NAME(constant, name) [constant] = (name),
static const char *const names[] = {AUDIT_DAMAGES(DAMAGE_NAME)};

const char *audit_damage_name(enum audit_damage damage)
{
    return names[damage];
}

/* One pass over the lines. */
struct pass {
    const struct audit_rows *rows;
    const struct audit_evidence *evidence;
    struct audit_verdict *verdict;
    struct mcpx_text scratch;
    struct audit_row row;
    struct audit_link link;   /* the line being looked at */
    struct audit_link before; /* the one before it; `at` of link says whether there is one */
    bool stopped;             /* "stop" stands before the last checkpoint */
};

enum step { STEP_END, STEP_LINE, STEP_NO_MEMORY };

static enum step take(struct pass *pass)
{
    uint64_t at = pass->verdict->lines;

    if (!pass->rows->next(pass->rows->context, &pass->row))
        return STEP_END;
    if (!audit_link_read(&pass->row, &pass->scratch, &pass->link))
        return STEP_NO_MEMORY;
    pass->link.at = at;
    return STEP_LINE;
}

static bool fits(const struct pass *pass)
{
    const struct audit_link *link = &pass->link;

    if (!link->readable || !link->ended)
        return false;
    if (link->at > 0)
        return link->seq == pass->before.seq + 1 && audit_link_joins(&pass->before, link);
    return link->seq == link->named && link->what == AUDIT_BEGIN &&
           (link->seq > 1 || memcmp(link->prev, audit_prev_none, MCPX_SHA256_LEN) == 0);
}

static const struct audit_key *key_named(const struct audit_evidence *evidence,
                                         struct mcpx_slice id)
{
    for (size_t i = 0; i < evidence->key_count; i++)
        if (mcpx_json_equals(id, mcpx_slice_of(audit_key_id(evidence->keys[i]))))
            return evidence->keys[i];
    return NULL;
}

/* True when the line is, byte for byte, what the router writes. */
static bool is_written_so(const struct audit_line *line, const struct audit_head *head,
                          struct mcpx_slice signature)
{
    struct mcpx_text again = {0};
    struct mcpx_slice id = mcpx_json_get(line->whole, "key");
    bool same;

    audit_chain_checkpoint(&again, head, line->wall_ms,
                           (struct mcpx_slice){id.text + 1, id.len - 2}, signature);
    same = !again.failed && again.len == line->whole.len + 1 &&
           memcmp(again.text, line->whole.text, line->whole.len) == 0;
    mcpx_text_fini(&again);
    return same;
}

/* What is wrong with the checkpoint in `row`; AUDIT_WHOLE when it is good. */
static enum audit_damage judge_signature(struct pass *pass)
{
    struct audit_head head = {pass->link.seq, pass->link.prev};
    struct audit_line line;
    struct mcpx_slice signature;
    const struct audit_key *key;
    bool good;

    audit_line_read(pass->row.text, &line);
    key = key_named(pass->evidence, mcpx_json_get(line.whole, "key"));
    if (!key)
        return AUDIT_UNKNOWN_KEY;
    signature = mcpx_json_get(line.whole, "signature");
    if (signature.len < 2)
        return AUDIT_BAD_SIGNATURE;
    signature = (struct mcpx_slice){signature.text + 1, signature.len - 2};
    mcpx_text_reset(&pass->scratch);
    audit_chain_signed_text(&pass->scratch, &head, line.time);
    good = audit_key_verify(key, mcpx_text_view(&pass->scratch), signature) &&
           is_written_so(&line, &head, signature);
    return good ? AUDIT_WHOLE : AUDIT_BAD_SIGNATURE;
}

/* The line fits: it is now the one before. */
static void accept(struct pass *pass)
{
    struct audit_verdict *verdict = pass->verdict;

    if (verdict->lines++ == 0)
        verdict->first_seq = pass->link.seq;
    verdict->last_seq = pass->link.seq;
    memcpy(verdict->last_sum, pass->link.sum, sizeof verdict->last_sum);
    verdict->uncovered++;
    if (pass->link.is_signed) {
        pass->stopped = pass->before.what == AUDIT_STOP;
        verdict->checkpoints++;
        verdict->signed_seq = pass->link.seq;
        verdict->uncovered = 0;
    }
    pass->before = pass->link;
}

static void blame(struct pass *pass, enum audit_damage damage, const struct audit_link *link,
                  const char *reason)
{
    struct audit_verdict *verdict = pass->verdict;

    verdict->damage = damage;
    verdict->file = link->file;
    verdict->row = link->row;
    verdict->seq = link->seq;
    verdict->reason = reason;
}

/* `signature`   what is wrong with that of a line that fits */
static enum mcpx_err blame_break(struct pass *pass, enum audit_damage signature)
{
    struct audit_break at = {.has_before = pass->link.at > 0,
                             .before = pass->before,
                             .broken = pass->link,
                             .signature = signature};
    enum step step;

    if (!signature && at.broken.readable && at.broken.what == AUDIT_CHECKPOINT)
        at.broken.is_signed = judge_signature(pass) == AUDIT_WHOLE;
    step = take(pass);
    if (step == STEP_NO_MEMORY)
        return MCPX_ENOMEM;
    at.has_next = step == STEP_LINE;
    at.next = pass->link;
    audit_diagnose(&at, pass->verdict);
    return MCPX_OK;
}

/* What the evidence says of a line that fits. */
static bool contradicts(struct pass *pass)
{
    const struct audit_evidence *evidence = pass->evidence;

    if (evidence->known_seq != pass->link.seq)
        return false;
    pass->verdict->known_met = true;
    return !mcpx_slice_equal(evidence->known_sum, mcpx_slice_of(pass->link.sum));
}

/* All lines fit: is the end there? */
static void judge_end(struct pass *pass)
{
    struct audit_link behind = pass->before;
    const struct audit_evidence *evidence = pass->evidence;

    behind.row++;
    behind.seq++;
    if (evidence->known_seq > 0 && !pass->verdict->known_met &&
        evidence->known_seq > pass->verdict->last_seq)
        blame(pass, AUDIT_TRUNCATION, &behind, "the line that was noted elsewhere is missing");
    else if (evidence->is_ended && !(pass->verdict->uncovered == 0 && pass->stopped))
        blame(pass, AUDIT_TRUNCATION, &behind,
              "the last lines are not \"stop\" and its checkpoint; they are not while the "
              "router runs, nor after a crash");
}

static enum mcpx_err run(struct pass *pass)
{
    enum step step;

    while ((step = take(pass)) == STEP_LINE) {
        enum audit_damage damage = AUDIT_WHOLE;

        if (!fits(pass))
            return blame_break(pass, AUDIT_WHOLE);
        if (pass->link.what == AUDIT_CHECKPOINT)
            damage = judge_signature(pass);
        if (damage != AUDIT_WHOLE)
            return blame_break(pass, damage);
        pass->link.is_signed = pass->link.what == AUDIT_CHECKPOINT;
        if (contradicts(pass)) {
            blame(pass, AUDIT_EDIT, &pass->link,
                  "this line, or one before it, is not the one that was noted elsewhere");
            return MCPX_OK;
        }
        accept(pass);
    }
    if (step == STEP_NO_MEMORY)
        return MCPX_ENOMEM;
    judge_end(pass);
    return MCPX_OK;
}

enum mcpx_err audit_verify(const struct audit_rows *rows,
                           const struct audit_evidence *evidence, struct audit_verdict *out)
{
    struct audit_verdict verdict = {.reason = ""};
    struct pass pass = {.rows = rows, .evidence = evidence, .verdict = &verdict};
    enum mcpx_err err;

    memcpy(verdict.last_sum, audit_prev_none, sizeof verdict.last_sum);
    err = run(&pass);
    mcpx_text_fini(&pass.scratch);
    if (!err)
        *out = verdict;
    return err;
}
