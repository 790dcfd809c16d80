/*
 * wrap_stage.h - answers wrapped for a test, and judged by their contracts.
 */
#ifndef WRAP_STAGE_H
#define WRAP_STAGE_H

#include <mcpx/wrap.h>

/**
 * What a test wraps with. stage_set_up fills it with a call of `get-sum`, request `req-1`, that
 * took 27 ms and is enforced; a test changes `call` as it needs.
 *
 * out       what was appended last
 * outcome   what became of it
 */
struct wrap_stage {
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_wrapper *wrapper;
    struct mcpx_wrap call;
    struct mcpx_text out;
    struct mcpx_wrapped outcome;
};

/** The stage of the test that runs. */
extern struct wrap_stage stage;

/** Makes the stage, and frees it. */
void stage_set_up(void);
void stage_tear_down(void);

/** The answer to a server's result. Lent until the next. */
const char *stage_answer(const char *result);

/** The envelope in the answer to a result, or to a failure. Fails the test when it breaks its
 * contract, or when the text block is not the same. Lent until the next. */
const char *stage_envelope(const char *result);
const char *stage_failure(const struct mcpx_failure *failure);

/** What an mcp.envelope.v0.1 begins with, ends with, and has when the tool failed. */
#define STAGE_ENVELOPE_HEAD "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":"
#define STAGE_ENVELOPE_TAIL ",\"provenance\":null}"
#define STAGE_ENVELOPE_FAILED                                                                 \
    ",\"errors\":[{\"code\":\"ADAPTER.EXECUTION.FAILED\",\"message\":"

/** Wraps a result, row[0], and expects its envelope, row[1]: rows_each calls it. */
void stage_expect(char *const row[]);

/** Fails the test when an envelope of either form breaks its contract. */
void stage_judge(struct mcpx_slice text);

/** The envelope of what a program has returned. NULL when there is none. Lent until the next. */
const char *stage_output(const struct mcpx_output *output);

#endif
