/*
 * hook.c - one row per host and event, with the three answers. Where a host runs the tool when its
 * hook leaves the decision open, there is no HOOK_ASK.
 */
#include "tools/mcpxctl/core/hook.h"

#include "tools/common/visible.h"

#include <string.h>

/* Answers are JSON with ' for quotes and @ for the reason. "": nothing; NULL: there is none. */
#define TOOL_USE(word)                                                                        \
    "{'hookSpecificOutput':{'hookEventName':'PreToolUse','permissionDecision':'" word         \
    "','permissionDecisionReason':@}}"
#define PROMPT(decision)                                                                      \
    "{'hookSpecificOutput':{'hookEventName':'PermissionRequest','decision':{'behavior':"      \
    "'" decision "}}}"
#define EXECUTION(word) "{'permission':'" word "','user_message':@,'agent_message':@}"

/* The first row of a host is also for JSON without an event. */
static const struct hook_form forms[] = {
    {"", "", {"{'behavior':'allow'}", "{'behavior':'deny','message':@}", NULL}},
    {"claude", "PermissionRequest", {PROMPT("allow'"), PROMPT("deny','message':@"), ""}},
    {"claude", "PreToolUse", {TOOL_USE("allow"), TOOL_USE("deny"), TOOL_USE("ask")}},
    {"codex", "PermissionRequest", {PROMPT("allow'"), PROMPT("deny','message':@"), ""}},
    {"codex", "PreToolUse", {"", TOOL_USE("deny"), NULL}},
    {"cursor", /* `decision` and `reason` are for older versions */
     "preToolUse",
     {"{'permission':'allow','decision':'allow'}",
      "{'permission':'deny','decision':'deny','reason':@,'user_message':@,'agent_message':@}",
      NULL}},
    {"cursor",
     "beforeMCPExecution",
     {EXECUTION("allow"), EXECUTION("deny"), EXECUTION("ask")}},
    {"cursor",
     "beforeShellExecution",
     {EXECUTION("allow"), EXECUTION("deny"), EXECUTION("ask")}},
};

/* Without the host's name: Codex alone numbers turns, and the events of Cursor are its own. */
static const struct hook_form *form_of(const char *host, struct mcpx_slice json)
{
    struct mcpx_slice event = mcpx_json_get(json, "hook_event_name");
    bool is_codex = mcpx_json_get(json, "turn_id").text;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if ((host ? strcmp(forms[i].host, host) == 0
                  : is_codex == (strcmp(forms[i].host, "codex") == 0)) &&
            (event.text ? mcpx_json_equals(event, mcpx_slice_of(forms[i].event))
                        : host || !*forms[i].host))
            return &forms[i];
    return NULL;
}

/* Appends the arguments of a tool; Cursor has those of MCP tools as text. */
static void add_input(struct mcpx_text *out, struct mcpx_slice value)
{
    mx_scoped_text inner = {0};

    if (mcpx_json_add_unescaped(&inner, value))
        mcpx_json_check(mcpx_text_view(&inner), 0, &value, NULL);
    mx_format(out, ",\"input\":%s", value.text ? value : MCPX_SLICE("{}"));
}

const char *hook_read(const char *host, struct mcpx_slice text, const struct hook_form **form,
                      struct mcpx_text *proposal)
{
    struct mcpx_slice json, name;

    if (mcpx_json_check(text, 0, &json, NULL) || mcpx_json_type(json) != MCPX_JSON_OBJECT)
        return "is not a JSON object";
    *form = form_of(host, json);
    if (!*form)
        return "has no hook_event_name of a permission prompt";
    name = mcpx_json_get(json, "tool_name");
    if (!name.text && !mcpx_json_get(json, "command").text)
        return "has neither tool_name nor command";
    mx_format(proposal, "{\"method\":\"permission/ask\",\"params\":{\"name\":%s",
              name.text ? name : MCPX_SLICE("\"Shell\""));
    if (name.text)
        add_input(proposal, mcpx_json_get(json, "tool_input"));
    /* beside a name, `url` and `command` are those of an MCP server */
    text_member(proposal, name.text ? ",\"command\":%s" : ",\"input\":{\"command\":%s}", json,
                "command");
    text_member(proposal, ",\"url\":%s", json, "url");
    text_member(proposal, ",\"cwd\":%s", json, "cwd");
    mcpx_text_puts(proposal, "}}");
    return NULL;
}

void hook_answer(struct mcpx_text *out, const struct hook_form *form,
                 enum hook_verdict verdict, struct mcpx_slice reason)
{
    const char *answer = form->answers[verdict];

    for (answer = answer ? answer : form->answers[HOOK_DENY]; *answer; answer++)
        if (*answer == '@')
            mcpx_json_add_string(out, reason);
        else
            mcpx_text_add(out, *answer == '\'' ? "\"" : answer, 1);
    mcpx_text_puts(out, out->len > 0 ? "\n" : "");
}
