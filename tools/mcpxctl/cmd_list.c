/*
 * cmd_list.c - asks the servers of a topic for their lists, and shows a page as lines. Every
 * participant that could answer is asked, because a topic has no list of servers. On a development
 * router most participants could, so a missing answer is a failure only of a participant asked by
 * name.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/live.h"

#include <stdlib.h>

/* ---- lists ---- */

/*
 * The lists that MCP servers give, in the order of the verb's choices.
 *
 * name       as on the command line
 * method     that asks for it
 * response   kind of the answer
 * member     of the result that holds the items
 * key        member of an item that names it
 */
static const struct listing {
    const char *name, *method, *response, *member, *key;
} listings[] = {
    {"tools", "tools/list", "mcp/response:tools/list", "tools", "name"},
    {"resources", "resources/list", "mcp/response:resources/list", "resources", "uri"},
    {"templates", "resources/templates/list", "mcp/response:resources/templates/list",
     "resourceTemplates", "uriTemplate"},
    {"prompts", "prompts/list", "mcp/response:prompts/list", "prompts", "name"},
};

enum { DESCRIPTION_MAX = 100 };

/* The first line of a member, made visible. */
static void add_member(struct mcpx_text *out, struct mcpx_slice item, const char *name)
{
    mx_scoped_text plain = {0};
    struct mcpx_slice line;

    mcpx_json_add_unescaped(&plain, mcpx_json_get(item, name));
    line = mcpx_text_view(&plain);
    line.len = line.text ? strcspn(line.text, "\n") : 0;
    text_visible_short(out, line, DESCRIPTION_MAX);
}

/* "FROM  NAME", its description and its schemas. */
static void add_tool(struct mcpx_text *out, struct mcpx_slice from, struct mcpx_slice tool)
{
    static const char *const schemas[] = {"inputSchema", "outputSchema"};
    mx_scoped_text about = {0};

    text_format(out, "%s  %v\n", from, mcpx_json_get(tool, "name"));
    if (mcpx_json_add_unescaped(&about, mcpx_json_get(tool, "description"))) {
        text_lines(out, mcpx_text_view(&about));
        mcpx_text_puts(out, "\n");
    }
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        struct mcpx_slice schema = mcpx_json_get(tool, schemas[i]);

        if (!schema.text)
            continue;
        mx_format(out, "%s ", schemas[i]);
        text_pretty(out, schema, 0);
        mcpx_text_puts(out, "\n");
    }
}

/* "FROM  NAME  DESCRIPTION". */
static void add_item(struct mcpx_text *out, const struct listing *listing,
                     struct mcpx_slice from, struct mcpx_slice item)
{
    text_format(out, "%s  ", from);
    add_member(out, item, listing->key);
    if (mcpx_json_get(item, "description").text)
        mcpx_text_puts(out, "  ");
    add_member(out, item, "description");
    mcpx_text_puts(out, "\n");
}

/* ---- asking for them ---- */

enum { TIMEOUT_MS = 3000, SERVERS_MAX = 1024 };

/* One participant asked; `waiting` for a page. Owns `id`. */
struct asked {
    struct mcpx_text id;
    struct pages pages;
    bool waiting;
    bool answered;
};

struct survey {
    const struct arguments *arguments;
    const struct listing *listing;
    survey_taker take;
    void *context;
    struct live live;
    struct asked asked[SERVERS_MAX];
    size_t count;
    size_t waiting; /* requests under way */
    size_t servers; /* number of answers with a list */
    bool by_name;
};

/* Asks for the page at `cursor` (raw JSON; absent = the first). */
static int ask(struct survey *survey, struct asked *asked, struct mcpx_slice cursor)
{
    mx_scoped_text payload = {0};
    struct mcpx_slice to = mcpx_text_view(&asked->id);
    struct mcpx_draft draft = {
        .type = "mcp/request", .to = &to, .to_count = 1, .timeout_ms = -1, .tag = asked};
    int status;

    mx_format(&payload, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":%q",
              survey->listing->method);
    if (cursor.text)
        mx_format(&payload, ",\"params\":{\"cursor\":%s}", cursor);
    mcpx_text_puts(&payload, "}");
    draft.payload = mcpx_text_view(&payload);
    status = live_send(&survey->live, &draft);
    asked->waiting = status == STATUS_OK;
    survey->waiting += status == STATUS_OK;
    return status;
}

/*
 * Returns false when we no longer wait for this participant: it has left, and may have come
 * back since.
 */
