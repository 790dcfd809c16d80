/*
 * proposal.c - what may be decided: a proposal that is retained and open.
 *
 * An id alone does not name one: once it has left history, anybody may send something else under
 * it. So who decides without looking names the digest of what was listed. 128 bits, not the usual
 * eight characters: whoever makes both the harmless and the harmful proposal looks for any two that
 * agree, and that takes the square root of the effort.
 */
#include "tools/mcpxctl/proposal.h"

#include "lib/contract/digest.h"
#include "lib/core/ident.h"
#include "tools/mcpxctl/chain.h"
#include "tools/mcpxctl/fetch.h"

enum mcpx_err proposal_digest(const struct entry *proposal, char out[PROPOSAL_DIGEST_LEN + 1])
{
    unsigned char hash[MX_SHA256_BYTES];

    if (!mx_sha256(proposal->text, hash))
        return MCPX_ENOMEM;
    mx_hex_format(hash, PROPOSAL_DIGEST_LEN / 2, out);
    return MCPX_OK;
}

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

/* Among those whose id begins so, the one with the digest: no other is ever taken for it. */
static int find_bound(const struct connection *where, const char *verb,
                      const struct ledger *ledger, const char *word, const struct entry **out)
{
    const char *digest = digest_of(word);
    struct mcpx_slice id = {word, (size_t)(digest - 1 - word)};
    char hash[PROPOSAL_DIGEST_LEN + 1];
    size_t count;
    struct entry *const *entries = ledger_beginning(ledger, id, &count);

    for (size_t i = 0; i < count; i++) {
        if (proposal_digest(entries[i], hash) != MCPX_OK)
            return complain_of_memory(verb);
        if (strcmp(hash, digest) == 0) {
            *out = entries[i];
            return STATUS_OK;
        }
    }
    if (count == 0)
        return fetch_complain_absent(where, verb, id);
    complain_of(verb, id,
                ": under that id there is something else than what was listed; "
                "mcpxctl proposals lists what waits now");
    return STATUS_FAILED;
}

static int check_state(const char *verb, const struct ledger *ledger,
                       const struct entry *entry)
{
    struct chain chain;
    int status = STATUS_OK;

    if (chain_below(ledger, entry, &chain) != MCPX_OK)
        return complain_of_memory(verb);
    if (chain.state != CHAIN_OPEN) {
        complain_of(verb, entry->id, " is no longer open (%s); mcpxctl chain tells the story",
                    chain_state_name(chain.state));
        status = STATUS_FAILED;
    }
    chain_fini(&chain);
    return status;
}

int proposal_find(const struct arguments *arguments, const struct connection *where,
                  const char *word, struct ledger *ledger, const struct entry **out)
{
    const char *verb = arguments->command->name;
    int status = fetch_history(where, verb, SIZE_MAX, ledger);

    if (status == STATUS_OK && proposal_word_is_bound(word))
        status = find_bound(where, verb, ledger, word, out);
    else if (status == STATUS_OK)
        status = fetch_find(where, verb, ledger, word, out);
    if (status != STATUS_OK)
        return status;
    if (!entry_is(*out, "mcp/proposal")) {
        complain_of(verb, (*out)->id, " is no proposal");
        return STATUS_USAGE;
    }
    return check_state(verb, ledger, *out);
}
