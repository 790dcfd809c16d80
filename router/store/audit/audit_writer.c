/*
 * audit_writer.c - writes a batch whole or not at all, with one write and one sync. If that fails,
 * the chain becomes the copy made before it. After a failed sync nothing more is written: the page
 * cache cannot be trusted then.
 *
 * A note in the queue and all of its texts are one allocation. Long texts are cut when it is made,
 * and not only in its line, because waiting bytes are limited.
 */
#include "router/store/audit/audit_writer.h"

#include "lib/base/rows.h"
#include "lib/edge/file.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "router/store/audit/audit.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/commit/submission.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- notes in the queue ---- */

/* The envelope is not among them: only submissions have one. */
#define TEXT(member) offsetof(struct audit_note, member),
static const size_t texts[] = {AUDIT_TEXTS(TEXT)};

enum { TEXT_COUNT = sizeof texts / sizeof *texts };

/* One byte more than a line shows: the line then shows that its text was cut. */
static struct mcpx_slice kept(struct mcpx_slice text)
{
    return (struct mcpx_slice){text.text,
                               text.len <= AUDIT_TEXT_MAX ? text.len : AUDIT_TEXT_MAX + 1};
}

static struct mcpx_slice *member(struct audit_note *note, size_t i)
{
    return (struct mcpx_slice *)((char *)note + texts[i]);
}

struct audit_note_copy *audit_note_copy_new(const struct audit_note *note)
{
    struct audit_note made = *note;
    size_t size = sizeof(struct audit_note_copy);
    struct audit_note_copy *out;
    struct mcpx_slice *to;
    char *at;

    made.to_count = note->to_count < AUDIT_TO_MAX ? note->to_count : AUDIT_TO_MAX;
    made.text = (struct mcpx_slice){0};
    for (size_t i = 0; i < TEXT_COUNT; i++)
        size += kept(*member(&made, i)).len;
    for (size_t i = 0; i < made.to_count; i++)
        size += sizeof *to + kept(note->to[i]).len;
    out = malloc(size);
    if (!out)
        return NULL;
    *out = (struct audit_note_copy){.size = size, .note = made};
    to = (struct mcpx_slice *)(out + 1);
    at = (char *)(to + made.to_count);
    out->note.to = to;
    for (size_t i = 0; i < made.to_count; i++)
        to[i] = mx_keep(&at, kept(note->to[i]));
    for (size_t i = 0; i < TEXT_COUNT; i++)
        *member(&out->note, i) = mx_keep(&at, kept(*member(&made, i)));
    return out;
}

/* ---- writing ---- */

enum { RETRY_MS = 1000 };

static void sign(struct audit_writer *writer)
{
    writer->written.checkpoints +=
        audit_chain_sign(&writer->chain, writer->key, mx_clock_now().wall_ms, &writer->text) !=
        0;
}

static uint64_t add(struct audit_writer *writer, const struct audit_note *note)
{
    uint64_t seq = audit_chain_add(&writer->chain, note, writer->payloads, &writer->text);

    writer->written.lines += seq != 0;
    if (writer->chain.unsigned_count >= AUDIT_SIGN_LINES - 1)
        sign(writer);
    return seq;
}

static void add_plain(struct audit_writer *writer, enum audit_what what)
{
    struct audit_note note = {.what = what, .wall_ms = mx_clock_now().wall_ms};

    add(writer, &note);
}

static void add_submission(struct audit_writer *writer, struct submission *submission)
{
    static const enum audit_what sorts[] = {[SUBMIT_MESSAGE] = AUDIT_ALLOW,
                                            [SUBMIT_JOIN] = AUDIT_JOIN,
                                            [SUBMIT_UPDATE] = AUDIT_UPDATE,
                                            [SUBMIT_LEAVE] = AUDIT_LEAVE};
    struct audit_note note = {.what = sorts[submission->what],
                              .wall_ms = submission->wall_ms,
                              .topic = submission->topic,
                              .from = submission->from,
                              .to = submission->to,
                              .to_count = submission->to_count,
                              .kind_sent = submission->kind_sent,
                              .kind = submission->kind,
                              .id = submission->id,
                              .correlation_id = submission->correlation_id,
                              .grant = submission->grant,
                              .reason = submission->reason,
                              .rev = mcpx_slice_of(writer->rev),
                              .text = submission->text};

    submission->line = add(writer, &note);
}

