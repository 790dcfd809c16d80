/*
 * tokens_entry.c - the configured participants and profiles as administrators see them: nothing that a
 * token could be made or guessed from.
 */
#include "router/policy/tokens_inside.h"

static struct tokens_entry entry_of(const struct person *person)
{
    return (struct tokens_entry){.name = person->grant->identity,
                                 .set = person->grant->capset,
                                 .grant = person->grant,
                                 .topics = person->topics,
                                 .topic_count = person->topic_count,
                                 .by_jwt = person->by_jwt};
}

bool tokens_participant_at(const struct tokens *tokens, size_t index, struct tokens_entry *out)
{
    if (index >= tokens->people_count)
        return false;
    *out = entry_of(&tokens->people[index]);
    return true;
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
