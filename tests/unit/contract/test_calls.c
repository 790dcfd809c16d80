/*
 * What breaks for whom: a call that cannot work reaches a server, or a person who has to approve
 * it; a broken result reaches a model; whoever reads the log sees another call than there was. The
 * scenes are in transcripts/, each with the requirement that it is for. Each event is judged by its
 * contract, each pair of call and result is counted, so that no transcript has to say so.
 *
 * A transcript says what comes to an edge, line by line, and what the edge makes of that:
 *
 *     == R004-9 what the scene is about
 *     terms {...}             of this scene; {} without
 *     side client             that of a server without
 *     tools [...]             of the server; before the first scene: of all of them
 *     tools none              the server is not there
 *     version TEXT            of the server, as it says
 *     may NAME                only this tool may be called
 *     fulfils ID              the call fulfils a proposal
 *     own {...}               params as the edge would pass them on
 *     call {...}              params of a tools/call
 *     message {...}           a whole message
 *     later MS                time passes
 *     room BYTES              that the answer may have
 *     result {...}            the server's
 *     repeat N TEXT {...}     the server's result, with the text so many times in the place of its
 *                             @
 *     error {...}             the server's
 *     failed CAUSE ["reason"[,{...}]]
 *     refused {...}           a person said no
 *
 * Lines with two spaces before them are what the edge does:
 *
 *     pass TOOL [PARAMS]      params when they are other ones
 *     answer TEXT             a result; "same" when it is the server's, byte by byte
 *     wrapped [!] TEXT        a result of the edge, of which this is structuredContent; ! when
 *                             isError is true
 *     error TEXT
 *     alias NAME -> TOOL      mcp.alias.call
 *     called TOOL             mcp.tool.call
 *     ended STATUS [CODE]     mcp.tool.result
 *     line STATUS ...         validation: tool, cause and path, bytes in and out
 */
#include "lib/edge/file.h"
#include "lib/json/json_write.h"

#include <mcpx/json.h>
#include <mcpx/terms.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a scene has said so far, and the edge as it stands. Texts are lines of the file. */
struct edge {
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_schema_report report;
    struct mcpx_terms *terms;
    struct mcpx_tools *tools;
    struct mcpx_calls *calls;
    struct mcpx_call *call;
    struct mcpx_call_request request;
    struct mcpx_text said;
    struct mcpx_text all_tools;
    const char *may;
    bool is_client;
    bool is_absent;
    size_t room;
    size_t called;
    size_t ended;
};

/* The rest of a line that begins with a word; NULL when it does not. */
static const char *after(const char *line, const char *word)
{
    size_t len = strlen(word);

    return strncmp(line, word, len) == 0 && (line[len] == ' ' || !line[len])
               ? line + len + (line[len] == ' ')
               : NULL;
}

static bool may(void *context, struct mcpx_slice tool, struct mcpx_text *more)
{
    const struct edge *edge = (const struct edge *)context;

    if (!edge->may || mcpx_slice_equal(tool, mcpx_slice_of(edge->may)))
        return true;
    mcpx_text_puts(more, "\"kind\":\"mcp/request\"");
    return false;
}

static void use_tools(struct edge *edge, const char *list)
{
    mx_scoped_text result = {0};

    mcpx_tools_free(edge->tools);
    edge->tools = mcpx_tools_new(edge->shelf, (struct mcpx_slice){0});
    mx_format(&result, "{\"tools\":%s}", list);
    cr_assert_eq(mcpx_tools_add(edge->tools, mcpx_text_view(&result), NULL), MCPX_OK, "%s",
                 list);
}

static void use_terms(struct edge *edge, const char *text)
{
    mcpx_terms_free(edge->terms);
    edge->terms = NULL;
    cr_assert_eq(
        mcpx_terms_read(edge->contracts, mcpx_slice_of(text), &edge->report, &edge->terms),
        MCPX_OK, "%s", text);
}

