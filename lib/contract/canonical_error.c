/*
 * canonical_error.c - the two tables of errors, asked. Rows are the macros of the public header, so
 * a program can make tables of its own from them.
 */
#include <mcpx/contract.h>

#include "lib/core/format.h"

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
    for (int code = 0; code < MCPX_CODE_COUNT; code++) {
        if (!mcpx_slice_equal(name, mcpx_slice_of(codes[code].name)))
            continue;
        *out = (enum mcpx_code)code;
        return true;
    }
    return false;
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
