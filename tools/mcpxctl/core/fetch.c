/*
 * fetch.c - fetches pages of history until the last one, and finds a proposal to be decided among
 * them. Protocol: section 8.
 *
 * A proposal can be decided while it is retained and open. Its id is not enough: once it has left
 * history, any participant may send something else under the id. So a user who decides without
 * looking gives the digest of the listed proposal. It has 128 bits, not the usual 32: an attacker
 * who makes both a harmless and a harmful proposal with one digest needs only the square root of
 * the effort.
 */
#include "tools/mcpxctl/core/fetch.h"

#include "lib/base/digits.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "tools/common/program.h"
#include "tools/common/proposal.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/live.h"
#include <mcpx/json.h>

enum { PAGE = 1000, PAGES_MAX = 100000, BYTES_MAX = 256 << 20 };

void pages_fini(struct pages *pages)
{
    mcpx_text_fini(&pages->mark);
}

/* The mark moves to every page whose number is a power of two. So it gets into any cycle of pages
 * at last, and is met again. */
const char *pages_follow(struct pages *pages, size_t bytes, struct mcpx_slice cursor)
{
    pages->bytes += bytes;
    if (pages->count++ > 0 && mcpx_slice_equal(cursor, mcpx_text_view(&pages->mark)))
        return "the pages repeat themselves";
    if (pages->count == PAGES_MAX)
        return "the pages do not end: there are more than 100000";
    if (pages->bytes > BYTES_MAX && !pages->any_size)
        return "the pages do not end: there are more than 256 MiB of them";
    if ((pages->count & (pages->count - 1)) == 0) {
        mcpx_text_reset(&pages->mark);
        mcpx_text_slice(&pages->mark, cursor);
    }
    return NULL;
}

/*
 * Progress through the history: the next page begins behind the id `last`, absent before the first
 * one. `more` is true while there may be another page.
 */
struct paging {
    const struct fetch_order *order;
    size_t count;
    struct mcpx_text last;
    bool more;
};

static bool is_late(const struct fetch_order *order)
{
    return live_now() >= order->deadline_ms;
}

static enum mcpx_err take_page(struct paging *paging, struct mcpx_slice page)
{
    struct mcpx_slice history = mcpx_json_get(page, "history");
    struct mcpx_fault fault;

    if (mcpx_json_type(history) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    mcpx_text_reset(&paging->last);
    MCPX_JSON_EACH(walk, history) {
        struct entry *entry = NULL;
        enum mcpx_err err = entry_new(walk.value, &fault, &entry);

        if (err)
            return err;
        mcpx_text_reset(&paging->last);
        mcpx_text_slice(&paging->last, entry->id);
        paging->count++;
        paging->order->take(paging->order->context, entry);
    }
    paging->more = mcpx_json_get(page, "next").text && paging->last.len > 0;
    return MCPX_OK;
}

/*
 * Asks for the newest envelopes, or for those older than `last`. When that has left the history
 * meanwhile, all older ones have left it, too: then `more` is false. After another failure it asks
 * again, to complain of the failure.
 */
static int fetch_page(const struct connection *where, struct paging *paging,
                      struct mcpx_text *answer, struct mcpx_slice *page)
{
    size_t left = paging->order->limit - paging->count;
    bool is_older = paging->last.len > 0;
    struct http_call call = {.deadline_ms = paging->order->deadline_ms, .quiet = is_older};
    mx_scoped_text path = {0};
    int status;

