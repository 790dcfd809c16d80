/*
 * audit_verify.c - reads a chain once, in constant memory, up to the first line that does not fit.
 * A line fits when its number is the next one and it names the line before. What was done to a line
 * that does not fit is seen only from what follows it, so the line behind is read, too.
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

/* ---- links: what is kept of a line while a chain is verified, until the next line ---- */

/*
 * A line without its text.
 *
 * at        how many lines are before it; its place
 * file, row as in struct audit_row
 * readable  it is a line at all; if not, seq and prev mean nothing
 * ended     it has a line feed
 * what      its sort
 * is_signed it is a checkpoint with a good signature
 * sum       its own SHA-256
 */
struct audit_link {
    uint64_t at;
    size_t file;
    uint64_t row, named, seq;
    bool readable, ended, is_signed;
    enum audit_what what;
    char prev[MCPX_SHA256_LEN + 1], sum[MCPX_SHA256_LEN + 1];
};

/* True when `next` names `link` as the line before it. */
static bool joins(const struct audit_link *link, const struct audit_link *next)
{
    return next->readable && memcmp(next->prev, link->sum, MCPX_SHA256_LEN) == 0;
}

/* Reads a line; `scratch` is for the digest. Signatures are not looked at. False: no memory. */
static bool read_link(const struct audit_row *row, struct mcpx_text *scratch,
                      struct audit_link *out)
{
    struct audit_line line = {0};

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
    mcpx_text_reset(scratch);
    mcpx_text_slice(scratch, row->text);
    mcpx_text_puts(scratch, row->ended ? "\n" : "");
    return !scratch->failed && mcpx_digest_bytes(mcpx_text_view(scratch), out->sum) == MCPX_OK;
}

/* ---- what was done ---- */

/*
 * It is told from where the chain breaks: `before` (A) is the last line that fits, `broken` (B) the
 * first that does not, `next` (C) the one behind.
 *
 *     C names A, so B stands between them                           misplaced, at B
 *     B has the right number and names another line than A
 *         C names B, so B is what it was                            edit, at A
 *         C does not                                                edit, at B
 *     B names A and has the wrong number                            edit, at B
 *     B has A's number, and C names B                               misplaced, at A
 *     B has a higher number, and C names B                          deletion, at B
 *     none of these                                                 misplaced, at B
 *
 * A checkpoint that fits can be B, too, because of its signature.
 */

/*
 * Where the chain breaks.
 *
 * before       the last line that is good; has_before = there is one
 * broken       the first that is not
 * next         the one behind it; has_next = there is one
 * signature    what is wrong with that of `broken`, which fits; AUDIT_WHOLE: it does not fit
 */
struct audit_break {
    bool has_before, has_next;
    struct audit_link before, broken, next;
    enum audit_damage signature;
};

/* The seq that the broken line should have. */
static uint64_t break_seq(const struct audit_break *at)
{
    return at->has_before ? at->before.seq + 1 : at->broken.named;
}

static void say(struct audit_verdict *out, enum audit_damage damage,
                const struct audit_link *link, const char *reason)
{
    out->damage = damage;
    out->file = link->file;
    out->row = link->row;
    out->reason = reason;
}

/* B, or a line that was never followed by another, has no place in the chain. */
static void say_misplaced(struct audit_verdict *out, const struct audit_link *link)
{
    say(out, AUDIT_MISPLACED, link,
        "the chain does not go on with this line: it was inserted or moved");
}

/* Nothing shows that B was changed: what follows goes on behind it. */
static bool goes_on(const struct audit_break *at)
{
    return at->has_next ? joins(&at->broken, &at->next)
                        : at->broken.what != AUDIT_CHECKPOINT || at->broken.is_signed;
}

/* B names A's place but another line: one of the two was changed. */
static void judge_neighbours(const struct audit_break *at, struct audit_verdict *out)
{
    bool broken_holds = goes_on(at);

    if (!at->has_before && broken_holds && at->broken.what != AUDIT_BEGIN) {
        say(out, AUDIT_DELETION, &at->broken,
            "a file begins with \"begin\", and this one does not");
        return;
    }
    if (!at->has_before || at->before.is_signed || !broken_holds) {
        say(out, AUDIT_EDIT, &at->broken, "this line does not name the line before it");
        return;
    }
    say(out, AUDIT_EDIT, &at->before, "this line is not the one that the next line names");
    out->seq = at->before.seq;
    out->lines--;
}

/* Lines are missing before B. Those at the end of a file are told from whole files. */
static void judge_gap(const struct audit_break *at, struct audit_verdict *out)
{
    struct audit_link end = at->before;

    out->count = at->broken.seq - break_seq(at);
    if (!at->has_before || at->broken.what != AUDIT_BEGIN || at->before.is_signed) {
        say(out, AUDIT_DELETION, &at->broken, "lines are missing before this one");
        return;
    }
    end.row++;
    say(out, AUDIT_TRUNCATION, &end, "the end of this file is missing");
}

/* B is not where it says it is. */
static void judge_stranger(const struct audit_break *at, struct audit_verdict *out)
{
    if (goes_on(at) && at->broken.seq > break_seq(at))
        judge_gap(at, out);
    else if (at->has_before && at->broken.seq == at->before.seq && goes_on(at)) {
        say_misplaced(out, &at->before);
        out->seq = at->before.seq;
        out->lines--;
    } else
        say_misplaced(out, &at->broken);
}

/* True when B fits, and if there is a line behind it, that one fits, too. */
static bool is_linked(const struct audit_break *at)
{
    return at->signature &&
           (!at->has_next || !at->next.readable || joins(&at->broken, &at->next));
}

/* B fits, and its signature is not good. If the line behind it names other bytes, B was changed. */
static void judge_checkpoint(const struct audit_break *at, struct audit_verdict *out)
{
    if (!is_linked(at))
        say(out, AUDIT_EDIT, &at->broken,
            "this checkpoint is not the one that the next line names");
    else if (at->signature == AUDIT_UNKNOWN_KEY)
        say(out, at->signature, &at->broken,
            "none of the given keys has the id that this line names: give its public half "
            "with "
            "--key, too; if nobody has it, the line is forged");
    else
        say(out, at->signature, &at->broken,
            "the signature is not of these lines: they were written by somebody without the "
            "key");
}

/* Says what was done. Fills in damage, place and reason. */
static void diagnose(const struct audit_break *at, struct audit_verdict *out)
{
    const struct audit_link *broken = &at->broken;

    out->seq = break_seq(at);
    if (!broken->ended)
        say(out, AUDIT_TRUNCATION, broken, "this line is cut off");
    else if (at->has_before && at->has_next && joins(&at->before, &at->next))
        say_misplaced(out, broken);
    else if (!broken->readable)
        say(out, AUDIT_EDIT, broken, "this is no line of an audit");
    else if (at->signature)
        judge_checkpoint(at, out);
    else if (at->has_before && joins(&at->before, broken))
        say(out, AUDIT_EDIT, broken, "its number is not the next one");
    else if (broken->seq == break_seq(at))
        judge_neighbours(at, out);
    else
        judge_stranger(at, out);
}

/* ---- the pass ---- */

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
    if (!read_link(&pass->row, &pass->scratch, &pass->link))
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
        return link->seq == pass->before.seq + 1 && joins(&pass->before, link);
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
    diagnose(&at, pass->verdict);
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
