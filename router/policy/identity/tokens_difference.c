/*
 * tokens_difference.c - compares what participants and profiles come to, not how they are written:
 * a grant that moves from a profile to the entry of a participant changes nothing for it. Patterns
 * are compared as texts. Working out which kinds one pattern covers beyond another was refused: a
 * person who reads "chat" removed and "chat*" added knows what it means.
 */
#include "router/policy/identity/tokens.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"
#include "router/policy/identity/tokens_make.h"
#include <mcpx/json.h>

#include <stdlib.h>

static bool same_topics(const struct person *one, const struct person *other)
{
    bool same = one->topic_count == other->topic_count;

    for (size_t i = 0; same && i < one->topic_count; i++)
        same = strcmp(one->topics[i], other->topics[i]) == 0;
    return same;
}

static bool same_person(const struct person *one, const struct person *other)
{
    return memcmp(one->token_sha256, other->token_sha256, sizeof one->token_sha256) == 0 &&
           one->by_jwt == other->by_jwt && same_topics(one, other) &&
           (one->grant == other->grant || grant_equals(one->grant, other->grant));
}

static enum difference_change change_of(const void *before, const void *after)
{
    if (before && after)
        return DIFFERENCE_CHANGED;
    return before ? DIFFERENCE_REMOVED : DIFFERENCE_ADDED;
}

static bool add_row(struct difference *out, const struct difference_row *row)
{
    struct difference_row *rows =
        mx_room(out->rows, out->count, &out->room, sizeof *out->rows);

    if (!rows)
        return false;
    out->rows = rows;
    rows[out->count++] = *row;
    if (row->person.before || row->person.after)
        out->counts[row->change]++;
    return true;
}

/* Rows of a participant, or none: `before` and `after` are not both NULL. */
static bool add_person(struct difference *out, const struct person *before,
                       const struct person *after)
{
    return (before && after && same_person(before, after)) ||
           add_row(out, &(struct difference_row){.change = change_of(before, after),
                                                 .person = {before, after}});
}

static bool add_profile(struct difference *out, const struct profile *before,
                        const struct profile *after)
{
    return (before && after && before->routing == after->routing &&
            mx_capset_equals(before->set, after->set)) ||
           add_row(out, &(struct difference_row){.change = change_of(before, after),
                                                 .profile = {before, after}});
}

enum mcpx_err difference_find(const struct tokens *before, const struct tokens *after,
                              struct difference *out)
{
    bool good = true;

    for (size_t i = 0; good && i < before->profile_count; i++)
        good = add_profile(out, &before->profiles[i],
                           tokens_find_profile(after, before->profiles[i].name));
    for (size_t i = 0; good && i < after->profile_count; i++)
        if (!tokens_find_profile(before, after->profiles[i].name))
            good = add_profile(out, NULL, &after->profiles[i]);
    for (size_t i = 0; good && i < before->people_count; i++)
        good = add_person(out, &before->people[i],
                          tokens_find_person(after, before->people[i].grant->identity));
    for (size_t i = 0; good && i < after->people_count; i++)
        if (!tokens_find_person(before, after->people[i].grant->identity))
            good = add_person(out, NULL, &after->people[i]);
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

struct mcpx_slice difference_name(const struct difference_row *row, const char **kind)
{
    const struct person *person = row->person.after ? row->person.after : row->person.before;
    const struct profile *profile =
        row->profile.after ? row->profile.after : row->profile.before;

