/*
 * ledger.c - entries in order, and two sorted lists of them for lookups. An envelope is copied into
 * one allocation: the struct, its addressees, then its bytes. Keeping struct mcpx_envelope itself
 * was refused: it has room for 256 addressees, and a ledger has many envelopes.
 */
#include "tools/mcpxctl/core/ledger.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "tools/common/command.h"
#include <mcpx/session.h>

#include <stdlib.h>

/* ---- entries ---- */

struct entry *entry_copy(const struct mcpx_envelope *envelope)
{
    /* No string of the head is longer than it was escaped, in the text beside the payload. */
    size_t bytes = envelope->text.len + (envelope->text.len - envelope->payload.len);
    struct entry *entry =
        malloc(sizeof *entry + envelope->to_count * sizeof *entry->to + bytes);
    char *free_at;

    *entry =
        (struct entry){.to = (struct mcpx_slice *)(entry + 1), .to_count = envelope->to_count};
    free_at = (char *)(entry->to + entry->to_count);
    entry->text = mx_keep(&free_at, envelope->text);
    entry->payload = (struct mcpx_slice){
        entry->text.text + (envelope->payload.text - envelope->text.text),
        envelope->payload.len,
    };
    entry->id = mx_keep(&free_at, envelope->id);
    entry->ts = mx_keep(&free_at, envelope->ts);
    entry->from = mx_keep(&free_at, envelope->from);
    entry->correlation_id = mx_keep(&free_at, envelope->correlation_id);
    for (size_t i = 0; i < entry->to_count; i++)
        entry->to[i] = mx_keep(&free_at, envelope->to[i]);
    /* It was parsed once already, so it parses. */
    mcpx_kind_parse(mx_keep(&free_at, envelope->kind.text), &entry->kind, NULL);
    entry->at_ms = time_read(entry->ts);
    return entry;
}

enum mcpx_err entry_new(struct mcpx_slice text, struct mcpx_fault *fault, struct entry **out)
{
    struct mcpx_envelope envelope;
    enum mcpx_err err;

    mcpx_envelope_init(&envelope);
    err = memory_checked(mcpx_envelope_parse(text, 0, &envelope, fault));
    if (!err)
        *out = entry_copy(&envelope);
    mcpx_envelope_fini(&envelope);
    return err;
}

bool entry_is(const struct entry *entry, const char *type)
{
    return mcpx_slice_equal(entry->kind.type, mcpx_slice_of(type));
}

const char *entry_fault(const struct entry *entry)
{
    static struct mcpx_rpc rpc;

    if (!entry_is(entry, "mcp/request") && !entry_is(entry, "mcp/response") &&
        !entry_is(entry, "mcp/proposal"))
        return NULL;
    if (mcpx_rpc_read(entry->payload, &rpc, NULL) != MCPX_OK)
        return mcpx_violation_text(MCPX_VIOLATION_RPC);
    if (mcpx_rpc_agrees(&rpc, &entry->kind, NULL) != MCPX_OK)
        return mcpx_violation_text(MCPX_VIOLATION_KIND);
    return NULL;
}

int64_t time_read(struct mcpx_slice text)
{
    int64_t ms;

    return mx_time_parse(text, &ms) && ms >= 0 ? ms : -1;
}

/* ---- the stretch ---- */

void ledger_fini(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        free(ledger->entries[i]);
    free(ledger->entries);
    free(ledger->sorted);
    free(ledger->related);
    *ledger = (struct ledger){.count = 0};
}

void ledger_add(struct ledger *ledger, struct entry *entry)
{
    mx_make_room(&ledger->entries, ledger->count, &ledger->size, sizeof(struct entry *));
    ledger->entries[ledger->count++] = entry;
}

void ledger_reverse(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count / 2; i++) {
        struct entry *entry = ledger->entries[i];

        ledger->entries[i] = ledger->entries[ledger->count - 1 - i];
        ledger->entries[ledger->count - 1 - i] = entry;
    }
}

static int by_id(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;

    return mcpx_slice_compare(left->id, right->id);
}

static int by_relation(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;
    int order = mcpx_slice_compare(left->correlation_id, right->correlation_id);

    return order ? order : left->index < right->index ? -1 : left->index > right->index;
}

static struct entry **sorted_copy(const struct ledger *ledger,
                                  int (*order)(const void *, const void *))
{
    struct entry **copy = malloc((ledger->count + 1) * sizeof *copy);

    if (ledger->count > 0)
        memcpy(copy, ledger->entries, ledger->count * sizeof *copy);
    qsort(copy, ledger->count, sizeof *copy, order);
    return copy;
}

void ledger_seal(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        ledger->entries[i]->index = i;
    ledger->sorted = sorted_copy(ledger, by_id);
    ledger->related = sorted_copy(ledger, by_relation);
}

/* How many of the sorted entries stand before `id`. */
static size_t place_of(const struct ledger *ledger, struct mcpx_slice id)
{
    size_t low = 0, high = ledger->count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(ledger->sorted[row]->id, id) < 0);
    return low;
}

const struct entry *ledger_get(const struct ledger *ledger, struct mcpx_slice id)
{
    size_t place = place_of(ledger, id);

    if (place < ledger->count && mcpx_slice_equal(ledger->sorted[place]->id, id))
        return ledger->sorted[place];
    return NULL;
}

struct entry *const *ledger_beginning(const struct ledger *ledger, struct mcpx_slice word,
                                      size_t *count)
{
    size_t place = place_of(ledger, word), end = place;

    while (end < ledger->count && ledger->sorted[end]->id.len >= word.len &&
           memcmp(ledger->sorted[end]->id.text, word.text, word.len) == 0)
        end++;
    *count = end - place;
    return ledger->sorted + place;
}

enum mcpx_err ledger_find(const struct ledger *ledger, struct mcpx_slice word,
                          const struct entry **out)
{
    size_t count;
    struct entry *const *found = ledger_beginning(ledger, word, &count);

    if (word.len == 0 || count == 0)
        return MCPX_ENOTFOUND;
    if (count > 1 && found[0]->id.len > word.len)
        return MCPX_EDUPLICATE;
    *out = found[0];
    return MCPX_OK;
}

struct entry *const *ledger_about(const struct ledger *ledger, struct mcpx_slice id,
                                  size_t *count)
{
    size_t low = 0, high = ledger->count, end, row;

    MX_SEARCH(low, high, row,
              mcpx_slice_compare(ledger->related[row]->correlation_id, id) < 0);
    for (end = low;
         end < ledger->count && mcpx_slice_equal(ledger->related[end]->correlation_id, id);)
        end++;
    *count = end - low;
    return ledger->related + low;
}

static size_t common_length(struct mcpx_slice a, struct mcpx_slice b)
{
    size_t len = 0;

    while (len < a.len && len < b.len && a.text[len] == b.text[len])
        len++;
    return len;
}

struct mcpx_slice ledger_brief(const struct ledger *ledger, const struct entry *entry,
                               size_t least)
{
    size_t place = place_of(ledger, entry->id), len = least;

    /* Its neighbours; nothing stands before the first, whose place - 1 is no place. */
    for (size_t i = 0; i < 2; i++) {
        size_t other = i == 0 ? place - 1 : place + 1;
        size_t common =
            other < ledger->count ? common_length(ledger->sorted[other]->id, entry->id) : 0;

        len = common >= len ? common + 1 : len;
    }
    while (len < entry->id.len && ((unsigned char)entry->id.text[len] & 0xc0) == 0x80)
        len++;
    return (struct mcpx_slice){entry->id.text, len < entry->id.len ? len : entry->id.len};
}
