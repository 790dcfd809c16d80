/*
 * store_place.h - a folder for all that a router keeps, for tests: database, audit, key. And the
 * settings that say so.
 */
#ifndef SUPPORT_STORE_PLACE_H
#define SUPPORT_STORE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * A place.
 *
 * folder    holds router.db, the folder audit, key.pem
 * config    settings for daemon_start, with generous limits
 */
struct store_place {
    char folder[64];
    char config[4096];
};

/**
 * Makes the folder and a key.
 *
 * store   members of "store" besides kind and file, each with a comma before; NULL = memory alone
 * audit   likewise of "audit", besides folder and key_file; NULL = no audit
 * more    sections of the settings, each with a comma before; "limits" stands there already
 */
void store_place_make(struct store_place *place, const char *store, const char *audit,
                      const char *more);

/** The path of something in the folder; lent until the next call. */
const char *store_place_path(const struct store_place *place, const char *name);

/** True when any file in the folder holds this text. */
bool store_place_holds(const struct store_place *place, const char *text);

/** Removes the folder and all in it. */
void store_place_remove(struct store_place *place);

#endif
