/*
 * record.c - what lines of both logs have in common. A line is never left out because something in
 * it is empty: whoever counts calls by their lines would miss one. So each member has a value for
 * that case. Texts come from outside, and nobody may fill a disk with one call: they are cut here.
 */
#include "lib/contract/record.h"

#include "lib/contract/wrap.h"

#include "lib/core/ident.h"
#include "lib/core/json_write.h"
#include <mcpx/json.h>
#include <mcpx/record.h>

static const struct mcpx_slice none = {"none", 4};

void mcpx_schema_version(const struct mcpx_schema *schema,
                         char out[MCPX_SCHEMA_VERSION_LEN + 1])
{
    const struct mcpx_slice prefix = MCPX_SLICE("sha256:");

    memset(out, 0, MCPX_SCHEMA_VERSION_LEN + 1);
    memcpy(out, schema ? prefix.text : none.text, schema ? prefix.len : none.len);
    if (schema)
        memcpy(out + prefix.len, mcpx_schema_fingerprint(schema).text,
               MCPX_SCHEMA_VERSION_LEN - prefix.len);
}

void mx_record_time(struct mcpx_text *out, int64_t wall_ms, int64_t *latest)
{
    char ts[MX_TIME_LEN + 1];

    if (wall_ms > *latest)
        *latest = wall_ms;
    mx_time_format(*latest, ts);
    mcpx_json_add_member(out, "ts", mcpx_slice_of(ts));
}

void mx_record_cut(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    mcpx_json_add_member(out, name, mx_cut(text, MCPX_RECORD_TEXT_MAX));
}

void mx_record_text(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    mx_record_cut(out, name, text.len > 0 ? text : none);
}

void mx_record_duration(struct mcpx_text *out, int64_t duration_us)
{
    int64_t us = duration_us > 0 ? duration_us : 0;
    int rest = (int)(us % 1000);
    char places[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                     (char)('0' + rest % 10)};
    size_t len = sizeof places;

    while (len > 1 && places[len - 1] == '0')
        len--;
    mx_json_add_number(out, "durationMs", us / 1000);
    if (len > 1)
        mcpx_text_add(out, places, len);
}
