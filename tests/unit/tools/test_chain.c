/*
 * What breaks for whom: a person believes that a proposal was carried out unchanged, takes a
 * stranger's answer for the server's, or approves what was done already.
 */
#include "lib/base/scoped.h"
#include "tests/support/rows.h"
#include "tools/mcpxctl/core/chain.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct line {
    char name[32], id[8], about[8], from[16], to[32], kind[64], payload[256];
} known[100];

static void learn(char *const row[ROW_COLUMNS])
{
    struct line *line = known;
    int words;

    while (line->name[0])
        line++;
    words = sscanf(row[0], "%31s %7s %7s %15s %31s %63s", line->name, line->id, line->about,
                   line->from, line->to, line->kind);
    cr_assert_eq(words, 6, "%s", row[0]);
    snprintf(line->payload, sizeof line->payload, "%s", row[1]);
}

static const struct line *find(const char *name)
{
    const struct line *line = known;

    while (line->name[0] && strcmp(line->name, name) != 0)
        line++;
    cr_assert(line->name[0], "no envelope is called %s", name);
    return line;
}

static void add(struct snapshot *snapshot, const struct line *line)
{
    char text[1024], to[64] = "", about[64] = "";
    struct mcpx_fault fault = {"", "", 0};
    struct entry *entry = NULL;

    if (*line->to != '-')
        snprintf(to, sizeof to, "\"to\":[\"%s\"],", line->to);
    if (*line->about != '-')
        snprintf(about, sizeof about, "\"correlation_id\":\"%s\",", line->about);
    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"ts\":\"2026-11-22T03:00:%02zuZ\","
             "\"from\":\"%s\",%s%s\"kind\":\"%s\",\"payload\":%s}",
             line->id, snapshot->count, line->from, to, about, line->kind, line->payload);
    cr_assert_eq(entry_new(mcpx_slice_of(text), &fault, &entry), MCPX_OK, "%s: %s",
                 fault.reason, text);
    snapshot_add(snapshot, entry);
}

/* The envelopes of a row, up to a question mark. */
static void fill(struct snapshot *snapshot, const char *names)
{
    char name[32];
    int len;

    if (!known[0].name[0])
        rows_each("tools/rows/chain", "envelopes", learn);
    for (; sscanf(names, "%31s%n", name, &len) == 1 && *name != '?'; names += len)
        add(snapshot, find(name));
    snapshot_seal(snapshot);
}

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

static void expect_chain(char *const row[ROW_COLUMNS])
{
    struct snapshot snapshot = {.count = 0};
    const char *asked = strchr(row[0], '?') + 2;
    struct chain chain;
    char brief[512];

    fill(&snapshot, row[0]);
    chain = chain_of(&snapshot, snapshot_get(&snapshot, mcpx_slice_of(asked)));
    write_brief(&chain, brief, sizeof brief);
    cr_expect_str_eq(brief, row[1], "%s: %s", row[0], brief);
    chain_fini(&chain);
    snapshot_fini(&snapshot);
}

Test(chain, tells_what_became_of_it)
{
    rows_each("tools/rows/chain", "chains", expect_chain);
}

Test(chain, walks_no_circle)
{
    struct snapshot snapshot = {.count = 0};

    fill(&snapshot, "circle-a circle-b circle-c");
    for (size_t i = 0; i < snapshot.count; i++) {
        struct chain chain = chain_of(&snapshot, snapshot.entries[i]);

        cr_expect_leq(chain.count, 2);
        chain_fini(&chain);
    }
    snapshot_fini(&snapshot);
}

Test(chain, is_written_for_people_and_for_programs)
{
    struct snapshot snapshot = {.count = 0};
    struct chain chain;
    mx_scoped_text people = {0}, programs = {0};

    setenv("TZ", "UTC", 1);
    fill(&snapshot, "proposal changed failure");
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
                 "\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"w\"}}}",
                 i + 1, i);
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
