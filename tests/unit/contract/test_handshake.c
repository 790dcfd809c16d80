/*
 * What breaks for whom: a client asks which tools there are and who answers for them, and is told
 * something else than what the server offers; or a release is stopped by a handshake that has other
 * bytes today than yesterday.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <mcpx/json.h>
#include <mcpx/record.h>

#include <criterion/criterion.h>
#include <stdlib.h>

#define T(literal)                                                                            \
    {                                                                                         \
        (literal), sizeof(literal) - 1                                                        \
    }

static const struct mcpx_namespace known[] = {
    {T("mcp.capabilities"), T("2.0"), T("platform"), {NULL, 0}},
    {T("billing.aws"), {NULL, 0}, T("cloud-team"), {NULL, 0}},
    {T("billing"), T("1.0"), T("integration-team"), T("phase-1-stub")},
    {T("empty"), {NULL, 0}, {NULL, 0}, {NULL, 0}},
};

static const struct mcpx_namespaces namespaces = {known, COUNT(known), T("sums")};

static const struct mcpx_slice tools[] = {
    T("get-sum"),        T("billing.run"), T("billing.aws.ingest"),
    T("billing.awsome"), T("other.tool"),  T("billing.run"),
    T("billing"),
};

static const struct mcpx_alias aliases[] = {
    {T("old_run"), T("billing.run")},
    {T("finops.get-sum"), T("get-sum")},
};

static const struct mcpx_slice flags[] = {T("mcp_v2"), T("alias")};

static const struct mcpx_handshake full = {
    .mcp_version = T("2.0"),
    .schema_version = T("2026-03-01"),
    .flags = flags,
    .flag_count = COUNT(flags),
    .namespaces = {known, COUNT(known), T("sums")},
    .tools = tools,
    .tool_count = COUNT(tools),
    .aliases_enabled = true,
    .alias_namespace = T("finops"),
    .fixture_version = T("1.0"),
    .aliases = aliases,
    .alias_count = COUNT(aliases),
};

static const char expected[] =
    "{\"mcpVersion\":\"2.0\",\"schemaVersion\":\"2026-03-01\",\"toolNamespaces\":["
    "{\"namespace\":\"billing\",\"version\":\"1.0\",\"tools\":[\"billing.awsome\","
    "\"billing.run\"],\"ownerTeam\":\"integration-team\",\"stability\":\"phase-1-stub\"},"
    "{\"namespace\":\"billing.aws\",\"version\":\"0.0\",\"tools\":[\"billing.aws.ingest\"],"
    "\"ownerTeam\":\"cloud-team\",\"stability\":\"unspecified\"},"
    "{\"namespace\":\"empty\",\"version\":\"0.0\",\"tools\":[],\"ownerTeam\":\"unowned\","
    "\"stability\":\"unspecified\"},"
    "{\"namespace\":\"mcp.capabilities\",\"version\":\"2.0\","
    "\"tools\":[\"mcp.capabilities.get\"],\"ownerTeam\":\"platform\","
    "\"stability\":\"unspecified\"},"
    "{\"namespace\":\"other\",\"version\":\"0.0\",\"tools\":[\"other.tool\"],"
    "\"ownerTeam\":\"unowned\",\"stability\":\"unspecified\"},"
    "{\"namespace\":\"sums\",\"version\":\"0.0\",\"tools\":[\"billing\",\"get-sum\"],"
    "\"ownerTeam\":\"unowned\",\"stability\":\"unspecified\"}],"
    "\"compatibility\":{\"legacyAliasesEnabled\":true,\"aliasNamespace\":\"finops\","
    "\"parityFixtureVersion\":\"1.0\",\"aliases\":["
    "{\"alias\":\"finops.get-sum\",\"canonical\":\"get-sum\"},"
    "{\"alias\":\"old_run\",\"canonical\":\"billing.run\"}]},"
    "\"featureFlags\":[\"mcp_v2\",\"alias\"]}";

static void expect_valid(struct mcpx_slice handshake)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_contracts *contracts = mcpx_contracts_new(shelf);
    struct mcpx_schema_report report = {0};

    cr_expect_eq(
        mcpx_contracts_validate(contracts, MCPX_CONTRACT_CAPABILITIES, handshake, &report),
        MCPX_OK, "%.1000s", handshake.text);
    mcpx_schema_report_fini(&report);
    mcpx_contracts_free(contracts);
    mcpx_shelf_free(shelf);
}

static void expect_handshake(const struct mcpx_handshake *handshake, const char *text)
{
    mx_scoped_text out = {0};

    cr_assert_eq(mcpx_handshake_add(&out, handshake), MCPX_OK);
    if (text)
        cr_expect_str_eq(out.text, text);
    expect_valid(mcpx_text_view(&out));
}

Test(handshake, R004_1_2_4_lists_the_live_tools_and_who_answers_for_them)
{
    expect_handshake(&full, expected);
}

Test(handshake, R004_2_is_the_same_whatever_the_order_of_what_it_is_made_of)
{
    struct mcpx_slice turned_tools[COUNT(tools)];
    struct mcpx_namespace turned_known[COUNT(known)];
    struct mcpx_alias turned_aliases[COUNT(aliases)];
    struct mcpx_handshake turned = full;

    for (size_t i = 0; i < COUNT(tools); i++)
        turned_tools[i] = tools[COUNT(tools) - 1 - i];
    for (size_t i = 0; i < COUNT(known); i++)
        turned_known[i] = known[COUNT(known) - 1 - i];
    for (size_t i = 0; i < COUNT(aliases); i++)
        turned_aliases[i] = aliases[COUNT(aliases) - 1 - i];
    turned.tools = turned_tools;
    turned.namespaces.list = turned_known;
    turned.aliases = turned_aliases;
    expect_handshake(&turned, expected);
}

/* R004-3: it is listed only where somebody answers for it; R004-11: aliases that are off. */
Test(handshake, R004_3_11_of_little_says_little)
{
    struct mcpx_handshake little = {.mcp_version = MCPX_SLICE("2.0"),
                                    .schema_version = MCPX_SLICE("2026-03-01"),
                                    .namespaces = {NULL, 0, MCPX_SLICE("sums")},
                                    .aliases = aliases,
                                    .alias_count = COUNT(aliases)};

    expect_handshake(&little,
                     "{\"mcpVersion\":\"2.0\",\"schemaVersion\":\"2026-03-01\","
                     "\"toolNamespaces\":[],\"compatibility\":{\"legacyAliasesEnabled\":false,"
                     "\"aliasNamespace\":\"\",\"parityFixtureVersion\":\"\"},"
                     "\"featureFlags\":[]}");
    little.aliases_enabled = true;
    little.alias_count = 0;
    expect_handshake(&little,
                     "{\"mcpVersion\":\"2.0\",\"schemaVersion\":\"2026-03-01\","
                     "\"toolNamespaces\":[],\"compatibility\":{\"legacyAliasesEnabled\":true,"
                     "\"aliasNamespace\":\"\",\"parityFixtureVersion\":\"\",\"aliases\":[]},"
                     "\"featureFlags\":[]}");
}

