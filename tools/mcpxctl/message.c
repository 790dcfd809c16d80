/*
 * message.c - writes JSON-RPC messages. The user's JSON is inserted with its own bytes: 1.10
 * and 1e400 arrive as typed.
 */
#include "tools/mcpxctl/message.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"

static enum mcpx_err refuse_operand(struct mcpx_fault *fault, const char *reason,
                                    const char *field)
{
    *fault = (struct mcpx_fault){reason, field, 0};
    return MCPX_EINVALID;
}

/* `field` is what a fault calls the word. */
static enum mcpx_err read_object(const char *word, const char *field, struct mcpx_slice *out,
                                 struct mcpx_fault *fault)
{
    struct mcpx_slice value;

    if (mcpx_json_check(mcpx_slice_of(word), 0, &value, fault) != MCPX_OK) {
        fault->field = field;
        return MCPX_EINVALID;
    }
    if (mcpx_json_type(value) != MCPX_JSON_OBJECT)
        return refuse_operand(fault, "expected a JSON object", field);
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
        err = read_object(words[named], "JSON", &operation.argument, fault);
    if (!err)
        *out = operation;
    return err;
}

static bool has_arguments(struct mcpx_slice method)
{
    return mcpx_slice_equal(method, MCPX_SLICE("tools/call")) ||
           mcpx_slice_equal(method, MCPX_SLICE("prompts/get"));
}

enum mcpx_err operation_read_meta(const char *word, struct operation *operation,
                                  struct mcpx_fault *fault)
{
    if (!has_arguments(operation->method) && mcpx_json_get(operation->argument, "_meta").text)
        return refuse_operand(fault, "JSON has a _meta already", "--meta");
    return read_object(word, "--meta", &operation->meta, fault);
}

/* Appends the members of an object to one that has begun. */
static void add_members(struct mcpx_text *out, struct mcpx_slice object)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk)) {
        mx_json_add_raw(out, NULL, MCPX_SLICE("\""));
        mx_format(out, "%s\":%s", walk.name, walk.value);
    }
}

static void write_meta(struct mcpx_text *out, const struct operation *operation)
{
    bool has_token = mcpx_json_get(operation->meta, "progressToken").text != NULL;

    if (!operation->meta.text && !operation->token.text)
        return;
    mx_json_begin_object(out, "_meta");
    add_members(out, operation->meta);
    if (operation->token.text && !has_token)
        mcpx_json_add_member(out, "progressToken", operation->token);
    mx_json_end_object(out);
}

/* Name, argument and meta where the method has them. */
static void write_params(struct mcpx_text *out, const struct operation *operation)
{
    const char *member = name_member(operation->method);

    mx_json_begin_object(out, "params");
    if (member)
        mcpx_json_add_member(out, member, operation->name);
    if (has_arguments(operation->method) && operation->argument.text)
        mx_json_add_raw(out, "arguments", operation->argument);
    else
        add_members(out, operation->argument);
    write_meta(out, operation);
    mx_json_end_object(out);
}

/* What begins with `head`. */
static void write_operation(struct mcpx_text *out, const char *head,
                            const struct operation *operation)
{
    mcpx_text_puts(out, head);
    mcpx_json_add_member(out, "method", operation->method);
    if (operation->name.text || operation->argument.text || operation->token.text ||
        operation->meta.text)
        write_params(out, operation);
    mx_json_end_object(out);
}

void operation_write_request(struct mcpx_text *out, const struct operation *operation)
{
    write_operation(out, "{\"jsonrpc\":\"2.0\",\"id\":1", operation);
}

void operation_write_proposal(struct mcpx_text *out, const struct operation *operation)
{
    write_operation(out, "{", operation);
}

void request_write_as_proposed(struct mcpx_text *out, struct mcpx_slice proposal)
{
    struct mcpx_slice params = mcpx_json_get(proposal, "params");

    mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":%s",
              mcpx_json_get(proposal, "method"));
    if (params.text)
        mx_json_add_raw(out, "params", params);
    mx_json_end_object(out);
}

void message_write(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    mx_format(out, "{\"%s\":%q}", name, text);
}
