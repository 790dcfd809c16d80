/*
 * roster.c - a sorted array, because it is read far more often than it changes. Grants of others
 * are compiled at the first question what a participant could send: a guard asks about a few
 * participants, a watcher about none. The router tells us our own with their conditions, so the
 * session can refuse a message that the router would refuse. When they cannot be read, everything
 * is allowed here: the router decides.
 *
 * Lists of capabilities and addressees are one piece of memory: a string never becomes longer
 * when it is unescaped, so the length of the array is room enough for all.
 */
#include "lib/session/session_state.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/json/escape.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

/* ---- lists of strings ---- */

static void strings_fini(struct mx_string_list *list)
{
    free(list->items);
    *list = (struct mx_string_list){0};
}

/* Adds one string to the list, its bytes at `*at`. False for half a surrogate pair, or none. */
static bool add_string(struct mx_string_list *list, struct mcpx_slice value, char **at)
{
    size_t len;

    if (mcpx_json_type(value) != MCPX_JSON_STRING ||
        !mx_unescape(mx_inside_of(value), *at, &len))
        return false;
    list->items[list->count++] = (struct mcpx_slice){*at, len};
    *at += len;
    return true;
}

/* Reads a string and behind it an array of strings; an absent array is an empty one. MCPX_EINVALID
 * when they are something else. */
static enum mcpx_err strings_read(struct mcpx_slice first, struct mcpx_slice array,
                                  struct mx_string_list *out)
{
    size_t count = mcpx_json_length(array) + 1;
    struct mx_string_list list = {malloc(count * sizeof *list.items + first.len + array.len),
                                  0};
    char *at = (char *)(list.items + count);
    bool fine;

    if (!list.items)
        return MCPX_ENOMEM;
    fine = (!array.text || mcpx_json_type(array) == MCPX_JSON_ARRAY) &&
           add_string(&list, first, &at);
    MCPX_JSON_EACH_WHILE(fine, walk, array)
        fine = add_string(&list, walk.value, &at);
    if (!fine)
        strings_fini(&list);
    *out = list;
    return fine ? MCPX_OK : MCPX_EINVALID;
}

/* ---- who is there ---- */

/* The identity is the beginning of the id; any other value counts as none. */
static size_t identity_len(struct mcpx_slice object, struct mcpx_slice id)
{
    struct mcpx_slice member = mcpx_json_get(object, "identity");
    struct mcpx_slice identity = mcpx_identity_of(id);

    return member.text && mcpx_json_equals(member, identity) ? identity.len : id.len;
}

enum mcpx_err mx_person_read(struct mcpx_slice object, struct mx_person **out)
{
    struct mcpx_slice id = mcpx_json_get(object, "id");
    struct mx_person *person = calloc(1, sizeof *person);
    enum mcpx_err err = MCPX_ENOMEM;

    if (person)
        err = strings_read(id, mcpx_json_get(object, "capabilities"), &person->strings);
    if (!err &&
        (person->strings.items[0].len == 0 || person->strings.items[0].len > MCPX_ID_MAX))
        err = MCPX_EINVALID;
    if (err) {
        mx_person_free(person);
        return err;
    }
    person->id = person->strings.items[0];
    person->identity_len = identity_len(object, person->id);
    *out = person;
    return MCPX_OK;
}

void mx_person_free(struct mx_person *person)
{
    if (!person)
        return;
    strings_fini(&person->strings);
    mcpx_capset_unref(person->capset);
    free(person);
}

/* The index of that id, or the index for inserting it. */
static size_t place_of(const struct mx_roster *roster, struct mcpx_slice id, bool *found)
{
    size_t low = 0, high = roster->count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(roster->people[row]->id, id) < 0);
    *found = low < roster->count && mcpx_slice_equal(roster->people[low]->id, id);
    return low;
}

bool mx_roster_reserve(struct mx_roster *roster)
{
    return mx_make_room(&roster->people, roster->count, &roster->size,
                        sizeof(struct mx_person *));
}

void mx_roster_put(struct mx_roster *roster, struct mx_person *person)
{
    bool found;
    size_t at = place_of(roster, person->id, &found);

    if (found) {
        mx_person_free(roster->people[at]);
    } else {
        memmove(roster->people + at + 1, roster->people + at,
                (roster->count - at) * sizeof(struct mx_person *));
        roster->count++;
    }
    roster->people[at] = person;
}

void mx_roster_remove(struct mx_roster *roster, struct mcpx_slice id)
{
    bool found;
    size_t at = place_of(roster, id, &found);

    if (!found)
        return;
    mx_person_free(roster->people[at]);
    roster->count--;
    memmove(roster->people + at, roster->people + at + 1,
            (roster->count - at) * sizeof(struct mx_person *));
}

struct mx_person *mx_roster_find(const struct mx_roster *roster, struct mcpx_slice id)
{
    bool found;
    size_t at = place_of(roster, id, &found);

    return found ? roster->people[at] : NULL;
}

