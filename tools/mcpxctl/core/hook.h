/* hook.h - what a coding agent, the host, tells its hook about a tool, and how the hook answers. */
#ifndef MCPXCTL_HOOK_H
#define MCPXCTL_HOOK_H

#include <mcpx/json.h>

enum hook_verdict { HOOK_ALLOW, HOOK_DENY, HOOK_ASK };

/** How a host is answered. All but `host` is private. */
struct hook_form {
    const char *host; /* "" without one; then answers are {"behavior":...} */
    const char *event;
    const char *answers[3];
};

/**
 * Reads the JSON that a host writes to its hook.
 *
 * host       "claude", "cursor" or "codex"; NULL: as the JSON shows
 * form       filled on success
 * proposal   appended: the payload. Protocol: section 9
 *
 * Returns NULL, or why it cannot be read: a sentence without its subject. Static.
 */
const char *hook_read(const char *host, struct mcpx_slice text, const struct hook_form **form,
                      struct mcpx_text *proposal);

/**
 * Appends the answer, with a newline unless it is empty. HOOK_ASK leaves the decision to the host's
 * own prompt; a form without that denies.
 */
void hook_answer(struct mcpx_text *out, const struct hook_form *form,
                 enum hook_verdict verdict, struct mcpx_slice reason);

#endif
