/*
 * record.h - members that lines of both logs have.
 */
#ifndef MX_RECORD_H
#define MX_RECORD_H

#include <mcpx/text.h>

/** Appends "ts". `latest` as mcpx_telemetry_add has it. */
void mx_record_time(struct mcpx_text *out, int64_t wall_ms, int64_t *latest);

/** Appends a text: at most MCPX_RECORD_TEXT_MAX characters of it. */
void mx_record_cut(struct mcpx_text *out, const char *name, struct mcpx_slice text);

/** The same with a text that contracts want: "none" for what is absent or empty. */
void mx_record_text(struct mcpx_text *out, const char *name, struct mcpx_slice text);

/** Appends "durationMs": microseconds as milliseconds with at most three places. */
void mx_record_duration(struct mcpx_text *out, int64_t duration_us);

#endif
