/*
 * What breaks for whom: a person believes that a proposal was carried out unchanged, takes a
 * stranger's answer for the server's, or approves what was done already.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tools/mcpxctl/core/chain.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* One envelope of a row: "id about from>to kind payload". ts is second `index` of a minute. */
struct line {
    const char *id, *about, *from, *to, *kind, *payload;
};

enum { LINES_MAX = 8 };

static void fill(struct snapshot *snapshot, const struct line *lines)
{
    for (size_t i = 0; i < LINES_MAX && lines[i].id; i++) {
        char text[1024], to[64] = "", about[64] = "";
        struct mcpx_fault fault = {"", "", 0};
        struct entry *entry = NULL;

        if (lines[i].to)
            snprintf(to, sizeof to, "\"to\":[\"%s\"],", lines[i].to);
        if (lines[i].about)
            snprintf(about, sizeof about, "\"correlation_id\":\"%s\",", lines[i].about);
        snprintf(
            text, sizeof text,
            "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"ts\":\"2026-11-22T03:00:%02zuZ\","
            "\"from\":\"%s\",%s%s\"kind\":\"%s\",\"payload\":%s}",
            lines[i].id, i, lines[i].from, to, about, lines[i].kind, lines[i].payload);
        cr_assert_eq(entry_new(mcpx_slice_of(text), &fault, &entry), MCPX_OK, "%s: %s",
                     fault.reason, text);
        snapshot_add(snapshot, entry);
    }
    snapshot_seal(snapshot);
}

#define PROPOSED                                                                              \
    "{\"method\":\"tools/call\",\"params\":{\"name\":\"w\",\"arguments\":{\"n\":1.10}}}"
#define ASKED                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","                                \
    "\"params\":{ \"arguments\":{\"n\":1.10}, \"name\":\"w\"}}"
#define ASKED_ELSE                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","                                \
    "\"params\":{\"arguments\":{\"n\":1.1},\"name\":\"w\"}}"
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
#define FAILURE "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}"
#define PROGRESS "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}"

#define ELICIT "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define ASKS_BACK(id)                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"resultType\":\"input_required\","       \
    "\"requestState\":\"s/1\"}}"
#define ASKED_AGAIN                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","                                \
    "\"params\":{\"name\":\"w\",\"inputResponses\":{},\"requestState\":\"s\\/1\"}}"
#define OTHER_ID "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"

#define EXPIRES(when)                                                                         \
    {                                                                                         \
        "p", NULL, "agent", "fs", "mcp/proposal:tools/call:w",                                \
            "{\"method\":\"tools/call\",\"params\":{\"name\":\"w\"}},\"expires\":" when       \
    }
static const struct line proposal = {"p",     NULL, "agent", "fs", "mcp/proposal:tools/call:w",
                                     PROPOSED};
static const struct line request = {"r", "p", "ann", "fs", "mcp/request:tools/call:w", ASKED};
static const struct line changed = {"r",       "p", "ann", "fs", "mcp/request:tools/call:w",
                                    ASKED_ELSE};
static const struct line result = {"s", "r", "fs", "ann", "mcp/response:tools/call:w", RESULT};
static const struct line failure = {"s",    "r", "fs", "ann", "mcp/response:tools/call:w",
                                    FAILURE};
static const struct line strange = {"x",   "r", "eve", "ann", "mcp/response:tools/call:w",
                                    RESULT};
static const struct line reject = {"n",     "p",          "ann",
                                   "agent", "mcp/reject", "{\"reason\":\"no\"}"};
static const struct line withdraw = {"w", "p", "agent", NULL, "mcp/withdraw", "{}"};
static const struct line elsewhere = {"w", "p", "agent~2", NULL, "mcp/withdraw", "{}"};
static const struct line usurp = {"u", "p", "eve", NULL, "mcp/withdraw", "{}"};
static const struct line progress = {
    "g", "r", "fs", "ann", "mcp/request:notifications/progress", PROGRESS};
#define AGAIN_KIND "mcp/request:tools/call:w"
static const struct line call = {"r", NULL, "ann", "fs", AGAIN_KIND, ASKED};
static const struct line questions = {
    "q", "r", "fs", "ann", "mcp/response:tools/call:w", ASKS_BACK("1")};
static const struct line again = {"a", NULL, "ann", "fs", AGAIN_KIND, ASKED_AGAIN};
static const struct line unrelated = {"c", NULL, "bob", NULL, "chat", "{\"text\":\"hi\"}"};

