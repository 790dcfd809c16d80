/*
 * cmd_list.c - shows what the servers of a topic offer, or one of their tools in full.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/nearest.h"
#include "tools/mcpxctl/output.h"
#include "tools/mcpxctl/survey.h"

static const char verb[] = "list";

/* What is shown: of the tools only `tool`, unless that is NULL. `any`: there was something. */
struct list {
    const struct arguments *arguments;
    const struct listing *listing;
    const char *tool;
    bool any;
    struct nearest nearest;
};

static int take(void *context, struct mcpx_slice from, struct mcpx_slice result)
{
    struct list *list = context;
    bool json = arguments_have(list->arguments, "--json");
    struct mcpx_text out = {0};
    struct mcpx_slice tool;

    if (!list->tool)
        listing_write(&out, list->listing, from, result, json);
    else if (listing_find_tool(result, list->tool, &list->nearest, &tool))
        listing_write_tool(&out, from, tool, json);
    list->any |= out.len > 0;
    return output_print(&out, verb, STATUS_OK);
}

int cmd_list(const struct arguments *arguments)
{
    const char *name = arguments->operand_count > 0 ? arguments->operands[0] : "tools";
    struct list list = {.arguments = arguments,
                        .listing = listing_find(name),
                        .tool = arguments_value(arguments, "--tool")};
    int status;

    if (!list.listing || (list.tool && strcmp(name, "tools") != 0))
        return fail_with(STATUS_USAGE, verb,
                         "lists are tools, resources, templates and prompts; --tool is for "
                         "tools");
    if (list.tool)
        nearest_begin(&list.nearest, list.tool, strlen(list.tool));
    status = survey_servers(arguments, list.listing, 0, take, &list);
    if (status == STATUS_OK && !list.any && list.tool)
        status = fail_with(STATUS_ABSENT, verb, "nobody who answers has a tool '%s'%s",
                           list.tool, nearest_hint(&list.nearest));
    else if (status == STATUS_OK && !list.any && output_is_looked_at(arguments))
        complain(verb, "nobody who answers has %s", name);
    return status;
}
