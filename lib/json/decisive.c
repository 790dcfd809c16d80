/*
 * decisive.c - one walk for all members of interest, instead of one for each. Some readers keep
 * the first of two members of a name and some the last, some look at letter case and some do not;
 * only what all of them read alike may decide anything.
 */
#include "lib/json/decisive.h"

#include "lib/base/fault.h"

static bool refuse_member(struct mcpx_fault *fault, const char *reason, const char *name)
{
    mx_fault_set(fault, reason, name, 0);
    return false;
}

/* The member that the walk's is, or is named like; `count` when there is none. */
static size_t member_at(const struct mcpx_json_walk *walk, const struct mx_decisive *members,
                        size_t count, enum mx_likeness *likeness)
{
    size_t i = 0;

    while (i < count &&
           (*likeness = mx_fold_compare(walk->name, members[i].name)) == MX_UNLIKE)
        i++;
    return i;
}

bool mx_decisive_find(struct mcpx_slice object, struct mx_decisive *members, size_t count,
                      struct mcpx_fault *fault)
{
    struct mcpx_json_walk walk;
    enum mx_likeness likeness;

    for (size_t i = 0; i < count; i++)
        members[i].value = (struct mcpx_slice){NULL, 0};
    if (mcpx_json_type(object) != MCPX_JSON_OBJECT)
        return true;
    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk)) {
        size_t i = member_at(&walk, members, count, &likeness);

        if (i == count)
            continue;
        if (likeness == MX_LIKE)
            return refuse_member(
                fault,
                "a member is named like this one but for letter case: some readers "
                "would take it for this one",
                members[i].name);
        if (members[i].value.text)
            return refuse_member(fault, "this member stands twice", members[i].name);
        members[i].value = walk.value;
    }
    return true;
}
