/*
 * What breaks for whom: an auditor relies on "whole", and when a line was tampered with has to be
 * shown which one, and how. docs/audit.md, "What verify says".
 */
#include "lib/json/json_write.h"
#include "tests/support/audit_chain.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* AddressSanitizer finds in three thousand lines what it would in ten. */
#ifdef __SANITIZE_ADDRESS__
enum { LINES = 3000 };
#else
enum { LINES = 10000 };
#endif
enum { EVERY = 1000 };

/* The chain of a test, the key that has signed it, and what verify says of one. */
static struct audit_key *key;
static struct test_chain made;
static struct audit_verdict verdict;

static void init(void)
{
    key = test_audit_key(NULL);
}

static void fini(void)
{
    test_chain_fini(&made);
    audit_key_free(key);
}

TestSuite(audit_verify, .init = init, .fini = fini);

static void verify_chain(struct test_chain *chain, struct audit_evidence evidence)
{
    struct audit_rows rows = test_chain_rows(chain);

    if (!evidence.keys) {
        evidence.keys = &key;
        evidence.key_count = 1;
    }
    verdict = (struct audit_verdict){0};
    cr_assert_eq(audit_verify(&rows, &evidence, &verdict), MCPX_OK);
}

static void verify(struct audit_evidence evidence)
{
    verify_chain(&made, evidence);
}

static void expect_deletion(uint64_t seq, uint64_t count)
{
    verify((struct audit_evidence){0});
    cr_expect_eq(verdict.damage, AUDIT_DELETION);
    cr_expect_eq(verdict.seq, seq);
    cr_expect_eq(verdict.count, count);
}

static struct mcpx_slice text_of(const struct test_line *line)
{
    return (struct mcpx_slice){line->text, line->len};
}

/* Signed under another key, or not at all, the same made. */
Test(audit_verify, a_chain_is_whole_for_whoever_has_the_key)
{
    struct audit_key *other = test_audit_key(NULL);

    test_chain_make(&made, key, 50, 20, 15);
    verify((struct audit_evidence){.is_ended = true});
    cr_expect_eq(verdict.damage, AUDIT_WHOLE, "%s", verdict.reason);
    cr_expect_eq(verdict.lines, 50);
    cr_expect_eq(verdict.checkpoints, 6);
    cr_expect_eq(verdict.first_seq, 1);
    cr_expect_eq(verdict.signed_seq, 50);
    cr_expect_eq(verdict.uncovered, 0);
    verify((struct audit_evidence){.keys = &other, .key_count = 1});
    cr_expect_eq(verdict.damage, AUDIT_UNKNOWN_KEY);
    cr_expect_eq(verdict.seq, 15);
    cr_expect_eq(verdict.file, 0);
    cr_expect_eq(verdict.row, 15);
    audit_key_free(other);
}

/* Else any number of lines could be cut off in front, and the file be given another name. */
Test(audit_verify, the_oldest_file_is_there_from_its_first_line_on)
{
    test_chain_make(&made, key, 50, 20, 0);
    test_chain_remove(&made, 0, 7);
    for (size_t i = 0; i < made.count; i++)
        made.lines[i].named = 8;
    verify((struct audit_evidence){0});
    cr_expect_eq(verdict.damage, AUDIT_DELETION);
    cr_expect_eq(verdict.seq, 8);
    cr_expect_eq(verdict.row, 1);
}

Test(audit_verify, older_files_may_be_elsewhere)
{
    test_chain_make(&made, key, 50, 20, 15);
    test_chain_remove(&made, 0, 15);
    verify((struct audit_evidence){.known_seq = 3});
    cr_expect_eq(verdict.damage, AUDIT_WHOLE);
    cr_expect_eq(verdict.first_seq, 16);
    cr_expect_not(verdict.known_met);
    test_chain_remove(&made, 15, 30);
    expect_deletion(31, 15);
    test_chain_remove(&made, 0, 1);
    expect_deletion(16, 1);
}