static bool settle(struct survey *survey, struct asked *asked)
{
    if (!asked->waiting)
        return false;
    asked->waiting = false;
    survey->waiting--;
    return true;
}

static void add_asked(struct survey *survey, struct mcpx_slice id)
{
    if (survey->count < SERVERS_MAX)
        mcpx_text_slice(&survey->asked[survey->count++].id, id);
}

/* Finds the participants to ask: those of --to, else all that could answer. */
static int find_servers(struct survey *survey)
{
    struct mcpx_session *session = mcpx_client_session(survey->live.client);
    static struct address address;
    struct mcpx_participant participant;
    struct mcpx_kind kind;
    int status = address_read(survey->arguments, &address);

    survey->by_name = address.count > 0;
    for (size_t i = 0; status == STATUS_OK && i < address.count; i++)
        add_asked(survey, address.to[i]);
    if (survey->by_name || status != STATUS_OK)
        return status;
    mcpx_kind_parse(mcpx_slice_of(survey->listing->response), &kind, NULL);
    for (size_t i = 0; i < mcpx_session_participant_count(session); i++) {
        mcpx_session_participant(session, i, &participant);
        if (mcpx_session_could(session, participant.id, &kind))
            add_asked(survey, participant.id);
    }
    return STATUS_OK;
}

static int take_response(struct survey *survey, const struct mcpx_event *event)
{
    struct asked *asked = event->tag;
    struct mcpx_slice payload = event->envelope->payload;
    struct mcpx_slice result = mcpx_json_get(payload, "result");
    struct mcpx_slice error = mcpx_json_get(payload, "error");
    struct mcpx_slice cursor = mcpx_json_get(result, "nextCursor");
    mx_scoped_text out = {0};
    const char *endless = NULL;
    int status = STATUS_OK;

    asked->answered = true;
    if (error.text && survey->by_name) {
        error_write(&out, error);
        return fail_with(STATUS_FAILED, "%s: %s", asked->id.text, out.text);
    }
    if (!error.text) {
        survey->servers++;
        status = survey->take(survey->context, mcpx_text_view(&asked->id), result);
    }
    if (status != STATUS_OK || mcpx_json_type(cursor) != MCPX_JSON_STRING)
        return status;
    endless = pages_follow(&asked->pages, payload.len, cursor);
    if (!endless)
        return ask(survey, asked, cursor);
    complain("%s: %s", asked->id.text, endless);
    return survey->by_name ? STATUS_FAILED : STATUS_OK;
}

/* A participant that leaves will not answer. This is reported when it was asked by name. */
static int take_leave(struct survey *survey, const struct mcpx_event *event)
{
    for (size_t i = 0; i < survey->count; i++) {
        struct asked *asked = &survey->asked[i];

        if (mcpx_slice_equal(mcpx_text_view(&asked->id), event->participant) &&
            settle(survey, asked) && survey->by_name)
            return fail_of(STATUS_FAILED, event->participant, " left the topic");
    }
    return STATUS_OK;
}

static int take(struct survey *survey, const struct mcpx_event *event)
{
    bool refused = event->type == MCPX_EVENT_REFUSED;

    if (event->type == MCPX_EVENT_REQUEST)
        live_decline(&survey->live, event);
    if (event->type == MCPX_EVENT_PRESENCE && event->presence == MCPX_PRESENCE_LEAVE)
        return take_leave(survey, event);
    if ((!refused && event->type != MCPX_EVENT_RESPONSE) || !event->tag ||
        !settle(survey, event->tag))
        return STATUS_OK;
    return refused ? live_refused(event) : take_response(survey, event);
}

/* Complains of each participant of --to without an answer, or when no server answered. */
static int complain_of_silence(const struct survey *survey)
{
    int status = STATUS_OK;

    for (size_t i = 0; i < survey->count && survey->by_name; i++)
        if (!survey->asked[i].answered)
            status = fail_with(STATUS_TIMEOUT, "%s does not answer", survey->asked[i].id.text);
    if (status == STATUS_OK && survey->servers == 0)
        status = fail_with(STATUS_ABSENT, "nobody in the topic answers %s",
                           survey->listing->method);
    return status;
}

