/*
 * audit_diagnose.c - what was done to a chain, told from where it breaks: `before` (A) is the last
 * line that fits, `broken` (B) the first that does not, `next` (C) the one behind.
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
#include "router/store/audit/audit_verify.h"
#include <mcpx/json.h>

/* ---- links: what is kept of a line while a chain is verified, until the next line ---- */

bool audit_link_joins(const struct audit_link *link, const struct audit_link *next)
{
    return next->readable && memcmp(next->prev, link->sum, MCPX_SHA256_LEN) == 0;
}

bool audit_link_read(const struct audit_row *row, struct mcpx_text *scratch,
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

uint64_t audit_break_seq(const struct audit_break *at)
{
    return at->has_before ? at->before.seq + 1 : at->broken.named;
}

/* ---- what was done ---- */

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
    return at->has_next ? audit_link_joins(&at->broken, &at->next)
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

    out->count = at->broken.seq - audit_break_seq(at);
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
    if (goes_on(at) && at->broken.seq > audit_break_seq(at))
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
           (!at->has_next || !at->next.readable || audit_link_joins(&at->broken, &at->next));
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

void audit_diagnose(const struct audit_break *at, struct audit_verdict *out)
{
    const struct audit_link *broken = &at->broken;

    out->seq = audit_break_seq(at);
    if (!broken->ended)
        say(out, AUDIT_TRUNCATION, broken, "this line is cut off");
    else if (at->has_before && at->has_next && audit_link_joins(&at->before, &at->next))
        say_misplaced(out, broken);
    else if (!broken->readable)
        say(out, AUDIT_EDIT, broken, "this is no line of an audit");
    else if (at->signature)
        judge_checkpoint(at, out);
    else if (at->has_before && audit_link_joins(&at->before, broken))
        say(out, AUDIT_EDIT, broken, "its number is not the next one");
    else if (broken->seq == audit_break_seq(at))
        judge_neighbours(at, out);
    else
        judge_stranger(at, out);
}
