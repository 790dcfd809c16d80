/*
 * What breaks for whom: everybody who builds against docs/protocol.md and finds that the router
 * does something else. The page itself is the test data: its tables are read and each row is put
 * to the router, so a row that is written down is tested. Protocol: sections 1 to 7.
 */
#include "router/store/commit/submission.h"
#include "tests/conformance/page.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <mcpx/rpc.h>

#include <criterion/criterion.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(protocol, .fini = world_end);

/* ---- section 2: the CONTEXT table ---- */

/* Sets params.a.b, given as "params.a.b", in a message. */
static void set_path(json_t *message, const char *path, const char *value)
{
    const char *dot = strchr(path, '.');
    char name[64];
    json_t *inner;

    if (!dot) {
        json_object_set_new(message, path, json_string(value));
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    inner = json_object_get(message, name);
    if (!json_is_object(inner)) {
        json_object_set_new(message, name, json_object());
        inner = json_object_get(message, name);
    }
    set_path(inner, dot + 1, value);
}

/* A message whose params hold something under every name that any method takes a context from. */
static json_t *message_of(const char *method)
{
    return json_pack("{s:i, s:s, s:{s:s, s:s, s:s, s:{s:s, s:s, s:s}}}", "id", 1, "method",
                     method, "params", "name", "decoy", "uri", "decoy", "taskId", "decoy",
                     "ref", "type", "decoy", "name", "decoy", "uri", "decoy");
}

static void expect_kind(json_t *message, const char *expected)
{
    char *text = json_dumps(message, 0), kind[MCPX_KIND_MAX + 1] = "none";
    struct mcpx_kind parsed;
    struct mcpx_rpc rpc;

    cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(text), &rpc, NULL), MCPX_OK, "%s", text);
    cr_expect_eq(mcpx_rpc_kind(&rpc, "mcp/request", kind), MCPX_OK, "%s", text);
    cr_expect_str_eq(kind, expected, "%s has the kind %s, not %s", text, kind, expected);
    cr_expect_eq(mcpx_kind_parse(mcpx_slice_of(expected), &parsed, NULL), MCPX_OK);
    cr_expect_eq(mcpx_rpc_agrees(&rpc, &parsed, NULL), MCPX_OK, "%s", text);
    free(text);
    json_decref(message);
}

/* One row: `method`, `method` or `method` where `params.x` is `y`, and the member's path. */
static int expect_contexts(char *methods, const char *path)
{
    char *where = strstr(methods, " where "), *method;
    char expected[256], *condition = NULL, *value = NULL;
    int count = 0;

    if (where) {
        *where++ = '\0';
        condition = page_next_code(&where);
        value = page_next_code(&where);
        cr_assert(condition && value);
    }
    while ((method = page_next_code(&methods))) {
        json_t *message = message_of(method);

        set_path(message, path, "what:it/is");
        if (condition)
            set_path(message, condition, value);
        snprintf(expected, sizeof expected, "mcp/request:%s:what:it/is", method);
        expect_kind(message, expected);
        count++;
    }
    return count;
}

Test(protocol, section_2_contexts_come_from_where_the_table_says)
{
    static const char *const others[] = {
        "initialize",
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "logging/setLevel",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "completion/complete",
        "tasks/list",
        "server/discover",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/message",
        "notifications/tools/list_changed",
        "notifications/resources/list_changed",
        "notifications/elicitation/complete",
    };
    char *rest = page_rows_of("| METHOD | CONTEXT |");
    char *cells[PAGE_CELLS], *path, expected[256];
    int methods = 0;

    while (page_next_row(&rest, cells) == 2 && (path = page_next_code(&cells[1])))
        methods += expect_contexts(cells[0], path);
    cr_expect_eq(methods, 15, "%d methods were found", methods);
    cr_expect_not_null(strstr(cells[0], "every other method"), "%s", cells[0]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(expected, sizeof expected, "mcp/request:%s", others[i]);
        expect_kind(message_of(others[i]), expected);
    }
}

static bool covers(const char *pattern, const char *text)
{
    struct mcpx_grant grant = {.pattern = mcpx_slice_of(pattern)};
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind};
    struct mcpx_capset *set;
    bool answer;

    cr_assert_eq(mcpx_capset_new(&grant, 1, NULL, 0, NULL, NULL, &set), MCPX_OK, "%s",
                 pattern);
    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK, "%s", text);
    answer = mcpx_capset_allows(set, &question);
    mcpx_capset_unref(set);
    return answer;
}

