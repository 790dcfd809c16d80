/*
 * audit_verify.c - reads a chain once, in constant memory, up to the first line that does not fit.
 * A line fits when its number is the next one and it names the line before. One line more is read
 * then: it shows whether the bad line was changed, inserted or moved.
 */
#include "router/store/audit/audit_verify.h"

#include "lib/base/scoped.h"
#include "router/store/audit/audit_chain.h"
#include <mcpx/json.h>

#define DAMAGE_NAME(constant, name) [constant] = (name),
static const char *const names[] = {AUDIT_DAMAGES(DAMAGE_NAME)};

const char *audit_damage_name(enum audit_damage damage)
{
    return names[damage];
}

/*
 * A line. Its text, and slices of it, are lent until the next one is read.
 *
 * line        as it was read; valid only if `readable`
 * is_signed   it is a checkpoint with a good signature
 * sum         its own SHA-256
 */
struct audit_link {
    struct audit_row at;
    struct audit_line line;
    bool readable, is_signed;
    char prev[MCPX_SHA256_LEN + 1], sum[MCPX_SHA256_LEN + 1];
};

/*
 * One pass over the lines.
 *
 * stopped   the line before the last checkpoint is "stop"
 */
struct pass {
    const struct audit_rows *rows;
    const struct audit_evidence *evidence;
    struct audit_verdict *verdict;
    struct mcpx_text scratch;
    /* The last good line; there is one when the verdict has lines. */
    struct audit_link before;
    struct audit_link link; /* the line behind it, to be judged */
    bool stopped, no_memory;
};

/* True when `next` names `link` as the line before it. */
static bool joins(const struct audit_link *link, const struct audit_link *next)
{
    return next->readable && memcmp(next->prev, link->sum, MCPX_SHA256_LEN) == 0;
}

/* Reads the next line, without its signature. False at the end, or when memory runs out. */
static bool take(struct pass *pass, struct audit_link *out)
{
    struct audit_row row;

    if (!pass->rows->next(pass->rows->context, &row))
        return false;
    *out = (struct audit_link){.at = row};
    out->readable = audit_line_read(row.text, &out->line);
    if (out->readable)
        memcpy(out->prev, out->line.prev.text, MCPX_SHA256_LEN);
    mcpx_text_reset(&pass->scratch);
    mcpx_text_slice(&pass->scratch, row.text);
    mcpx_text_puts(&pass->scratch, row.ended ? "\n" : "");
    pass->no_memory = pass->scratch.failed ||
                      mcpx_digest_bytes(mcpx_text_view(&pass->scratch), out->sum) != MCPX_OK;
    return !pass->no_memory;
}

static bool fits(const struct pass *pass)
{
    const struct audit_link *link = &pass->link;
    uint64_t seq = link->line.seq;

    if (!link->readable || !link->at.ended)
        return false;
    if (pass->verdict->lines > 0)
        return seq == pass->before.line.seq + 1 && joins(&pass->before, link);
    return seq == link->at.named && link->line.what == AUDIT_BEGIN &&
           (seq > 1 || memcmp(link->prev, audit_prev_none, MCPX_SHA256_LEN) == 0);
}

static const struct audit_key *key_named(const struct audit_evidence *evidence,
                                         struct mcpx_slice id)
{
    for (size_t i = 0; i < evidence->key_count; i++)
        if (mcpx_json_equals(id, mcpx_slice_of(audit_key_id(evidence->keys[i]))))
            return evidence->keys[i];
    return NULL;
}

/* True when the router would write this line, byte for byte. */
static bool is_written_so(const struct audit_line *line, const struct audit_head *head,
                          struct mcpx_slice signature)
{
    mx_scoped_text again = {0};
    struct mcpx_slice id = mcpx_json_get(line->whole, "key");

    audit_chain_checkpoint(&again, head, line->wall_ms,
                           (struct mcpx_slice){id.text + 1, id.len - 2}, signature);
    return !again.failed && again.len == line->whole.len + 1 &&
           memcmp(again.text, line->whole.text, line->whole.len) == 0;
}

