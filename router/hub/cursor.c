/*
 * cursor.c - replay, live delivery, resume and the echo are one movement along the log; they
 * differ only in what a stretch of it looks like to the reader:
 *
 *     next ... replay_end    pages of system/history, presence left out
 *     next ... resume_end    as they are, presence left out
 *     behind both            as they are
 *
 * In directed mode what is addressed to others is left out of all three.
 * Includes cursor.h, hub_state.h, notice.h, JSON.
 */
#include "router/hub/cursor.h"

#include "router/hub/hub_state.h"
#include "router/hub/notice.h"

static bool wants(const struct peer *peer, uint64_t serial)
{
    const struct cursor *cursor = &peer->cursor;
    const struct entry *entry = log_entry(&peer->topic->log, serial);

    if (entry->presence && (serial < cursor->replay_end || serial < cursor->resume_end))
        return false;
    if (!cursor->directed || entry->to_count == 0)
        return true;
    if (serial >= peer->seated_from && peer->seat != PEER_NO_SEAT)
        return entry_is_for_seat(entry, peer->seat);
    return entry_is_for(entry, peer->grant->participant);
}

/* Finds where a history of at most `count` envelopes begins, and how many there are. */
static uint64_t history_start(const struct peer *peer, size_t count, size_t *found)
{
    const struct log *log = &peer->topic->log;
    uint64_t start = log->head;

    *found = 0;
    for (uint64_t serial = log->head; serial > log->history && *found < count; serial--) {
        if (!wants(peer, serial - 1))
            continue;
        start = serial - 1;
        ++*found;
    }
    return start;
}

void cursor_start(struct peer *peer, const struct admission *admission, size_t *count,
                  bool *resumed)
{
    const struct log *log = &peer->topic->log;
    struct cursor *cursor = &peer->cursor;
    size_t wanted = admission->has_history ? admission->history : peer->hub->config.replay;
    uint64_t serial;

    *count = 0;
    *resumed = admission->after.text && log_find(log, admission->after, &serial);
    if (*resumed) {
        cursor->next = serial + 1;
        cursor->resume_end = log->head;
        cursor->replay_end = 0;
    } else {
        cursor->replay_end = log->head; /* first: it tells wants() to leave presence out */
        cursor->next = history_start(peer, wanted, count);
    }
    log_reader_place(&peer->topic->log, &cursor->reader, cursor->next);
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
    static const char room[FRAME_HEAD_MAX];
    struct mcpx_text *out = &peer->hub->scratch;
    char id[MX_UUID_LEN + 1];
    size_t len, head;

    mcpx_text_reset(out);
    mcpx_text_add(out, room, sizeof room); /* the head's length is known last */
    notice_begin(peer->hub, "system/history", peer->grant->participant, out, id);
    mcpx_text_puts(out, "{\"envelopes\":[");
    *next = write_envelopes(peer, out, count);
    mcpx_text_puts(out, *next == peer->cursor.replay_end ? "],\"complete\":true}}"
                                                         : "],\"complete\":false}}");
    if (out->failed)
        return false;
    len = out->len - sizeof room;
    head = frame_head_len(len);
    frame_head_write(out->text + sizeof room - head, FRAME_TEXT, len);
    *page = (struct mcpx_slice){out->text + sizeof room - head, head + len};
    return true;
}

/* ---- live traffic ---- */

/* The stretch of wanted entries that begins at the cursor. */
static struct log_run run_of_wanted(const struct peer *peer)
{
    struct log *log = &peer->topic->log;
    uint64_t end = peer->cursor.next + 1;

    while (end < log->head && wants(peer, end))
        end++;
    return log_run_from(log, peer->cursor.next, end);
}

/*
 * Copies what is wanted together: a write costs as much as copying thirty ordinary frames, so a
 * reader that skips most of the log is served with few writes too.
 */
static struct log_run gather(const struct peer *peer, struct log_run first)
{
    const struct log *log = &peer->topic->log;
    struct mcpx_text *out = &peer->hub->scratch;
    struct log_run run = {.next = first.next, .count = first.count};

    mcpx_text_reset(out);
    mcpx_text_add(out, first.bytes, first.len);
    for (; run.next < log->head; run.next++) {
        struct mcpx_slice frame = entry_frame(log_entry(log, run.next));

        if (!wants(peer, run.next))
            continue;
        if (out->len + frame.len > LOG_RUN_MAX)
            break;
        mcpx_text_slice(out, frame);
        run.count++;
    }
    run.bytes = out->text;
    run.len = out->len;
    return out->failed ? first : run;
}

struct log_run cursor_run(const struct peer *peer)
{
    const struct cursor *cursor = &peer->cursor;
    struct log *log = &peer->topic->log;
    struct log_run run;

    if (!cursor->directed && cursor->next >= cursor->resume_end)
        return log_run_from(log, cursor->next, log->head);
    run = run_of_wanted(peer);
    if (run.next == log->head || run.len >= LOG_RUN_MAX / 2)
        return run;
    return gather(peer, run);
}

void cursor_move(struct peer *peer, uint64_t next)
{
    peer->cursor.next = next;
    log_reader_place(&peer->topic->log, &peer->cursor.reader, next);
}
