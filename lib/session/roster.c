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

#include <mcpx/envelope.h>

#include <assert.h>
#include <stdlib.h>

/* ---- lists of strings ---- */

static void strings_fini(struct mx_string_list *list)
{
    free(list->items);
    *list = (struct mx_string_list){0};
}

static enum mcpx_err read_string(struct mcpx_slice value, struct mcpx_text *out)
{
    bool added = mcpx_json_add_unescaped(out, value);

    if (out->failed)
        return MCPX_ENOMEM;
    return added ? MCPX_OK : MCPX_EINVALID;
}

/* Adds one string to the list, its bytes at `*at`. */
static enum mcpx_err add_string(struct mx_string_list *list, struct mcpx_slice value,
                                struct mcpx_text *scratch, char **at)
{
    enum mcpx_err err;

    mcpx_text_reset(scratch);
    err = read_string(value, scratch);
    if (err)
        return err;
    if (scratch->len)
        memcpy(*at, scratch->text, scratch->len);
    list->items[list->count++] = (struct mcpx_slice){*at, scratch->len};
    *at += scratch->len;
    return MCPX_OK;
}

/*
 * Reads an array of strings; an absent one is an empty list. MCPX_EINVALID when it is no array, or
 * an item no string or half a surrogate pair.
 */
static enum mcpx_err strings_read(struct mcpx_slice array, struct mx_string_list *out)
{
    struct mx_string_list list = {0};
    mx_scoped_text scratch = {0};
    enum mcpx_err err = MCPX_OK;
    size_t count;
    char *at;

    if (array.text && mcpx_json_type(array) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    count = mcpx_json_length(array);
    list.items = malloc(count * sizeof *list.items + array.len + 1);
    if (!list.items)
        return MCPX_ENOMEM;
    at = (char *)(list.items + count);
    MCPX_JSON_EACH_WHILE(!err && count > 0, walk, array)
        err = add_string(&list, walk.value, &scratch, &at);
    if (err)
        strings_fini(&list);
    else
        *out = list;
    return err;
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
    mx_scoped_text text = {0};
    struct mx_person *person;
    enum mcpx_err err = read_string(mcpx_json_get(object, "id"), &text);

    if (err)
        return err;
    if (text.len == 0 || text.len > MCPX_ID_MAX)
        return MCPX_EINVALID;
    person = calloc(1, sizeof *person + text.len + 1);
    if (!person)
        return MCPX_ENOMEM;
    memcpy(person->id_bytes, text.text, text.len);
    person->id = (struct mcpx_slice){person->id_bytes, text.len};
    person->identity_len = identity_len(object, person->id);
    err = strings_read(mcpx_json_get(object, "capabilities"), &person->capabilities);
    if (err)
        mx_person_free(person);
    else
        *out = person;
    return err;
}

void mx_person_free(struct mx_person *person)
{
    if (!person)
        return;
    strings_fini(&person->capabilities);
    mcpx_capset_unref(person->capset);
    free(person);
}

/* The index of that id, or the index at which it would be inserted. */
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
    struct mcpx_grant *grants = calloc(person->capabilities.count + 1, sizeof *grants);
    size_t count = 0;

    if (!grants)
        return; /* it is tried again at the next question */
    for (size_t i = 0; i < person->capabilities.count; i++)
        if (mcpx_pattern_check(person->capabilities.items[i], NULL) == MCPX_OK)
            grants[count++].pattern = person->capabilities.items[i];
    person->compiled =
        mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &person->capset) != MCPX_ENOMEM;
    free(grants);
}

