/*
 * tools.c - asking a server for its tools. Pages, bytes and time are limited, because calls wait
 * for the list. The rate is limited, because a server may report a change with each list without
 * end.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/digits.h"

enum {
    LIST_MS = 10000,     /* all pages of a list */
    PAGES_MAX = 1000,    /* of a list */
    BYTES_MAX = 16 << 20 /* of a list */
};

/* Lists are read at once, four of them; then there is one in a second. */
static const struct mx_rate reads = {60, 4};

/* Calls wait for at most this many lists in a row that change while they are read. */
enum { PATIENCE = 3 };

static struct mcpx_tools *new_tools(const struct import *import)
{
    return mcpx_tools_new(import->pool->checks.terms->shelf,
                          mcpx_identity_of(import->owner.id));
}

/* Logs doubts, such as aliases of unknown tools, once, for server 0 only. */
static void log_doubts(struct import *import)
{
    struct mcpx_text doubts = {0};
    struct mcpx_slice rest, line;

    if (import->number == 0)
        mcpx_terms_doubts_add(&doubts, import->pool->checks.terms->terms, import->tools.known);
    rest = mcpx_text_view(&doubts);
    if (mcpx_slice_equal(rest, mcpx_text_view(&import->tools.doubts)))
        rest.len = 0;
    while (rest.len) {
        line = mx_cut_at(&rest, '\n');
        import_say(import, "%s", line);
    }
    mcpx_text_fini(&import->tools.doubts);
    import->tools.doubts = doubts;
}

/* From now on these are the server's tools. Calls go on that need not wait for another list. */
static void use_tools(struct import *import, struct mcpx_tools *known, struct mcpx_now now)
{
    struct import_tools *tools = &import->tools;
    bool again = tools->again, patient = again && ++tools->in_row < PATIENCE;

    mcpx_tools_free(tools->known);
    tools->known = known;
    tools->coming = NULL;
    tools->again = false;
    log_doubts(import);
    if (patient)
        import_tools_ask(import, now);
    else if (again)
        tools->due_at = now.mono_ms; /* when those that wait are through */
    if (tools->coming)
        return;
    tools->in_row = 0;
    import_forward_waiting(import, now);
}

static void use_no_tools(struct import *import, struct mcpx_now now)
{
    mcpx_tools_free(import->tools.coming);
    use_tools(import, new_tools(import), now);
}

static void ask_page(struct import *import, struct mcpx_slice cursor, int64_t ends_at)
{
    mx_scoped_text params = mx_formatted("%s%s", cursor.text ? "\"cursor\":" : "", cursor);
    struct bridge_call *call =
        import_request(import, IMPORT_TOOLS, "tools/list", mcpx_text_view(&params));

    bridge_calls_defer(&import->calls, call, ends_at);
}

void import_tools_ask(struct import *import, struct mcpx_now now)
{
    struct import_tools *tools = &import->tools;

    tools->due_at = INT64_MAX;
    if (!import->pool->checks.terms || !import_is_ready(import))
        return;
    if (tools->coming) {
        tools->again = true;
    } else if (!import_can(import, "tools").text) {
        import_say(import, "%s", "the server has no tools; each tool call gets an error");
        use_no_tools(import, now);
    } else if (!mx_bucket_take(&tools->reads, reads, 1, now.mono_ms)) {
        tools->due_at = now.mono_ms + mx_bucket_wait_ms(&tools->reads, reads, 1, now.mono_ms);
    } else {
        tools->coming = new_tools(import);
        tools->pages = 0;
        tools->bytes = 0;
        ask_page(import, (struct mcpx_slice){0}, now.mono_ms + LIST_MS);
    }
}

static void fail(struct import *import, const char *why, struct mcpx_slice more,
                 struct mcpx_now now)
{
    import_say(import,
               "the server's tools are not known, so each tool call gets an error: %s%s%s",
               why, more.len ? ": " : "", import_shown(more));
    use_no_tools(import, now);
}

static bool is_too_much(struct import *import, struct mcpx_slice result)
{
    struct import_tools *tools = &import->tools;

    tools->bytes += result.len;
    return ++tools->pages >= PAGES_MAX || tools->bytes > BYTES_MAX;
}

static void take_page(struct import *import, struct mcpx_slice result, int64_t ends_at,
                      struct mcpx_now now)
{
    struct mcpx_slice cursor = mcpx_json_get(result, "nextCursor");
    bool has_more = mcpx_json_type(cursor) == MCPX_JSON_STRING;
    struct mcpx_fault fault = {0};
    enum mcpx_err err = memory_checked(mcpx_tools_add(import->tools.coming, result, &fault));

    if (err) {
        fail(import, "its list cannot be used",
             mcpx_slice_of(fault.reason ? fault.reason : mcpx_strerror(err)), now);
        return;
    }
    if (has_more && !is_too_much(import, result)) {
        ask_page(import, cursor, ends_at);
        return;
    }
    if (has_more)
        import_say(import,
                   "the server's list of tools does not end: tools after the first %s are not "
                   "known, and cannot be called",
                   mcpx_tools_count(import->tools.coming));
    use_tools(import, import->tools.coming, now);
}

void import_tools_answered(struct import *import, struct bridge_call *call,
                           const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    int64_t ends_at = call->due_ms;

    bridge_calls_drop(&import->calls, call);
    if (import->tools.coming && rpc->form == MCPX_RPC_RESULT)
        take_page(import, rpc->result, ends_at, now);
    else if (import->tools.coming)
        fail(import, "it refuses tools/list", rpc->error, now);
}

void import_tools_down(struct import *import)
{
    struct import_tools *tools = &import->tools;

    mcpx_tools_free(tools->coming);
    *tools = (struct import_tools){
        .known = tools->known, .due_at = INT64_MAX, .doubts = tools->doubts};
}

void import_tools_late(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    bridge_calls_drop(&import->calls, call);
    fail(import, "it does not list them in time", (struct mcpx_slice){0}, now);
}
