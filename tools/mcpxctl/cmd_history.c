/*
 * cmd_history.c - shows the envelopes that the router retains. It reads them over HTTP: a
 * second connection would replace the first one of the same participant.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/filter.h"
#include "tools/mcpxctl/line.h"
#include "tools/mcpxctl/output.h"

enum { LIMIT = 50, COLUMNS = 100, BRIEF = 8 };

/*
 * Index of the first entry to show, so that `limit` entries that pass the filter are shown
 * before `end`.
 */
static size_t first_of(const struct ledger *ledger, const struct filter *filter, size_t end,
                       size_t limit)
{
    while (end > 0 && limit > 0) {
        const struct entry *entry = ledger->entries[--end];

        limit -= filter_passes(filter, &entry->kind, entry->from);
    }
    return end;
}

/* Without a word, a reader takes the fifty lines for the whole history. */
static void note_older(const struct ledger *ledger, const struct filter *filter, size_t first)
{
    struct mcpx_slice id;
    size_t i = first;

    while (i > 0 &&
           !filter_passes(filter, &ledger->entries[i - 1]->kind, ledger->entries[i - 1]->from))
        i--;
    if (i == 0 || first >= ledger->count)
        return;
    id = ledger->entries[first]->id;
    complain("history", "there is more before this: --before %.*s", (int)id.len, id.text);
}

static int print(const struct arguments *arguments, const struct connection *where,
                 const struct ledger *ledger, const struct filter *filter, size_t end)
{
    size_t limit = (size_t)arguments_number(arguments, "--limit", LIMIT);
    bool json = arguments_have(arguments, "--json");
    struct line_style style = {colour_for(arguments), false, COLUMNS, BRIEF, NULL, 0};
    size_t first = first_of(ledger, filter, end, limit);
    struct mcpx_text out = {0};

    for (size_t i = first; i < end; i++) {
        const struct entry *entry = ledger->entries[i];

        if (!filter_passes(filter, &entry->kind, entry->from))
            continue;
        if (json)
            line_write_json(&out, entry->text);
        else
            line_write(&out, entry, &style, entry_fault(entry));
    }
    if (limit > 0)
        note_older(ledger, filter, first);
    return output_print_list(arguments, where, &out,
                             ledger->count > 0 ? "nothing that was asked for is retained"
                                               : "nothing is retained");
}

static int fetch_and_print(const struct arguments *arguments, const struct connection *where,
                           const struct filter *filter)
{
    const char *before = arguments_value(arguments, "--before");
    size_t limit = (size_t)arguments_number(arguments, "--limit", LIMIT);
    bool all = before || filter->kinds || filter->from.text;
    struct ledger ledger = {.count = 0};
    const struct entry *end = NULL;
    int status = fetch_history(where, "history", all ? SIZE_MAX : limit + 1, &ledger);

    if (status == STATUS_OK && before)
        status = fetch_find(where, "history", &ledger, before, &end);
    if (status == STATUS_OK)
        status = print(arguments, where, &ledger, filter, end ? end->index : ledger.count);
    ledger_fini(&ledger);
    return status;
}

int cmd_history(const struct arguments *arguments)
{
    struct filter filter = {.kinds = NULL};
    struct connection where;
    int status = filter_read(arguments, &filter);

    if (status != STATUS_OK)
        return status;
    status = connection_read(arguments, &where);
    if (status == STATUS_OK)
        status = fetch_and_print(arguments, &where, &filter);
    connection_fini(&where);
    filter_fini(&filter);
    return status;
}
