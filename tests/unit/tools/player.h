/*
 * player.h - plays a transcript: stories of what happens to a program, and of all it does then.
 *
 *   story gives the id back            begins anew
 *   with NAME VALUE                    a setting; with NAME without a value, too
 *   > ready                            something happens
 *   > request ann e1 {@,"id":0,"method":"ping"}
 *   child {@,"id":3,"method":"ping"}   what the program then does, all of it and in this order
 *
 * "@" stands for "jsonrpc":"2.0", $NAME for what "let NAME text" said, and $VERSION, $CR, $LF, $ESC
 * for themselves. Empty lines and those that begin with "#" are not looked at. All stories that
 * differ are shown, with file and line.
 */
#ifndef TESTS_PLAYER_H
#define TESTS_PLAYER_H

#include <stddef.h>

/**
 * The program that is played with.
 *
 * folder      of its transcripts, below tests/unit/tools
 * begin       a new story; `end` frees it
 * configure   before the first thing happens; what is lent is lent for this call
 * happen      returns what the program did, a line each, lent until the next call
 */
struct player_side {
    const char *folder;
    void *(*begin)(void);
    void (*configure)(void *story, const char *name, const char *value);
    const char *(*happen)(void *story, const char *in);
    void (*end)(void *story);
};

/** Plays a file, which has at least so many stories. */
void play(const struct player_side *side, const char *file, size_t stories);

#endif