    *kind = person ? "participant" : "profile";
    return person ? person->grant->identity : mcpx_slice_of(profile->name);
}

/* ---- writing ---- */

/* Searched from `at` on, where the one before was found: most lists have the same order. */
static bool has_grant(const struct mcpx_capset *set, const struct mcpx_grant *grant,
                      size_t *at)
{
    size_t count = set ? mcpx_capset_count(set) : 0;

    for (size_t i = 0; i < count; i++) {
        size_t index = (*at + i) % count;

        if (!mx_grant_equals(mcpx_capset_grant(set, index), grant))
            continue;
        *at = index + 1;
        return true;
    }
    return false;
}

/* The grants of `of` that are not in `beside`; no member when there are none. */
static void write_grants(const char *name, const struct mcpx_capset *of,
                         const struct mcpx_capset *beside, struct mcpx_text *out)
{
    size_t count = 0, at = 0;

    for (size_t i = 0; of && i < mcpx_capset_count(of); i++) {
        const struct mcpx_grant *grant = mcpx_capset_grant(of, i);

        if (has_grant(beside, grant, &at))
            continue;
        if (count++ == 0)
            mx_json_begin_array(out, name);
        grant_write_item(grant, out);
    }
    if (count > 0)
        mx_json_end_array(out);
}

static bool has_denial(const struct mcpx_capset *set, struct mcpx_slice pattern)
{
    bool has = false;

    for (size_t i = 0; set && !has && i < set->deny_count; i++)
        has = mcpx_slice_equal(mx_capset_denial(set, i), pattern);
    return has;
}

static void write_denials(const char *name, const struct mcpx_capset *of,
                          const struct mcpx_capset *beside, struct mcpx_text *out)
{
    size_t count = 0;

    for (size_t i = 0; of && i < of->deny_count; i++) {
        struct mcpx_slice pattern = mx_capset_denial(of, i);

        if (has_denial(beside, pattern))
            continue;
        if (count++ == 0)
            mx_json_begin_array(out, name);
        mx_json_add_item(out, pattern);
    }
    if (count > 0)
        mx_json_end_array(out);
}

static void write_sets(const struct mcpx_capset *before, const struct mcpx_capset *after,
                       struct mcpx_text *out)
{
    write_grants("grants_added", after, before, out);
    write_grants("grants_removed", before, after, out);
    write_denials("deny_added", after, before, out);
    write_denials("deny_removed", before, after, out);
}

static bool has_topic(const struct person *person, const char *pattern)
{
    bool has = false;

    for (size_t i = 0; person && !has && i < person->topic_count; i++)
        has = strcmp(person->topics[i], pattern) == 0;
    return has;
}

static void write_topics(const char *name, const struct person *of,
                         const struct person *beside, struct mcpx_text *out)
{
    size_t count = 0;

    for (size_t i = 0; of && i < of->topic_count; i++) {
        if (has_topic(beside, of->topics[i]))
            continue;
        if (count++ == 0)
            mx_json_begin_array(out, name);
        mx_json_add_item(out, mcpx_slice_of(of->topics[i]));
    }
    if (count > 0)
        mx_json_end_array(out);
}

static void write_routing(enum routing before, enum routing after, struct mcpx_text *out)
{
    static const char *const words[] = {"default", "all", "directed"};

    if (before != after)
        mcpx_json_add_member(out, "routing", mcpx_slice_of(words[after]));
}

static void write_person(const struct person *before, const struct person *after,
                         struct mcpx_text *out)
{
    const struct grant *was = before ? before->grant : NULL;
    const struct grant *now = after ? after->grant : NULL;

    write_topics("topics_added", after, before, out);
    write_topics("topics_removed", before, after, out);
    write_sets(was ? was->capset : NULL, now ? now->capset : NULL, out);
    if (!was || !now)
        return;
    write_routing(was->routing, now->routing, out);
    if (was->instances != now->instances)
        mx_json_add_number(out, "instances", now->instances);
    if (before->by_jwt != after->by_jwt)
        mcpx_json_add_member(out, "jwt",
                             mcpx_slice_of(after->by_jwt ? "accepted" : "refused"));
    if (memcmp(before->token_sha256, after->token_sha256, sizeof after->token_sha256) != 0)
        mcpx_json_add_member(out, "token", MCPX_SLICE("changed"));
}

static void write_profile(const struct profile *before, const struct profile *after,
                          struct mcpx_text *out)
{
    write_sets(before ? before->set : NULL, after ? after->set : NULL, out);
    if (before && after)
        write_routing(before->routing, after->routing, out);
}

static void write_row(const struct difference_row *row, struct mcpx_text *out)
{
    const char *kind;
    struct mcpx_slice name = difference_name(row, &kind);

    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, kind, name);
    mcpx_json_add_member(out, "change", mcpx_slice_of(difference_word(row->change)));
    if (row->person.before || row->person.after)
        write_person(row->person.before, row->person.after, out);
    else
        write_profile(row->profile.before, row->profile.after, out);
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
    const char *end;

    mx_json_begin_array(out, name);
    for (int i = 0; i < LINES_MAX && lines.len > 0; i++) {
        end = memchr(lines.text, '\n', lines.len);
        if (!end)
            break;
        mx_json_add_item(out, (struct mcpx_slice){lines.text, (size_t)(end - lines.text)});
        lines.len -= (size_t)(end + 1 - lines.text);
        lines.text = end + 1;
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