/* An edge with nothing under way. */
static void begin(struct edge *edge)
{
    mcpx_calls_free(edge->calls);
    edge->calls = NULL;
    edge->call = NULL;
    edge->is_client = edge->is_absent = false;
    edge->may = NULL;
    edge->room = edge->called = edge->ended = 0;
    edge->request = (struct mcpx_call_request){
        .envelope_id = MCPX_SLICE("e1"), .may = may, .context = edge};
    if (edge->all_tools.len > 0)
        use_tools(edge, edge->all_tools.text);
    use_terms(edge, "{}");
}

static void add_line(struct mcpx_text *said, const char *text)
{
    mx_format(said, "%s\n", text);
}

static struct mcpx_slice member(struct mcpx_slice line, const char *name)
{
    struct mcpx_slice value = mcpx_json_get(line, name);

    if (mcpx_json_type(value) != MCPX_JSON_STRING)
        return value;
    return (struct mcpx_slice){value.text + 1, value.len - 2};
}

static void say_event(struct edge *edge, struct mcpx_slice line)
{
    struct mcpx_slice name = member(line, "eventName"), tool = member(line, "toolName");
    struct mcpx_slice code = member(line, "errorCategory");

    cr_expect_eq(
        mcpx_contracts_validate(edge->contracts, MCPX_CONTRACT_EVENT, line, &edge->report),
        MCPX_OK, "%.*s", (int)line.len, line.text);
    if (mcpx_slice_equal(name, MCPX_SLICE("mcp.alias.call"))) {
        mx_format(&edge->said, "alias %s -> %s\n", member(line, "aliasName"),
                  member(line, "canonicalToolName"));
    } else if (mcpx_slice_equal(name, MCPX_SLICE("mcp.tool.call"))) {
        mx_format(&edge->said, "called %s\n", tool);
        edge->called++;
    } else {
        mx_format(&edge->said, "ended %s", member(line, "status"));
        if (!mcpx_slice_equal(code, MCPX_SLICE("null")))
            mx_format(&edge->said, " %s", code);
        add_line(&edge->said, "");
        edge->ended++;
    }
}

static void say_line(struct edge *edge, struct mcpx_slice line)
{
    struct mcpx_slice error = mcpx_json_get(line, "error");

    mx_format(&edge->said, "line %s %s", member(line, "status"), member(line, "tool"));
    if (mcpx_json_type(error) == MCPX_JSON_OBJECT)
        mx_format(&edge->said, " %s at '%s'", member(error, "cause"), member(error, "path"));
    mx_format(&edge->said, " %s in %s out\n", member(line, "inputBytes"),
              member(line, "outputBytes"));
}

static void say_records(struct edge *edge)
{
    enum mcpx_record which;
    struct mcpx_slice line;

    while (mcpx_calls_next_record(edge->calls, &which, &line)) {
        line.len--; /* the newline */
        (which == MCPX_RECORD_TELEMETRY ? say_event : say_line)(edge, line);
    }
}

static void say_answer(struct edge *edge, const struct mcpx_call_answer *answer,
                       const char *from)
{
    struct mcpx_slice text = answer->text;
    struct mcpx_slice envelope = mcpx_json_get(text, "structuredContent");
    bool is_wrapped = mcpx_json_get(envelope, "schema_version").text ||
                      mcpx_json_get(envelope, "tool_id").text ||
                      mcpx_json_get(envelope, "mcpVersion").text;

    if (from && text.text == from)
        add_line(&edge->said, "answer same");
    else if (answer->is_error)
        mx_format(&edge->said, "error %s\n", text);
    else if (is_wrapped)
        mx_format(&edge->said, "wrapped %s%s\n",
                  mcpx_slice_equal(mcpx_json_get(text, "isError"), MCPX_SLICE("true")) ? "! "
                                                                                       : "",
                  envelope);
    else
        mx_format(&edge->said, "answer %s\n", text);
}

