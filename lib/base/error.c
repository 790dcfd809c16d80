/*
 * error.c - looks up rows of the error table in error.h. The other functions of base.h are here as
 * well.
 */
#include <mcpx/error.h>

struct row {
    const char *text, *wire;
    int close_code, status;
    enum mcpx_again again;
};

#define ROW(constant, text, wire, close_code, status, again)                                  \
    [constant] = {(text), (wire), (close_code), (status), MCPX_AGAIN_##again},

static const struct row rows[MCPX_ERR_COUNT] = {[MCPX_OK] = {.text = "ok", .wire = ""},
                                                MCPX_ERRORS(ROW)};

static const struct row *row_of(enum mcpx_err err)
{
    static const struct row unknown = {.text = "unknown error", .wire = ""};

    return (unsigned)err < MCPX_ERR_COUNT ? &rows[err] : &unknown;
}

const char *mcpx_strerror(enum mcpx_err err)
{
    return row_of(err)->text;
}

const char *mcpx_error_wire(enum mcpx_err err)
{
    return row_of(err)->wire;
}

int mcpx_error_close(enum mcpx_err err)
{
    return row_of(err)->close_code;
}

int mcpx_error_status(enum mcpx_err err)
{
    return row_of(err)->status;
}

enum mcpx_again mcpx_error_again(int code)
{
    for (int err = MCPX_OK + 1; code && err < MCPX_ERR_COUNT; err++)
        if (rows[err].close_code == code || rows[err].status == code)
            return rows[err].again;
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
