/*
 * rpc_context.c - the one table that says where in its params a method names what it is about.
 * Grants are written against this, so a row here decides what a grant can tell apart; methods that
 * are not listed have no context, whatever their params hold. A second table has what else is read
 * from params: a cancellation of one request must not be one of another for who reads it elsewhere.
 * Protocol: sections 2 and 9.
 */
#include "lib/core/rpc_context.h"

#include "lib/core/decisive.h"

#include <mcpx/rpc.h>

#define META "io.modelcontextprotocol/"

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

/* Members of params that decide something other than the context. */
static const struct {
    struct mcpx_slice method;
    const char *member;
} others[] = {
    {{"notifications/cancelled", 23}, "requestId"},
    {{"notifications/progress", 22}, "progressToken"},
    {{"notifications/elicitation/complete", 34}, "elicitationId"},
    {{"elicitation/create", 18}, "elicitationId"},
    {{"tools/call", 10}, "task"},
    {{"tools/call", 10}, "arguments"}, /* what a person approves is what is carried out */
    {{"prompts/get", 11}, "arguments"},
};

enum { OTHERS = sizeof others / sizeof *others, MEMBERS_MAX = 4 };

/* Checks `_meta` itself. */
static bool check_meta(struct mcpx_slice meta, struct mcpx_fault *fault)
{
    struct mx_decisive task = {.name = "taskId"};
    struct mx_decisive members[] = {{.name = META "related-task"},
                                    {.name = "progressToken"},
                                    {.name = META "protocolVersion"},
                                    {.name = META "clientInfo"},
                                    {.name = META "clientCapabilities"}};

    return mx_decisive_find(meta, members, sizeof members / sizeof *members, fault) &&
           mx_decisive_find(members[0].value, &task, 1, fault);
}

bool mx_rpc_meta_check(struct mcpx_slice object, struct mcpx_fault *fault)
{
    struct mx_decisive meta = {.name = "_meta"};

    return mx_decisive_find(object, &meta, 1, fault) && check_meta(meta.value, fault);
}

/* Of the rows of a method whose params.MEMBER is `ref`, the one its type asks for. */
static bool find_inner(struct mcpx_slice method, struct mcpx_slice ref,
                       struct mcpx_slice *value, struct mcpx_fault *fault)
{
    struct mx_decisive members[] = {{.name = "type"}, {.name = "name"}, {.name = "uri"}};

    *value = (struct mcpx_slice){NULL, 0};
    if (!mx_decisive_find(ref, members, 3, fault))
        return false;
    for (size_t i = 0; i < ROWS; i++)
        if (mcpx_slice_equal(method, rows[i].method) &&
            mcpx_json_equals(members[0].value, mcpx_slice_of(rows[i].type)))
            *value = members[strcmp(rows[i].inner, "name") == 0 ? 1 : 2].value;
    return true;
}

bool mx_rpc_params_read(struct mcpx_slice method, struct mcpx_slice params,
                        struct mcpx_slice *value, struct mcpx_fault *fault)
{
    struct mx_decisive members[MEMBERS_MAX] = {{.name = "_meta"}};
    size_t row = 0, count = 1;

    *value = (struct mcpx_slice){NULL, 0};
    for (size_t i = 0; i < OTHERS; i++)
        if (mcpx_slice_equal(method, others[i].method))
            members[count++].name = others[i].member;
    while (row < ROWS && !mcpx_slice_equal(method, rows[row].method))
        row++;
    if (row < ROWS)
        members[count].name = rows[row].member;
    if (!mx_decisive_find(params, members, count + (row < ROWS), fault) ||
        !check_meta(members[0].value, fault))
        return false;
    if (row == ROWS)
        return true;
    *value = members[count].value;
    return rows[row].inner ? find_inner(method, *value, value, fault) : true;
}