static void come(struct edge *edge, const char *message)
{
    struct mcpx_calls_options options = {
        edge->terms, edge->contracts,  edge->is_client ? MCPX_SIDE_CLIENT : MCPX_SIDE_SERVER,
        "stdio",     MCPX_SLICE("p1"), true};
    struct mcpx_admission out;

    if (!edge->calls)
        edge->calls = mcpx_calls_new(&options);
    edge->request.payload = mcpx_slice_of(message);
    edge->request.tools = edge->is_absent ? NULL : edge->tools;
    cr_assert_eq(mcpx_calls_admit(edge->calls, &edge->request, &out), MCPX_OK);
    if (out.call)
        mx_format(&edge->said, "pass %s%s%s\n", out.tool, out.params.text ? " " : "",
                  out.params);
    else
        say_answer(edge, &out.answer, NULL);
    edge->call = out.call;
    say_records(edge);
}

static void come_with(struct edge *edge, const char *params)
{
    mx_scoped_text message = {0};

    mx_format(&message,
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":%s}",
              params);
    come(edge, message.text);
}

static void leave(struct edge *edge, struct mcpx_call_end *end)
{
    struct mcpx_call_answer answer;

    cr_assert_not_null(edge->call);
    end->now = edge->request.now;
    end->answer_max = edge->room;
    cr_assert_eq(mcpx_calls_answer(edge->calls, edge->call, end, &answer), MCPX_OK);
    edge->call = NULL;
    say_answer(edge, &answer, end->text.text);
    say_records(edge);
    cr_expect_eq(mcpx_calls_count(edge->calls), 0);
    cr_expect_eq(edge->called, edge->ended);
}

static enum mcpx_cause cause_of(struct mcpx_slice name)
{
    int cause = 0;

    while (cause < MCPX_CAUSE_COUNT &&
           !mcpx_slice_equal(name, mcpx_slice_of(mcpx_cause_name((enum mcpx_cause)cause))))
        cause++;
    cr_assert_lt(cause, MCPX_CAUSE_COUNT, "%.*s", (int)name.len, name.text);
    return (enum mcpx_cause)cause;
}

/* CAUSE ["reason"[,{...}]] */
static void fail(struct edge *edge, const char *rest)
{
    struct mcpx_call_end end = {.type = MCPX_CALL_FAILED};
    size_t len = strcspn(rest, " ");
    struct mcpx_json_walk walk;

    end.cause = cause_of((struct mcpx_slice){rest, len});
    mcpx_json_walk_start(&walk, mcpx_slice_of(rest[len] ? rest + len + 1 : "[]"));
    if (mcpx_json_walk_next(&walk))
        end.reason = (struct mcpx_slice){walk.value.text + 1, walk.value.len - 2};
    if (mcpx_json_walk_next(&walk))
        end.more = (struct mcpx_slice){walk.value.text + 1, walk.value.len - 2};
    leave(edge, &end);
}

/* N TEXT RESULT */
static void answer_at_length(struct edge *edge, const char *rest)
{
    struct mcpx_call_end end = {.type = MCPX_CALL_RESULT};
    mx_scoped_text result = {0};
    char *piece;
    unsigned long count = strtoul(rest, &piece, 10);
    const char *begin = strchr(piece + 1, ' ') + 1, *place = strchr(begin, '@');

    mcpx_text_add(&result, begin, (size_t)(place - begin));
    for (unsigned long i = 0; i < count; i++)
        mcpx_text_add(&result, piece + 1, (size_t)(begin - piece) - 2);
    mcpx_text_puts(&result, place + 1);
    end.text = mcpx_text_view(&result);
    leave(edge, &end);
}

static bool set(struct edge *edge, const char *line)
{
    const char *rest;

    if ((rest = after(line, "terms")) != NULL)
        use_terms(edge, rest);
    else if ((rest = after(line, "tools none")) != NULL)
        edge->is_absent = true;
    else if ((rest = after(line, "tools")) != NULL)
        use_tools(edge, rest);
    else if (after(line, "side client"))
        edge->is_client = true;
    else if ((rest = after(line, "version")) != NULL)
        edge->request.server_version = mcpx_slice_of(rest);
    else if ((rest = after(line, "may")) != NULL)
        edge->may = rest;
    else if ((rest = after(line, "fulfils")) != NULL)
        edge->request.fulfils = mcpx_slice_of(rest);
    else if ((rest = after(line, "own")) != NULL)
        edge->request.params = mcpx_slice_of(rest);
    else if ((rest = after(line, "room")) != NULL)
        edge->room = strtoul(rest, NULL, 10);
    else if ((rest = after(line, "later")) != NULL)
        edge->request.now.mono_us += 1000 * strtol(rest, NULL, 10);
    else
        return false;
    return true;
}

