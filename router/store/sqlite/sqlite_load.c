/*
 * sqlite_load.c - reads a topic in one go, as of one moment, and checks it meanwhile: its serials
 * have no gap, its epoch is one, and every text has its checksum. A topic that fails a check was
 * damaged on the disk, and no byte of it is handed out.
 */
#include "router/store/sqlite/sqlite.h"

#include "lib/base/rows.h"
#include "lib/edge/timer.h"
#include "router/store/sqlite/sqlite_schema.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct stored_topic_load *stored_topic_load_new(const struct task *task)
{
    struct stored_topic_load *load = malloc(sizeof *load + task->topic.len);

    if (!load)
        return NULL;
    *load = (struct stored_topic_load){.closes = task->kind == TASK_CLOSE,
                                       .ticket = task->ticket,
                                       .name = {(char *)(load + 1), task->topic.len},
                                       .begun_us = mx_clock_us()};
    memcpy(load + 1, task->topic.text, task->topic.len);
    list_init(&load->kept.link);
    return load;
}

void stored_topic_load_free(struct stored_topic_load *load)
{
    if (!load)
        return;
    mcpx_text_fini(&load->texts);
    free(load->envelopes);
    free(load);
}

int loader_init(struct loader *loader, struct sqlite3 *db)
{
    const struct statement rows[] = {
        {"SELECT topic, epoch, first_serial, last_serial FROM topic WHERE name = ?1",
         &loader->find},
        {"SELECT serial, wall_ms, sum, text FROM entry WHERE topic = ?1 ORDER BY serial",
         &loader->read},
    };

    loader->db = db;
    return statements_make(db, rows, sizeof rows / sizeof *rows);
}

static enum mcpx_err damaged(struct stored_topic_load *load, const char *what, uint64_t serial)
{
    (void)snprintf(load->reason, sizeof load->reason, "%s, at serial %llu", what,
                   (unsigned long long)serial);
    return MCPX_EUNAVAILABLE;
}

static enum mcpx_err take_topic(struct loader *loader, struct stored_topic_load *load,
                                int64_t *row, uint64_t *last)
{
    struct mcpx_slice epoch = statement_text(loader->find, 1);
    int64_t first = sqlite3_column_int64(loader->find, 2);

    *row = sqlite3_column_int64(loader->find, 0);
    *last = (uint64_t)sqlite3_column_int64(loader->find, 3);
    if (epoch.len != TOPIC_EPOCH_LEN || first < 1 || *last + 1 < (uint64_t)first)
        return damaged(load, "its row is damaged", *last);
    memcpy(load->epoch, epoch.text, TOPIC_EPOCH_LEN);
    load->is_known = true;
    load->topic = (struct stored_topic){{load->epoch, TOPIC_EPOCH_LEN}, (uint64_t)first};
    return MCPX_OK;
}

/* Adds the next envelope. Its text is copied; its slice has only a length until all are read. */
static enum mcpx_err take_envelope(struct loader *loader, struct stored_topic_load *load)
{
    uint64_t serial = load->topic.first + load->count;
    struct mcpx_slice text = statement_text(loader->read, 3);

    if ((uint64_t)sqlite3_column_int64(loader->read, 0) != serial)
        return damaged(load, "an envelope is missing", serial);
    if (schema_sum(load->name, serial, text) != sqlite3_column_int64(loader->read, 2))
        return damaged(load, "an envelope is not what was written", serial);
    if (!mx_make_room(&load->envelopes, load->count, &load->size, sizeof *load->envelopes))
        return MCPX_ENOMEM;
    load->envelopes[load->count++] =
        (struct stored_envelope){{NULL, text.len}, sqlite3_column_int64(loader->read, 1)};
    mcpx_text_slice(&load->texts, text);
    return load->texts.failed ? MCPX_ENOMEM : MCPX_OK;
}

static void point_to_texts(struct stored_topic_load *load)
{
    const char *text = load->texts.text;

    for (size_t i = 0; i < load->count; i++) {
        load->envelopes[i].text.text = text;
        text += load->envelopes[i].text.len;
    }
}

/* SQLite's error means a damaged topic or an unreadable disk, unless memory ran out. */
static enum mcpx_err judge(struct loader *loader, struct stored_topic_load *load, int code)
{
    if ((code & 0xff) == SQLITE_NOMEM)
        return MCPX_ENOMEM;
    (void)snprintf(load->reason, sizeof load->reason, "%s (%d)", sqlite3_errmsg(loader->db),
                   code);
    return MCPX_EUNAVAILABLE;
}

static enum mcpx_err read_envelopes(struct loader *loader, struct stored_topic_load *load,
                                    int64_t row, uint64_t last)
{
    enum mcpx_err err = MCPX_OK;
    int code = sqlite3_bind_int64(loader->read, 1, row);

    while (code == SQLITE_OK && err == MCPX_OK &&
           (code = sqlite3_step(loader->read)) == SQLITE_ROW) {
        err = take_envelope(loader, load);
        code = SQLITE_OK;
    }
    if (err == MCPX_OK && code != SQLITE_DONE)
        err = judge(loader, load, code);
    else if (err == MCPX_OK && load->topic.first + load->count != last + 1)
        err = damaged(load, "an envelope is missing", last);
    (void)sqlite3_reset(loader->read);
    point_to_texts(load);
    return err;
}

static enum mcpx_err read_topic(struct loader *loader, struct stored_topic_load *load)
{
    int64_t row = 0;
    uint64_t last = 0;
    enum mcpx_err err;
    int code = statement_say_text(loader->find, 1, load->name);

    if (code == SQLITE_OK)
        code = sqlite3_step(loader->find);
    if (code == SQLITE_DONE)
        return MCPX_OK;
    if (code != SQLITE_ROW)
        return judge(loader, load, code);
    err = take_topic(loader, load, &row, &last);
    return err == MCPX_OK ? read_envelopes(loader, load, row, last) : err;
}

void loader_read(struct loader *loader, struct stored_topic_load *load)
{
    int code = schema_run(loader->db, "BEGIN");
    enum mcpx_err err =
        code == SQLITE_OK ? read_topic(loader, load) : judge(loader, load, code);

    (void)sqlite3_reset(loader->find);
    (void)schema_run(loader->db, "COMMIT");
    load->rejection = (struct rejection){err, 0, true};
}