/* Somebody without the key changes a line and makes all digests behind it fit again. */
Test(audit_verify, a_chain_that_was_made_again_has_no_good_signature)
{
    struct audit_chain state;

    test_chain_make(&made, key, 50, 20, 0);
    audit_chain_begin(&state);
    for (size_t i = 0; i < made.count; i++) {
        struct test_line *line = &made.lines[i];
        char *prev = line->text;

        for (int quotes = 0; quotes < 13; quotes++)
            prev = memchr(prev + 1, '"', 200);
        memcpy(prev + 1, state.prev, MCPX_SHA256_LEN);
        if (i == 25)
            memcpy(strstr(line->text, "alice"), "mally", 5);
        audit_chain_continue(&state, (struct mcpx_slice){line->text, line->len});
    }
    verify((struct audit_evidence){0});
    cr_expect_eq(verdict.damage, AUDIT_BAD_SIGNATURE, "%s: %s at %u",
                 audit_damage_name(verdict.damage), verdict.reason, (unsigned)verdict.seq);
    cr_expect_eq(verdict.seq, 40);
    cr_expect_eq(verdict.signed_seq, 20);
}

/*
 * A copy of the checkpoint at `from` for the place `at`: as it is (0), with the number of the place
 * (1), and with the line before it, too (2).
 */
static void forge(const struct test_chain *chain, size_t from, size_t at, int how,
                  struct mcpx_text *out)
{
    const struct test_line *source = &chain->lines[from], *before = &chain->lines[at - 1];
    const char *behind = strchr(source->text, ',');
    struct audit_chain place;
    struct audit_line line;

    cr_assert(audit_line_read((struct mcpx_slice){source->text, source->len - 1}, &line));
    audit_chain_begin(&place);
    audit_chain_continue(&place, (struct mcpx_slice){before->text, before->len});
    mcpx_text_reset(out);
    mx_format(out, "{\"seq\":%s%s", how == 0 ? line.seq : place.seq, behind);
    if (how == 2)
        memcpy(strstr(out->text, line.prev.text), place.prev, MCPX_SHA256_LEN);
}

/* Whoever forges a checkpoint has no other signatures than those that are there. */
Test(audit_verify, a_copy_of_a_checkpoint_is_found)
{
    static const size_t places[] = {15, 16, 18, 30, 49, 50};
    mx_scoped_text forged = {0};

    for (size_t i = 0; i < 3 * sizeof places / sizeof *places; i++) {
        size_t at = places[i / 3];

        test_chain_make(&made, key, 50, 15, 0);
        forge(&made, 14, at, (int)(i % 3), &forged);
        test_chain_insert(&made, at, mcpx_text_view(&forged));
        for (int act = 0; act < 2; act++) { /* one line more; then in the place of one */
            verify((struct audit_evidence){0});
            cr_expect(verdict.damage && verdict.row == at + 1 && verdict.seq == at + 1,
                      "way %zu, at %zu: %s of seq %u: %s", i % 3, at,
                      audit_damage_name(verdict.damage), (unsigned)verdict.seq,
                      verdict.reason);
            if (at >= made.count - 2)
                break;
            test_chain_remove(&made, at + 1, at + 2);
        }
        test_chain_fini(&made);
    }
}

/* The end of a chain proves nothing by itself: what else one knows does. */
Test(audit_verify, a_missing_end_is_seen_by_whoever_knows_more)
{
    struct audit_verdict all;

    test_chain_make(&made, key, 50, 20, 0);
    verify((struct audit_evidence){0});
    all = verdict;
    for (size_t end = 49; end > 0; end--) {
        struct audit_evidence known = {.known_seq = all.last_seq,
                                       .known_sum = mcpx_slice_of(all.last_sum)};

        test_chain_remove(&made, end, made.count);
        verify((struct audit_evidence){0});
        cr_expect_eq(verdict.damage, AUDIT_WHOLE);
        cr_expect_eq(verdict.uncovered, end % 20);
        verify((struct audit_evidence){.is_ended = true});
        cr_expect_eq(verdict.damage, AUDIT_TRUNCATION);
        cr_expect_eq(verdict.row, end + 1);
        verify(known);
        cr_expect_eq(verdict.damage, AUDIT_TRUNCATION);
        cr_expect_eq(verdict.seq, end + 1);
        verify(
            (struct audit_evidence){.known_seq = 1, .known_sum = mcpx_slice_of(all.last_sum)});
        cr_expect_eq(verdict.damage, AUDIT_EDIT);
    }
}

