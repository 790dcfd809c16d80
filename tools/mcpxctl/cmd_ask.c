/*
 * cmd_ask.c - the verb ask: a permission prompt of a coding agent becomes a proposal, and the
 * decision about it the answer of the agent's hook. Only an approval by another identity, answered
 * in the topic, allows. Every failure denies, or leaves it to the host's own prompt. Protocol:
 * section 9.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/edge/timer.h"
#include "tools/common/input.h"
#include "tools/common/proposal.h"
#include "tools/mcpxctl/core/hook.h"
#include "tools/mcpxctl/core/live.h"

enum { ASK_MS = 300000, REASON_MAX = 500 };

/* Answers a request: the approval of our proposal, or one that we do not serve. */
static int answer(struct live *live, const struct mcpx_event *event,
                  struct mcpx_slice proposed, struct mcpx_text *reason)
{
    mx_scoped_text payload = {0};
    const char *why;

    if (!mcpx_slice_equal(event->proposal, mcpx_text_view(&live->sent))) {
        live_decline(live, event);
        return STATUS_OK;
    }
    why = proposal_answer_prompt(&payload, mcpx_session_id(mcpx_client_session(live->client)),
                                 mcpx_json_get(proposed, "params"), event);
    mcpx_text_puts(reason, why ? why : "");
    if (memory_checked(mcpx_client_respond(live->client, event->envelope->id,
                                           text_whole(&payload), NULL)))
        return fail_with(STATUS_REFUSED, "approved, but no grant covers the answer, "
                                         "mcp/response:permission/ask");
    return why ? STATUS_REFUSED : STATUS_OK;
}

/*
 * Appends the reason of a decision, if the event is one. Only our answer to the approval allows,
 * not that of another instance of us that has taken our id.
 */
static int judge(const struct live *live, const struct mcpx_event *event,
                 struct mcpx_text *reason)
{
    struct mcpx_slice self = mcpx_session_id(mcpx_client_session(live->client));

    if (event->type == MCPX_EVENT_REFUSED)
        return live_refused(event);
    if (event->type == MCPX_EVENT_RESPONSE && mcpx_slice_equal(event->envelope->from, self))
        text_format(reason, "approved by %s", event->envelope->to[0]);
    if (event->type != MCPX_EVENT_REJECTED && event->type != MCPX_EVENT_WITHDRAWN)
        return STATUS_OK;
    text_format(reason, "%s by %s: ", mcpx_event_name(event->type), event->envelope->from);
    text_visible_value(reason, mcpx_json_get(event->envelope->payload, "reason"), REASON_MAX);
    return STATUS_REFUSED;
}

/* Proposes, and waits for a decision and its reason. Else it is withdrawn, or has expired. */
static int ask(const struct arguments *arguments, struct mcpx_slice payload,
               struct mcpx_text *reason)
{
    int64_t timeout = arguments_ms(arguments, "--timeout", ASK_MS);
    int64_t deadline = live_deadline(timeout);
    struct mcpx_slice self;
    struct mcpx_draft draft = {.type = "mcp/proposal",
                               .to = &self,
                               .to_count = 1,
                               .payload = payload,
                               .timeout_ms = -1};
    struct mcpx_event event;
    struct live live;
    int status = live_join(arguments, 0, &live);

    if (status == STATUS_OK) {
        self = mcpx_session_id(mcpx_client_session(live.client));
        draft.expires_ms = timeout ? mx_clock_now().wall_ms + timeout : 0;
        status = live_send(&live, &draft);
    }
    while (status == STATUS_OK && reason->len == 0) {
        status = live_next(&live, deadline, &event);
        if (status == STATUS_OK && event.type == MCPX_EVENT_REQUEST)
            status = answer(&live, &event, payload, reason);
        if (status == STATUS_OK && live_is_ours(&live, &event))
            status = judge(&live, &event, reason);
    }
    if (live.sent.len > 0 && reason->len == 0 && status != STATUS_TIMEOUT) {
        draft = (struct mcpx_draft){.type = "mcp/withdraw",
                                    .correlation_id = mcpx_text_view(&live.sent),
                                    .payload = MCPX_SLICE("{}")};
        memory_checked(mcpx_client_send(live.client, &draft, NULL, NULL));
    }
    live_leave(&live);
    return status;
}

