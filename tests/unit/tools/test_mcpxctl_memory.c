/*
 * What breaks for whom: memory runs out while somebody decides on a proposal, and half of a story
 * is taken for all of it. Every allocation fails once; nothing leaks, and every failure shows.
 */
#include "tests/support/fault_alloc.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/line.h"
#include "tools/mcpxctl/core/message.h"

#include <criterion/criterion.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const story[] = {
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"p\",\"from\":\"agent\",\"to\":[\"f\\u0073\"],"
    "\"kind\":\"mcp/proposal:x\",\"payload\":{\"method\":\"x\",\"params\":{\"a\":1}}}",
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"r\",\"from\":\"ann\",\"to\":[\"fs\"],"
    "\"correlation_id\":\"p\",\"kind\":\"mcp/request:x\",\"payload\":{\"jsonrpc\":\"2.0\","
    "\"id\":1,\"method\":\"x\",\"params\":{\"a\":1}}}",
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"s\",\"from\":\"fs\",\"to\":[\"ann\"],"
    "\"correlation_id\":\"r\",\"kind\":\"mcp/response:x\",\"payload\":{\"jsonrpc\":\"2.0\","
    "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"d\\u0061ne\"}]}}}",
};

static enum mcpx_err tell(struct mcpx_text *out)
{
    struct ledger ledger = {.count = 0};
    struct chain chain = {.count = 0};
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err = MCPX_OK;

    for (size_t i = 0; !err && i < LENGTH(story); i++) {
        struct entry *entry = NULL;

        err = entry_new(mcpx_slice_of(story[i]), &fault, &entry);
        if (!err)
            err = ledger_add(&ledger, entry);
    }
    if (!err)
        err = ledger_seal(&ledger);
    if (!err)
        err = chain_of(&ledger, ledger.entries[0], &chain);
    if (!err) {
        chain_write(out, &ledger, &chain, true);
        chain_write_json(out, &chain);
        line_write(out, ledger.entries[2], &(struct line_style){true, false, 80, 8, NULL, 0},
                   NULL);
        result_write(out, mcpx_json_get(ledger.entries[2]->payload, "result"), false);
    }
    chain_fini(&chain);
    ledger_fini(&ledger);
    return err;
}

Test(mcpxctl_memory, every_failure_shows)
{
    struct mcpx_text whole = {0};
    size_t nth = 0;
    bool failed;

    cr_assert_eq(tell(&whole), MCPX_OK);
    cr_assert_not(whole.failed);
    do {
        struct mcpx_text out = {0};
        enum mcpx_err err;

        fault_alloc_arm(++nth);
        err = tell(&out);
        failed = fault_alloc_disarm();
        if (failed)
            cr_expect(err == MCPX_ENOMEM || out.failed || out.len == whole.len,
                      "allocation %zu failed unseen", nth);
        else
            cr_expect(err == MCPX_OK && out.len == whole.len);
        mcpx_text_fini(&out);
    } while (failed);
    cr_expect_gt(nth, 10);
    mcpx_text_fini(&whole);
}
