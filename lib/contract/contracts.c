/*
 * contracts.c - the contracts by name, validation by them, the two tables of errors, and the names
 * of forms and tiers. All tables are macros of public headers. The build puts each file of schemas/
 * into the library. Each file is a whole contract but for one rule beyond schemas: a tool's own two
 * schemas must be usable.
 *
 * A contract is compiled at its first use and kept. Rejected: the shelf for each document, because
 * it computes the fingerprint of the same text again and again.
 */
#include <mcpx/contract.h>

#include "lib/json/json_write.h"
#include "lib/schema/library.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>
#include <mcpx/wrap.h>

#include <stdlib.h>

struct row {
    const char *name;
    enum mcpx_code breach;
};

#define ROW(constant, name, breach) [constant] = {name, breach},
static const struct row rows[MCPX_CONTRACT_COUNT] = {MCPX_CONTRACTS(ROW)};

/* Finds the row of a name; each of `count` rows of `size` bytes begins with one. An enum without
 * negative values is an unsigned int, so `out` may be one. */
static bool find_row(struct mcpx_slice name, const void *table, size_t size, unsigned count,
                     unsigned *out)
{
    const char *at;

    for (unsigned row = 0; row < count; row++) {
        memcpy(&at, (const char *)table + row * size, sizeof at);
        if (mcpx_slice_equal(name, mcpx_slice_of(at))) {
            *out = row;
            return true;
        }
    }
    return false;
}

const char *mcpx_contract_name(enum mcpx_contract contract)
{
    return (unsigned)contract < MCPX_CONTRACT_COUNT ? rows[contract].name : NULL;
}

bool mcpx_contract_find(struct mcpx_slice name, enum mcpx_contract *out)
{
    return find_row(name, rows, sizeof *rows, MCPX_CONTRACT_COUNT, out);
}

enum mcpx_code mcpx_contract_breach(enum mcpx_contract contract)
{
    return (unsigned)contract < MCPX_CONTRACT_COUNT ? rows[contract].breach
                                                    : MCPX_CODE_INTERNAL_ERROR;
}

/* The build lists them in the order of the enumerators. */
struct mcpx_slice mcpx_contract_schema(enum mcpx_contract contract)
{
    return (unsigned)contract < MCPX_CONTRACT_COUNT ? mx_contracts[contract].text
                                                    : (struct mcpx_slice){NULL, 0};
}

struct mcpx_contracts {
    struct mcpx_shelf *shelf;
    /* Compiled, by contract; NULL: not yet. */
    struct mcpx_schema *schemas[MCPX_CONTRACT_COUNT];
    struct mcpx_schema_report inner[2]; /* errors of a tool's two schemas */
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
    mcpx_schema_report_fini(&contracts->inner[0]);
    mcpx_schema_report_fini(&contracts->inner[1]);
    free(contracts);
}

/* Checks that the schemas of a tool with a valid document are usable. */
static enum mcpx_err judge_tool(struct mcpx_contracts *contracts, struct mcpx_slice text,
                                struct mcpx_schema_report *report)
{
    static const char *const paths[] = {"/inputSchema", "/outputSchema"};
    bool is_broken = false;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct mcpx_slice schema = mcpx_json_get(text, paths[i] + 1);
        struct mcpx_schema *compiled = NULL;
        enum mcpx_err err = schema.text ? mcpx_schema_compile(contracts->shelf, schema, NULL,
                                                              &contracts->inner[i], &compiled)
                                        : MCPX_OK;

        mcpx_schema_unref(compiled);
        if (err && err != MCPX_EINVALID)
            return err;
        is_broken = is_broken || err;
        if (!err)
            contracts->inner[i].count = 0;
    }
    return is_broken ? mx_report_parts(report, contracts->inner, paths, 2) : MCPX_OK;
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

struct code_row {
    const char *name;
    int status;
    int rpc;
    const char *message;
};

#define CODE_ROW(constant, name, status, rpc, message)                                        \
    [constant] = {name, status, rpc, message},
static const struct code_row codes[MCPX_CODE_COUNT] = {MCPX_CODES(CODE_ROW)};

struct cause_row {
    const char *name;
    enum mcpx_code code;
    const char *in_envelope;
    const char *in_response;
};

#define CAUSE_ROW(constant, name, code, envelope, response)                                   \
    [constant] = {name, code, envelope, response},
static const struct cause_row causes[MCPX_CAUSE_COUNT] = {MCPX_CAUSES(CAUSE_ROW)};

