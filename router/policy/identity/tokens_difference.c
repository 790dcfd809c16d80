/*
 * tokens_difference.c - compares the effective grants of participants and profiles, not their text:
 * a grant may move from a profile to an entry without any change. Patterns are compared as texts.
 * Rejected: computing the kinds that a pattern permits beyond an earlier pattern, because a reader
 * understands "chat" removed and "chat*" added.
 */
#include "router/policy/identity/tokens.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"
#include "router/policy/identity/tokens_make.h"
#include <mcpx/json.h>

#include <stdlib.h>

static bool same_token(const struct grant *one, const struct grant *other)
{
    return !one->credential || memcmp(one->credential->token, other->credential->token,
                                      sizeof one->credential->token) == 0;
}

static bool same(const struct tokens_entry *one, const struct tokens_entry *other)
{
    bool same = same_token(one->grant, other->grant) && one->by_jwt == other->by_jwt &&
                one->topics.count == other->topics.count &&
                (one->grant == other->grant || grant_equals(one->grant, other->grant));

    for (size_t i = 0; same && i < one->topics.count; i++)
        same = strcmp(one->topics.text[i], other->topics.text[i]) == 0;
    return same;
}

/* Adds a row if they differ; `before` and `after` are not both NULL. */
static bool add_row(struct difference *out, const char *kind,
                    const struct tokens_entry *before, const struct tokens_entry *after)
{
    const enum difference_change one = before ? DIFFERENCE_REMOVED : DIFFERENCE_ADDED;

    if (before && after && same(before, after))
        return true;
    if (!mx_make_room(&out->rows, out->count, &out->room, sizeof *out->rows))
        return false;
    out->rows[out->count++] =
        (struct difference_row){.change = before && after ? DIFFERENCE_CHANGED : one,
                                .kind = kind,
                                .name = after ? after->name : before->name,
                                .before = before,
                                .after = after};
    return true;
}

static bool compare(const struct tokens_table *before, const struct tokens_table *after,
                    const char *kind, struct difference *out)
{
    bool good = true;

    for (size_t i = 0; good && i < before->count; i++)
        good = add_row(out, kind, before->rows[i],
                       tokens_table_find(after, before->rows[i]->name));
    for (size_t i = 0; good && i < after->count; i++)
        if (!tokens_table_find(before, after->rows[i]->name))
            good = add_row(out, kind, NULL, after->rows[i]);
    return good;
}

enum mcpx_err difference_find(const struct tokens *before, const struct tokens *after,
                              struct difference *out)
{
    bool good = compare(&before->profiles, &after->profiles, "profile", out);
    size_t profiles = out->count;

    good = good && compare(&before->people, &after->people, "participant", out);
    for (size_t i = profiles; i < out->count; i++)
        out->counts[out->rows[i].change]++;
    return good ? MCPX_OK : MCPX_ENOMEM;
}

void difference_fini(struct difference *difference)
{
    free(difference->rows);
    *difference = (struct difference){.rows = NULL};
}

const char *difference_word(enum difference_change change)
{
    static const char *const words[] = {"added", "removed", "changed"};

    return words[change];
}

/* ---- writing ---- */

/* The lists of an entry, in the order of writing. */
enum list { TOPICS, GRANTS, DENIALS, LISTS };

static size_t count_of(const struct tokens_entry *entry, enum list list)
{
    if (!entry || list == TOPICS)
        return entry ? entry->topics.count : 0;
    return list == GRANTS ? mcpx_capset_count(entry->grant->capset)
                          : entry->grant->capset->deny_count;
}

/* The text of a topic or a denial. */
static struct mcpx_slice text_of(const struct tokens_entry *entry, enum list list, size_t row)
{
    return list == TOPICS ? mcpx_slice_of(entry->topics.text[row])
                          : mx_capset_denial(entry->grant->capset, row);
}