void mx_roster_fini(struct mx_roster *roster)
{
    for (size_t i = 0; i < roster->count; i++)
        mx_person_free(roster->people[i]);
    free(roster->people);
    *roster = (struct mx_roster){0};
}

static void compile_person(struct mx_person *person)
{
    const struct mx_string_list *strings = &person->strings;
    struct mcpx_grant *grants = calloc(strings->count, sizeof *grants);
    size_t count = 0;

    if (!grants)
        return; /* it is tried again at the next question */
    for (size_t i = 1; i < strings->count; i++)
        if (mcpx_pattern_check(strings->items[i], NULL) == MCPX_OK)
            grants[count++].pattern = strings->items[i];
    person->compiled =
        mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &person->capset) != MCPX_ENOMEM;
    free(grants);
}

bool mcpx_session_could(const struct mcpx_session *session, struct mcpx_slice participant,
                        const struct mcpx_kind *kind)
{
    struct mx_person *person = mx_roster_find(&session->roster, participant);
    struct mcpx_question question = {.kind = kind};

    if (person && !person->compiled)
        compile_person(person);
    return person && person->capset && mcpx_capset_allows(person->capset, &question);
}

/* ---- who is absent ---- */

void mx_absent_fini(struct mx_absent *absent)
{
    mx_roster_fini(&absent->people);
    absent->needed = 0;
}

/* Removes all persons that are also in `others`. */
static void subtract(struct mx_roster *roster, const struct mx_roster *others)
{
    size_t kept = 0;

    for (size_t i = 0; i < roster->count; i++) {
        struct mx_person *person = roster->people[i];

        if (mx_roster_find(others, person->id))
            mx_person_free(person);
        else
            roster->people[kept++] = person;
    }
    roster->count = kept;
}

void mx_absent_note(struct mx_absent *absent, struct mx_roster *before,
                    const struct mx_roster *now)
{
    mx_absent_fini(absent);
    absent->people = *before;
    *before = (struct mx_roster){0};
    subtract(&absent->people, now);
}

void mx_absent_need(struct mcpx_session *session, const struct mcpx_slice *to, size_t count)
{
    struct mx_absent *absent = &session->absent;

    for (size_t i = 0; i < count && session->mono_ms < absent->until; i++) {
        struct mx_person *person = mx_roster_find(&absent->people, to[i]);

        if (!person || person->needed)
            continue;
        person->needed = true;
        absent->needed++;
        session->outbox.held_until = absent->until;
    }
}

void mx_absent_came(struct mx_absent *absent, struct mcpx_slice id)
{
    const struct mx_person *person = mx_roster_find(&absent->people, id);

    absent->needed -= person && person->needed;
    mx_roster_remove(&absent->people, id);
}

/* ---- what we may send ---- */

static enum mcpx_err read_expiry(struct mcpx_slice value, int64_t *expires_ms)
{
    MX_SCOPED(strings_fini) struct mx_string_list text = {0};
    enum mcpx_err err = strings_read(value, (struct mcpx_slice){0}, &text);

    return err || mx_time_parse(text.items[0], expires_ms) ? err : MCPX_EINVALID;
}

/* A grant is a pattern or an object with conditions. Its strings are kept in `strings`. */
static enum mcpx_err read_grant(struct mcpx_slice value, struct mx_string_list *strings,
                                struct mcpx_grant *grant)
{
    struct mcpx_slice pattern = value, to = {0}, expires = {0};
    enum mcpx_err err;

    if (mcpx_json_type(value) == MCPX_JSON_OBJECT) {
        pattern = mcpx_json_get(value, "kind");
        to = mcpx_json_get(value, "to");
        expires = mcpx_json_get(value, "expires");
    }
    err = strings_read(pattern, to, strings);
    if (!err && expires.text)
        err = read_expiry(expires, &grant->expires_ms);
    if (err)
        return err;
    grant->pattern = strings->items[0];
    grant->to = strings->items + 1;
    grant->to_count = strings->count - 1;
    return MCPX_OK;
}

static enum mcpx_err compile_list(struct mcpx_slice list, struct mcpx_capset **out)
{
    size_t room = mcpx_json_length(list) + 1, count = 0;
    struct mcpx_grant *grants = calloc(room, sizeof *grants);
    struct mx_string_list *strings = calloc(room, sizeof *strings);
    enum mcpx_err err = grants && strings ? MCPX_OK : MCPX_ENOMEM;

    MCPX_JSON_EACH_WHILE(!err, walk, list) {
        err = read_grant(walk.value, &strings[count], &grants[count]);
        count++;
    }
    if (!err)
        err = mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, out);
    for (size_t i = 0; i < count; i++)
        strings_fini(&strings[i]);
    free(strings);
    free(grants);
    return err;
}

bool mx_person_take_grants(struct mx_person *person, struct mcpx_slice you)
{
    struct mcpx_slice list = mcpx_json_get(you, "capabilities");
    struct mcpx_slice whole = mcpx_json_get(you, "grants");

    person->compiled = true;
    return compile_list(mcpx_json_type(whole) == MCPX_JSON_ARRAY ? whole : list,
                        &person->capset) != MCPX_ENOMEM;
}