static int ask_all(struct survey *survey, int64_t deadline)
{
    struct mcpx_event event;
    int status = find_servers(survey);

    for (size_t i = 0; status == STATUS_OK && i < survey->count; i++) {
        struct mcpx_slice id = mcpx_text_view(&survey->asked[i].id);

        if (survey->by_name)
            status = live_has_all(&survey->live, &id, 1, "mcpxctl who tells who is");
        if (status == STATUS_OK)
            status = ask(survey, &survey->asked[i], (struct mcpx_slice){NULL, 0});
    }
    survey->live.waiting_for = "servers";
    survey->live.waiting_since = live_now();
    while (status == STATUS_OK && survey->waiting > 0) {
        status = live_next(&survey->live, deadline, &event);
        if (status == STATUS_OK)
            status = take(survey, &event);
    }
    survey->live.waiting_for = NULL;
    return status == STATUS_OK || status == STATUS_TIMEOUT ? complain_of_silence(survey)
                                                           : status;
}

int survey_servers(const struct arguments *arguments, size_t list, int64_t patience_ms,
                   survey_taker taker, void *context)
{
    int64_t timeout = arguments_ms(arguments, "--timeout", TIMEOUT_MS);
    struct survey *survey = calloc(1, sizeof *survey);
    int status;

    survey->arguments = arguments;
    survey->listing = &listings[list];
    survey->take = taker;
    survey->context = context;
    status = live_join(arguments, patience_ms, &survey->live);
    if (status == STATUS_OK)
        status = ask_all(survey, live_deadline(patience_ms > 0 ? patience_ms : timeout));
    live_leave(&survey->live);
    for (size_t i = 0; i < survey->count; i++) {
        mcpx_text_fini(&survey->asked[i].id);
        pages_fini(&survey->asked[i].pages);
    }
    free(survey);
    return status;
}

/* ---- the verb ---- */

/* The items to show: only the tool `tool`, or all if it is NULL. `any`: something was shown. */
struct list {
    const struct arguments *arguments;
    const struct listing *listing;
    const char *tool;
    bool any;
    struct nearest nearest;
};

static bool is_sought(struct list *list, struct mcpx_slice item)
{
    mx_scoped_text name = {0};

    if (!list->tool)
        return true;
    if (!mcpx_json_add_unescaped(&name, mcpx_json_get(item, "name")) || !name.text)
        return false;
    nearest_consider(&list->nearest, name.text);
    return strcmp(name.text, list->tool) == 0;
}

static int print_page(void *context, struct mcpx_slice from, struct mcpx_slice result)
{
    struct list *list = context;
    bool json = arguments_have(list->arguments, "--json");
    struct mcpx_text out = {0};

    MCPX_JSON_EACH(walk, mcpx_json_get(result, list->listing->member)) {
        if (!is_sought(list, walk.value))
            continue;
        if (json) { /* with the item's own bytes */
            mx_format(&out, "{\"participant\":%q,\"item\":", from);
            text_compact(&out, walk.value);
            mcpx_text_puts(&out, "}\n");
        } else if (list->tool)
            add_tool(&out, from, walk.value);
        else
            add_item(&out, list->listing, from, walk.value);
    }
    list->any |= out.len > 0;
    return output_print(&out, STATUS_OK);
}

static int cmd_list(const struct arguments *arguments)
{
    size_t which = arguments_action(arguments);
    struct list list = {.arguments = arguments,
                        .listing = &listings[which],
                        .tool = arguments_value(arguments, "--tool")};
    int status;

    if (list.tool && which != LIST_TOOLS)
        return fail_with(STATUS_USAGE, "--tool is for tools");
    if (list.tool)
        nearest_begin(&list.nearest, list.tool, strlen(list.tool));
    status = survey_servers(arguments, which, 0, print_page, &list);
    if (status == STATUS_OK && !list.any && list.tool)
        status = fail_with(STATUS_ABSENT, "nobody who answers has a tool '%s'%s", list.tool,
                           list.nearest.hint);
    else if (status == STATUS_OK && !list.any && output_is_looked_at(arguments))
        complain("nobody who answers has %s", list.listing->name);
    return status;
}

const struct command list_verbs[] = {
    {"list", "[tools|resources|templates|prompts]", 0, 1, false,
     "tools, resources, templates or prompts of servers",
     "Asks each server in the topic, or those named with --to, for its tools or another list. "
     "Who does not answer is passed over, unless it was named.",
     OPTIONS(OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
                    "a server to ask; else all that could answer"),
             OPTION("--tool", "NAME", VALUE_TOOL, 0,
                    "only the tool of that name, with its whole description and its schemas"),
             OPTION("--timeout", "S", VALUE_SECONDS, 0,
                    "how long to wait for answers, 0 for ever; 3"),
             JSON_LINES_OPTION),
     connect_options, cmd_list, "most used"},
    {.name = NULL},
};
