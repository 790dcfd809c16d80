/*
 * ws_inbox.c - a linked list, one allocation per item. An event points into the message it came
 * from, and the session keeps one message; so while an application that fetches events has one
 * in its hands, the next message has to wait here. Copying whole events was the alternative; they
 * hold an envelope with 256 addressees.
 */
#include "lib/edge/ws_inbox.h"

#include <stdlib.h>

struct mx_inbox_item {
    struct mx_inbox_item *next;
    struct mx_input input;
    char text[];
};

bool mx_inbox_put(struct mx_inbox *inbox, const struct mx_input *input)
{
    struct mx_inbox_item *item = malloc(sizeof *item + input->text.len + 1);

    if (!item)
        return false;
    item->next = NULL;
    item->input = *input;
    if (input->text.len)
        memcpy(item->text, input->text.text, input->text.len);
    item->input.text.text = item->text;
    if (inbox->last)
        inbox->last->next = item;
    else
        inbox->first = item;
    inbox->last = item;
    inbox->bytes += input->text.len;
    return true;
}

bool mx_inbox_take(struct mx_inbox *inbox, struct mx_input *out)
{
    struct mx_inbox_item *item = inbox->first;

    free(inbox->taken);
    inbox->taken = item;
    if (!item)
        return false;
    inbox->first = item->next;
    if (!item->next)
        inbox->last = NULL;
    inbox->bytes -= item->input.text.len;
    *out = item->input;
    return true;
}

bool mx_inbox_is_empty(const struct mx_inbox *inbox)
{
    return !inbox->first;
}

void mx_inbox_fini(struct mx_inbox *inbox)
{
    struct mx_input input;

    while (mx_inbox_take(inbox, &input))
        ;
}