/*
 * One act of damage, and what verify has to say of it.
 *
 * damage, other   `other` where what is left cannot be told from it
 * place           of the line, in the damaged chain
 */
struct act {
    enum audit_damage damage, other;
    size_t place;
    uint64_t seq;
    char what[80];
};

static void edit(struct test_chain *chain, struct dice *dice, struct act *act)
{
    size_t at = dice_below(dice, chain->count);
    struct test_line *line = &chain->lines[at];
    size_t byte = dice_below(dice, line->len - 1);
    char old = line->text[byte], other;

    do
        other = (char)dice_below(dice, 256);
    while (other == old || other == '\n');
    line->text[byte] = other;
    *act = (struct act){AUDIT_EDIT, AUDIT_EDIT, at, at + 1, ""};
    if (at + 1 == chain->count) {
        act->damage = AUDIT_BAD_SIGNATURE;
        act->other = AUDIT_EDIT;
    }
    snprintf(act->what, sizeof act->what, "byte %zu of line %zu", byte, at);
}

/* The very end cannot be missed: what is removed has something behind it. */
static void delete (struct test_chain *chain, struct dice *dice, struct act *act)
{
    size_t first = dice_below(dice, chain->count - 1);
    size_t left = chain->count - 1 - first;
    size_t count = 1 + dice_below(dice, left < 20 ? left : 20);
    size_t file = chain->lines[first].file;

    test_chain_remove(chain, first, first + count);
    *act = (struct act){AUDIT_DELETION, AUDIT_DELETION, first, first + 1, ""};
    if (first > 0 && chain->lines[first].file != chain->lines[first - 1].file &&
        chain->lines[first - 1].file == file)
        act->other = AUDIT_TRUNCATION;
    snprintf(act->what, sizeof act->what, "%zu lines from %zu", count, first);
}

static void insert(struct test_chain *chain, struct dice *dice, struct act *act)
{
    size_t at = 1 + dice_below(dice, chain->count - 1);
    size_t from = dice_below(dice, chain->count);
    struct test_line *source = &chain->lines[from];
    struct mcpx_slice text = text_of(source);
    mx_scoped_text forged = {0};
    int how = (int)dice_below(dice, 4);

    mcpx_text_slice(&forged, text);
    if (how == 1) /* a line of the right place with other contents */
        forged.len = 0, mcpx_text_slice(&forged, text_of(&chain->lines[at])),
        forged.text[forged.len - 4] ^= 1;
    else if (how == 2)
        forged.len = 0, mcpx_text_puts(&forged, dice_hits(dice, 2) ? "\n" : "garbage\n");
    else if (how == 3) /* a line of another place with other contents */
        forged.text[forged.len - 4] ^= 1;
    test_chain_insert(chain, at, mcpx_text_view(&forged));
    /* Of two equal lines side by side the second is the one too many. */
    *act = (struct act){AUDIT_MISPLACED, AUDIT_MISPLACED, at, at + 1, ""};
    if (how == 0 && from == at)
        act->place++, act->seq++;
    snprintf(act->what, sizeof act->what, "way %d, from %zu before %zu", how, from, at);
}

