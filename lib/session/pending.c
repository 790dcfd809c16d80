/*
 * pending.c - the outbox is one list and a place in it. At the end of a connection the place moves
 * back to the front. Rejected: two lists, written and unsent, joined at every end. Echoes
 * serve as acknowledgements: only so many envelopes may wait for their echo, so that the router
 * does not end the connection of a fast application.
 *
 * A hash table finds an envelope of ours by id, and a binary heap the earliest deadline. Rejected:
 * a list in order of deadlines; a request with another timeout than the last one needs a search.
 * Rejected: a walk through all at each tick; with ten thousand it takes quadratic time.
 */
#include "lib/session/pending.h"

#include "lib/base/rows.h"

#include <stdlib.h>

void mx_own_unref(struct mx_own *own)
{
    if (!own || --own->refs > 0)
        return;
    mx_block_unref(own->text);
    mx_block_unref(own->kept);
    free(own->asked);
    free(own);
}

/* ---- the outbox ---- */

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

void mx_outbox_give_back(struct mx_outbox *outbox)
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
    outbox->lent = NULL; /* its reference is ours now */
    mx_outbox_give_back(outbox);
    own->writes++;
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
    mx_outbox_give_back(outbox);
    forget_echoes(outbox);
    outbox->next = outbox->first;
    outbox->held_until = outbox->paused_until = INT64_MIN;
}

