/* proposal.h - what distinguishes the envelope of a proposal, for programs that show and decide. */
#ifndef TOOLS_PROPOSAL_H
#define TOOLS_PROPOSAL_H

#include <mcpx/session.h>
#include <mcpx/text.h>

/** Half of a SHA-256 in hexadecimal: too long to find two proposals with the same one. */
enum { PROPOSAL_DIGEST_LEN = 32 };

/**
 * Distinguishes a proposal from others with its id: the beginning of the SHA-256 of its envelope's
 * text, byte for byte as the router delivers it.
 *
 * out   filled, with a terminating NUL
 */
void proposal_digest(struct mcpx_slice envelope, char out[PROPOSAL_DIGEST_LEN + 1]);

/**
 * Appends the pin of a tool, a JSON string: the SHA-256 of its name, description and inputSchema,
 * byte for byte. A proposal has it in `params._meta`; protocol: section 9.
 */
#define PROPOSAL_PIN "io.mcpx/tool"
void proposal_add_pin(struct mcpx_text *out, struct mcpx_slice tool);

/**
 * Appends the asker's answer to the approval of its permission prompt with these params. Returns
 * why it does not allow, static; NULL: it does. Protocol: section 9.
 */
const char *proposal_answer_prompt(struct mcpx_text *out, struct mcpx_slice asker,
                                   struct mcpx_slice params,
                                   const struct mcpx_event *approval);

/**
 * The time when a proposal expires, in ms since 1970: INT64_MAX without a time, 0 when it is
 * invalid. Protocol: section 9.
 */
int64_t proposal_expires_ms(struct mcpx_slice envelope);

#endif
