/*
 * cursor.c - replay, live delivery, resume and the echo are one movement along the log; they
 * differ only in what a stretch of it looks like to the reader:
 *
 *     next ... replay_end    pages of system/history
 *     next ... joined        as they are: missed envelopes
 *     behind both            as they are, presence between them
 *
 * In directed mode all three omit envelopes addressed to others.
 */

#include "router/hub/topic/hub_state.h"
#include "router/hub/topic/notice.h"

static bool wants(const struct peer *peer, uint64_t serial)
{
    const struct entry *entry;

    if (!peer->cursor.directed)
        return true;
    entry = log_entry(&peer->topic->log, serial);
    if (entry->to_count == 0)
        return true;
    if (serial >= peer->cursor.joined && peer->seat != PEER_NO_SEAT)
        return entry_is_for_seat(entry, peer->seat);
    return entry_is_for(entry, peer->id);
}

/* Places the cursor at the start of its history, at `from` or later, and counts the history. */
static void start_history(struct peer *peer, uint64_t from)
{
    struct welcome *welcome = &peer->welcome;
    uint64_t joined = peer->cursor.joined, start = joined;

    welcome->count = 0;
    for (uint64_t at = joined; at > from && welcome->count < welcome->wanted; at--) {
        if (!wants(peer, at - 1))
            continue;
        start = at - 1;
        welcome->count++;
    }
    peer->cursor.replay_end = joined;
    cursor_move(peer, start);
}

/*
 * Finds the place of a resuming client. All envelopes behind the serial are retained, so the id it
 * saw last is unique there and still names that envelope. An id alone could be another's by now.
 */
static bool find_place(const struct topic *topic, const struct admission *admission,
                       uint64_t *next)
{
    const struct log *log = &topic->log;
    uint64_t seen;

    if (!mcpx_slice_equal(admission->epoch, mcpx_slice_of(topic->epoch)) ||
        admission->serial < log->history || admission->serial > log->head)
        return false;
    *next = admission->serial;
    if (!admission->after.text)
        return true;
    if (!log_find(log, admission->after, &seen) || seen < admission->serial)
        return false;
    *next = seen + 1;
    return true;
}

void cursor_start(struct peer *peer, const struct admission *admission)
{
    const struct log *log = &peer->topic->log;
    struct welcome *welcome = &peer->welcome;
    uint64_t next;

    *welcome = (struct welcome){.first = true, .wanted = peer->hub->config.replay};
    if (admission->has_history)
        welcome->wanted = admission->history;
    peer->cursor.joined = log->head;
    welcome->resumed = find_place(peer->topic, admission, &next);
    if (welcome->resumed)
        cursor_move(peer, next);
    else
        start_history(peer, log->history);
}

bool cursor_do_without(struct peer *peer, uint64_t until)
{
    const struct log *log = &peer->topic->log;
    const struct cursor *cursor = &peer->cursor;
    struct welcome *welcome = &peer->welcome;
    uint64_t end = until < cursor->joined ? until : cursor->joined;

    if (cursor->next >= end)
        return false;
    if (welcome->resumed) {
        welcome->resumed = false;
        start_history(peer, end > log->history ? end : log->history);
        return true;
    }
    for (uint64_t serial = cursor->next; serial < end; serial++)
        welcome->count -= wants(peer, serial);
    cursor_move(peer, end);
    return true;
}

bool cursor_has_more(struct peer *peer)
{
    const struct log *log = &peer->topic->log;
    uint64_t next = peer->cursor.next;

    while (next < log->head && !wants(peer, next))
        next++;
    if (next != peer->cursor.next)
        cursor_move(peer, next);
    return next < log->head;
}

/* ---- history ---- */

/*
 * Appends envelopes from `next` on until the page is full. At least one is taken, however large
 * it is. Returns the serial of the first one left out, or replay_end.
 */
static uint64_t write_envelopes(const struct peer *peer, struct mcpx_text *out, size_t *count)
{
    const struct log *log = &peer->topic->log;
    uint64_t serial;

    *count = 0;
    for (serial = peer->cursor.next; serial < peer->cursor.replay_end; serial++) {
        struct mcpx_slice text;

        if (!wants(peer, serial))
            continue;
        text = entry_text(log_entry(log, serial));
        if (*count > 0 && out->len + text.len + 32 > CURSOR_PAGE_MAX)
            return serial;
        if (*count > 0)
            mcpx_text_add(out, ",", 1);
        mcpx_text_slice(out, text);
        ++*count;
    }
    return serial;
}