static const struct code_row *code_row(enum mcpx_code code)
{
    static const struct code_row none = {0};

    return (unsigned)code < MCPX_CODE_COUNT ? &codes[code] : &none;
}

static const struct cause_row *cause_row(enum mcpx_cause cause)
{
    static const struct cause_row none = {.code = MCPX_CODE_INTERNAL_ERROR};

    return (unsigned)cause < MCPX_CAUSE_COUNT ? &causes[cause] : &none;
}

const char *mcpx_code_name(enum mcpx_code code)
{
    return code_row(code)->name;
}

bool mcpx_code_find(struct mcpx_slice name, enum mcpx_code *out)
{
    return find_row(name, codes, sizeof *codes, MCPX_CODE_COUNT, out);
}

int mcpx_code_status(enum mcpx_code code)
{
    return code_row(code)->status;
}

int mcpx_code_rpc(enum mcpx_code code)
{
    return code_row(code)->rpc;
}

const char *mcpx_code_message(enum mcpx_code code)
{
    return code_row(code)->message;
}

bool mcpx_code_of_protocol(int64_t rpc, enum mcpx_code *out)
{
    if (rpc != -32700 && rpc != -32600 && rpc != -32601)
        return false;
    *out = rpc == -32601 ? MCPX_CODE_NOT_FOUND : MCPX_CODE_INVALID_INPUT;
    return true;
}

/* -32002 is "resource not found" in MCP until 2025-11-25. */
enum mcpx_code mcpx_code_of_server(int64_t rpc)
{
    if (rpc == -32602)
        return MCPX_CODE_INVALID_INPUT;
    return rpc == -32601 || rpc == -32002 ? MCPX_CODE_NOT_FOUND : MCPX_CODE_INTERNAL_ERROR;
}

static void begin_error(struct mcpx_text *out, const struct code_row *row)
{
    mx_format(out, "{\"code\":%s,\"message\":%q,\"data\":{\"canonical_code\":%q", row->rpc,
              row->message, row->name);
}

bool mcpx_canonical_error(struct mcpx_text *out, enum mcpx_code code)
{
    const struct code_row *row = code_row(code);

    if (!row->name)
        return false;
    begin_error(out, row);
    mcpx_text_puts(out, "}}");
    return true;
}

const char *mcpx_cause_name(enum mcpx_cause cause)
{
    return cause_row(cause)->name;
}

enum mcpx_code mcpx_cause_code(enum mcpx_cause cause)
{
    return cause_row(cause)->code;
}

const char *mcpx_cause_in_envelope(enum mcpx_cause cause)
{
    return cause_row(cause)->in_envelope;
}

const char *mcpx_cause_in_response(enum mcpx_cause cause)
{
    return cause_row(cause)->in_response;
}

bool mcpx_cause_error(struct mcpx_text *out, enum mcpx_cause cause, struct mcpx_slice errors,
                      struct mcpx_slice more)
{
    const struct cause_row *row = cause_row(cause);

    if (!row->name)
        return false;
    begin_error(out, code_row(row->code));
    mx_format(out, ",\"cause\":%q", row->name);
    if (errors.len > 0)
        mx_format(out, ",\"errors\":%s", errors);
    if (more.len > 0)
        mx_format(out, ",%s", more);
    mcpx_text_puts(out, "}}");
    return true;
}

/* ---- forms and tiers ---- */

#define NAME_ROW(constant, name) [constant] = (name),
static const char *const forms[MCPX_FORM_COUNT] = {MCPX_FORMS(NAME_ROW)};
static const char *const tiers[MCPX_TIER_COUNT] = {MCPX_TIERS(NAME_ROW)};

const char *mcpx_form_name(enum mcpx_form form)
{
    return (unsigned)form < MCPX_FORM_COUNT ? forms[form] : NULL;
}

bool mcpx_form_find(struct mcpx_slice name, enum mcpx_form *out)
{
    return find_row(name, forms, sizeof *forms, MCPX_FORM_COUNT, out);
}

const char *mcpx_tier_name(enum mcpx_tier tier)
{
    return (unsigned)tier < MCPX_TIER_COUNT ? tiers[tier] : NULL;
}

bool mcpx_tier_find(struct mcpx_slice name, enum mcpx_tier *out)
{
    return find_row(name, tiers, sizeof *tiers, MCPX_TIER_COUNT, out);
}
