/*
 * error.c - looks up rows of the error table. Each column becomes one array: a new column is one
 * macro, a new error one row in error.h. The other functions of base.h are here as well.
 */
#include <mcpx/error.h>

#define TEXT(constant, text, wire, close_code, status, again) [constant] = (text),
#define WIRE(constant, text, wire, close_code, status, again) [constant] = (wire),
#define CLOSE(constant, text, wire, close_code, status, again) [constant] = (close_code),
#define STATUS(constant, text, wire, close_code, status, again) [constant] = (status),
#define AGAIN(constant, text, wire, close_code, status, again) [constant] = MCPX_AGAIN_##again,

static const char *const texts[MCPX_ERR_COUNT] = {[MCPX_OK] = "ok", MCPX_ERRORS(TEXT)};
static const char *const wires[MCPX_ERR_COUNT] = {[MCPX_OK] = "", MCPX_ERRORS(WIRE)};
static const int close_codes[MCPX_ERR_COUNT] = {MCPX_ERRORS(CLOSE)};
static const int statuses[MCPX_ERR_COUNT] = {MCPX_ERRORS(STATUS)};
static const enum mcpx_again agains[MCPX_ERR_COUNT] = {MCPX_ERRORS(AGAIN)};

static bool is_known(enum mcpx_err err)
{
    return (unsigned)err < MCPX_ERR_COUNT;
}

const char *mcpx_strerror(enum mcpx_err err)
{
    return is_known(err) ? texts[err] : "unknown error";
}

const char *mcpx_error_wire(enum mcpx_err err)
{
    return is_known(err) ? wires[err] : "";
}

int mcpx_error_close(enum mcpx_err err)
{
    return is_known(err) ? close_codes[err] : 0;
}

int mcpx_error_status(enum mcpx_err err)
{
    return is_known(err) ? statuses[err] : 0;
}

enum mcpx_again mcpx_error_again(int code)
{
    for (int err = MCPX_OK + 1; code && err < MCPX_ERR_COUNT; err++)
        if (close_codes[err] == code || statuses[err] == code)
            return agains[err];
    return MCPX_AGAIN_YES;
}

int mcpx_slice_compare(struct mcpx_slice a, struct mcpx_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.text, b.text, common) : 0;

    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

const char *mcpx_version(void)
{
    return MCPX_VERSION_STRING;
}
