/*
 * roster.c - a sorted array, because it is read far more often than it changes. Grants are
 * compiled at the first question what a participant could send: a guard asks about a few
 * participants, a watcher about none.
 */
#include "lib/participant/roster.h"

#include "lib/core/room.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

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
    struct mcpx_text text = {0};
    struct mx_person *person = NULL;
    enum mcpx_err err = MCPX_EINVALID;

    if (!mcpx_json_add_unescaped(&text, id) && !text.failed)
        goto out;
    err = MCPX_ENOMEM;
    if (text.failed)
        goto out;
    person = calloc(1, sizeof *person + text.len + 1);
    if (!person)
        goto out;
    if (text.len)
        memcpy(person->id_bytes, text.text, text.len);
    person->id = (struct mcpx_slice){person->id_bytes, text.len};
    person->identity_len = identity_len(object, person->id);
    err = MCPX_EINVALID;
    if (person->id.len == 0 || person->id.len > MCPX_ID_MAX)
        goto out;
    err = mx_string_list_read(mcpx_json_get(object, "capabilities"), &person->capabilities);
out:
    if (err)
        mx_person_free(person);
    else
        *out = person;
    mcpx_text_fini(&text);
    return err;
}

void mx_person_free(struct mx_person *person)
{
    if (!person)
        return;
    mx_string_list_fini(&person->capabilities);
    mcpx_capset_unref(person->capset);
    free(person);
}

/* The index of that id, or the index at which it would be inserted. */
static size_t place_of(const struct mx_roster *roster, struct mcpx_slice id, bool *found)
{
    size_t low = 0, high = roster->count;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = mcpx_slice_compare(roster->people[middle]->id, id);

        *found |= order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mx_roster_reserve(struct mx_roster *roster)
{
    struct mx_person **people =
        mx_room(roster->people, roster->count, &roster->size, sizeof *people);

    if (people)
        roster->people = people;
    return people;
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

bool mx_roster_remove(struct mx_roster *roster, struct mcpx_slice id)
{
    bool found;
    size_t at = place_of(roster, id, &found);

    if (!found)
        return false;
    mx_person_free(roster->people[at]);
    roster->count--;
    memmove(roster->people + at, roster->people + at + 1,
            (roster->count - at) * sizeof(struct mx_person *));
    return true;
}

void mx_roster_subtract(struct mx_roster *roster, const struct mx_roster *others)
{
    size_t kept = 0;

    for (size_t i = 0; i < roster->count; i++) {
        struct mx_person *person = roster->people[i];
        bool found;

        place_of(others, person->id, &found);
        if (found)
            mx_person_free(person);
        else
            roster->people[kept++] = person;
    }
    roster->count = kept;
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

static void compile(struct mx_person *person)
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
        compile(person);
    return person->capset && mcpx_capset_allows(person->capset, &question);
}
