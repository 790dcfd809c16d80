/*
 * ws_inbox.h - what the connection told while the application still had an event in its hands.
 */
#ifndef EDGE_WS_INBOX_H
#define EDGE_WS_INBOX_H

#include <mcpx/base.h>

enum mx_input_type { MX_INPUT_OPENED, MX_INPUT_TEXT, MX_INPUT_ENDED };

/** One thing that happened: `text` is a message or a reason, `code` belongs to ENDED. */
struct mx_input {
    enum mx_input_type type;
    int code;
    struct mcpx_slice text;
};

struct mx_inbox_item;

/** First in, first out. Zero-initialised is empty; `bytes` is the memory of the texts. */
struct mx_inbox {
    struct mx_inbox_item *first;
    struct mx_inbox_item *last;
    struct mx_inbox_item *taken;
    size_t bytes;
};

/** Copies an input to the end. Returns false without memory. */
bool mx_inbox_put(struct mx_inbox *inbox, const struct mx_input *input);

/** Takes the first input out; its text is lent until the next call. Returns false when empty. */
bool mx_inbox_take(struct mx_inbox *inbox, struct mx_input *out);

/** True when there is nothing to take. */
bool mx_inbox_is_empty(const struct mx_inbox *inbox);

/** Frees all that is in it. */
void mx_inbox_fini(struct mx_inbox *inbox);

#endif
