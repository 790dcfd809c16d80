/*
 * rpc.c - a JSON-RPC message read as far as a grant depends on it. The router checks the kind of an
 * envelope and never opens its payload. A receiver must check that the payload matches the kind and
 * is not ambiguous JSON. Names are compared unescaped; a decisive member stands once, without
 * another that differs by letter case only. Rejected: filling a tree; of two equal members it keeps
 * the last, without an error.
 *
 * One table maps a method to the member of params with its context. Grants depend on it: a row
 * decides what a grant can tell apart. Methods not listed have no context, whatever their params
 * hold. A second table lists the other decisive members: two readers of a cancellation must find
 * the same request in it. Protocol: sections 2 and 9.
 */
#include <mcpx/rpc.h>

#include "lib/base/fault.h"
#include "lib/json/decisive.h"
#include "lib/json/escape.h"
#include "lib/protocol/grammar.h"

#include <stdio.h>

/* ---- members of params ---- */

#define META "io.modelcontextprotocol/"

/* The context is params.MEMBER, or params.MEMBER.INNER where params.MEMBER.type is TYPE. */
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
    ROW("permission/ask", "name", NULL, NULL), /* of MCPx, not of MCP */
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
    ROW("notifications/tasks", "taskId", NULL, NULL),
};

enum { ROWS = sizeof rows / sizeof *rows };

const char *mcpx_rpc_context_member(struct mcpx_slice method)
{
    for (size_t i = 0; i < ROWS; i++)
        if (mcpx_slice_equal(method, rows[i].method))
            return rows[i].member;
    return NULL;
}

/* Decisive members of params other than the context. */
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
    {{"permission/ask", 14}, "input"},
};

enum { OTHERS = sizeof others / sizeof *others, MEMBERS_MAX = 4 };

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

/* Checks `_meta` of params or of a result: `progressToken`, the members that MCP reserves and
 * participants read (protocolVersion, clientInfo, clientCapabilities, related-task and the taskId
 * in it). */
static bool check_meta_of(struct mcpx_slice object, struct mcpx_fault *fault)
{
    struct mx_decisive meta = {.name = "_meta"};

    return mx_decisive_find(object, &meta, 1, fault) && check_meta(meta.value, fault);
}

/* Reads `ref`: of the method's rows, the one with the type of `ref` names the inner member. */
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

/* Checks the params of a method, and finds the value of its CONTEXT: any value, or an absent slice
 * when the method has no context, or its params hold none. False when a decisive member is
 * ambiguous (stands twice, or beside one of another letter case): on the way to the context; in
 * `others`; in `_meta`. */
static bool read_params(struct mcpx_slice method, struct mcpx_slice params,
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

/* ---- messages ---- */

static const struct mcpx_slice absent;

/* The shortest kind a method stands in: "mcp/request:METHOD". */
enum { TYPE_LEN = sizeof "mcp/request:" - 1 };

/* The members that tell requests, notifications and responses apart. */
enum field { JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, FIELDS };

static bool is_integer(struct mcpx_slice value)
{
    if (mcpx_json_type(value) != MCPX_JSON_NUMBER)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.text[i] == '.' || (value.text[i] | 0x20) == 'e')
            return false;
    return true;
}

static enum mcpx_err check_id(const struct mx_decisive fields[FIELDS],
                              struct mcpx_fault *fault)
{
    switch (mcpx_json_type(fields[ID].value)) {
    case MCPX_JSON_ABSENT:
        return fields[RESULT].value.text
                   ? mx_fault_set(fault, "expected the id of the request that this answers",
                                  "id", 0)
                   : MCPX_OK;
    case MCPX_JSON_STRING:
        return MCPX_OK;
    case MCPX_JSON_NULL:
        return fields[ERROR].value.text
                   ? MCPX_OK
                   : mx_fault_set(fault, "expected a string or an integer; null is for errors",
                                  "id", 0);
    default:
        return is_integer(fields[ID].value)
                   ? MCPX_OK
                   : mx_fault_set(fault, "expected a string or an integer", "id", 0);
    }
}

