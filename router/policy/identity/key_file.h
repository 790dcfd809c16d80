/*
 * key_file.h - a file with public keys, which is read again when it changes.
 */
#ifndef POLICY_KEY_FILE_H
#define POLICY_KEY_FILE_H

#include "lib/edge/file.h"
#include "router/policy/identity/jwt_keys.h"

/**
 * One reading of a file; made by key_file_read, which may run on a thread of its own.
 *
 * keys          empty when `err` is not MCPX_OK
 * passed_over   keys of a set that are for something else
 * why           what is wrong, when `err` is MCPX_ECONFIG
 */
struct key_reading {
    enum mcpx_err err;
    struct mx_file_stamp stamp;
    struct jwt_keys keys;
    size_t passed_over;
    struct mcpx_text why;
};

/**
 * A file and the keys of it that are in force. Counted. What stands above `keys` never changes.
 *
 * path       as it can be opened
 * setting    JSON pointer of the setting that named it
 * is_set     it is a JSON Web Key Set; else `model` says what its keys are for
 * keys       in force; empty before the first reading
 * stamp      of the content that they are of
 * tried      of the content that was read last, whatever came of it
 * reads      readings; of them, `failures` had another result than keys
 * is_faulty  the last one had
 */
struct key_file {
    unsigned refs;
    char *path;
    char *setting;
    bool is_set;
    struct jwt_key model;
    struct jwt_keys keys;
    struct mx_file_stamp stamp, tried;
    uint64_t reads, failures;
    bool is_faulty;
};

/**
 * A file that was not read yet, with one reference. Everything is copied; `model` is NULL for a
 * set. Returns NULL when memory runs out.
 */
struct key_file *key_file_new(const char *path, const char *setting,
                              const struct jwt_key *model);

/** Takes one more reference and returns the file. */
struct key_file *key_file_ref(struct key_file *file);

/** Gives one reference back; the last frees it. NULL is allowed. */
void key_file_unref(struct key_file *file);

/** True when the content is another one than was read last, or could not be read. */
bool key_file_has_changed(const struct key_file *file);

/**
 * Reads the file. Looks only at what never changes in `file`, so another thread may do it.
 * `reading` is filled, for key_reading_fini.
 */
void key_file_read(const struct key_file *file, struct key_reading *reading);

/**
 * Puts a reading into force: all of its keys, or none. After a failure those of before stay. What
 * was read moves into the file.
 *
 * Returns false for another failure like the one before, which is not told again.
 */
bool key_file_take(struct key_file *file, struct key_reading *reading);

/** Frees what a reading holds. */
void key_reading_fini(struct key_reading *reading);

/** Since when the content that is in force is there, in milliseconds; never negative. */
int64_t key_file_age_ms(const struct key_file *file, int64_t wall_ms);

#endif
