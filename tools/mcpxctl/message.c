/*
 * message.c - JSON-RPC written by splicing what the user typed between members of ours.
 * The user's JSON keeps its bytes: 1.10 and 1e400 arrive as typed.
 */
#include "tools/mcpxctl/message.h"

static enum mcpx_err refuse_operand(struct mcpx_fault *fault, const char *reason,
                                    const char *field)
{
    *fault = (struct mcpx_fault){reason, field, 0};
    return MCPX_EINVALID;
}

static enum mcpx_err read_argument(const char *word, struct mcpx_slice *out,
                                   struct mcpx_fault *fault)
{
    struct mcpx_slice value;

    if (mcpx_json_check(mcpx_slice_of(word), 0, &value, fault) != MCPX_OK) {
        fault->field = "JSON";
        return MCPX_EINVALID;
    }
    if (mcpx_json_type(value) != MCPX_JSON_OBJECT)
        return refuse_operand(fault, "expected a JSON object", "JSON");
    *out = value;
    return MCPX_OK;
}

static enum mcpx_err check_method(struct mcpx_slice method, struct mcpx_fault *fault)
{
    static const char type[] = "mcp/request:";
    char text[MCPX_KIND_MAX];
    struct mcpx_kind kind;

    if (method.len > sizeof text - sizeof type)
        return refuse_operand(fault, "is too long", "method");
    memcpy(text, type, sizeof type - 1);
    if (method.len > 0)
        memcpy(text + sizeof type - 1, method.text, method.len);
    if (mcpx_kind_parse((struct mcpx_slice){text, sizeof type - 1 + method.len}, &kind,
                        fault) != MCPX_OK) {
        fault->offset -= sizeof type - 1;
        return MCPX_EINVALID;
    }
    return kind.context.text ? refuse_operand(fault, "must not hold a colon", "method")
                             : MCPX_OK;
}

/* The member of params that `name` becomes; NULL for methods that name nothing. */
static const char *name_member(struct mcpx_slice method)
{
    const char *member = mcpx_rpc_context_member(method);

    return member && strcmp(member, "ref") == 0 ? NULL : member;
}

enum mcpx_err operation_read(const char *method, const char *const *words, size_t count,
                             struct operation *out, struct mcpx_fault *fault)
{
    struct operation operation = {.method = mcpx_slice_of(method)};
    enum mcpx_err err = check_method(operation.method, fault);
    bool named;

    if (err)
        return err;
    named = name_member(operation.method) != NULL;
    if (named && count == 0)
        return refuse_operand(fault, "this method wants to know of what", "NAME");
    if (!named && count > 1)
        return refuse_operand(fault, "this method takes its params alone", "JSON");
    if (named) {
        operation.name = mcpx_slice_of(words[0]);
        if (operation.name.len == 0)
            return refuse_operand(fault, "must not be empty", "NAME");
    }
    if (count > (named ? 1 : 0))
        err = read_argument(words[named], &operation.argument, fault);
    if (!err)
        *out = operation;
    return err;
}

static bool has_arguments(struct mcpx_slice method)
{
    return mcpx_slice_equal(method, MCPX_SLICE("tools/call")) ||
           mcpx_slice_equal(method, MCPX_SLICE("prompts/get"));
}

/* Appends what `object` has between its braces, behind a comma. */
static void add_members(struct mcpx_text *out, struct mcpx_slice object)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk)) {
        mcpx_text_puts(out, ",\"");
        mcpx_text_slice(out, walk.name);
        mcpx_text_puts(out, "\":");
        mcpx_text_slice(out, walk.value);
    }
}

/* Name, argument and token where the method has them. */
static void write_params(struct mcpx_text *out, const struct operation *operation)
{
    const char *member = name_member(operation->method);
    struct mcpx_text inner = {0};

    if (member) {
        mcpx_text_puts(&inner, ",");
        mcpx_json_add_member(&inner, member, operation->name);
    }
    if (has_arguments(operation->method) && operation->argument.text) {
        mcpx_text_puts(&inner, ",\"arguments\":");
        mcpx_text_slice(&inner, operation->argument);
    } else {
        add_members(&inner, operation->argument);
    }
    if (operation->token.text) {
        mcpx_text_puts(&inner, ",\"_meta\":{");
        mcpx_json_add_member(&inner, "progressToken", operation->token);
        mcpx_text_puts(&inner, "}");
    }
    mcpx_text_puts(out, "{");
    if (inner.len > 0)
        mcpx_text_add(out, inner.text + 1, inner.len - 1);
    mcpx_text_puts(out, "}");
    out->failed |= inner.failed;
    mcpx_text_fini(&inner);
}

static void write_body(struct mcpx_text *out, const struct operation *operation)
{
    mcpx_json_add_member(out, "method", operation->method);
    if (operation->name.text || operation->argument.text || operation->token.text) {
        mcpx_text_puts(out, ",\"params\":");
        write_params(out, operation);
    }
    mcpx_text_puts(out, "}");
}

void operation_write_request(struct mcpx_text *out, const struct operation *operation)
{
    mcpx_text_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":1,");
    write_body(out, operation);
}

void operation_write_proposal(struct mcpx_text *out, const struct operation *operation)
{
    mcpx_text_puts(out, "{");
    write_body(out, operation);
}

void request_write_as_proposed(struct mcpx_text *out, struct mcpx_slice proposal)
{
    struct mcpx_slice params = mcpx_json_get(proposal, "params");

    mcpx_text_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":");
    mcpx_text_slice(out, mcpx_json_get(proposal, "method"));
    if (params.text) {
        mcpx_text_puts(out, ",\"params\":");
        mcpx_text_slice(out, params);
    }
    mcpx_text_puts(out, "}");
}

void message_write(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    mcpx_text_puts(out, "{");
    mcpx_json_add_member(out, name, text);
    mcpx_text_puts(out, "}");
}