static void act(struct edge *edge, const char *line)
{
    struct mcpx_call_end end = {0};
    const char *rest;

    mcpx_text_reset(&edge->said);
    mcpx_text_puts(&edge->said, "");
    if (set(edge, line))
        return;
    if ((rest = after(line, "call")) != NULL) {
        come_with(edge, rest);
    } else if ((rest = after(line, "message")) != NULL) {
        come(edge, rest);
    } else if ((rest = after(line, "failed")) != NULL) {
        fail(edge, rest);
    } else if ((rest = after(line, "repeat")) != NULL) {
        answer_at_length(edge, rest);
    } else {
        end.type = (rest = after(line, "result")) != NULL  ? MCPX_CALL_RESULT
                   : (rest = after(line, "error")) != NULL ? MCPX_CALL_ERROR
                                                           : MCPX_CALL_REFUSED;
        rest = rest ? rest : after(line, "refused");
        cr_assert_not_null(rest, "%s", line);
        end.text = mcpx_slice_of(rest);
        leave(edge, &end);
    }
}

/* The lines of a file, each a string. */
static char **read_lines(const char *name, char **text)
{
    char path[256];
    struct mcpx_text whole = {0};
    size_t count = 0;
    char **lines;

    snprintf(path, sizeof path, "%s/tests/unit/contract/transcripts/%s.txt",
             getenv("MCPX_SOURCE_DIR"), name);
    cr_assert_null(mx_file_read(path, SIZE_MAX, &whole), "%s", path);
    *text = whole.text;
    lines = calloc(whole.len + 1, sizeof *lines);
    for (char *at = strtok(*text, "\n"); at; at = strtok(NULL, "\n"))
        lines[count++] = at;
    return lines;
}

/* Compares what the edge did with the lines that follow, and gives the first one behind them. */
static char **compare(struct edge *edge, const char *scene, char **line)
{
    struct mcpx_text wanted = {0};

    mcpx_text_puts(&wanted, "");
    for (; *line && strncmp(*line, "  ", 2) == 0; line++)
        add_line(&wanted, *line + 2);
    cr_expect_str_eq(edge->said.text, wanted.text, "%s\n--- is\n%s--- should be\n%s", scene,
                     edge->said.text, wanted.text);
    mcpx_text_fini(&wanted);
    return line;
}

static void play(const char *name)
{
    struct edge edge = {.shelf = mcpx_shelf_new()};
    const char *scene = NULL;
    char *text, **lines = read_lines(name, &text), **line = lines;

    edge.contracts = mcpx_contracts_new(edge.shelf);
    while (*line) {
        const char *now = *line++;

        if (*now == '#')
            continue;
        if (strncmp(now, "== ", 3) == 0) {
            scene = now;
            begin(&edge);
        } else if (!scene) {
            cr_assert_not_null(after(now, "tools"));
            mcpx_text_puts(&edge.all_tools, after(now, "tools"));
        } else {
            act(&edge, now);
            line = compare(&edge, scene, line);
        }
    }
    mcpx_calls_free(edge.calls);
    mcpx_terms_free(edge.terms);
    mcpx_tools_free(edge.tools);
    mcpx_schema_report_fini(&edge.report);
    mcpx_contracts_free(edge.contracts);
    mcpx_shelf_free(edge.shelf);
    mcpx_text_fini(&edge.said);
    mcpx_text_fini(&edge.all_tools);
    free(lines);
    free(text);
}

Test(calls, are_judged_by_the_schemas_of_their_tools)
{
    play("schemas");
}

Test(calls, have_a_context)
{
    play("context");
}

Test(calls, come_by_other_names)
{
    play("aliases");
}

Test(calls, end_once_whatever_their_end)
{
    play("ends");
}

Test(calls, are_answered_in_envelopes)
{
    play("envelopes");
}

Test(calls, come_as_invocations)
{
    play("invocations");
}
