/*
 * contracts.c - documents judged by their contracts; and what a schema cannot say of a tool: that
 * its own two schemas are usable.
 *
 * A contract is compiled when it is first asked for and kept. To ask the shelf for each document
 * would mean to find the fingerprint of the same text again and again.
 */
#include <mcpx/contract.h>

#include <mcpx/json.h>

#include <stdlib.h>

/*
 * schemas   compiled, by contract; NULL: not yet
 * inner     what was found in a tool's schema
 * texts     of the errors that are told of it, one behind the other
 */
struct mcpx_contracts {
    struct mcpx_shelf *shelf;
    struct mcpx_schema *schemas[MCPX_CONTRACT_COUNT];
    struct mcpx_schema_report inner;
    struct mcpx_text texts;
};

struct mcpx_contracts *mcpx_contracts_new(struct mcpx_shelf *shelf)
{
    struct mcpx_contracts *contracts = calloc(1, sizeof *contracts);

    if (contracts)
        contracts->shelf = shelf;
    return contracts;
}

void mcpx_contracts_free(struct mcpx_contracts *contracts)
{
    if (!contracts)
        return;
    for (int contract = 0; contract < MCPX_CONTRACT_COUNT; contract++)
        mcpx_schema_unref(contracts->schemas[contract]);
    mcpx_schema_report_fini(&contracts->inner);
    mcpx_text_fini(&contracts->texts);
    free(contracts);
}

/* Errors of a tool's schema, added to those of the document: the path begins at the document.
   Slices have their lengths at once and their places when all texts are there. */
static void tell(struct mcpx_contracts *contracts, const char *member,
                 struct mcpx_schema_report *report)
{
    struct mcpx_text *texts = &contracts->texts;

    for (size_t i = 0; i < contracts->inner.count && report->count < MCPX_SCHEMA_ERRORS_MAX;
         i++) {
        const struct mcpx_schema_error *found = &contracts->inner.errors[i];
        size_t before = texts->len;

        mcpx_text_puts(texts, member);
        mcpx_text_slice(texts, found->path);
        report->errors[report->count++] = (struct mcpx_schema_error){
            .path.len = texts->len - before,
            .keyword.len = found->keyword.len,
            .message.len = found->message.len,
        };
        mcpx_text_slice(texts, found->keyword);
        mcpx_text_slice(texts, found->message);
    }
}

static void place(const struct mcpx_text *texts, struct mcpx_schema_report *report)
{
    const char *at = texts->text;

    for (size_t i = 0; i < report->count; i++) {
        struct mcpx_schema_error *error = &report->errors[i];

        error->path.text = at;
        error->keyword.text = error->path.text + error->path.len;
        error->message.text = error->keyword.text + error->keyword.len;
        at = error->message.text + error->message.len;
    }
}

/* Whether the schemas of a tool, whose document is valid, are usable. */
static enum mcpx_err judge_tool(struct mcpx_contracts *contracts, struct mcpx_slice text,
                                struct mcpx_schema_report *report)
{
    static const char *const members[] = {"/inputSchema", "/outputSchema"};

    mcpx_text_reset(&contracts->texts);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct mcpx_slice schema = mcpx_json_get(text, members[i] + 1);
        struct mcpx_schema *compiled = NULL;
        enum mcpx_err err = schema.text ? mcpx_schema_compile(contracts->shelf, schema, NULL,
                                                              &contracts->inner, &compiled)
                                        : MCPX_OK;

        mcpx_schema_unref(compiled);
        if (err == MCPX_EINVALID)
            tell(contracts, members[i], report);
        else if (err)
            return err;
    }
    if (contracts->texts.failed)
        return MCPX_ENOMEM;
    if (report->count == 0)
        return MCPX_OK;
    place(&contracts->texts, report);
    report->verdict = MCPX_VERDICT_INVALID;
    return MCPX_EINVALID;
}

enum mcpx_err mcpx_contracts_validate(struct mcpx_contracts *contracts,
                                      enum mcpx_contract contract, struct mcpx_slice text,
                                      struct mcpx_schema_report *report)
{
    enum mcpx_err err = MCPX_OK;

    if ((unsigned)contract >= MCPX_CONTRACT_COUNT)
        return MCPX_EINVALID;
    if (!contracts->schemas[contract])
        err = mcpx_schema_compile(contracts->shelf, mcpx_contract_schema(contract), NULL,
                                  report, &contracts->schemas[contract]);
    if (!err)
        err = mcpx_schema_validate(contracts->schemas[contract], text, report);
    if (!err && contract == MCPX_CONTRACT_TOOL)
        err = judge_tool(contracts, text, report);
    return err;
}
