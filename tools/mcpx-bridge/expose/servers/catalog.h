/*
 * catalog.h - the lists of each server in the topic, as it sent them, and the lists of all
 * together.
 */
#ifndef MCPX_BRIDGE_EXPOSE_CATALOG_H
#define MCPX_BRIDGE_EXPOSE_CATALOG_H

#include "lib/base/holders.h"
#include "tools/mcpx-bridge/expose/servers/names.h"

#include <mcpx/json.h>
#include <mcpx/terms.h>

enum expose_list {
    EXPOSE_TOOLS,
    EXPOSE_RESOURCES,
    EXPOSE_TEMPLATES,
    EXPOSE_PROMPTS,
    EXPOSE_LIST_COUNT
};

/** A kind of list. */
struct expose_list_row {
    const char *method;      /* of the request for it */
    const char *member;      /* of the result, an array */
    const char *key;         /* member of an item that names it */
    enum expose_space space; /* of these names */
    const char *use;         /* the method that uses an item; its context is the key's value */
    const char *capability;  /* of servers with such a list */
    const char *changed;     /* the notification of a change */
};

extern const struct expose_list_row expose_lists[EXPOSE_LIST_COUNT];

/**
 * The state of a participant.
 *
 *   ASKED    it was sent "initialize"
 *   LISTED   it is a server; lists are asked for or known
 *   MUTE     it did not answer in time, or refused everything: it is not regarded as a server
 *            until it sends something
 */
enum expose_participant_state {
    EXPOSE_PARTICIPANT_ASKED,
    EXPOSE_PARTICIPANT_LISTED,
    EXPOSE_PARTICIPANT_MUTE
};

/**
 * Limits of lists in bytes: for a participant, with all its instances, and for all participants.
 * While a list is read again, the longer one of old and new list counts.
 */
enum { EXPOSE_LISTS_CAP = 16 << 20, EXPOSE_LISTS_TOTAL = 64 << 20 };

/** One list of one participant: the pages collected so far, and the last complete list. */
struct expose_items {
    struct expose_participant *owner;
    enum expose_list list;
    struct mcpx_text text;  /* a JSON array; empty when there is none */
    struct mcpx_text pages; /* the same, not complete yet */
    size_t held;            /* private: its bytes in the catalogue's `lists` */
    uint64_t shown_hash;    /* private: hash of it as it is shown */
    bool is_stale;          /* `shown_hash` may be out of date */
    int64_t rest_ms;        /* mono_ms before which it is not read again */
    size_t page_count;
    uint64_t cursor;          /* private: hash of an earlier cursor, to find a cycle */
    int64_t until_ms;         /* mono_ms after which no more pages are asked for */
    bool is_open;             /* it is being read */
    bool again;               /* it must be read, for the first time or again */
    bool is_cut;              /* logged: it has more items than names */
    bool is_known;            /* it came complete, or the server has none */
    bool is_blamed;           /* logged: it does not come, or not completely */
    bool is_unfit;            /* logged: clients would reject some of its entries */
    bool is_doubted;          /* logged: doubts about its tools by contract settings */
    struct mcpx_tools *tools; /* the items for contract settings; NULL: not needed yet */
};

/** One participant. */
struct expose_participant {
    struct mcpx_slice id; /* behind the struct */
    enum expose_participant_state state;
    int64_t asked_ms;       /* mono_ms at which it was sent "initialize" last */
    int64_t patience_ms;    /* mono_ms until which the client waits for its answers */
    int64_t wait_start_ms;  /* mono_ms at which its first such wait began; 0 = none */
    struct mcpx_text hello; /* result of initialize, raw; empty when it refused */
    int64_t away_ms;        /* mono_ms until which it may come back; 0 = it is in the topic */
    bool is_here;           /* the roster had it at the last comparison */
    bool has_refused;       /* it refused "initialize": only its tools are asked for */
    struct expose_items lists[EXPOSE_LIST_COUNT];
};

/** All participants. Zeroed except for the key and bounds of `lists`, it is empty. */
struct expose_catalog {
    struct mx_holders lists; /* bytes of lists, per participant */
    struct expose_participant **participants;
    size_t count;
    size_t size;
};

void expose_catalog_fini(struct expose_catalog *catalog);

/** The participant with that id; NULL: there is none. */
struct expose_participant *expose_catalog_find(const struct expose_catalog *catalog,
                                               struct mcpx_slice id);

/** A loop over the participants, in the order of their ids. It must not add or remove one. */
#define EXPOSE_EACH_PARTICIPANT(one, catalog)                                                 \
    for (struct expose_participant **one##_at = (catalog)->participants, *(one);              \
         one##_at && one##_at < (catalog)->participants + (catalog)->count &&                 \
         ((one) = *one##_at);                                                                 \
         one##_at++)

/** Adds a participant in state ASKED, with nothing known; or removes one. */
struct expose_participant *expose_catalog_add(struct expose_catalog *catalog,
                                              struct mcpx_slice id);
void expose_catalog_remove(struct expose_catalog *catalog,
                           struct expose_participant *participant);

/** The entries and optional members left out of a page, because clients would reject them. */
struct expose_unfit {
    size_t count;           /* how many entries were changed or left out */
    struct mcpx_text first; /* the first of them, and why; a text of the caller's */
};

/**
 * Adds one page. An empty cursor, or a repeated one, belongs to the last page.
 *
 * result   of the list method; borrowed
 * unfit    filled; `first` is freed by the caller
 * cursor   filled with the raw `nextCursor`; absent after the last page: the list is then complete
 *          and replaces the former one
 *
 * Returns false, with the list unchanged, when the page has no array of the list's member.
 */
bool expose_catalog_add_page(struct expose_catalog *catalog, struct expose_items *items,
                             struct mcpx_slice result, struct expose_unfit *unfit,
                             struct mcpx_slice *cursor);

/** Checks the bounds for one more page of `bytes` bytes. */
enum mx_sharing expose_catalog_ask(const struct expose_catalog *catalog,
                                   const struct expose_items *items, size_t bytes);

/** The longest list of the participant that holds most; NULL when none is held. */
struct expose_items *expose_catalog_largest(const struct expose_catalog *catalog);

/** Drops the pages collected so far; with `whole`, the last complete list as well. */
void expose_catalog_drop(struct expose_catalog *catalog, struct expose_items *items,
                         bool whole);

/** A capability the server stated in its answer to "initialize"; absent when it did not. */
struct mcpx_slice expose_participant_capability(const struct expose_participant *participant,
                                                const char *name);

#endif