void mx_outbox_slow_down(struct mx_outbox *outbox, size_t window, int64_t until)
{
    outbox->window = window;
    outbox->grows = window == MX_WINDOW_ALONE;
    if (until > outbox->paused_until)
        outbox->paused_until = until;
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

/* ---- the heap ---- */

static void heap_put(struct mx_pending *pending, size_t at, struct mx_own *own)
{
    pending->heap[at] = own;
    own->heap_at = at + 1;
}

/* Moves one whose deadline has changed to its place. */
static void heap_settle(struct mx_pending *pending, struct mx_own *own)
{
    struct mx_own **heap = pending->heap;
    size_t at = own->heap_at - 1;

    for (; at > 0 && heap[(at - 1) / 2]->deadline > own->deadline; at = (at - 1) / 2)
        heap_put(pending, at, heap[(at - 1) / 2]);
    for (size_t child = 2 * at + 1; child < pending->heap_count; child = 2 * at + 1) {
        if (child + 1 < pending->heap_count &&
            heap[child + 1]->deadline < heap[child]->deadline)
            child++;
        if (heap[child]->deadline >= own->deadline)
            break;
        heap_put(pending, at, heap[child]);
        at = child;
    }
    heap_put(pending, at, own);
}

static void heap_remove(struct mx_pending *pending, struct mx_own *own)
{
    size_t at = own->heap_at - 1;
    struct mx_own *last = pending->heap[--pending->heap_count];

    own->heap_at = 0;
    if (last == own)
        return;
    heap_put(pending, at, last);
    heap_settle(pending, last);
}

/* ---- the table ---- */

bool mx_pending_reserve(struct mx_pending *pending)
{
    return mx_map_reserve(&pending->ids) &&
           mx_make_room(&pending->heap, pending->heap_count, &pending->heap_size,
                        sizeof(struct mx_own *));
}

void mx_pending_add(struct mx_pending *pending, struct mx_own *own)
{
    mx_map_put(&pending->ids, mx_map_hash(pending->key, own->id), (uintptr_t)own);
    mx_own_ref(own);
    if (!own->asked)
        return;
    pending->awaited++;
    if (own->deadline == INT64_MAX)
        return;
    heap_put(pending, pending->heap_count++, own);
    heap_settle(pending, own);
}

struct mx_own *mx_pending_find(const struct mx_pending *pending, struct mcpx_slice id)
{
    return mx_map_find(&pending->ids, mx_map_hash(pending->key, id),
                       offsetof(struct mx_own, id), id);
}

struct mx_own *mx_pending_awaited(const struct mx_pending *pending, struct mcpx_slice id)
{
    struct mx_own *own = id.text ? mx_pending_find(pending, id) : NULL;

    return own && own->asked ? own : NULL;
}

/* The fulfilment that `*at` points to. `at` is a link in the list of its proposal. */
static void forget_fulfilment(struct mx_pending *pending, struct mx_fulfilment **at)
{
    struct mx_fulfilment *fulfilment = *at;

    *at = fulfilment->next;
    fulfilment->proposal->fulfilment_count--;
    mx_map_remove(&pending->fulfilments, mx_map_hash(pending->key, fulfilment->asked.id),
                  (uintptr_t)fulfilment);
    free(fulfilment);
}

static void forget_fulfilments(struct mx_pending *pending, struct mx_own *own)
{
    while (own->fulfilments)
        forget_fulfilment(pending, &own->fulfilments);
}

static void forget_open(struct mx_pending *pending, struct mx_own *own)
{
    if (!own->kept)
        return;
    *(own->open_previous ? &own->open_previous->open_next : &pending->open_first) =
        own->open_next;
    *(own->open_next ? &own->open_next->open_previous : &pending->open_last) =
        own->open_previous;
    pending->open_bytes -= own->kept->len;
    mx_block_unref(own->kept);
    own->kept = NULL;
}

void mx_pending_keep_open(struct mx_pending *pending, struct mx_own *own)
{
    if (!own->proposal || !own->asked || !own->text || own->kept)
        return;
    own->kept = mx_block_ref(own->text);
    own->open_previous = pending->open_last;
    *(own->open_previous ? &own->open_previous->open_next : &pending->open_first) = own;
    pending->open_last = own;
    pending->open_bytes += own->kept->len;
}

void mx_pending_release(struct mx_pending *pending, struct mx_own *own)
{
    if (own->asked || own->text)
        return;
    mx_map_remove(&pending->ids, mx_map_hash(pending->key, own->id), (uintptr_t)own);
    mx_own_unref(own);
}

void mx_pending_settle(struct mx_pending *pending, struct mx_own *own)
{
    if (!own->asked)
        return;
    forget_fulfilments(pending, own);
    forget_open(pending, own);
    free(own->asked);
    own->asked = NULL;
    pending->awaited--;
    if (own->heap_at)
        heap_remove(pending, own);
}

/* Stays at the slot where it found something: removing that moves later slots back to here. */
struct mx_own *mx_pending_any(const struct mx_pending *pending, size_t *at)
{
    for (; pending->awaited > 0 && *at < pending->ids.size; ++*at) {
        struct mx_own *own = (struct mx_own *)(uintptr_t)pending->ids.slots[*at].value;

        if (own && own->asked)
            return own;
    }
    return NULL;
}

struct mx_own *mx_pending_first(const struct mx_pending *pending)
{
    return pending->heap_count > 0 ? pending->heap[0] : NULL;
}

void mx_pending_defer(struct mx_pending *pending, struct mx_own *own, int64_t deadline)
{
    if (!own->heap_at)
        return;
    own->deadline = deadline;
    heap_settle(pending, own);
}

/* ---- fulfilments ---- */

/* Forgets the oldest by the same sender, or the oldest of all: a participant that acts again and
 * again loses its own entries, not those of others. The newest is first. */
static void make_room(struct mx_pending *pending, struct mx_own *proposal,
                      struct mcpx_slice from)
{
    struct mx_fulfilment **oldest = &proposal->fulfilments, **theirs = NULL;

    if (!proposal->fulfilments || proposal->fulfilment_count < MX_FULFILMENTS_MAX)
        return;
    for (struct mx_fulfilment **at = oldest; *at; at = &(*at)->next) {
        oldest = at;
        if (mcpx_slice_equal((*at)->asked.from, from))
            theirs = at;
    }
    forget_fulfilment(pending, theirs ? theirs : oldest);
}

bool mx_pending_fulfil(struct mx_pending *pending, struct mx_own *proposal,
                       const struct mx_asked *request)
{
    struct mx_fulfilment *fulfilment;

    if (!mx_map_reserve(&pending->fulfilments) ||
        !(fulfilment = mx_asked_copy(request, sizeof *fulfilment)))
        return false;
    make_room(pending, proposal, request->from);
    fulfilment->proposal = proposal;
    fulfilment->next = proposal->fulfilments;
    proposal->fulfilments = fulfilment;
    proposal->fulfilment_count++;
    mx_map_put(&pending->fulfilments, mx_map_hash(pending->key, request->id),
               (uintptr_t)fulfilment);
    return true;
}

struct mx_fulfilment *mx_pending_fulfilment(const struct mx_pending *pending,
                                            struct mcpx_slice request)
{
    return request.text
               ? mx_map_find(&pending->fulfilments, mx_map_hash(pending->key, request),
                             offsetof(struct mx_asked, id), request)
               : NULL;
}

void mx_pending_fini(struct mx_pending *pending)
{
    for (size_t at = 0; at < pending->ids.size; at++) {
        struct mx_own *own = (struct mx_own *)(uintptr_t)pending->ids.slots[at].value;

        if (!own)
            continue;
        forget_fulfilments(pending, own);
        mx_own_unref(own);
    }
    mx_map_fini(&pending->ids);
    mx_map_fini(&pending->fulfilments);
    free(pending->heap);
}