static void add_note(struct audit_writer *writer, const struct audit_note *note)
{
    struct audit_note made = *note;

    if (note->what == AUDIT_RELOAD && note->rev.text)
        (void)snprintf(writer->rev, sizeof writer->rev, "%.*s", (int)note->rev.len,
                       note->rev.text);
    if (note->what == AUDIT_REFUSE || note->what == AUDIT_TURNED_AWAY)
        made.rev = mcpx_slice_of(writer->rev);
    writer->written.lost += note->what == AUDIT_LOST ? note->count : 0;
    add(writer, &made);
}

static void add_lost(struct audit_writer *writer)
{
    struct audit_note note = {.what = AUDIT_LOST,
                              .wall_ms = writer->lost.until,
                              .reason = MCPX_SLICE("disk"),
                              .count = writer->lost.count,
                              .since = writer->lost.since,
                              .until = writer->lost.until};

    if (writer->lost.count > 0)
        add_note(writer, &note);
}

static void add_batch(struct audit_writer *writer, const struct batch *batch)
{
    const struct link *kept = batch->kept_items.next;
    uint64_t passed = batch->first;

    for (struct link *item = batch->items.next;; item = item->next) {
        for (; kept != &batch->kept_items; kept = kept->next) {
            const struct audit_note_copy *told =
                LIST_ELEMENT(kept, struct audit_note_copy, kept.link);

            if (told->kept.behind > passed)
                break;
            add_note(writer, &told->note);
        }
        if (item == &batch->items)
            break;
        add_submission(writer, LIST_ELEMENT(item, struct submission, link));
        passed++;
    }
}

static void count_written(struct audit_writer *writer)
{
    writer->report.lines += writer->written.lines;
    writer->report.lost += writer->written.lost;
    writer->report.checkpoints += writer->written.checkpoints;
    if (writer->unsigned_ms == 0 || writer->written.checkpoints > 0)
        writer->unsigned_ms = mx_clock_now().mono_ms;
    if (writer->chain.unsigned_count == 0)
        writer->unsigned_ms = 0;
}

/* Writes and counts the text. On failure the chain is `before` again; the report says why. */
static bool flush(struct audit_writer *writer, const struct audit_chain *before)
{
    enum audit_written written = AUDIT_NO_ROOM;

    errno = ENOMEM;
    if (!writer->text.failed)
        written = audit_folder_write(&writer->folder, mcpx_text_view(&writer->text));
    writer->report.bytes = writer->folder.before + writer->folder.size;
    if (written == AUDIT_WRITTEN) {
        writer->report.state = STAGE_READY;
        writer->report.reason[0] = '\0';
        count_written(writer);
        return true;
    }
    writer->report.state = written == AUDIT_NO_ROOM ? STAGE_FULL : STAGE_FAILED;
    (void)snprintf(writer->report.reason, sizeof writer->report.reason, "%s", strerror(errno));
    writer->chain = *before;
    return false;
}

static void begin_text(struct audit_writer *writer)
{
    mcpx_text_reset(&writer->text);
    memset(&writer->written, 0, sizeof writer->written);
}

/* Begins the next file when this one is full or old, after a checkpoint in it. */
static void rotate(struct audit_writer *writer)
{
    struct audit_chain before = writer->chain;
    bool full = writer->rotate_bytes > 0 && writer->folder.size >= writer->rotate_bytes;
    bool old = writer->rotate_ms > 0 &&
               mx_clock_now().mono_ms - writer->begun_ms >= writer->rotate_ms;

    if (writer->folder.size == 0 || !(full || old))
        return;
    begin_text(writer);
    if (writer->chain.unsigned_count > 0)
        sign(writer);
    if (writer->text.len > 0 && !flush(writer, &before))
        return;
    if (audit_folder_rotate(&writer->folder, writer->chain.seq))
        writer->begun_ms = mx_clock_now().mono_ms;
}

/* On a full disk a checkpoint is due, too: writing it finds out whether there is room again. */
static bool is_sign_due(const struct audit_writer *writer)
{
    return writer->report.state == STAGE_FULL ||
           (writer->chain.unsigned_count > 0 && writer->unsigned_ms > 0 &&
            mx_clock_now().mono_ms - writer->unsigned_ms >= AUDIT_SIGN_MS);
}

bool audit_writer_write(struct audit_writer *writer, const struct batch *batch, bool ending)
{
    struct audit_chain before;

    if (writer->report.state != STAGE_FAILED)
        rotate(writer);
    if (writer->report.state != STAGE_FAILED) { /* rotate() may have failed */
        before = writer->chain;
        begin_text(writer);
        if (writer->folder.size == 0)
            add_plain(writer, AUDIT_BEGIN);
        add_lost(writer);
        add_batch(writer, batch);
        if (ending)
            add_plain(writer, AUDIT_STOP);
        if (ending || is_sign_due(writer))
            sign(writer);
        if ((writer->text.len == 0 && !writer->text.failed) || flush(writer, &before)) {
            writer->lost.count = 0;
            return true;
        }
    }
    for (struct link *at = batch->items.next; at != &batch->items; at = at->next)
        LIST_ELEMENT(at, struct submission, link)->line = 0;
    return false;
}