/* Judges the signature of the line that was read; AUDIT_WHOLE if it is good, or not there. */
static enum audit_damage judge_signature(struct pass *pass)
{
    const struct audit_line *line = &pass->link.line;
    struct audit_head head = {line->seq, pass->link.prev};
    struct mcpx_slice signature;
    const struct audit_key *key;
    bool good;

    if (!pass->link.readable || line->what != AUDIT_CHECKPOINT)
        return AUDIT_WHOLE;
    key = key_named(pass->evidence, mcpx_json_get(line->whole, "key"));
    if (!key)
        return AUDIT_UNKNOWN_KEY;
    signature = mcpx_json_get(line->whole, "signature");
    if (signature.len < 2)
        return AUDIT_BAD_SIGNATURE;
    signature = (struct mcpx_slice){signature.text + 1, signature.len - 2};
    mcpx_text_reset(&pass->scratch);
    audit_chain_signed_text(&pass->scratch, &head, line->time);
    good = audit_key_verify(key, mcpx_text_view(&pass->scratch), signature) &&
           is_written_so(line, &head, signature);
    return good ? AUDIT_WHOLE : AUDIT_BAD_SIGNATURE;
}

/* ---- diagnosis ---- */

static void blame(struct audit_verdict *verdict, enum audit_damage damage,
                  const struct audit_link *link, uint64_t seq, const char *reason)
{
    verdict->damage = damage;
    verdict->file = link->at.file;
    verdict->row = link->at.row;
    verdict->seq = seq;
    verdict->reason = reason;
}

/*
 * Finds the damage at the place where the chain breaks: A is the last good line, B the first bad
 * one, C the line behind it. The first case that applies decides.
 *
 * signature   the error of B's signature, if B fits; AUDIT_WHOLE: B does not fit
 */
static void diagnose(struct pass *pass, enum audit_damage signature)
{
    static const char misplaced[] =
        "the chain does not go on with this line: it was inserted or moved";
    struct audit_verdict *out = pass->verdict;
    struct audit_link next = {.readable = false}, end = pass->before;
    const struct audit_link *a = &pass->before, *b = &pass->link, *c = &next;
    const bool has_a = out->lines > 0, has_c = take(pass, &next);
    const uint64_t seq = has_a ? a->line.seq + 1 : b->at.named;
    const bool b_holds =
        has_c ? joins(b, c) : b->line.what != AUDIT_CHECKPOINT || b->is_signed;
    const bool a_may_differ = has_a && !a->is_signed, begins = b->line.what == AUDIT_BEGIN;
    const bool at_place = b->line.seq == seq, gap = b_holds && b->line.seq > seq;
    const struct {
        bool is_so;
        enum audit_damage damage;
        const struct audit_link *at;
        const char *reason;
    } cases[] = {
        {!b->at.ended, AUDIT_TRUNCATION, b, "this line is cut off"},
        {has_a && joins(a, c), AUDIT_MISPLACED, b, misplaced},
        {!b->readable, AUDIT_EDIT, b, "this is not a line of an audit"},
        {signature && c->readable && !joins(b, c), AUDIT_EDIT, b,
         "this checkpoint is not the one that the next line names"},
        {signature == AUDIT_UNKNOWN_KEY, signature, b,
         "none of the given keys has the id that this line names: give its public half with "
         "--key, too; if nobody has it, the line is forged"},
        {signature, signature, b,
         "the signature is not of these lines: they were written by somebody without the key"},
        {has_a && joins(a, b), AUDIT_EDIT, b, "its number is not the next one"},
        {at_place && !has_a && b_holds && !begins, AUDIT_DELETION, b,
         "a file begins with \"begin\", and this one does not"},
        {at_place && !(a_may_differ && b_holds), AUDIT_EDIT, b,
         "this line does not name the line before it"},
        {at_place, AUDIT_EDIT, a, "this line is not the one that the next line names"},
        {gap && !(a_may_differ && begins), AUDIT_DELETION, b,
         "lines are missing before this one"},
        {gap, AUDIT_TRUNCATION, &end, "the end of this file is missing"},
        {has_a && b_holds && b->line.seq == a->line.seq, AUDIT_MISPLACED, a, misplaced},
        {true, AUDIT_MISPLACED, b, misplaced}};
    size_t i = 0;

    end.at.row++;
    while (!cases[i].is_so)
        i++;
    blame(out, cases[i].damage, cases[i].at, cases[i].at == a ? a->line.seq : seq,
          cases[i].reason);
    out->lines -= cases[i].at == a;
    if (gap && (cases[i].at == &end || cases[i].damage == AUDIT_DELETION))
        out->count = b->line.seq - seq;
}

