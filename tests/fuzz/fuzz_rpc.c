/*
 * fuzz_rpc.c - any JSON text, with a claimed kind before it: KIND, newline, payload. What is read
 * lies in the text, is what jansson sees, and has a kind that is true of it; a kind that agrees
 * says no other method and no other context than jansson finds, whether or not letter case counts.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/support/fold_judge.h"

#include <mcpx/rpc.h>

#include <jansson.h>

static bool lies_within(struct mcpx_slice inner, struct mcpx_slice outer)
{
    return !inner.text ||
           (inner.text >= outer.text && inner.text + inner.len <= outer.text + outer.len);
}

static bool is_string(const json_t *value, struct mcpx_slice text)
{
    struct mcpx_slice found = {json_string_value(value), json_string_length(value)};

    return json_is_string(value) && mcpx_slice_equal(found, text);
}

/* Where the context must be: a second table, written another way. */
static const json_t *context_in(const json_t *message, struct mcpx_slice method)
{
    const char *member = mcpx_rpc_context_member(method);
    const json_t *found = json_object_get(json_object_get(message, "params"), member);
    const char *type = json_string_value(json_object_get(found, "type"));

    if (!member || strcmp(member, "ref") != 0)
        return found;
    if (!type)
        return NULL;
    return json_object_get(found, strcmp(type, "ref/prompt") == 0     ? "name"
                                  : strcmp(type, "ref/resource") == 0 ? "uri"
                                                                      : NULL);
}

static void must_be_alone(const json_t *object, const char *const *names)
{
    for (; *names; names++)
        must(!json_is_object(object) || !fold_finds_like(object, *names));
}

/* A reader that ignores letter case finds what we found. */
static void check_names(const struct mcpx_rpc *rpc, const json_t *message)
{
    static const char *const top[] = {"jsonrpc", "id",    "method", "params",
                                      "result",  "error", NULL};
    static const char *const ref[] = {"type", "name", "uri", NULL};
    static const char *const meta[] = {"_meta", NULL};
    static const char *const token[] = {"progressToken", NULL};
    static const char *const request[] = {"requestId", NULL};
    const json_t *params = json_object_get(message, rpc->method.text ? "params" : "result");
    const char *member[] = {mcpx_rpc_context_member(rpc->method), NULL};

    must_be_alone(message, top);
    must_be_alone(params, meta);
    must_be_alone(json_object_get(params, "_meta"), token);
    if (!rpc->method.text)
        return;
    must_be_alone(params, member);
    if (mcpx_slice_equal(rpc->method, MCPX_SLICE("completion/complete")))
        must_be_alone(json_object_get(params, "ref"), ref);
    if (mcpx_slice_equal(rpc->method, MCPX_SLICE("notifications/cancelled")))
        must_be_alone(params, request);
}

static void check_parts(const struct mcpx_rpc *rpc, const json_t *message)
{
    bool has_method = rpc->form != MCPX_RPC_RESULT && rpc->form != MCPX_RPC_ERROR;
    struct mcpx_slice scratch = {rpc->scratch, sizeof rpc->scratch};

    must(lies_within(rpc->id, rpc->text) && lies_within(rpc->params, rpc->text));
    must(lies_within(rpc->result, rpc->text) && lies_within(rpc->error, rpc->text));
    must(lies_within(rpc->method, scratch) && lies_within(rpc->context, scratch));
    must(has_method == (rpc->method.len > 0));
    must((rpc->result.text != NULL) == (rpc->form == MCPX_RPC_RESULT));
    must((rpc->error.text != NULL) == (rpc->form == MCPX_RPC_ERROR));
    if (!message)
        return;
    check_names(rpc, message);
    must((json_object_get(message, "id") != NULL) == (rpc->id.text != NULL));
    must(!has_method || is_string(json_object_get(message, "method"), rpc->method));
    must(!rpc->context.text || is_string(context_in(message, rpc->method), rpc->context));
}

static void check_kind(const struct mcpx_rpc *rpc)
{
    static const char *const types[] = {"mcp/request", "mcp/proposal"};

    for (int i = 0; i < 2; i++) {
        char text[MCPX_KIND_MAX + 1];
        enum mcpx_err err = mcpx_rpc_kind(rpc, types[i], text);
        struct mcpx_kind kind;

        must((err == MCPX_EINVALID) == (rpc->method.text == NULL));
        if (err)
            continue;
        must(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL) == MCPX_OK);
        must(mcpx_slice_equal(kind.method, rpc->method));
        must(!kind.context.text || mcpx_slice_equal(kind.context, rpc->context));
        if (rpc->form == MCPX_RPC_NOTIFICATION ||
            rpc->form == (i == 0 ? MCPX_RPC_REQUEST : MCPX_RPC_BODY))
            must(mcpx_rpc_agrees(rpc, &kind, NULL) == MCPX_OK);
    }
}

static void check_claim(const struct mcpx_rpc *rpc, const struct mcpx_kind *kind,
                        const json_t *message)
{
    struct mcpx_fault fault = {NULL, NULL, 0};
    bool response = mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/response"));

    if (mcpx_rpc_agrees(rpc, kind, &fault)) {
        must(fault.reason && fault.field);
        return;
    }
    if (!message || strncmp(kind->type.text, "mcp/", 4) != 0)
        return;
    if (response) {
        must(!json_object_get(message, "method"));
        must(json_is_string(json_object_get(message, "id")) || rpc->id.len > 0);
    } else if (mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/request")) ||
               mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/proposal"))) {
        must(is_string(json_object_get(message, "method"), kind->method));
        must(!kind->context.text ||
             is_string(context_in(message, kind->method), kind->context));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *all = (const char *)data;
    const char *end = size ? memchr(all, '\n', size) : NULL;
    struct mcpx_slice claimed = {all, end ? (size_t)(end - all) : 0}, value;
    struct mcpx_slice text = {end ? end + 1 : all, end ? size - claimed.len - 1 : size};
    struct mcpx_fault fault = {NULL, NULL, 0};
    struct mcpx_kind kind;
    struct mcpx_rpc rpc;
    json_t *message;

    if (mcpx_json_check(text, 200, &value, NULL))
        return 0;
    if (mcpx_rpc_read(value, &rpc, &fault)) {
        must(fault.reason && fault.field);
        return 0;
    }
    message = json_loadb(value.text, value.len, JSON_ALLOW_NUL, NULL);
    check_parts(&rpc, message);
    check_kind(&rpc);
    if (mcpx_kind_parse(claimed, &kind, NULL) == MCPX_OK)
        check_claim(&rpc, &kind, message);
    json_decref(message);
    return 0;
}