Test(protocol, section_3_patterns_cover_what_the_table_says)
{
    char *rest = page_rows_of("| pattern | covers | does not cover |");
    char *cells[PAGE_CELLS], *pattern, *kind;
    int rows = 0;

    while (page_next_row(&rest, cells) == 3) {
        pattern = page_next_code(&cells[0]);
        cr_assert_not_null(pattern);
        while ((kind = page_next_code(&cells[1])))
            cr_expect(covers(pattern, kind), "%s should cover %s", pattern, kind);
        while ((kind = page_next_code(&cells[2])))
            cr_expect_not(covers(pattern, kind), "%s should not cover %s", pattern, kind);
        rows++;
    }
    cr_expect_geq(rows, 13, "only %d rows were found", rows);
}

/* The members of an envelope that has all of them, one by one replaced or taken out. */
static char *envelope_without(const char *field, json_t *instead)
{
    json_t *envelope = json_pack("{s:s, s:s, s:s, s:s, s:[s], s:s, s:s, s:{}}", "protocol",
                                 "mcpx/v0.1", "id", "m", "ts", "t", "from", "alice", "to",
                                 "bob", "kind", "chat", "correlation_id", "c", "payload");
    char *text;

    cr_assert_not_null(envelope);
    cr_assert_not_null(json_object_get(envelope, field), "%s is no field of ours", field);
    if (instead)
        json_object_set_new(envelope, field, instead);
    else
        json_object_del(envelope, field);
    text = json_dumps(envelope, 0);
    json_decref(envelope);
    return text;
}

static enum mcpx_err said(const char *field, json_t *instead)
{
    struct world *w = world_new();
    char *text = envelope_without(field, instead);
    enum mcpx_err err;

    world_joins(w, "alice", "chat");
    err = world_says_bytes(w, "alice", text, strlen(text));
    free(text);
    return err;
}

Test(protocol, section_1_fields_are_required_or_not_and_have_their_types)
{
    char *rest = page_rows_of("| field | at ingress | rule |");
    char *cells[PAGE_CELLS], *field;
    int rows = 0;

    while (page_next_row(&rest, cells) == 3 && (field = page_next_code(&cells[0]))) {
        bool required = strstr(cells[1], "required") != NULL;

        cr_expect_eq(said(field, NULL), required ? MCPX_EINVALID : MCPX_OK,
                     "an envelope without %s", field);
        cr_expect_eq(said(field, json_integer(1)), MCPX_EINVALID, "%s: 1", field);
        cr_expect_eq(said(field, json_null()), MCPX_EINVALID, "%s: null", field);
        cr_expect_eq(said(field, json_true()), MCPX_EINVALID, "%s: true", field);
        rows++;
    }
    cr_expect_eq(rows, 8, "%d fields were found", rows);
}

/* ---- section 6: alice provokes each error of the table and reads its answer ---- */

static void provoke_invalid(struct world *w)
{
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"a::b\"}");
}

static void provoke_auth(struct world *w)
{
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"chat\",\"from\":\"bob\"}");
}

static void provoke_capability(struct world *w)
{
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"mcp/request:tools/call:rm\"}");
}

static void provoke_duplicate(struct world *w)
{
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"chat\"}");
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"chat\"}");
}

static void provoke_rate(struct world *w)
{
    char text[64];

    for (int i = 0; i <= 200; i++) {
        snprintf(text, sizeof text, "{\"id\":\"x%d\",\"kind\":\"chat\"}", i);
        world_says(w, "alice", text);
    }
}

static void provoke_slow(struct world *w)
{
    world_joins(w, "bob", "*");
    world_stalls(w, "alice");
    for (unsigned i = 0; i < 20; i++) {
        world_says_long(w, "bob", i, 130000);
        world_skip(w);
    }
    world_reads_on(w, "alice");
}

/* Nobody reads: more and more is still to be read. */
static void provoke_no_room(struct world *w)
{
    for (unsigned i = 0; i < 6; i++)
        world_says_long(w, "alice", i, 900000);
}

/* In a hub whose messages are stored: the store refuses one. */
static void reject_a_message(struct world *w, enum mcpx_err err)
{
    struct rejection rejection = {.err = err, .retry_ms = 1000, .certain = true};
    struct task task;

    while (hub_next_task(world_hub(w), &task)) /* that alice has come */
        hub_commit(world_hub(w), task.ticket, world_now(w));
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"chat\"}");
    cr_assert(hub_next_task(world_hub(w), &task));
    hub_reject(world_hub(w), task.ticket, &rejection, world_now(w));
}

