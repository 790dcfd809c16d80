/*
 * cmd_import.c - "mcpx-bridge import": from the words of the command line to a job.
 * Includes verbs.h, connect.h, import_edge.h only.
 */
#include "tools/common/connect.h"
#include "tools/mcpx-bridge/import_edge.h"
#include "tools/mcpx-bridge/verbs.h"

#include <mcpx/json.h>

/* Returns false, having complained, when the text is no JSON object. */
static bool check_capabilities(const char *text)
{
    struct mcpx_fault fault = {0};
    struct mcpx_slice value = {0};

    if (!text)
        return true;
    if (mcpx_json_check(mcpx_slice_of(text), 64, &value, &fault)) {
        complain("import", "--client-capabilities is no JSON: %s at byte %zu", fault.reason,
                 fault.offset);
        return false;
    }
    if (mcpx_json_type(value) != MCPX_JSON_OBJECT) {
        complain("import", "--client-capabilities must be a JSON object such as "
                           "{\"elicitation\":{}}");
        return false;
    }
    if (mcpx_json_get(value, "roots").text) {
        complain("import",
                 "--client-capabilities cannot have \"roots\"; name each with --root");
        return false;
    }
    return true;
}

/* Writes the roots of the command line as a JSON array. Returns false, having complained. */
static bool read_roots(const struct arguments *arguments, struct mcpx_text *out)
{
    for (size_t i = 0; i < arguments->option_count; i++) {
        const char *uri = arguments->options[i].value;

        if (strcmp(arguments->options[i].option->name, "--root") != 0)
            continue;
        if (strncmp(uri, "file:///", 8) != 0) {
            complain("import", "--root must be a URI such as file:///srv/docs");
            return false;
        }
        mcpx_text_puts(out, out->len ? ",{" : "[{");
        mcpx_json_add_member(out, "uri", mcpx_slice_of(uri));
        mcpx_text_puts(out, "}");
    }
    if (out->len)
        mcpx_text_puts(out, "]");
    if (out->failed)
        complain("import", "out of memory");
    return !out->failed;
}

static enum import_protocol read_protocol(const struct arguments *arguments)
{
    const char *word = arguments_value(arguments, "--protocol");

    if (!word || strcmp(word, "auto") == 0)
        return IMPORT_PROTOCOL_AUTO;
    return strcmp(word, "2025-11-25") == 0 ? IMPORT_PROTOCOL_LEGACY : IMPORT_PROTOCOL_MODERN;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

int cmd_import(const struct arguments *arguments)
{
    const char *name = arguments_value(arguments, "--name");
    const char *capabilities = arguments_value(arguments, "--client-capabilities");
    const char *ask = arguments_value(arguments, "--ask");
    struct connection connection;
    struct import_job job = {0};
    struct mcpx_text roots = {0};
    int status;

    if (!check_capabilities(capabilities))
        return STATUS_USAGE;
    if (arguments_have(arguments, "--restart") && arguments_have(arguments, "--no-restart")) {
        complain("import", "--restart and --no-restart exclude each other");
        return STATUS_USAGE;
    }
    if (!read_roots(arguments, &roots)) {
        mcpx_text_fini(&roots);
        return STATUS_USAGE;
    }
    status = connection_read(arguments, &connection);
    if (status == STATUS_OK) {
        job.client = connection.client;
        job.client.routing = "all";
        job.client.history = 0;
        job.import.capabilities = capabilities;
        job.import.roots = roots.len ? roots.text : NULL;
        job.import.ask_newest = ask && strcmp(ask, "newest") == 0;
        job.import.request_ms = arguments_ms(arguments, "--request-timeout", 0);
        job.argv = arguments->rest;
        if (!name)
            name = connection.as ? connection.as : base_name(arguments->rest[0]);
        job.name = name;
        job.line_max = (size_t)arguments_number(arguments, "--line-max", 0);
        job.import.once = arguments_have(arguments, "--no-restart");
        job.import.protocol = read_protocol(arguments);
        status = import_run(&job);
    }
    connection_fini(&connection);
    mcpx_text_fini(&roots);
    return status;
}