bool cursor_page(struct peer *peer, uint64_t *next, size_t *count, struct mcpx_slice *page)
{
    struct mcpx_text *out = frame_begin(&peer->hub->scratch);

    notice_begin(peer->hub, "system/history", peer->id, out);
    mcpx_text_puts(out, "{\"envelopes\":[");
    *next = write_envelopes(peer, out, count);
    mcpx_text_puts(out, *next == peer->cursor.replay_end ? "],\"complete\":true}}"
                                                         : "],\"complete\":false}}");
    return frame_end(out, page);
}

/* ---- live traffic ---- */

/* The end of a run so far. */
struct place {
    uint64_t next;
    struct presence_batch *batch; /* published, to be read next; NULL = none */
    struct presence_batch *last;  /* the last batch in the run; NULL = none */
    size_t count;                 /* frames in the run */
};

/* Envelopes are read up to here: a joiner reads its own join before all that is live. */
static uint64_t stop_of(const struct peer *peer)
{
    const struct cursor *cursor = &peer->cursor;

    return cursor->next < cursor->joined ? cursor->joined : peer->topic->log.head;
}

static bool is_presence_next(const struct place *place)
{
    return place->batch && place->batch->at <= place->next;
}

static struct mcpx_slice take_batch(const struct peer *peer, struct place *place)
{
    size_t count;
    const struct presence *presence = &peer->topic->presence;
    struct mcpx_slice frames =
        presence_rest(presence, &peer->cursor.presence, place->batch, &count);

    place->last = place->batch;
    place->batch = presence_behind(presence, place->batch);
    place->count += count;
    return frames;
}

/* Takes a batch, or the stretch of wanted envelopes that begins here. */
static struct mcpx_slice take_stretch(const struct peer *peer, struct place *place)
{
    uint64_t stop = stop_of(peer), end = place->next + 1;
    struct log_run run;

    if (is_presence_next(place))
        return take_batch(peer, place);
    if (place->batch && place->batch->at < stop)
        stop = place->batch->at;
    if (!peer->cursor.directed)
        end = stop;
    while (end < stop && wants(peer, end))
        end++;
    run = log_run_from(&peer->topic->log, place->next, end);
    place->next = run.next;
    place->count += run.count;
    return (struct mcpx_slice){run.bytes, run.len};
}

/* Takes a batch, or the next wanted envelope. False when there is nothing more. */
static bool take_one(const struct peer *peer, struct place *place, struct mcpx_slice *frames)
{
    uint64_t stop = stop_of(peer);

    while (!is_presence_next(place)) {
        if (place->next >= stop)
            return false;
        if (!wants(peer, place->next++))
            continue;
        *frames = entry_frame(log_entry(&peer->topic->log, place->next - 1));
        place->count++;
        return true;
    }
    *frames = take_batch(peer, place);
    return true;
}

/*
 * Copies scattered frames together, because a write costs as much as copying thirty ordinary
 * frames. Readers that skip most of the log, or read much presence, then need few writes, too.
 * Without memory it returns the frames copied so far, or the first stretch.
 */
static struct mcpx_slice gather(const struct peer *peer, struct place *place,
                                struct mcpx_slice first)
{
    struct mcpx_text *out = &peer->hub->scratch;
    struct place further = *place;
    struct mcpx_slice frames;

    mcpx_text_reset(out);
    mcpx_text_slice(out, first);
    while (take_one(peer, &further, &frames) && out->len + frames.len <= LOG_RUN_MAX) {
        mcpx_text_slice(out, frames);
        if (out->failed)
            break;
        *place = further;
    }
    return out->len > 0 ? mcpx_text_view(out) : first;
}

static bool is_read_up(const struct peer *peer, const struct place *place)
{
    return place->next >= stop_of(peer) && !is_presence_next(place);
}

struct log_run cursor_run(const struct peer *peer, struct presence_batch **batch)
{
    const struct cursor *cursor = &peer->cursor;
    struct log *log = &peer->topic->log;
    struct place place = {.next = cursor->next};
    struct mcpx_slice frames;

    *batch = NULL;
    if (!cursor->directed && !cursor->presence.batch && cursor->next >= cursor->joined)
        return log_run_from(log, cursor->next, log->head);
    if (cursor->next >= cursor->joined)
        place.batch = cursor->presence.batch;
    frames = take_stretch(peer, &place);
    if (frames.len < LOG_RUN_MAX / 2 && !is_read_up(peer, &place))
        frames = gather(peer, &place, frames);
    *batch = place.last;
    return (struct log_run){frames.text, frames.len, place.count, place.next};
}

void cursor_move(struct peer *peer, uint64_t next)
{
    peer->cursor.next = next;
    log_reader_place(&peer->topic->log, &peer->cursor.reader, next);
}