static const struct {
    const char *error;
    void (*provoke)(struct world *w);
    bool has_correlation;
    enum mcpx_err rejection; /* by the store */
} provocations[] = {
    {"invalid_envelope", provoke_invalid, true, MCPX_OK},
    {"auth_violation", provoke_auth, true, MCPX_OK},
    {"capability_violation", provoke_capability, true, MCPX_OK},
    {"rate_limited", provoke_rate, true, MCPX_OK},
    {"no_room", provoke_no_room, true, MCPX_OK},
    {"unavailable", NULL, true, MCPX_EUNAVAILABLE},
    {"share_used", NULL, true, MCPX_ESHARE},
    {"duplicate_id", provoke_duplicate, true, MCPX_OK},
    {"slow_consumer", provoke_slow, false, MCPX_OK},
};

static bool is_reason(const char *name)
{
    for (int refusal = MCPX_ALLOWED + 1; refusal <= MCPX_RESERVED_NAMESPACE; refusal++)
        if (strcmp(mcpx_refusal_wire((enum mcpx_refusal)refusal), name) == 0)
            return true;
    return false;
}

/* The answer to a provocation, as alice read it. */
static json_t *answer_to(const char *error)
{
    struct hub_config config = hub_config_default();
    struct world *w;
    json_t *answer = NULL;

    config.messages_per_minute = 200;
    config.history_bytes = config.backlog_bytes = 1000000;
    config.log_bytes = 4000000;
    config.needs_commit = !strcmp(error, "unavailable") || !strcmp(error, "share_used");
    w = world_with(&config);
    world_joins(w, "alice", "chat mcp/proposal:*");
    for (size_t i = 0; i < sizeof provocations / sizeof *provocations; i++) {
        if (strcmp(provocations[i].error, error) != 0)
            continue;
        if (provocations[i].provoke)
            provocations[i].provoke(w);
        else
            reject_a_message(w, provocations[i].rejection);
        world_skip(w);
        answer = json_loads(world_last_error(w, "alice"), 0, NULL);
        cr_expect_eq(json_object_get(answer, "correlation_id") != NULL,
                     provocations[i].has_correlation, "%s", error);
    }
    return answer;
}

/* Each `code` of the last column is a member of the answer, but for the reasons listed there. */
static int expect_members(const char *error, char *cell)
{
    json_t *answer = answer_to(error);
    json_t *payload = json_object_get(answer, "payload");
    const char *said = json_string_value(json_object_get(payload, "error"));
    char *code;
    int reasons = 0;

    cr_expect_str_eq(said ? said : "nothing", error,
                     "%s was answered with %s; what provokes it is a row of `provocations`",
                     error, said ? said : "nothing");
    cr_expect_not_null(json_object_get(payload, "message"), "%s", error);
    while ((code = page_next_code(&cell))) {
        reasons += is_reason(code);
        if (!is_reason(code) && !strchr(code, '/'))
            cr_expect_not_null(json_object_get(payload, code), "%s has no %s", error, code);
    }
    json_decref(answer);
    return reasons;
}

/* ---- section 5: who tells a place ---- */

static void tell_welcome(struct world *w)
{
    world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_joins(w, "bob", ""); /* with history; its own join is not in the same write */
    world_reads_once(w, "bob");
    world_drops(w, "bob");
}

static void tell_presence(struct world *w)
{
    world_joins(w, "bob", "");
    world_joins(w, "carol", "");
}

static void tell_position(struct world *w)
{
    char text[100];

    world_joins(w, "bob", "");
    world_skip(w);
    for (int i = 0; i < 600; i++) { /* history holds a thousand */
        snprintf(text, sizeof text, "{\"id\":\"m%d\",\"kind\":\"chat\"}", i);
        cr_assert_eq(world_says(w, "alice", text), MCPX_OK);
    }
}

