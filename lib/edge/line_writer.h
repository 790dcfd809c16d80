/* line_writer.h - writes lines to a descriptor without waiting for its reader. */
#ifndef MX_LINE_WRITER_H
#define MX_LINE_WRITER_H

#include <mcpx/text.h>

/** Most bytes that wait for a reader. */
enum { MX_LINE_WRITER_MAX = 1 << 20 };

/** A descriptor for lines. With all but `fd` zeroed it is closed: then each write may block. */
struct mx_line_writer {
    uint64_t lost;      /* lines lost and not reported yet */
    uint64_t lost_ever; /* all lines lost */
    int fd;
    unsigned way; /* private, like all below: how to write without waiting */
    int own;      /* a descriptor that is ours alone, or -1 */
    struct mcpx_text queue;
    size_t at; /* bytes of it that are written */
};

/**
 * Opens it on a descriptor that other processes may share: its flags stay as they are. Pipes and
 * terminals are opened again, non-blocking; sockets get MSG_DONTWAIT at each write. Files never
 * block; before a write to anything else poll(2) is asked.
 *
 * fd   borrowed until mx_line_writer_close
 */
void mx_line_writer_open(struct mx_line_writer *writer, int fd);

/**
 * Writes lines, or queues them; order is kept. Lines beyond MX_LINE_WRITER_MAX queued bytes are
 * lost, and counted. A lasting error of the descriptor (EPIPE, ENOSPC) loses lines too.
 *
 * lines   whole lines with their ends, borrowed
 */
void mx_line_writer_put(struct mx_line_writer *writer, struct mcpx_slice lines);

/** Writes as much of the queue as it can. Returns false while something is left. */
bool mx_line_writer_flush(struct mx_line_writer *writer);

/** True when lines were lost and everything before them is written: the loss can be reported. */
static inline bool mx_line_writer_may_report_lost(const struct mx_line_writer *writer)
{
    return writer->lost > 0 && writer->queue.len == 0;
}

/** As mx_line_writer_flush, but waits up to `timeout_ms` until everything is written. */
bool mx_line_writer_drain(struct mx_line_writer *writer, int timeout_ms);

/** Discards the queue, and closes it. */
void mx_line_writer_close(struct mx_line_writer *writer);

#endif