    mx_format(&path, "history?limit=%s", left < PAGE ? left : PAGE);
    if (is_older) {
        mcpx_text_puts(&path, "&before=");
        mx_percent_add(&path, mcpx_text_view(&paging->last));
    }
    call.path = path.text;
    status = connection_call(where, call, answer, page);
    paging->more = status != STATUS_ABSENT || !is_older;
    if (status == STATUS_OK || !is_older)
        return status;
    if (!paging->more)
        return STATUS_OK;
    if (is_late(paging->order))
        return STATUS_TIMEOUT;
    mcpx_text_reset(answer);
    call.quiet = false;
    return connection_call(where, call, answer, page);
}

/* A router cannot make this last for ever, neither with slow pages, nor with endless ones. */
int fetch_each(const struct connection *where, const struct fetch_order *order)
{
    struct paging paging = {.order = order, .more = true};
    struct pages pages = {.any_size = order->any_size};
    const char *endless = NULL;
    enum mcpx_err err = MCPX_OK;
    int status = STATUS_OK;

    while (paging.more && paging.count < order->limit && !err && status == STATUS_OK) {
        mx_scoped_text answer = {0};
        struct mcpx_slice page;

        status = is_late(order) ? STATUS_TIMEOUT : fetch_page(where, &paging, &answer, &page);
        if (status == STATUS_OK && paging.more)
            err = take_page(&paging, page);
        if (status == STATUS_OK && paging.more && !err)
            endless = pages_follow(&pages, answer.len, mcpx_text_view(&paging.last));
        if (endless)
            status = fail_with(STATUS_FAILED,
                               "%s: the history of %s cannot be read: %s, after %zu envelopes",
                               where->api, where->client.topic, endless, paging.count);
    }
    mcpx_text_fini(&paging.last);
    pages_fini(&pages);
    if (status == STATUS_TIMEOUT && is_late(order))
        complain("the history did not come in time, only %zu messages of it; a longer "
                 "--timeout may help, and 0 waits for ever",
                 paging.count);
    if (err)
        status = fail_with(STATUS_FAILED, "the router's history cannot be read: %s",
                           mcpx_strerror(err));
    return status;
}

static void add_to_snapshot(void *context, struct entry *entry)
{
    snapshot_add(context, entry);
}

int fetch_history(const struct connection *where, size_t limit, struct snapshot *out)
{
    int status = fetch_each(
        where, &(struct fetch_order){limit, INT64_MAX, false, add_to_snapshot, out});

    if (status != STATUS_OK)
        return status;
    snapshot_reverse(out);
    out->now_ms = mx_clock_now().wall_ms;
    snapshot_seal(out);
    return STATUS_OK;
}

_Noreturn static void end_without(const struct connection *where, struct mcpx_slice word)
{
    end_of(STATUS_ABSENT, word,
           ": no retained envelope of the topic %s has an id that begins like this%s",
           where->client.topic,
           memchr(word.text, '@', word.len)
               ? "; in ID@DIGEST the digest has 32 hexadecimal digits, see mcpxctl proposals"
               : "");
}

const struct entry *fetch_find(const struct connection *where, const struct snapshot *snapshot,
                               const char *word)
{
    struct mcpx_slice beginning = mcpx_slice_of(word);
    const struct entry *found = NULL;
    enum mcpx_err err = snapshot_find(snapshot, beginning, &found);

    if (err == MCPX_EDUPLICATE)
        end_of(STATUS_USAGE, beginning, ": several ids begin like this; type more characters");
    if (err)
        end_without(where, beginning);
    return found;
}

/* ---- proposals ---- */

/* The digest behind the last '@'; NULL when there is none. */
static const char *digest_of(const char *word)
{
    const char *at = strrchr(word, '@');

    if (!at || strlen(at + 1) != PROPOSAL_DIGEST_LEN ||
        strspn(at + 1, "0123456789abcdef") != PROPOSAL_DIGEST_LEN)
        return NULL;
    return at + 1;
}

bool proposal_word_is_bound(const char *word)
{
    return digest_of(word) != NULL;
}

/* Finds the one with the digest among the ids that begin so, and never returns another one. */
static const struct entry *find_bound(const struct connection *where,
                                      const struct snapshot *snapshot, const char *word)
{
    const char *digest = digest_of(word);
    struct mcpx_slice id = {word, (size_t)(digest - 1 - word)};
    char hash[PROPOSAL_DIGEST_LEN + 1];
    size_t count;
    struct entry *const *entries = snapshot_beginning(snapshot, id, &count);

    for (size_t i = 0; i < count; i++) {
        proposal_digest(entries[i]->text, hash);
        if (strcmp(hash, digest) == 0)
            return entries[i];
    }
    if (count == 0)
        end_without(where, id);
    end_of(STATUS_FAILED, id,
           ": the digest is wrong, or the proposal under this id has changed; mcpxctl "
           "proposals lists it with its digest");
}

const struct entry *proposal_find(const struct connection *where, const char *word,
                                  struct snapshot *snapshot)
{
    MX_SCOPED(chain_fini) struct chain chain = {.count = 0};
    const struct entry *found;

    must(fetch_history(where, SIZE_MAX, snapshot));
    found = proposal_word_is_bound(word) ? find_bound(where, snapshot, word)
                                         : fetch_find(where, snapshot, word);
    if (!entry_is(found, "mcp/proposal"))
        end_of(STATUS_USAGE, found->id, " is not a proposal");
    chain = chain_below(snapshot, found);
    if (chain.state != CHAIN_OPEN)
        end_of(STATUS_FAILED, found->id, " is no longer open (%s); see mcpxctl chain",
               chain_state_name(chain.state));
    return found;
}
