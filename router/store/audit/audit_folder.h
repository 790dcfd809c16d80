/*
 * audit_folder.h - the files of an audit: audit-N.jsonl, where N is the seq of the first line.
 */
#ifndef STORE_AUDIT_FOLDER_H
#define STORE_AUDIT_FOLDER_H

#include "router/store/audit/audit_chain.h"

/** Longest name of a file, with its NUL. */
enum { AUDIT_NAME_ROOM = 40 };

/** Writes the name of the file whose first line has this seq. */
void audit_file_name(uint64_t seq, char out[AUDIT_NAME_ROOM]);

/**
 * Lists a folder's files by the seq in their names, ascending. Other files are passed over.
 *
 * folder   a descriptor
 * out      filled with an array that the caller frees; NULL when there are none
 *
 * Returns MCPX_OK; MCPX_ESYSTEM, with errno; MCPX_ENOMEM.
 */
enum mcpx_err audit_folder_list(int folder, uint64_t **out, size_t *count);

/**
 * An open folder. One process at a time has it.
 *
 * path       for complaints; borrowed
 * dir, file  descriptors; the file is the newest
 * size       bytes of the file that are on the disk
 * before     bytes of all files before it
 */
struct audit_folder {
    const char *path;
    int dir, file;
    uint64_t size, before;
};

/**
 * Opens a folder, which is made when it is missing, locks it, and goes on behind its last line. A
 * torn end of the newest file is cut off.
 *
 * path     borrowed for as long as the folder is used
 * errors   on failure a line is appended
 * chain    filled with where the chain stands
 * cut      filled with the bytes cut off
 *
 * Returns MCPX_OK; MCPX_ECONFIG when it is in use or no audit that can go on, MCPX_ESYSTEM; each
 * with a line; MCPX_ENOMEM. audit_folder_close is due in any case.
 */
enum mcpx_err audit_folder_open(const char *path, struct mcpx_text *errors,
                                struct audit_folder *out, struct audit_chain *chain,
                                uint64_t *cut);

/** How a write ended. */
enum audit_written {
    AUDIT_WRITTEN, /* it is on the disk */
    AUDIT_NO_ROOM, /* nothing of it is in the file; another time it may be */
    AUDIT_BROKEN   /* nobody knows what is on the disk */
};

/** Appends to the newest file and waits until the disk has it. errno says why not. */
enum audit_written audit_folder_write(struct audit_folder *folder, struct mcpx_slice text);

/** Begins a file whose first line will have this seq. False, with errno: the old one goes on. */
bool audit_folder_rotate(struct audit_folder *folder, uint64_t seq);

/** Closes files and lock. */
void audit_folder_close(struct audit_folder *folder);

#endif
