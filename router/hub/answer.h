/*
 * answer.h - telling a sender that its message was refused.
 */
#ifndef HUB_ANSWER_H
#define HUB_ANSWER_H

#include "router/hub/notice.h"

/**
 * Answers the sender, who is in its topic, and counts the refusal. Errors with a close code end the
 * connection; so does one refusal too many, because every answer costs more than the message that
 * provoked it, and so do answers unread. Leaves slow readers to hub_condemn_slow.
 */
void answer_sender(struct peer *peer, const struct error_notice *error, struct mcpx_now now);

#endif