static void swap(struct test_chain *chain, struct dice *dice, struct act *act)
{
    size_t a = dice_below(dice, chain->count - 1);
    size_t b = dice_hits(dice, 3) ? a + 1 : a + 1 + dice_below(dice, chain->count - 1 - a);
    struct test_line kept = chain->lines[a];

    chain->lines[a].text = chain->lines[b].text;
    chain->lines[a].len = chain->lines[b].len;
    chain->lines[b].text = kept.text;
    chain->lines[b].len = kept.len;
    *act = (struct act){AUDIT_MISPLACED, AUDIT_MISPLACED, a, a + 1, ""};
    snprintf(act->what, sizeof act->what, "lines %zu and %zu", a, b);
}

/* The end of a file: of the last one, or of one that another follows. */
static void truncate_file(struct test_chain *chain, struct dice *dice, struct act *act)
{
    size_t first = 1 + dice_below(dice, chain->count - 1), end = first + 1;
    size_t file = chain->lines[first].file;
    size_t kept = dice_hits(dice, 2) ? 0 : dice_below(dice, chain->lines[first].len);
    bool after_signature;

    while (end < chain->count && chain->lines[end].file == file)
        end++;
    *act = (struct act){AUDIT_TRUNCATION, AUDIT_TRUNCATION, first, first + 1, ""};
    snprintf(act->what, sizeof act->what, "line %zu after %zu bytes", first, kept);
    if (kept > 0) {
        chain->lines[first].len = kept;
        test_chain_remove(chain, first + 1, end);
        return;
    }
    if (chain->lines[first - 1].file != file)
        act->other = AUDIT_DELETION; /* all of the file */
    after_signature = strstr(chain->lines[first - 1].text, "\"checkpoint\"") != NULL;
    if (after_signature && end < chain->count)
        act->other = AUDIT_DELETION;
    test_chain_remove(chain, first, end);
}

static void (*const acts[])(struct test_chain *, struct dice *,
                            struct act *) = {edit, delete, insert, swap, truncate_file};
static const char *const act_names[] = {"edit", "delete", "insert", "swap", "truncate"};

/* Where verify has to point: a line that is missing at the end of a file has the row behind it. */
static bool points_at(const struct test_chain *chain, const struct act *act)
{
    const struct test_line *line = &chain->lines[act->place];
    size_t before = act->place - 1;

    if (act->place < chain->count && verdict.file == line->file &&
        verdict.row == test_chain_row(chain, act->place))
        return true;
    return verdict.damage == AUDIT_TRUNCATION && act->place > 0 &&
           verdict.file == chain->lines[before].file &&
           verdict.row == test_chain_row(chain, before) + 1;
}

Test(audit_verify, a_thousand_acts_of_damage_are_named_by_sort_and_place, .timeout = 600)
{
    struct test_chain chains[2];
    struct dice dice = dice_of_seed(11);
    size_t named[sizeof acts / sizeof *acts] = {0};

    test_chain_make(&chains[0], key, LINES, EVERY, 0);
    test_chain_make(&chains[1], key, LINES, EVERY, 900);
    for (size_t i = 0; i < 1000; i++) {
        size_t which = i % (sizeof acts / sizeof *acts);
        struct test_chain chain;
        struct act act;
        bool is_named;

        test_chain_copy(&chains[i / 5 % 2], &chain);
        acts[which](&chain, &dice, &act);
        verify_chain(&chain, (struct audit_evidence){.is_ended = true});
        is_named = (verdict.damage == act.damage || verdict.damage == act.other) &&
                   verdict.seq == act.seq && points_at(&chain, &act);
        named[which] += is_named;
        cr_expect(
            is_named,
            "%zu: %s, %s: expected %s of seq %u, found %s of seq %u, file %zu row %u: %s", i,
            act_names[which], act.what, audit_damage_name(act.damage), (unsigned)act.seq,
            audit_damage_name(verdict.damage), (unsigned)verdict.seq, verdict.file,
            (unsigned)verdict.row, verdict.reason);
        test_chain_fini(&chain);
    }
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        printf("%s: %zu of 200 named by sort and place\n", act_names[i], named[i]);
    test_chain_fini(&chains[0]);
    test_chain_fini(&chains[1]);
}
