/*
 * records.c - from a core to the files of lib/edge/journal.
 */
#include "tools/mcpx-bridge/edge/records.h"

#include "lib/edge/alarm.h"

#include <unistd.h>

static void say(void *user, const char *sentence)
{
    complain(user, "%s", sentence);
}

void records_open(struct records *records, const char *verb, const struct bridge_terms *terms)
{
    struct mx_journal_config config = {.wall_ms = mx_clock_now().wall_ms,
                                       .pid = (long)getpid(),
                                       .complain = say,
                                       .user = (void *)(uintptr_t)verb};

    if (!terms || !mcpx_terms_log(terms->terms, &config.dir, &config.keep, &config.file_bytes))
        return;
    records->journal = mx_journal_open(&config);
    if (!records->journal)
        complain_of_memory(verb);
}

void records_write(struct records *records, enum mcpx_record which, struct mcpx_slice line)
{
    if (records->journal)
        mx_journal_write(records->journal, which, line);
}

void records_close(struct records *records)
{
    mx_journal_close(records->journal);
    records->journal = NULL;
}
