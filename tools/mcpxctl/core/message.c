/*
 * message.c - writes JSON-RPC messages, and the answer of a call as text for people and as exit
 * code. The user's JSON is inserted with its own bytes: 1.10 and 1e400 arrive as typed. The `_meta`
 * of a call has the data without a member of their own.
 */
#include "tools/mcpxctl/core/message.h"

#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"

void operation_fini(struct operation *operation)
{
    mcpx_text_fini(&operation->own_name);
    mcpx_text_fini(&operation->own_argument);
    mcpx_text_fini(&operation->own_meta);
}

int object_read(const char *word, const char *from, struct mcpx_slice *out)
{
    struct mcpx_fault fault = {"expected a JSON object", "", 0};

    if (mcpx_json_check(mcpx_slice_of(word), 0, out, &fault) == MCPX_OK &&
        mcpx_json_type(*out) == MCPX_JSON_OBJECT)
        return STATUS_OK;
    return fail_at(STATUS_USAGE, from, 1, (struct mcpx_slice){word, fault.offset},
                   fault.reason);
}

static int check_method(const char *method)
{
    static const char type[] = "mcp/request:";
    mx_scoped_text text = mx_formatted("%s%s", type, method);
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_kind kind;

    if (mcpx_kind_parse(mcpx_text_view(&text), &kind, &fault) != MCPX_OK)
        return fault.offset < sizeof type
                   ? fail_with(STATUS_USAGE, "method: %s", fault.reason)
                   : fail_with(STATUS_USAGE, "method, byte %zu: %s",
                               fault.offset - (sizeof type - 1), fault.reason);
    return kind.context.text ? fail_with(STATUS_USAGE, "method: must not hold a colon")
                             : STATUS_OK;
}

/* The member of params for `name`; NULL for methods without a name. */
static const char *name_member(struct mcpx_slice method)
{
    const char *member = mcpx_rpc_context_member(method);

    return member && strcmp(member, "ref") == 0 ? NULL : member;
}

int operation_read(const char *method, const char *const *words, size_t count,
                   const char *from, struct operation *out)
{
    bool named = name_member(mcpx_slice_of(method)) != NULL;

    *out = (struct operation){.method = mcpx_slice_of(method)};
    if (check_method(method) != STATUS_OK)
        return STATUS_USAGE;
    if (named && count == 0)
        return fail_with(STATUS_USAGE, "the method needs a NAME: its prompt, URI or task");
    if (!named && count > 1)
        return fail_with(STATUS_USAGE, "the method takes JSON alone, as its params");
    if (named) {
        out->name = mcpx_slice_of(words[0]);
        if (out->name.len == 0)
            return fail_with(STATUS_USAGE, "NAME is empty");
    }
    return count == (named ? 1 : 0) ? STATUS_OK
                                    : object_read(words[named], from, &out->argument);
}

static bool has_arguments(struct mcpx_slice method)
{
    return mcpx_slice_equal(method, MCPX_SLICE("tools/call")) ||
           mcpx_slice_equal(method, MCPX_SLICE("prompts/get"));
}

int operation_read_meta(const char *word, struct operation *operation)
{
    if (!has_arguments(operation->method) && mcpx_json_get(operation->argument, "_meta").text)
        return fail_with(STATUS_USAGE, "--meta: JSON has a _meta already");
    return object_read(word, "--meta", &operation->meta);
}