void audit_writer_lose(struct audit_writer *writer, const struct batch *batch, bool items)
{
    uint64_t count = items ? batch->count : 0;
    int64_t now = mx_clock_now().wall_ms;

    for (const struct link *at = batch->kept_items.next; at != &batch->kept_items;
         at = at->next) {
        const struct audit_note *note =
            &LIST_ELEMENT(at, struct audit_note_copy, kept.link)->note;

        count += note->what == AUDIT_LOST ? note->count : 1;
    }
    if (count == 0)
        return;
    writer->lost.since = writer->lost.count > 0 ? writer->lost.since : now;
    writer->lost.until = now;
    writer->lost.count += count;
}

int64_t audit_writer_wait_ms(const struct audit_writer *writer)
{
    int64_t left = AUDIT_SIGN_MS;

    if (writer->report.state == STAGE_FULL)
        return RETRY_MS;
    if (writer->chain.unsigned_count > 0)
        left -= mx_clock_now().mono_ms - writer->unsigned_ms;
    return left > 0 ? left : 0;
}

enum mcpx_err audit_key_load(const char *path, const char **why, struct audit_key **out)
{
    struct mcpx_text pem = {0};
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err = MCPX_ESYSTEM;

    if (!mcpx_text_reserve(&pem, (size_t)3 * AUDIT_KEY_FILE_MAX)) /* leaves no copy behind */
        return MCPX_ENOMEM;
    *why = mx_file_read(path, AUDIT_KEY_FILE_MAX, &pem);
    if (!*why) {
        err = audit_key_read(mcpx_text_view(&pem), AUDIT_PRIVATE, &fault, out);
        *why = fault.reason;
    }
    OPENSSL_cleanse(pem.text, pem.len);
    mcpx_text_fini(&pem);
    return err;
}

static enum mcpx_err read_key(const char *path, struct mcpx_text *errors,
                              struct audit_key **out)
{
    const char *why;
    enum mcpx_err err = audit_key_load(path, &why, out);

    if (err == MCPX_ESYSTEM)
        mx_format(errors, "audit.key_file %q: %s\n", path, why);
    if (err != MCPX_EINVALID)
        return err;
    mx_format(errors,
              "audit.key_file %q: %s; \"openssl genpkey -algorithm ed25519\" makes one\n",
              path, why);
    return MCPX_ECONFIG;
}

static enum mcpx_err write_start(struct audit_writer *writer, uint64_t cut,
                                 struct mcpx_text *errors)
{
    struct audit_chain before = writer->chain;
    struct audit_note note = {.what = AUDIT_START,
                              .wall_ms = mx_clock_now().wall_ms,
                              .rev = mcpx_slice_of(writer->rev),
                              .cut = cut};

    if (writer->folder.size == 0)
        add_plain(writer, AUDIT_BEGIN);
    add(writer, &note);
    if (flush(writer, &before))
        return MCPX_OK;
    mx_format(errors, "audit.folder %q: cannot write: %s\n", writer->path,
              writer->report.reason);
    return MCPX_ESYSTEM;
}

enum mcpx_err audit_writer_open(const struct audit_config *config, struct mcpx_text *errors,
                                struct audit_writer *writer)
{
    uint64_t cut = 0;
    enum mcpx_err err;

    *writer = (struct audit_writer){.path = strdup(config->folder),
                                    .folder = {.dir = -1, .file = -1},
                                    .payloads = config->payloads,
                                    .rotate_bytes = config->rotate_bytes,
                                    .rotate_ms = config->rotate_ms,
                                    .begun_ms = mx_clock_now().mono_ms};
    if (!writer->path)
        return MCPX_ENOMEM;
    (void)snprintf(writer->rev, sizeof writer->rev, "%.*s", (int)config->rev.len,
                   config->rev.text ? config->rev.text : "");
    err = read_key(config->key_file, errors, &writer->key);
    if (!err)
        err = audit_folder_open(writer->path, errors, &writer->folder, &writer->chain, &cut);
    return err ? err : write_start(writer, cut, errors);
}

void audit_writer_close(struct audit_writer *writer)
{
    if (writer->path)
        audit_folder_close(&writer->folder);
    audit_key_free(writer->key);
    mcpx_text_fini(&writer->text);
    free(writer->path);
}