/* True when `entry` has the row of `other`. The search begins at `at`, behind the previous hit. */
static bool has_row(const struct tokens_entry *entry, enum list list,
                    const struct tokens_entry *other, size_t row, size_t *at)
{
    size_t count = count_of(entry, list);
    bool found = false;

    for (size_t i = 0; !found && i < count; i++) {
        size_t index = (*at + i) % count;

        found = list == GRANTS
                    ? mx_grant_equals(mcpx_capset_grant(entry->grant->capset, index),
                                      mcpx_capset_grant(other->grant->capset, row))
                    : mcpx_slice_equal(text_of(entry, list, index), text_of(other, list, row));
        *at = found ? index + 1 : *at;
    }
    return found;
}

/* Writes the rows of `entry` that `other` has not; no member when it has all. */
static void write_list(const char *name, enum list list, const struct tokens_entry *entry,
                       const struct tokens_entry *other, struct mcpx_text *out)
{
    size_t count = 0, at = 0;

    for (size_t i = 0; i < count_of(entry, list); i++) {
        if (has_row(other, list, entry, i, &at))
            continue;
        if (count++ == 0)
            mx_json_begin_array(out, name);
        if (list == GRANTS)
            grant_write_item(mcpx_capset_grant(entry->grant->capset, i), out);
        else
            mx_json_add_item(out, text_of(entry, list, i));
    }
    if (count > 0)
        mx_json_end_array(out);
}

static void write_changed(const struct tokens_entry *before, const struct tokens_entry *after,
                          struct mcpx_text *out)
{
    static const char *const routings[] = {"default", "all", "directed"};
    const struct grant *was = before->grant, *now = after->grant;

    if (was->routing != now->routing)
        mcpx_json_add_member(out, "routing", mcpx_slice_of(routings[now->routing]));
    if (was->instances != now->instances)
        mx_json_add_number(out, "instances", now->instances);
    if (before->by_jwt != after->by_jwt)
        mcpx_json_add_member(out, "jwt",
                             mcpx_slice_of(after->by_jwt ? "accepted" : "refused"));
    if (!same_token(was, now))
        mcpx_json_add_member(out, "token", MCPX_SLICE("changed"));
}

static void write_row(const struct difference_row *row, struct mcpx_text *out)
{
    static const char *const names[LISTS][2] = {[TOPICS] = {"topics_added", "topics_removed"},
                                                [GRANTS] = {"grants_added", "grants_removed"},
                                                [DENIALS] = {"deny_added", "deny_removed"}};

    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, row->kind, row->name);
    mcpx_json_add_member(out, "change", mcpx_slice_of(difference_word(row->change)));
    for (enum list list = TOPICS; list < LISTS; list++) {
        write_list(names[list][0], list, row->after, row->before, out);
        write_list(names[list][1], list, row->before, row->after, out);
    }
    if (row->before && row->after)
        write_changed(row->before, row->after, out);
    mx_json_end_object(out);
}

size_t difference_write(const struct difference *difference, size_t bytes_max,
                        struct mcpx_text *out)
{
    size_t count = 0;

    mx_json_begin_array(out, NULL);
    while (count < difference->count && out->len <= bytes_max)
        write_row(&difference->rows[count++], out);
    mx_json_end_array(out);
    return count;
}

void difference_write_lines(const char *name, struct mcpx_slice lines, struct mcpx_text *out)
{
    enum { LINES_MAX = 100 };

    mx_json_begin_array(out, name);
    for (int i = 0; i < LINES_MAX; i++) {
        struct mcpx_slice line = mx_cut_at(&lines, '\n');

        if (!lines.text)
            break;
        mx_json_add_item(out, line);
    }
    mx_json_end_array(out);
}

void difference_write_answer(const struct difference_answer *answer, struct mcpx_text *out)
{
    const struct difference *difference = answer->difference;

    mcpx_json_add_member(out, "rev", mcpx_slice_of(answer->rev));
    mcpx_json_add_member(out, "was", mcpx_slice_of(answer->was));
    mx_json_begin_object(out, "participants");
    for (int i = DIFFERENCE_ADDED; i <= DIFFERENCE_CHANGED; i++)
        mx_json_add_number(out, difference_word((enum difference_change)i),
                           (int64_t)difference->counts[i]);
    mx_json_end_object(out);
    mx_json_add_raw(out, "settings", answer->settings);
    mx_json_add_raw(out, "changes", answer->rows);
    mx_json_add_number(out, "left_out", (int64_t)(difference->count - answer->shown));
}
