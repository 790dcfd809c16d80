/*
 * schema_stage.c - see schema_stage.h.
 */
#include "tests/unit/contract/schema_stage.h"

#include "lib/json/json_write.h"

#include <criterion/criterion.h>
#include <time.h>

struct mcpx_shelf *shelf;
struct mcpx_contracts *contracts;
struct mcpx_schema_report report;
struct mcpx_text draft;
static struct mcpx_text errors;

void stage_set_up(void)
{
    shelf = mcpx_shelf_new();
    contracts = mcpx_contracts_new(shelf);
    cr_assert_not_null(contracts);
}

void stage_tear_down(void)
{
    mcpx_schema_report_fini(&report);
    mcpx_text_fini(&draft);
    mcpx_text_fini(&errors);
    mcpx_contracts_free(contracts);
    mcpx_shelf_free(shelf);
}

enum mcpx_err stage_compile(struct mcpx_slice schema_text,
                            const struct mcpx_schema_options *options,
                            struct mcpx_schema **schema)
{
    *schema = NULL;
    return mcpx_schema_compile(shelf, schema_text, options, &report, schema);
}

const char *stage_errors(void)
{
    mcpx_text_reset(&errors);
    mcpx_text_puts(&errors, "");
    for (size_t i = 0; i < report.count; i++)
        mx_format(&errors, "%s%s %s %s", i ? "; " : "", report.errors[i].path,
                  report.errors[i].keyword, report.errors[i].message);
    return errors.text;
}

void repeat(struct mcpx_text *out, const char *part, int count)
{
    bool is_numbered = strchr(part, '%') != NULL;

    for (int i = 0; i < count; i++) {
        const char *at = part, *sign;

        mcpx_text_puts(out, i > 0 && is_numbered ? "," : "");
        for (; is_numbered && (sign = strchr(at, '%')) != NULL; at = sign + 1) {
            mcpx_text_add(out, at, (size_t)(sign - at));
            mcpx_text_number(out, i);
        }
        mcpx_text_puts(out, at);
    }
}

struct mcpx_slice write_parts(const struct written *written, struct mcpx_text *out)
{
    mcpx_text_reset(out);
    mcpx_text_puts(out, written->before);
    repeat(out, written->part, written->count);
    mcpx_text_puts(out, written->after);
    if (written->write)
        written->write(out);
    cr_assert(!out->failed);
    return mcpx_text_view(out);
}

double processor_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