bool mx_person_could(struct mx_person *person, const struct mcpx_kind *kind)
{
    struct mcpx_question question = {.kind = kind};

    if (!person->compiled)
        compile_person(person);
    return person->capset && mcpx_capset_allows(person->capset, &question);
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

bool mx_absent_need(struct mx_absent *absent, const struct mcpx_slice *to, size_t count,
                    int64_t mono_ms)
{
    size_t before = absent->needed;

    for (size_t i = 0; i < count && mono_ms < absent->until; i++) {
        struct mx_person *person = mx_roster_find(&absent->people, to[i]);

        if (!person || person->needed)
            continue;
        person->needed = true;
        absent->needed++;
    }
    return absent->needed > before;
}

bool mx_absent_came(struct mx_absent *absent, struct mcpx_slice id)
{
    const struct mx_person *person = mx_roster_find(&absent->people, id);
    bool was_needed = person && person->needed;

    mx_roster_remove(&absent->people, id);
    absent->needed -= was_needed;
    return was_needed;
}

/* ---- what we may send ---- */

/* A list of grants while it is read. Its strings are in `to` and in `patterns`. */
struct reading {
    struct mcpx_grant *grants;
    struct mx_string_list *to;
    struct mcpx_text patterns;
    size_t count;
};

static enum mcpx_err read_expiry(struct mcpx_slice value, int64_t *expires_ms)
{
    mx_scoped_text text = {0};
    enum mcpx_err err = value.text ? read_string(value, &text) : MCPX_OK;

    if (err || !value.text)
        return err;
    return mx_time_parse(mcpx_text_view(&text), expires_ms) ? MCPX_OK : MCPX_EINVALID;
}

/* A grant is a pattern or an object with conditions. Patterns become slices once all are read. */
static enum mcpx_err read_grant(struct reading *reading, struct mcpx_slice value)
{
    struct mcpx_grant *grant = &reading->grants[reading->count];
    struct mx_string_list *to = &reading->to[reading->count];
    struct mcpx_slice pattern = value;
    size_t before = reading->patterns.len;
    enum mcpx_err err = MCPX_OK;

    reading->count++;
    if (mcpx_json_type(value) == MCPX_JSON_OBJECT) {
        pattern = mcpx_json_get(value, "kind");
        err = strings_read(mcpx_json_get(value, "to"), to);
        if (!err)
            err = read_expiry(mcpx_json_get(value, "expires"), &grant->expires_ms);
    }
    if (!err)
        err = read_string(pattern, &reading->patterns);
    grant->to = to->items;
    grant->to_count = to->count;
    grant->pattern.len = reading->patterns.len - before;
    return err;
}

static enum mcpx_err compile(struct mcpx_slice list, struct reading *reading,
                             struct mcpx_capset **out)
{
    enum mcpx_err err = MCPX_OK;
    const char *at;

    MCPX_JSON_EACH_WHILE(!err, walk, list)
        err = read_grant(reading, walk.value);
    if (err)
        return err;
    at = reading->patterns.text ? reading->patterns.text : "";
    for (size_t i = 0; i < reading->count; i++) {
        reading->grants[i].pattern.text = at;
        at += reading->grants[i].pattern.len;
    }
    return mcpx_capset_new(reading->grants, reading->count, NULL, 0, NULL, NULL, out);
}

static enum mcpx_err compile_list(struct mcpx_slice list, struct mcpx_capset **out)
{
    struct reading reading = {0};
    size_t count = mcpx_json_length(list) + 1;
    enum mcpx_err err = MCPX_ENOMEM;

    reading.grants = calloc(count, sizeof *reading.grants);
    reading.to = calloc(count, sizeof *reading.to);
    if (reading.grants && reading.to)
        err = compile(list, &reading, out);
    for (size_t i = 0; i < reading.count; i++)
        strings_fini(&reading.to[i]);
    mcpx_text_fini(&reading.patterns);
    free(reading.to);
    free(reading.grants);
    return err;
}

enum mcpx_err mx_grants_read(struct mcpx_slice you, struct mx_grants *out)
{
    struct mcpx_slice list = mcpx_json_get(you, "capabilities");
    struct mcpx_slice whole = mcpx_json_get(you, "grants");
    struct mx_grants grants = {0};
    enum mcpx_err err = strings_read(list, &grants.capabilities);

    if (err)
        return err;
    err =
        compile_list(mcpx_json_type(whole) == MCPX_JSON_ARRAY ? whole : list, &grants.capset);
    if (err == MCPX_ENOMEM) {
        mx_grants_fini(&grants);
        return err;
    }
    *out = grants;
    return MCPX_OK;
}

void mx_grants_fini(struct mx_grants *grants)
{
    strings_fini(&grants->capabilities);
    mcpx_capset_unref(grants->capset);
    *grants = (struct mx_grants){0};
}