Test(protocol, section_5_the_messages_of_the_table_tell_a_place)
{
    static const struct {
        const char *kind;
        void (*tell)(struct world *);
    } ways[] = {{"system/welcome", tell_welcome},
                {"system/presence", tell_presence},
                {"system/position", tell_position}};
    char *rest = page_rows_of("| message | what `serial` is |");
    char *cells[PAGE_CELLS];
    size_t rows = 0;

    for (; page_next_row(&rest, cells) == 2; rows++) {
        struct world *w = world_new();
        json_t *told, *topic;

        cr_assert_lt(rows, sizeof ways / sizeof *ways);
        cr_expect_str_eq(page_next_code(&cells[0]), ways[rows].kind);
        world_joins(w, "alice", "chat");
        ways[rows].tell(w);
        world_skip(w);
        told = json_loads(world_told(w, "bob"), 0, NULL);
        cr_assert_not_null(told, "nothing of %s", ways[rows].kind);
        cr_expect_str_eq(json_string_value(json_object_get(told, "kind")), ways[rows].kind);
        topic = json_object_get(json_object_get(told, "payload"), "topic");
        cr_expect_eq(json_string_length(json_object_get(topic, "epoch")), 32);
        cr_expect(json_is_integer(json_object_get(topic, "serial")));
        json_decref(told);
    }
    cr_expect_eq(rows, sizeof ways / sizeof *ways);
}

/* ---- sections 6 and 7: the tables ---- */

Test(protocol, section_6_errors_are_answered_with_the_members_the_table_names)
{
    char *rest = page_rows_of("| `error` | when | extra members |");
    char *cells[PAGE_CELLS], *error;
    int rows = 0, reasons = 0;

    while (page_next_row(&rest, cells) == 3) {
        error = page_next_code(&cells[0]);
        cr_assert_not_null(error);
        reasons += expect_members(error, cells[2]);
        rows++;
    }
    cr_expect_eq(rows, 9, "%d errors were found", rows);
    cr_expect_eq(reasons, 5, "%d reasons were found", reasons);
}

static void expect_again(long code, const char *cell)
{
    static const char *const words[] = {" yes ", " token ", " instance ", " no "};

    cr_expect_str_eq(cell, words[mcpx_error_again((int)code)],
                     "docs/protocol.md says%sto whether one connects again after %ld; "
                     "include/mcpx/error.h says%s",
                     cell, code, words[mcpx_error_again((int)code)]);
}

Test(protocol, section_7_statuses_say_whether_to_connect_again)
{
    char *rest = page_rows_of("| status | again (§6) | `code` | when |");
    char *cells[PAGE_CELLS];
    int rows = 0;

    for (; page_next_row(&rest, cells) == 4; rows++)
        expect_again(strtol(cells[0], NULL, 10), cells[1]);
    cr_expect_geq(rows, 9, "%d statuses were found", rows);
}

/*
 * One row: its number and each of its names are those of an error. Notes which errors were found,
 * and returns how many.
 */
static int expect_names(long code, char *cell, bool has_row[MCPX_ERR_COUNT])
{
    char *name;
    int found = 0;

    while ((name = page_next_code(&cell))) {
        bool known = false;

        for (int err = MCPX_OK + 1; err < MCPX_ERR_COUNT; err++) {
            if (mcpx_error_close((enum mcpx_err)err) != code ||
                strcmp(mcpx_error_wire((enum mcpx_err)err), name) != 0)
                continue;
            known = has_row[err] = true;
            found++;
        }
        cr_expect(known,
                  "docs/protocol.md, section 6: no error of include/mcpx/error.h closes with "
                  "%ld and is called %s",
                  code, name);
    }
    return found;
}

/* Each row's number and names are in the table of errors, and those of that table have a row. */
Test(protocol, section_6_close_codes_are_the_ones_the_router_uses)
{
    char *rest = page_rows_of("| close code | again | name | when |");
    char *cells[PAGE_CELLS];
    bool has_row[MCPX_ERR_COUNT] = {false};
    int codes = 0;

    for (; page_next_row(&rest, cells) == 4; codes++) {
        long code = strtol(cells[0], NULL, 10);

        expect_again(code, cells[1]);
        cr_expect_gt(expect_names(code, cells[2], has_row), 0,
                     "docs/protocol.md, section 6: %ld has no name", code);
    }
    cr_expect_geq(codes, 12, "%d codes were found", codes);
    for (int err = MCPX_OK + 1; err < MCPX_ERR_COUNT; err++)
        cr_expect(has_row[err] || !mcpx_error_close((enum mcpx_err)err),
                  "docs/protocol.md, section 6: the table of close codes lacks %d `%s`",
                  mcpx_error_close((enum mcpx_err)err), mcpx_error_wire((enum mcpx_err)err));
}
