/*
 * tokens_entry.c - the configured participants and profiles as administrators see them: nothing
 * that a token could be made or guessed from.
 */
#include "router/policy/identity/tokens_make.h"

#include <stdlib.h>

static struct tokens_entry entry_of(const struct person *person)
{
    return (struct tokens_entry){.name = person->grant->identity,
                                 .set = person->grant->capset,
                                 .grant = person->grant,
                                 .topics = person->topics,
                                 .topic_count = person->topic_count,
                                 .by_jwt = person->by_jwt};
}

struct place {
    struct mcpx_slice id;
    size_t index;
};

static int compare_places(const void *one, const void *other)
{
    return mcpx_slice_compare(((const struct place *)one)->id,
                              ((const struct place *)other)->id);
}

/* Sorted where it is read, which is not on the loop: a hundred thousand would hold that up. */
bool tokens_sort(struct tokens *tokens)
{
    size_t count = tokens->people_count;
    struct place *places = calloc(count + 1, sizeof *places);

    free(tokens->by_id);
    tokens->by_id = calloc(count + 1, sizeof *tokens->by_id);
    if (places && tokens->by_id) {
        for (size_t i = 0; i < count; i++)
            places[i] = (struct place){tokens->people[i].grant->identity, i};
        qsort(places, count, sizeof *places, compare_places);
        for (size_t i = 0; i < count; i++)
            tokens->by_id[i] = places[i].index;
    }
    free(places);
    return places && tokens->by_id;
}

bool tokens_participant_at(const struct tokens *tokens, size_t index, struct tokens_entry *out)
{
    if (index >= tokens->people_count)
        return false;
    *out = entry_of(&tokens->people[tokens->by_id[index]]);
    return true;
}

size_t tokens_participants_up_to(const struct tokens *tokens, struct mcpx_slice id)
{
    size_t begin = 0, end = tokens->people_count;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (mcpx_slice_compare(tokens->people[tokens->by_id[middle]].grant->identity, id) <= 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

bool tokens_profile_at(const struct tokens *tokens, size_t index, struct tokens_entry *out)
{
    if (index >= tokens->profile_count)
        return false;
    *out = (struct tokens_entry){.name = mcpx_slice_of(tokens->profiles[index].name),
                                 .set = tokens->profiles[index].set};
    return true;
}

bool tokens_entry(const struct tokens *tokens, struct mcpx_slice id, struct tokens_entry *out)
{
    const struct person *person = tokens_find_person(tokens, id);

    if (person)
        *out = entry_of(person);
    return person;
}