/* ---- the pass ---- */

/* The line is good: it becomes the line before. */
static void accept(struct pass *pass)
{
    struct audit_verdict *verdict = pass->verdict;

    if (verdict->lines++ == 0)
        verdict->first_seq = pass->link.line.seq;
    verdict->last_seq = pass->link.line.seq;
    memcpy(verdict->last_sum, pass->link.sum, sizeof verdict->last_sum);
    verdict->uncovered++;
    if (pass->link.is_signed) {
        pass->stopped = pass->before.line.what == AUDIT_STOP;
        verdict->checkpoints++;
        verdict->signed_seq = pass->link.line.seq;
        verdict->uncovered = 0;
    }
    pass->before = pass->link;
}

/* Accepts the line, or fills the verdict with its damage. */
static bool is_good(struct pass *pass)
{
    const struct audit_evidence *evidence = pass->evidence;
    struct audit_link *link = &pass->link;
    enum audit_damage signature = judge_signature(pass);
    bool in_place = fits(pass), is_known = evidence->known_seq == link->line.seq;

    link->is_signed = link->line.what == AUDIT_CHECKPOINT && link->readable && !signature;
    if (!in_place || signature) {
        diagnose(pass, in_place ? signature : AUDIT_WHOLE);
        return false;
    }
    pass->verdict->known_met |= is_known;
    if (is_known && !mcpx_slice_equal(evidence->known_sum, mcpx_slice_of(link->sum))) {
        blame(pass->verdict, AUDIT_EDIT, link, link->line.seq,
              "this line, or one before it, is not the one that was noted elsewhere");
        return false;
    }
    accept(pass);
    return true;
}

/* All lines are good: checks that the end is there. */
static void judge_end(struct pass *pass)
{
    struct audit_verdict *verdict = pass->verdict;
    const struct audit_evidence *evidence = pass->evidence;
    struct audit_link behind = pass->before;

    behind.at.row++;
    if (evidence->known_seq > verdict->last_seq && !verdict->known_met)
        blame(verdict, AUDIT_TRUNCATION, &behind, behind.line.seq + 1,
              "the line that was noted elsewhere is missing");
    else if (evidence->is_ended && !(verdict->uncovered == 0 && pass->stopped))
        blame(verdict, AUDIT_TRUNCATION, &behind, behind.line.seq + 1,
              "the last lines are not \"stop\" and its checkpoint; they are not while the "
              "router runs, nor after a crash");
}

enum mcpx_err audit_verify(const struct audit_rows *rows,
                           const struct audit_evidence *evidence, struct audit_verdict *out)
{
    struct audit_verdict verdict = {.reason = ""};
    struct pass pass = {.rows = rows, .evidence = evidence, .verdict = &verdict};

    memcpy(verdict.last_sum, audit_prev_none, sizeof verdict.last_sum);
    while (take(&pass, &pass.link) && is_good(&pass))
        continue;
    if (verdict.damage == AUDIT_WHOLE)
        judge_end(&pass);
    mcpx_text_fini(&pass.scratch);
    if (pass.no_memory)
        return MCPX_ENOMEM;
    *out = verdict;
    return MCPX_OK;
}
