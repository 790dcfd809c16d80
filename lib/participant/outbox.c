/*
 * outbox.c - one list and a place in it. With two lists, written and unsent, every end of a
 * connection would have to join them; here the place moves back to the front. Echoes serve as
 * acknowledgements: only so many envelopes may wait for their echo, so that the router does not
 * end the connection of a fast application.
 */
#include "lib/participant/outbox.h"

void mx_outbox_init(struct mx_outbox *outbox)
{
    *outbox = (struct mx_outbox){
        .held_until = INT64_MIN, .paused_until = INT64_MIN, .window = MX_WINDOW};
}

static void unlink_own(struct mx_outbox *outbox, struct mx_own *own)
{
    *(own->previous ? &own->previous->next : &outbox->first) = own->next;
    *(own->next ? &own->next->previous : &outbox->last) = own->previous;
    if (outbox->next == own)
        outbox->next = own->next;
}

/* Inserts it before `before`; at the end for NULL. */
static void link_own(struct mx_outbox *outbox, struct mx_own *own, struct mx_own *before)
{
    own->next = before;
    own->previous = before ? before->previous : outbox->last;
    *(own->previous ? &own->previous->next : &outbox->first) = own;
    *(before ? &before->previous : &outbox->last) = own;
}

void mx_outbox_add(struct mx_outbox *outbox, struct mx_own *own)
{
    link_own(outbox, own, NULL);
    own->number = outbox->sent_count++;
    outbox->count++;
    outbox->bytes += own->text->len;
    if (!outbox->next)
        outbox->next = own;
}

static void forget_echo(struct mx_outbox *outbox, struct mx_own *own)
{
    outbox->echoes -= own->awaits_echo;
    own->awaits_echo = false;
}

void mx_outbox_remove(struct mx_outbox *outbox, struct mx_own *own)
{
    if (!own->text)
        return;
    unlink_own(outbox, own);
    forget_echo(outbox, own);
    if (!outbox->first)
        outbox->window = MX_WINDOW;
    outbox->count--;
    outbox->bytes -= own->text->len;
    mx_block_unref(own->text);
    own->text = NULL;
}

static void give_back(struct mx_outbox *outbox)
{
    mx_own_unref(outbox->lent);
    mx_block_unref(outbox->lent_text);
    outbox->lent = NULL;
    outbox->lent_text = NULL;
}

bool mx_outbox_peek(struct mx_outbox *outbox, struct mcpx_slice *text)
{
    if (!outbox->lent) {
        if (!outbox->next || outbox->held_until != INT64_MIN ||
            outbox->paused_until != INT64_MIN || outbox->echoes >= outbox->window)
            return false;
        outbox->lent = mx_own_ref(outbox->next);
        outbox->lent_text = mx_block_ref(outbox->next->text);
    }
    *text = mx_block_text(outbox->lent_text);
    return true;
}

struct mx_own *mx_outbox_written(struct mx_outbox *outbox, int64_t mono_ms)
{
    struct mx_own *own = outbox->lent;

    if (!own)
        return NULL;
    mx_own_ref(own);
    give_back(outbox);
    own->rewritten |= own->written;
    own->written = true;
    if (own->text) {
        if (outbox->next == own)
            outbox->next = own->next;
        outbox->echoes += !own->awaits_echo;
        own->awaits_echo = true;
        outbox->echo_until = mono_ms + MX_ECHO_MS;
        return own;
    }
    mx_own_unref(own);
    return NULL;
}

static void forget_echoes(struct mx_outbox *outbox)
{
    for (struct mx_own *own = outbox->first; own; own = own->next)
        forget_echo(outbox, own);
}

void mx_outbox_rewind(struct mx_outbox *outbox)
{
    give_back(outbox);
    forget_echoes(outbox);
    outbox->next = outbox->first;
    outbox->held_until = outbox->paused_until = INT64_MIN;
}

void mx_outbox_hold(struct mx_outbox *outbox, int64_t until)
{
    outbox->held_until = until;
}

void mx_outbox_release(struct mx_outbox *outbox)
{
    outbox->held_until = INT64_MIN;
}

bool mx_outbox_is_repeating(const struct mx_outbox *outbox)
{
    return outbox->first && outbox->first->written;
}

static void pause_until(struct mx_outbox *outbox, int64_t until)
{
    if (until > outbox->paused_until)
        outbox->paused_until = until;
}

void mx_outbox_slow_down(struct mx_outbox *outbox, int64_t until)
{
    outbox->window = MX_WINDOW_SLOW;
    outbox->grows = false;
    pause_until(outbox, until);
}

void mx_outbox_probe(struct mx_outbox *outbox, int64_t until)
{
    outbox->window = MX_WINDOW_ALONE;
    outbox->grows = true;
    pause_until(outbox, until);
}

void mx_outbox_arrived(struct mx_outbox *outbox)
{
    if (outbox->grows && outbox->paused_until == INT64_MIN && outbox->window < MX_WINDOW)
        outbox->window *= 2;
}

void mx_outbox_retry(struct mx_outbox *outbox, struct mx_own *own)
{
    struct mx_own *before;

    forget_echo(outbox, own);
    unlink_own(outbox, own);
    before = outbox->next;
    while (before && before->number < own->number)
        before = before->next;
    link_own(outbox, own, before);
    if (before == outbox->next)
        outbox->next = own;
}

static bool is_full(const struct mx_outbox *outbox)
{
    return outbox->next && outbox->echoes >= outbox->window;
}

int64_t mx_outbox_deadline(const struct mx_outbox *outbox)
{
    int64_t until =
        outbox->held_until > outbox->paused_until ? outbox->held_until : outbox->paused_until;

    if (until != INT64_MIN)
        return until;
    return is_full(outbox) ? outbox->echo_until : INT64_MAX;
}

void mx_outbox_end_pauses(struct mx_outbox *outbox, int64_t mono_ms)
{
    if (outbox->held_until <= mono_ms)
        outbox->held_until = INT64_MIN;
    if (outbox->paused_until <= mono_ms)
        outbox->paused_until = INT64_MIN;
    if (is_full(outbox) && outbox->echo_until <= mono_ms)
        forget_echoes(outbox);
}

void mx_outbox_fini(struct mx_outbox *outbox)
{
    give_back(outbox);
}