static enum mcpx_err check_fields(const struct mx_decisive fields[FIELDS],
                                  struct mcpx_fault *fault)
{
    enum mcpx_json_type params = mcpx_json_type(fields[PARAMS].value);
    bool answers = fields[RESULT].value.text || fields[ERROR].value.text;

    if (fields[JSONRPC].value.text &&
        !mcpx_json_equals(fields[JSONRPC].value, MCPX_SLICE("2.0")))
        return mx_fault_set(fault, "expected \"2.0\"", "jsonrpc", 0);
    if (!fields[METHOD].value.text && !answers)
        return mx_fault_set(fault, "expected a method, a result or an error", "method", 0);
    if (fields[METHOD].value.text && answers)
        return mx_fault_set(fault, "expected no method beside a result or an error", "method",
                            0);
    if (fields[RESULT].value.text && fields[ERROR].value.text)
        return mx_fault_set(fault, "expected either a result or an error", "error", 0);
    if (params != MCPX_JSON_ABSENT && params != MCPX_JSON_OBJECT && params != MCPX_JSON_ARRAY)
        return mx_fault_set(fault, "expected an object or an array", "params", 0);
    return check_id(fields, fault);
}

static enum mcpx_rpc_form form_of(const struct mx_decisive fields[FIELDS])
{
    if (fields[RESULT].value.text)
        return MCPX_RPC_RESULT;
    if (fields[ERROR].value.text)
        return MCPX_RPC_ERROR;
    if (fields[ID].value.text)
        return MCPX_RPC_REQUEST;
    return fields[JSONRPC].value.text ? MCPX_RPC_NOTIFICATION : MCPX_RPC_BODY;
}

/* Unescapes a string into `room` bytes; absent when it is not a string, or too long. */
static struct mcpx_slice unescape(struct mcpx_slice value, char *out, size_t room)
{
    struct mx_inside inside;
    size_t len = 0;
    int byte;

    if (mcpx_json_type(value) != MCPX_JSON_STRING)
        return absent;
    inside = mx_inside_start(mx_inside_of(value));
    while ((byte = mx_inside_next(&inside)) >= 0) {
        if (len == room || inside.escape.is_lone)
            return absent;
        out[len++] = (char)byte;
    }
    return (struct mcpx_slice){out, len};
}

static enum mcpx_err read_method(struct mcpx_slice value, struct mcpx_rpc *out,
                                 struct mcpx_fault *fault)
{
    struct mcpx_kind kind;

    if (mcpx_json_type(value) != MCPX_JSON_STRING)
        return mx_fault_set(fault, "expected a string", "method", 0);
    out->method = unescape(value, out->scratch, sizeof out->scratch - TYPE_LEN);
    /* types have the same grammar, so the method is read as if it were one */
    if (!out->method.text || mcpx_kind_parse(out->method, &kind, NULL) || kind.method.text)
        return mx_fault_set(fault, "expected a method such as \"tools/call\", fit for a kind",
                            "method", 0);
    return MCPX_OK;
}

static enum mcpx_err read_context(struct mcpx_rpc *out, struct mcpx_fault *fault)
{
    size_t used = out->method.len, room = MCPX_KIND_MAX - TYPE_LEN - used;
    struct mcpx_slice value;

    if (!read_params(out->method, out->params, &value, fault))
        return MCPX_EINVALID;
    out->context = unescape(value, out->scratch + used, room > 0 ? room - 1 : 0);
    if (mx_control_find(out->context) < out->context.len || out->context.len == 0)
        out->context = absent;
    return MCPX_OK;
}

enum mcpx_err mcpx_rpc_read(struct mcpx_slice text, struct mcpx_rpc *out,
                            struct mcpx_fault *fault)
{
    struct mx_decisive fields[FIELDS] = {
        [JSONRPC] = {.name = "jsonrpc"}, [ID] = {.name = "id"},
        [METHOD] = {.name = "method"},   [PARAMS] = {.name = "params"},
        [RESULT] = {.name = "result"},   [ERROR] = {.name = "error"}};
    enum mcpx_err err;