/* Reads the hook's JSON, or makes it of --tool and --input. */
static void read_prompt(const struct arguments *arguments, const struct hook_form **form,
                        struct mcpx_text *proposal)
{
    const char *tool = arguments_value(arguments, "--tool");
    const char *input = arguments_value(arguments, "--input");
    struct mcpx_slice object;
    mx_scoped_text text = {0};
    const char *fault;

    must(object_read(input ? input : "{}", "--input", &object));
    if (tool)
        mx_format(&text, "{\"tool_name\":%q,\"tool_input\":%s}", tool, object);
    else
        must(input_read(NULL, &text));
    fault =
        hook_read(arguments_value(arguments, "--host"), mcpx_text_view(&text), form, proposal);
    if (fault)
        end_with(STATUS_USAGE, "%s %s", tool ? "--tool" : "standard input", fault);
}

/* A host shows this alone, not standard error. */
static const char *why_undecided(int status)
{
    switch (status) {
    case STATUS_TIMEOUT:
        return "nobody in the topic decided in time";
    case STATUS_REFUSED:
        return "the topic could not be asked: a grant is missing";
    case STATUS_INTERRUPTED:
        return "the question was interrupted";
    case STATUS_UNREACHABLE:
        return "the topic could not be asked: no connection, or no valid token";
    default:
        return "the topic could not be asked: run mcpxctl ask by hand to see why";
    }
}

static int cmd_ask(const struct arguments *arguments)
{
    enum hook_verdict verdict =
        arguments_choice(arguments, "--otherwise") ? HOOK_DENY : HOOK_ASK;
    mx_scoped_text proposal = {0}, reason = {0};
    const struct hook_form *form;
    struct mcpx_text out = {0};
    int status;

    read_prompt(arguments, &form, &proposal);
    status = ask(arguments, mcpx_text_view(&proposal), &reason);
    if (reason.len > 0)
        verdict = status == STATUS_OK ? HOOK_ALLOW : HOOK_DENY;
    else
        mcpx_text_puts(&reason, why_undecided(status));
    hook_answer(&out, form, verdict, mcpx_text_view(&reason));
    return output_print(&out, *form->host ? STATUS_OK : status);
}

const struct command ask_verbs[] = {
    {"ask", NULL, 0, 0, false, "have the topic decide about an agent's tool",
     "A hook of Claude Code, Cursor or Codex runs this before a tool. It reads the hook's "
     "JSON on standard input, proposes permission/ask with the tool and its arguments, waits "
     "for the decision and prints the host's answer. approve allows the tool, reject denies "
     "it; the asker's own identity cannot approve. Without a decision it does not allow.\n"
     "\n"
     "A host gets its answer with exit code 0; code 2, for unusable input, it takes as a "
     "denial. With --tool the answer is {\"behavior\":\"allow\"}, or deny with a message, and "
     "the exit codes are those of the other verbs.",
     OPTIONS(OPTION("--host", "claude|cursor|codex", VALUE_CHOICE, 0,
                    "whose hook it is; else the JSON shows it"),
             OPTION("--tool", "NAME", VALUE_TEXT, 0, "ask about this tool, without a hook"),
             OPTION("--input", "JSON", VALUE_TEXT, 0, "its arguments"),
             OPTION("--otherwise", "ask|deny", VALUE_CHOICE, 0,
                    "without a decision: ask, the default, leaves it to the host's own prompt "
                    "where the hook can do so, else denies"),
             OPTION("--timeout", "S", VALUE_SECONDS, 0,
                    "how long to wait, 0 for ever; 300. The host's limit must be longer")),
     connect_options, cmd_ask, "propose and decide"},
    {.name = NULL},
};
