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
    const char *method;      /* asks for it */
    const char *member;      /* of the result, an array */
    const char *key;         /* member of an item that the client calls it by */
    enum expose_space space; /* of that name */
    const char *use; /* the method that an item is used with; its context is the key's value */
    const char *capability; /* of a server that has such a list */
    const char *changed;    /* the notification that says it changed */
};

extern const struct expose_list_row expose_lists[EXPOSE_LIST_COUNT];

/**
 * What is known of a participant.
 *
 *   ASKED    it was sent "initialize"
 *   LISTED   it is a server; lists are asked for or known
 *   MUTE     it did not answer in time, or refused everything: it is no server until it sends
 *            something
 */
enum expose_participant_state {
    EXPOSE_PARTICIPANT_ASKED,
    EXPOSE_PARTICIPANT_LISTED,
    EXPOSE_PARTICIPANT_MUTE
};

/**
 * Bytes of the lists of one participant, all its instances together, and of all participants. Of a
 * list that is being read anew the longer one counts, the former or the new one.
 */
enum { EXPOSE_LISTS_CAP = 16 << 20, EXPOSE_LISTS_TOTAL = 64 << 20 };

/** One list of one participant: the pages that are being collected, and the last whole one. */
struct expose_items {
    struct expose_participant *seat; /* whose */
    enum expose_list list;
    struct mcpx_text items; /* a JSON array; empty when there is none */
    struct mcpx_text pages; /* the same, not complete yet */
    size_t held;            /* private: of it counts */
    uint64_t face;          /* private: hash of it as it is shown */
    bool is_stale;          /* it may be shown otherwise than `face` says */
    int64_t rest_ms;        /* it is not read anew before */
    size_t page_count;
    uint64_t cursor;          /* private: hash of one of its cursors; it does not come again */
    int64_t until_ms;         /* deadline of the pages; the last one asked for may be later */
    bool is_open;             /* pages are being asked for */
    bool again;               /* it changed in the meantime */
    bool is_cut;              /* it was logged that not all of it is shown */
    bool is_known;            /* it has come whole, and may be empty */
    bool is_blamed;           /* it was logged that it does not come whole */
    bool is_unfit;            /* it was logged that clients do not take all of it */
    bool is_doubted;          /* it was logged what of it is left out under terms */
    struct mcpx_tools *tools; /* the items for who judges calls; NULL: not asked for so far */
};

/** One participant. Seats are ordered by id. */
struct expose_participant {
    struct mcpx_slice id; /* behind the struct */
    enum expose_participant_state state;
    int64_t asked_ms;       /* mono_ms at which it was sent "initialize" last */
    int64_t patience_ms;    /* mono_ms until which others wait for its answers */
    int64_t trial_ms;       /* mono_ms at which they began to wait; 0 = they did not */
    struct mcpx_text hello; /* result of initialize, raw; empty when it refused */
    int64_t away_ms;        /* mono_ms until which it may come back; 0 = it is in the topic */
    bool is_here;           /* the roster had it at the last comparison */
    bool is_tried;          /* it refused "initialize": only its tools are asked for */
    struct expose_items shelves[EXPOSE_LIST_COUNT];
};

/** All of them; zero-initialised, with key and bounds of `lists`, is empty and ready. */
struct expose_catalog {
    struct mx_holders lists; /* bytes */
    struct expose_participant **seats;
    size_t count;
    size_t size;
};

void expose_catalog_fini(struct expose_catalog *catalog);

/** The seat of a participant; NULL when it has none. */
struct expose_participant *expose_catalog_find(const struct expose_catalog *catalog,
                                               struct mcpx_slice participant);

/** A loop over the seats, in the order of their ids; meanwhile none comes or goes. */
#define EXPOSE_EACH_SEAT(seat, catalog)                                                       \
    for (struct expose_participant **seat##_at = (catalog)->seats, *(seat);                   \
         seat##_at < (catalog)->seats + (catalog)->count && ((seat) = *seat##_at);            \
         seat##_at++)

/** Adds a seat in state ASKED, with nothing known; or removes one. */
struct expose_participant *expose_catalog_add(struct expose_catalog *catalog,
                                              struct mcpx_slice participant);
void expose_catalog_remove(struct expose_catalog *catalog, struct expose_participant *seat);

/** What of a page clients would refuse: entries, and optional members, that are left out. */
struct expose_unfit {
    size_t count;           /* how many entries were changed or left out */
    struct mcpx_text first; /* the first of them, and why; a text of the caller's */
};

/**
 * Adds one page. A cursor that is empty, or that the list had before, is that of the last page.
 *
 * result   of the list method; borrowed
 * unfit    filled; `first` is freed by the caller
 * cursor   filled with the raw `nextCursor`; absent when this was the last page: the list is then
 *          whole and takes the place of the one before
 *
 * Returns false when the page has no array of the list's member. The list is then as it was.
 */
bool expose_catalog_add_page(struct expose_catalog *catalog, struct expose_items *shelf,
                             struct mcpx_slice result, struct expose_unfit *unfit,
                             struct mcpx_slice *cursor);

/** May a page of so many bytes be added? */
enum mx_sharing expose_catalog_ask(const struct expose_catalog *catalog,
                                   const struct expose_items *shelf, size_t bytes);

/** The longest list of the participant that holds most; NULL when nobody holds anything. */
struct expose_items *expose_catalog_largest(const struct expose_catalog *catalog);

/** Forgets pages that were collected. The last whole list stays, unless `whole`. */
void expose_catalog_drop(struct expose_catalog *catalog, struct expose_items *shelf,
                         bool whole);

/** A capability the server stated in its answer to "initialize"; absent when it did not. */
struct mcpx_slice expose_participant_capability(const struct expose_participant *seat,
                                                const char *name);

#endif
