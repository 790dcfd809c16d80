/*
 * api_change.h - a change at run time while it is being made, and who may make it.
 */
#ifndef EDGE_API_CHANGE_H
#define EDGE_API_CHANGE_H

#include "router/edge/api.h"
#include "router/policy/grant_list.h"

/**
 * What is asked. Slices borrow from request and body.
 *
 * until_ms   wall clock; 0 = not given
 * preview    nothing is to be changed
 * lifts      what is added was taken away by the caller, who may do nothing but take that back
 */
struct wish {
    struct change_act act;
    struct grant_list add, remove;
    int64_t until_ms;
    bool preview, lifts;
};

/**
 * What becomes of it.
 *
 * before, after   the participant's grant in the topic
 * draft           its changes, until they are in force; NULL then
 * list            the same, also when they are in force
 * known           what its credential gives is known; else nothing is assumed
 * lifted          bits: the patterns added that were taken away before, and are no longer
 * connections     how many have the new grant
 */
struct outcome {
    const struct wish *wish;
    struct grant *before, *after;
    struct changed *draft;
    const struct changed *list;
    bool known;
    uint64_t lifted;
    size_t connections;
};

/**
 * Appends the answer, but for its last members and its end. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err api_change_write(const struct api_call *call, const struct outcome *outcome,
                               struct http_reply *reply);

/** Tells and counts each pattern that was given or taken away. */
void api_change_tell(const struct api_call *call, const struct outcome *outcome);

/** Appends a member: the changes that hold now, as an array. */
void api_change_write_list(const struct changed *changed, int64_t wall_ms,
                           struct mcpx_text *out);

/** Whom the path names, and who asks. False, with a problem, when it names nobody. */
bool api_target(const struct api_call *call, struct change_act *act, struct http_reply *reply);

/** Who is to be changed. `known`: configured or connected; `guarded`: has `admin/` as a whole. */
struct standing {
    bool known, guarded;
};

/** Looks at the entry, the changes and all connections of a participant. */
struct standing api_standing(const struct api_call *call, struct mcpx_slice identity);

/**
 * May the caller, with this grant, change a participant at all? False with a problem: who is
 * guarded, or not known, can only be changed by who has `admin/` as a whole.
 */
bool api_may_change(const struct api_call *call, const struct grant *own,
                    struct standing standing, struct http_reply *reply);

#endif
