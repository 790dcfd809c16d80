/*
 * rpc_context.c - the one table that says where in its params a method names what it is about.
 * Grants are written against this, so a row here decides what a grant can tell apart; methods that
 * are not listed have no context, whatever their params hold.
 * Includes rpc_context.h and rpc.h only. Protocol: section 2.
 */
#include "lib/core/rpc_context.h"

#include <mcpx/rpc.h>

/*
 * The context is params.MEMBER, or params.MEMBER.INNER where params.MEMBER.type is TYPE.
 */
struct row {
    struct mcpx_slice method;
    const char *member;
    const char *type;
    const char *inner;
};

#define ROW(method, ...)                                                                      \
    {                                                                                         \
        {(method), sizeof(method) - 1}, __VA_ARGS__                                           \
    }

static const struct row rows[] = {
    ROW("tools/call", "name", NULL, NULL),
    ROW("prompts/get", "name", NULL, NULL),
    ROW("resources/read", "uri", NULL, NULL),
    ROW("resources/subscribe", "uri", NULL, NULL),
    ROW("resources/unsubscribe", "uri", NULL, NULL),
    ROW("completion/complete", "ref", "ref/prompt", "name"),
    ROW("completion/complete", "ref", "ref/resource", "uri"),
    ROW("tasks/get", "taskId", NULL, NULL),
    ROW("tasks/cancel", "taskId", NULL, NULL),
    ROW("tasks/result", "taskId", NULL, NULL),
    ROW("tasks/update", "taskId", NULL, NULL),
    ROW("notifications/resources/updated", "uri", NULL, NULL),
    ROW("notifications/tasks/status", "taskId", NULL, NULL),
};

enum { ROWS = sizeof rows / sizeof *rows };

const char *mcpx_rpc_context_member(struct mcpx_slice method)
{
    for (size_t i = 0; i < ROWS; i++)
        if (mcpx_slice_equal(method, rows[i].method))
            return rows[i].member;
    return NULL;
}

/* The value of an object's only member of that name, or an absent slice. */
static bool find_one(struct mcpx_slice object, const char *name, struct mcpx_slice *value,
                     struct mcpx_fault *fault)
{
    struct mcpx_json_walk walk;

    *value = (struct mcpx_slice){NULL, 0};
    if (mcpx_json_type(object) != MCPX_JSON_OBJECT)
        return true;
    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk)) {
        if (!mcpx_json_walk_at(&walk, name))
            continue;
        if (value->text) {
            if (fault)
                *fault = (struct mcpx_fault){"this member of params stands twice", name, 0};
            return false;
        }
        *value = walk.value;
    }
    return true;
}

/* Of the rows of a method whose params.MEMBER is `ref`, the one its type asks for. */
static bool find_inner(struct mcpx_slice method, struct mcpx_slice ref,
                       struct mcpx_slice *value, struct mcpx_fault *fault)
{
    struct mcpx_slice type;

    *value = (struct mcpx_slice){NULL, 0};
    if (!find_one(ref, "type", &type, fault))
        return false;
    for (size_t i = 0; i < ROWS; i++)
        if (mcpx_slice_equal(method, rows[i].method) &&
            mcpx_json_equals(type, mcpx_slice_of(rows[i].type)))
            return find_one(ref, rows[i].inner, value, fault);
    return true;
}

bool mx_rpc_context_find(struct mcpx_slice method, struct mcpx_slice params,
                         struct mcpx_slice *value, struct mcpx_fault *fault)
{
    size_t i = 0;

    *value = (struct mcpx_slice){NULL, 0};
    while (i < ROWS && !mcpx_slice_equal(method, rows[i].method))
        i++;
    if (i == ROWS)
        return true;
    if (!find_one(params, rows[i].member, value, fault))
        return false;
    return rows[i].inner ? find_inner(method, *value, value, fault) : true;
}
