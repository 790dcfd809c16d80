/*
 * line_writer.h - lines for a descriptor whose reader may have stopped reading, written without
 * ever waiting for it.
 */
#ifndef MX_LINE_WRITER_H
#define MX_LINE_WRITER_H

#include <mcpx/text.h>

/** Bytes that wait for a reader, at most. */
enum { MX_LINE_WRITER_MAX = 1 << 20 };

/**
 * Where lines go. With all but `fd` zeroed it is closed: lines are written at once, and waited for.
 */
struct mx_line_writer {
    uint64_t lost;      /* lines that found no room and that nobody was told of yet */
    uint64_t lost_ever; /* all of them */
    int fd;
    unsigned way; /* private, as are all that follow: how to write without waiting */
    int own;      /* a descriptor that is ours alone, or -1 */
    struct mcpx_text queue;
    size_t at; /* bytes of it that are written */
};

/**
 * Opens it upon a descriptor that others may write to as well: its flags stay as they are. What can
 * be opened anew (pipes, terminals) is, and the new one does not wait; sockets are asked not to at
 * each write; for all else readiness is asked first. Files never make anybody wait.
 *
 * fd   borrowed until mx_line_writer_close
 */
void mx_line_writer_open(struct mx_line_writer *writer, int fd);

/**
 * Writes lines, or keeps them until they can be written; when MX_LINE_WRITER_MAX bytes wait already
 * they are lost, and counted. Order is kept. What the descriptor refuses for good (EPIPE, ENOSPC)
 * is lost too.
 *
 * lines   whole lines with their ends, borrowed
 */
void mx_line_writer_put(struct mx_line_writer *writer, struct mcpx_slice lines);

/**
 * Writes of what waits as much as can be. Returns false while something waits still.
 */
bool mx_line_writer_flush(struct mx_line_writer *writer);

/** True when lines were lost and everything before them is written: now it can be said. */
static inline bool mx_line_writer_may_report_lost(const struct mx_line_writer *writer)
{
    return writer->lost > 0 && writer->queue.len == 0;
}

/** mx_line_writer_flush that waits up to that long until everything is written. */
bool mx_line_writer_drain(struct mx_line_writer *writer, int timeout_ms);

/** Forgets what waits, and closes it. */
void mx_line_writer_close(struct mx_line_writer *writer);

#endif