/* Appends the members of an object to one that has begun. */
static void add_members(struct mcpx_text *out, struct mcpx_slice object)
{
    MCPX_JSON_EACH(walk, object) {
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

/* Writes an operation behind `head`. */
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

/* ---- a request of the contract mcp.request.v0.1 ---- */

static void write_request_meta(struct mcpx_text *out, struct mcpx_slice request,
                               struct mcpx_slice meta)
{
    static const char *const members[][2] = {
        {"request_id", "request_id"},
        {"io.mcpx/artifacts", "artifacts"},
        {"io.mcpx/preferences", "preferences"},
    };
    struct mcpx_json_change changes[sizeof members / sizeof *members];
    size_t count = 0;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct mcpx_slice value = mcpx_json_get(request, members[i][1]);

        if (value.text)
            changes[count++] = (struct mcpx_json_change){members[i][0], value};
    }
    mcpx_json_add_changed(out, meta, changes, count);
}

bool request_read(struct mcpx_slice request, struct operation *out)
{
    static const struct mcpx_json_change without_meta = {"_meta", {NULL, 0}};
    struct mcpx_slice params = mcpx_json_get(request, "params");
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");

    *out = (struct operation){.method = MCPX_SLICE("tools/call")};
    if (meta.text && mcpx_json_type(meta) != MCPX_JSON_OBJECT)
        return false;
    mcpx_json_add_unescaped(&out->own_name,
                            mcpx_json_get(mcpx_json_get(request, "tool"), "name"));
    mcpx_json_add_changed(&out->own_argument, params, &without_meta, 1);
    write_request_meta(&out->own_meta, request, meta);
    out->name = mcpx_text_view(&out->own_name);
    out->argument = mcpx_text_view(&out->own_argument);
    out->meta = mcpx_text_view(&out->own_meta);
    return true;
}

/* ---- answers for people ---- */

static size_t size_of_base64(const struct mcpx_text *text)
{
    size_t len = text->len;

    while (len > 0 && text->text[len - 1] == '=')
        len--;
    return len * 3 / 4;
}

/* Shows a text as it is, and data in base64 as type and size. */
static void write_item(struct mcpx_text *out, struct mcpx_slice item, bool raw)
{
    struct mcpx_slice resource = mcpx_json_get(item, "resource"), type;
    struct mcpx_slice holder = resource.text ? resource : item;
    struct mcpx_slice data = mcpx_json_get(holder, "data");
    mx_scoped_text plain = {0};

    if (!data.text)
        data = mcpx_json_get(holder, "blob");
    if (mcpx_json_add_unescaped(&plain, mcpx_json_get(holder, "text"))) {
        if (raw)
            mcpx_text_slice(out, mcpx_text_view(&plain));
        else
            text_lines(out, mcpx_text_view(&plain));
        if (plain.len == 0 || plain.text[plain.len - 1] != '\n')
            mcpx_text_puts(out, "\n");
    } else if (mcpx_json_add_unescaped(&plain, data)) {
        type = mcpx_json_get(holder, "mimeType");
        text_format(out, "[%v, %s bytes]\n", type.text ? type : MCPX_SLICE("\"data\""),
                    size_of_base64(&plain));
    } else {
        text_pretty(out, item, 0);
        mcpx_text_puts(out, "\n");
    }
}

/* One item, or a list of them. */
static void write_content(struct mcpx_text *out, struct mcpx_slice content, bool raw)
{
    if (mcpx_json_type(content) != MCPX_JSON_ARRAY) {
        write_item(out, content, raw);
        return;
    }
    MCPX_JSON_EACH(walk, content)
        write_item(out, walk.value, raw);
}

void result_write(struct mcpx_text *out, struct mcpx_slice result, bool raw)
{
    struct mcpx_slice content = mcpx_json_get(result, "content");
    struct mcpx_slice messages = mcpx_json_get(result, "messages");

    if (!content.text)
        content = mcpx_json_get(result, "contents");
    if (mcpx_json_type(messages) != MCPX_JSON_ARRAY) {
        write_content(out, mcpx_json_type(content) == MCPX_JSON_ARRAY ? content : result, raw);
        return;
    }
    MCPX_JSON_EACH(walk, messages) {
        text_format(out, "%v: ", mcpx_json_get(walk.value, "role"));
        write_content(out, mcpx_json_get(walk.value, "content"), raw);
    }
}

bool result_is_error(struct mcpx_slice result)
{
    return mcpx_slice_equal(mcpx_json_get(result, "isError"), MCPX_SLICE("true"));
}

int error_write(struct mcpx_text *out, struct mcpx_slice error)
{
    struct mcpx_slice code = mcpx_json_get(error, "code");
    mx_scoped_text message = {0};

    if (mcpx_json_add_unescaped(&message, mcpx_json_get(error, "message")))
        text_visible(out, mcpx_text_view(&message));
    else
        mcpx_text_puts(out, "an error without message");
    text_format(out, " (%s)", code);
    if (mcpx_slice_equal(code, MCPX_SLICE("-31001")))
        return STATUS_TIMEOUT;
    return mcpx_slice_equal(code, MCPX_SLICE("-31002")) ||
                   mcpx_slice_equal(code, MCPX_SLICE("-31003"))
               ? STATUS_REFUSED
               : STATUS_FAILED;
}
