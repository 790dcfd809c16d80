/*
 * audit_diagnose.c - what was done to a chain, told from where it breaks. `before` (A) is the last
 * line that fits, `broken` (B) the first that does not, `next` (C) the one behind. All lines are
 * read once more, to know whether the line that belongs behind A is further down, and where the
 * line is that B names. Then the answer is a matter of cases:
 *
 *     the line that belongs behind A is further down
 *         B has a place of its own elsewhere, and only one            reordering, at B
 *         it has none, or that is taken                               insertion, at B
 *     B has the right number and names another line than A
 *         C names B, so B is what it was                              edit, at A
 *         C does not                                                  edit, at B
 *     B names A and has the wrong number                              edit, at B
 *     B names a line before A: somebody wrote on behind that one      insertion, behind that line
 *     B has a higher number and C names B                             deletion, at B
 *     none of these                                                   edit, at B
 *
 * A checkpoint that fits can be B, too, because of its signature. If somebody has put a copy of
 * another checkpoint there, that is said, whatever the copy was made to look like.
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

/* ---- what was done ---- */

/*
 * What the second reading finds.
 *
 * rightful        the first line behind B that belongs behind A
 * predecessor     the last line that B names
 * successor       the line behind that
 * twins           other lines with B's bytes
 * rivals          other lines that name the line B names
 * is_copied       another checkpoint has the signature of B
 */
struct findings {
    bool has_rightful, has_predecessor, is_copied;
    struct audit_link rightful, predecessor, successor;
    size_t twins, rivals;
};

static bool same_sum(const char *a, const char *b)
{
    return memcmp(a, b, MCPX_SHA256_LEN) == 0;
}

static bool belongs_behind(const struct audit_break *at, const struct audit_link *link)
{
    if (!link->readable || link->seq != audit_break_seq(at))
        return false;
    return at->has_before ? audit_link_joins(&at->before, link)
                          : link->seq > 1 || same_sum(link->prev, audit_prev_none);
}

static void look_at(const struct audit_break *at, const struct audit_link *link,
                    struct findings *out)
{
    const struct audit_link *broken = &at->broken;

    if (link->at == broken->at)
        return;
    if (link->at > broken->at && !out->has_rightful && belongs_behind(at, link)) {
        out->has_rightful = true;
        out->rightful = *link;
    }
    out->twins += same_sum(link->sum, broken->sum);
    if (!broken->readable)
        return;
    out->is_copied |= *broken->signature && same_sum(link->signature, broken->signature);
    out->rivals += link->readable && same_sum(link->prev, broken->prev);
    if (audit_link_joins(link, broken)) {
        out->has_predecessor = true;
        out->predecessor = *link;
    } else if (out->has_predecessor && link->at == out->predecessor.at + 1)
        out->successor = *link;
}

static enum mcpx_err look(const struct audit_rows *rows, const struct audit_break *at,
                          struct findings *out)
{
    struct mcpx_text scratch = {0};
    struct audit_row row;
    struct audit_link link;
    bool read = true;

    rows->rewind(rows->context);
    for (uint64_t count = 0; read && rows->next(rows->context, &row); count++) {
        read = audit_link_read(&row, &scratch, &link);
        link.at = count;
        if (read)
            look_at(at, &link, out);
    }
    mcpx_text_fini(&scratch);
    return read ? MCPX_OK : MCPX_ENOMEM;
}

static void say(struct audit_verdict *out, enum audit_damage damage,
                const struct audit_link *link, const char *reason)
{
    out->damage = damage;
    out->file = link->file;
    out->row = link->row;
    out->reason = reason;
}

static void say_inserted(struct audit_verdict *out, const struct audit_link *first,
                         uint64_t count)
{
    say(out, AUDIT_INSERTION, first, "the chain goes on behind lines that are no part of it");
    out->count = count;
}

/* The line that belongs here is further down. */
static void judge_displaced(const struct audit_break *at, const struct findings *found,
                            struct audit_verdict *out)
{
    if (found->has_predecessor && found->twins == 0 && found->rivals == 0)
        say(out, AUDIT_REORDERING, &at->broken,
            "this line belongs elsewhere, and the one that belongs here is further down");
    else
        say_inserted(out, &at->broken, found->rightful.at - at->broken.at);
}

/* B names A's place but another line: one of the two was changed. */
static void judge_neighbours(const struct audit_break *at, struct audit_verdict *out)
{
    bool broken_holds = at->has_next
                            ? audit_link_joins(&at->broken, &at->next)
                            : at->broken.what != AUDIT_CHECKPOINT || at->broken.is_signed;

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
static void judge_stranger(const struct audit_break *at, const struct findings *found,
                           struct audit_verdict *out)
{
    const struct audit_link *broken = &at->broken;
    bool holds = at->has_next ? audit_link_joins(broken, &at->next)
                              : broken->what != AUDIT_CHECKPOINT || broken->is_signed;

    if (found->twins > 0)
        say_inserted(out, broken, 1);
    else if (found->has_predecessor && found->predecessor.at < broken->at) {
        say_inserted(out, &found->successor, broken->at - found->successor.at);
        out->seq = found->predecessor.seq + 1;
    } else if (holds && broken->seq > audit_break_seq(at))
        judge_gap(at, out);
    else
        say(out, AUDIT_EDIT, broken, "number and line before are not those of this place");
}

/* True when B fits, and if there is a line behind it, that one fits, too. */
static bool is_linked(const struct audit_break *at)
{
    return at->signature &&
           (!at->has_next || !at->next.readable || audit_link_joins(&at->broken, &at->next));
}

/* B is a copy of another checkpoint, and the line that belongs here is not there. */
static void judge_copy(const struct audit_break *at, struct audit_verdict *out)
{
    if (!at->has_next)
        say_inserted(out, &at->broken, 1);
    else
        say(out, is_linked(at) ? AUDIT_BAD_SIGNATURE : AUDIT_EDIT, &at->broken, "");
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

static void judge(const struct audit_break *at, const struct findings *found, bool is_copy,
                  struct audit_verdict *out)
{
    const struct audit_link *broken = &at->broken;

    if (found->has_rightful)
        judge_displaced(at, found, out);
    else if (!broken->readable)
        say(out, AUDIT_EDIT, broken, "this is no line of an audit");
    else if (is_copy)
        judge_copy(at, out);
    else if (at->signature)
        judge_checkpoint(at, out);
    else if (at->has_before && audit_link_joins(&at->before, broken))
        say(out, AUDIT_EDIT, broken, "its number is not the next one");
    else if (broken->seq == audit_break_seq(at))
        judge_neighbours(at, out);
    else
        judge_stranger(at, found, out);
    if (is_copy)
        out->reason = "this is a copy of another checkpoint, with its signature";
}

enum mcpx_err audit_diagnose(const struct audit_rows *rows, const struct audit_break *at,
                             struct audit_verdict *out)
{
    const struct audit_link *broken = &at->broken;
    struct findings found = {0};
    enum mcpx_err err = look(rows, at, &found);

    if (err)
        return err;
    out->seq = audit_break_seq(at);
    if (!found.has_rightful && !broken->ended)
        say(out, AUDIT_TRUNCATION, broken, "this line is cut off");
    else
        judge(at, &found, found.is_copied && (!broken->is_signed || found.twins > 0), out);
    return MCPX_OK;
}