Test(handshake, R004_2_a_tool_belongs_to_the_longest_namespace_before_a_dot)
{
    static const struct {
        struct mcpx_slice tool;
        const char *namespace;
    } rows[] = {
        {T("billing.run"), "billing"},
        {T("billing.aws"), "billing"},
        {T("billing.aws.ingest"), "billing.aws"},
        {T("billing.awsome"), "billing"},
        {T("billing."), "billing"},
        {T("billing"), "sums"},
        {T("Billing.run"), "Billing"},
        {T("mcp.capabilities.get"), "mcp.capabilities"},
        {T("mcp.other"), "mcp"},
        {T("a.b.c"), "a"},
        {T(".hidden"), "sums"},
        {T("."), "sums"},
        {T(""), "sums"},
        {{NULL, 0}, "sums"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice found = mcpx_namespace_of(&namespaces, rows[i].tool);

        cr_expect(mcpx_slice_equal(found, mcpx_slice_of(rows[i].namespace)), "%s: %.*s",
                  rows[i].namespace, (int)found.len, found.text);
    }
}

/* Names of tools are the server's, and it need not mean well. */
Test(handshake, R004_1_keeps_its_contract_whatever_tools_are_called)
{
    static struct mcpx_slice names[] = {
        {"\"],\"ownerTeam\":\"", 16},
        {"\0.\x01\n\x7f", 5},
        {"", 0},
        {".", 1},
        {"..", 2},
        {"\xf0\x9f\x98\x80.\xe2\x80\xa8", 8},
        {"a\\", 2},
        {NULL, 1 << 20},
    };
    char *huge = malloc(1 << 20);
    struct mcpx_handshake hostile = full;

    cr_assert_not_null(huge);
    memset(huge, '.', 1 << 20);
    names[COUNT(names) - 1].text = huge;
    hostile.tools = names;
    hostile.tool_count = COUNT(names);
    expect_handshake(&hostile, NULL);
    hostile.namespaces = (struct mcpx_namespaces){NULL, 0, {NULL, 0}};
    expect_handshake(&hostile, NULL);
    free(huge);
}

Test(handshake, without_memory_there_is_none)
{
    struct mcpx_text out = {0};
    enum mcpx_err err = MCPX_ENOMEM;

    FAULT_ALLOC_EACH(nth, 4) {
        fault_alloc_arm(0);
        mcpx_text_fini(&out);
        mcpx_text_puts(&out, "before ");
        fault_alloc_arm(nth);
        err = mcpx_handshake_add(&out, &full);
        if (err) {
            cr_expect_eq(err, MCPX_ENOMEM);
            cr_expect_str_eq(out.text, "before ");
        }
    }
    cr_expect_eq(err, MCPX_OK);
    mcpx_text_fini(&out);
}