    if (mcpx_json_type(text) != MCPX_JSON_OBJECT)
        return mx_fault_set(fault, "expected an object with one JSON-RPC message", "", 0);
    err = mx_decisive_find(text, fields, FIELDS, fault) ? check_fields(fields, fault)
                                                        : MCPX_EINVALID;
    if (err)
        return err;
    out->text = text;
    out->form = form_of(fields);
    out->id = fields[ID].value;
    out->params = fields[PARAMS].value;
    out->result = fields[RESULT].value;
    out->error = fields[ERROR].value;
    out->method = out->context = absent;
    if (!fields[METHOD].value.text)
        return check_meta_of(out->result, fault) ? MCPX_OK : MCPX_EINVALID;
    err = read_method(fields[METHOD].value, out, fault);
    return err ? err : read_context(out, fault);
}

static bool answers(const struct mcpx_rpc *rpc)
{
    return rpc->form == MCPX_RPC_RESULT || rpc->form == MCPX_RPC_ERROR;
}

enum mcpx_err mcpx_rpc_kind(const struct mcpx_rpc *rpc, const char *type,
                            char out[MCPX_KIND_MAX + 1])
{
    size_t len = strlen(type) + 1 + rpc->method.len;
    bool has_context = rpc->context.text && len + 1 + rpc->context.len <= MCPX_KIND_MAX;

    if (answers(rpc))
        return MCPX_EINVALID;
    if (len > MCPX_KIND_MAX)
        return MCPX_EKIND;
    (void)snprintf(out, MCPX_KIND_MAX + 1, "%s:%.*s%s%.*s", type, (int)rpc->method.len,
                   rpc->method.text, has_context ? ":" : "",
                   has_context ? (int)rpc->context.len : 0,
                   has_context ? rpc->context.text : "");
    return MCPX_OK;
}

static bool is_named_notification(struct mcpx_slice method)
{
    static const struct mcpx_slice prefix = {"notifications/", 14};

    return method.len > prefix.len && memcmp(method.text, prefix.text, prefix.len) == 0;
}

/* A request or a proposal. */
static enum mcpx_err agree_on_asking(const struct mcpx_rpc *rpc, const struct mcpx_kind *kind,
                                     bool proposes, struct mcpx_fault *fault)
{
    if (answers(rpc))
        return mx_fault_set(fault,
                            proposes ? "the kind says proposal, the payload is an answer"
                                     : "the kind says request, the payload is an answer",
                            "type", 0);
    if (proposes && rpc->form == MCPX_RPC_REQUEST)
        return mx_fault_set(fault, "the kind says proposal, the payload has an id", "id", 0);
    if (!proposes && rpc->form == MCPX_RPC_BODY && !is_named_notification(rpc->method))
        return mx_fault_set(
            fault, "the kind says request, the payload has neither id nor jsonrpc", "id", 0);
    if (!mcpx_slice_equal(rpc->method, kind->method))
        return mx_fault_set(fault, "the kind names another method than the payload", "method",
                            0);
    if (kind->context.text && !mcpx_slice_equal(rpc->context, kind->context))
        return mx_fault_set(fault, "the kind names another context than the payload",
                            "context", 0);
    return MCPX_OK;
}

static enum mcpx_err agree_on_response(const struct mcpx_rpc *rpc, struct mcpx_fault *fault)
{
    enum mcpx_json_type id = mcpx_json_type(rpc->id);

    if (!answers(rpc))
        return mx_fault_set(fault, "the kind says response, the payload has a method", "type",
                            0);
    if (id != MCPX_JSON_STRING && id != MCPX_JSON_NUMBER)
        return mx_fault_set(fault, "the kind says response, the payload answers no id", "id",
                            0);
    return MCPX_OK;
}

enum mcpx_err mcpx_rpc_agrees(const struct mcpx_rpc *rpc, const struct mcpx_kind *kind,
                              struct mcpx_fault *fault)
{
    bool proposes = mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/proposal"));

    if (proposes || mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/request")))
        return agree_on_asking(rpc, kind, proposes, fault);
    if (mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/response")))
        return agree_on_response(rpc, fault);
    return MCPX_OK;
}
