/*
 * schema_stage.h - what tests of schemas have in common: a shelf, a report as one text to compare,
 * texts that are written in parts, the processor's time.
 */
#ifndef SCHEMA_STAGE_H
#define SCHEMA_STAGE_H

#include <mcpx/contract.h>

/** What a test that asks for set_up and tear_down has. `draft` is its own to write to. */
extern struct mcpx_shelf *shelf;
extern struct mcpx_contracts *contracts;
extern struct mcpx_schema_report report;
extern struct mcpx_text draft;

void stage_set_up(void);
void stage_tear_down(void);

/** Compiles; `schema` is NULL when it is unusable. */
enum mcpx_err stage_compile(struct mcpx_slice schema_text,
                            const struct mcpx_schema_options *options,
                            struct mcpx_schema **schema);

/** "PATH KEYWORD MESSAGE; ..." of all errors in the stage's report. Lent until the next. */
const char *stage_errors(void);

/**
 * A text in parts: `before`, then `part` that many times, then `after`. Where the part holds a '%',
 * that is a number, from 0 on, and there are commas between.
 *
 * write   writes it instead; may be NULL
 */
struct written {
    const char *before;
    const char *part;
    int count;
    const char *after;
    void (*write)(struct mcpx_text *out);
};

#define TEXT(text)                                                                            \
    {                                                                                         \
        text, "", 0, "", NULL                                                                 \
    }
#define PARTS(before, part, count, after)                                                     \
    {                                                                                         \
        before, part, count, after, NULL                                                      \
    }
#define BY(function)                                                                          \
    {                                                                                         \
        "", "", 0, "", function                                                               \
    }

/** Appends a part that many times. */
void repeat(struct mcpx_text *out, const char *part, int count);

/** Writes the text to `out`, which is emptied before. */
struct mcpx_slice write_parts(const struct written *written, struct mcpx_text *out);

/** The time of the processor that this program has used. */
double processor_ms(void);

#endif