/* The chain as "role@depth" words, the state at the end. */
static void write_brief(const struct chain *chain, char *text, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < chain->count; i++)
        len += (size_t)snprintf(text + len, size - len, "%s@%zu%s ",
                                chain_role_name(chain->steps[i].role), chain->steps[i].depth,
                                chain->steps[i].same == CHAIN_SAME      ? "="
                                : chain->steps[i].same == CHAIN_CHANGED ? "!"
                                                                        : "");
    snprintf(text + len, size - len, "%s%s", chain_state_name(chain->state),
             chain->incomplete ? " incomplete" : "");
}

Test(chain, tells_what_became_of_it)
{
    const struct {
        struct line lines[LINES_MAX];
        const char *asked, *chain;
    } rows[] = {
        {{proposal}, "p", "proposal@0 open"},
        {{proposal, request}, "p", "proposal@0 request@1= running"},
        {{EXPIRES("\"1970-01-01T00:00:01Z\"")}, "p", "proposal@0 open"},
        {{EXPIRES("\"1970-01-01T00:00:00Z\"")}, "p", "proposal@0 expired"},
        {{EXPIRES("\"soon\"")}, "p", "proposal@0 expired"},
        {{EXPIRES("1e9")}, "p", "proposal@0 expired"},
        {{EXPIRES("null"), request}, "p", "proposal@0 request@1! running"},
        {{proposal, changed}, "p", "proposal@0 request@1! running"},
        {{proposal, unrelated, request, result}, "p", "proposal@0 request@1= result@2 done"},
        {{proposal, unrelated, request, result}, "r", "proposal@0 request@1= result@2 done"},
        {{proposal, unrelated, request, result}, "s", "proposal@0 request@1= result@2 done"},
        {{proposal, request, failure}, "p", "proposal@0 request@1= error@2 failed"},
        {{proposal, request, strange}, "p", "proposal@0 request@1= other@2 running"},
        {{proposal, request, strange, result},
         "p",
         "proposal@0 request@1= other@2 result@2 done"},
        {{proposal, reject}, "n", "proposal@0 rejection@1 rejected"},
        {{proposal, withdraw}, "w", "proposal@0 withdrawal@1 withdrawn"},
        {{proposal, elsewhere}, "w", "proposal@0 withdrawal@1 withdrawn"},
        {{proposal, usurp}, "p", "proposal@0 other@1 open"},
        {{proposal, reject, request, result},
         "p",
         "proposal@0 rejection@1 request@1= result@2 done"},
        {{request, result}, "s", "request@0 result@1 done incomplete"},
        {{result}, "s", "result@0 done incomplete"},
        {{proposal, request, progress, result},
         "g",
         "proposal@0 request@1= notification@2 result@2 done"},
        {{unrelated}, "c", "other@0 open"},
        /* what anybody could send to end a proposal or answer for the server */
        {{proposal,
          {"r", "p", "eve", "fs", "mcp/request:ping", PING},
          {"s", "r", "fs", "eve", "mcp/response:ping", RESULT}},
         "p",
         "proposal@0 other@1 result@2 open"},
        {{proposal, {"r", "p", "eve", "fs", "mcp/request:ping", ASKED}},
         "p",
         "proposal@0 other@1 open"},
        {{proposal, {"r", "p", "eve", "mallory", "mcp/request:tools/call:w", ASKED}},
         "p",
         "proposal@0 other@1 open"},
        {{proposal, {"s", "p", "fs", "ann", "mcp/response:tools/call:w", RESULT}},
         "p",
         "proposal@0 other@1 open"},
        {{proposal, request, {"s", "r", "fs", "ann", "mcp/response:tools/call:w", ASKED}},
         "p",
         "proposal@0 request@1= other@2 running"},
        {{proposal, request, {"s", "r", "fs", "ann", "mcp/response:ping", RESULT}},
         "p",
         "proposal@0 request@1= other@2 running"},
        {{proposal, request, {"s", "r", "fs", "ann", "mcp/response:tools/call:w", OTHER_ID}},
         "p",
         "proposal@0 request@1= other@2 running"},
        {{proposal,
          request,
          failure,
          {"t", "r", "fs", "ann", "mcp/response:tools/call:w", RESULT}},
         "p",
         "proposal@0 request@1= error@2 other@2 failed"},
        /* what the server asks back does not answer the request */
        {{proposal,
          request,
          {"e", "r", "fs", "ann", "mcp/request:elicitation/create", ELICIT},
          {"f", "e", "ann", "fs", "mcp/response:elicitation/create", RESULT}},
         "p",
         "proposal@0 request@1= request@2 result@3 running"},
        /* a call made again, also a third time; another's is not */
        {{call, questions, again, {"e", NULL, "eve", "fs", AGAIN_KIND, ASKED_AGAIN}},
         "q",
         "request@0 question@1 request@1 running"},
        {{call,
          questions,
          again,
          {"t", "a", "fs", "ann", "mcp/response:tools/call:w", OTHER_ID}},
         "t",
         "request@0 question@1 request@1 result@2 done"},
        {{call, {"x", "r", "eve", "ann", "mcp/response:tools/call:w", ASKS_BACK("1")}, again},
         "a",
         "request@0 running"},
        {{call,
          questions,
          again,
          {"u", "a", "fs", "ann", "mcp/response:tools/call:w", ASKS_BACK("2")},
          {"b", NULL, "ann", "fs", AGAIN_KIND, ASKED_AGAIN}},
         "b",
         "request@0 question@1 request@1 question@2 request@1 running"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct snapshot snapshot = {.count = 0};
        struct chain chain;
        char brief[512];

        fill(&snapshot, rows[i].lines);
        chain = chain_of(&snapshot, snapshot_get(&snapshot, mcpx_slice_of(rows[i].asked)));
        write_brief(&chain, brief, sizeof brief);
        cr_expect_str_eq(brief, rows[i].chain, "row %zu: %s", i, brief);
        chain_fini(&chain);
        snapshot_fini(&snapshot);
    }
}

Test(chain, walks_no_circle)
{
    static const struct line lines[LINES_MAX] = {
        {"a", "b", "ann", NULL, "chat", "{}"},
        {"b", "a", "ann", NULL, "chat", "{}"},
        {"c", "c", "ann", NULL, "chat", "{}"},
    };
    struct snapshot snapshot = {.count = 0};

    fill(&snapshot, lines);
    for (size_t i = 0; i < snapshot.count; i++) {
        struct chain chain = chain_of(&snapshot, snapshot.entries[i]);

        cr_expect_leq(chain.count, 2);
        chain_fini(&chain);
    }
    snapshot_fini(&snapshot);
}

Test(chain, is_written_for_people_and_for_programs)
{
    const struct line lines[LINES_MAX] = {proposal, changed, failure};
    struct snapshot snapshot = {.count = 0};
    struct chain chain;
    mx_scoped_text people = {0}, programs = {0};

    setenv("TZ", "UTC", 1);
    fill(&snapshot, lines);
    chain = chain_of(&snapshot, snapshot.entries[1]);
    chain_write(&people, &snapshot, &chain, false);
    cr_expect_str_eq(people.text,
                     "p  03:00:00  proposal  agent -> fs  mcp/proposal:tools/call:w  "
                     "{\"n\":1.10}\n"
                     "  r  +1000 ms  request  ann -> fs  mcp/request:tools/call:w  "
                     "[NOT as proposed]  {\"n\":1.1}\n"
                     "    s  +1000 ms  error  fs -> ann  mcp/response:tools/call:w  no\n"
                     "state: failed\n");
    chain_write_json(&programs, &chain);
    cr_expect_not_null(strstr(programs.text, "{\"role\":\"proposal\",\"state\":\"failed\","
                                             "\"id\":\"p\",\"envelope\":{\"protocol\""));
    cr_expect_not_null(strstr(programs.text, "{\"role\":\"request\",\"id\":\"r\","
                                             "\"parent\":\"p\",\"after_ms\":1000,"
                                             "\"same_params\":false,\"envelope\":{"));
    cr_expect_eq(programs.text[programs.len - 2], '}');
    chain_fini(&chain);
    snapshot_fini(&snapshot);
}

/* Ten thousand proposals, each about the one before: what costs a second per
   question is a weapon. */
Test(chain, long_chains_are_walked_in_reasonable_time, .timeout = 20)
{
    enum { LENGTH_OF_CHAIN = 10000 };
    struct snapshot snapshot = {.count = 0};
    struct chain chain = {.count = 0};

    for (size_t i = 0; i < LENGTH_OF_CHAIN; i++) {
        char text[512];
        struct mcpx_fault fault = {"", "", 0};
        struct entry *entry = NULL;

        snprintf(text, sizeof text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"p%zu\",\"from\":\"eve\","
                 "\"correlation_id\":\"p%zu\",\"kind\":\"mcp/proposal:tools/call:w\","
                 "\"payload\":%s}",
                 i + 1, i, PROPOSED);
        cr_assert_eq(entry_new(mcpx_slice_of(text), &fault, &entry), MCPX_OK);
        snapshot_add(&snapshot, entry);
    }
    snapshot_seal(&snapshot);
    for (size_t i = 0; i < snapshot.count; i++) {
        chain = chain_below(&snapshot, snapshot.entries[i]);
        cr_expect_eq(chain.state, CHAIN_OPEN);
        chain_fini(&chain);
    }
    chain = chain_of(&snapshot, snapshot.entries[LENGTH_OF_CHAIN - 1]);
    cr_expect_eq(chain.count, LENGTH_OF_CHAIN);
    chain_fini(&chain);
    snapshot_fini(&snapshot);
}
