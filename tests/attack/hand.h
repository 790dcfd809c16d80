/*
 * hand.h - what all moves of an attacker are made of: connections from its own address, kept and
 * made again, and frames.
 */
#ifndef ATTACK_HAND_H
#define ATTACK_HAND_H

#include <stdbool.h>
#include <stddef.h>

enum { HELD_MAX = 400, PIECE = 65536 };

/** What the attacker shows who it is with. */
extern const char attacker_token[];

/**
 * A move's own memory.
 *
 * port    the router's
 * held    connections it keeps, 0 = none; they are used in turns
 */
struct hand {
    int port;
    int held[HELD_MAX];
    unsigned turn;
    char text[3 * PIECE];
};

/**
 * Many connections of one participant.
 *
 * count    connections, HELD_MAX at most
 * seats    how many of them are in one topic, as instances
 * topic    what the names of the topics begin with
 * query    goes to the end of the target, as "history=0"
 * narrow   the sockets take next to nothing, but for the last of each topic
 */
struct crowd {
    unsigned count, seats;
    const char *topic, *query;
    bool narrow;
};

/** A connection; -1 when there is none to be had. `narrow` as above. */
int hand_dial(const struct hand *hand, bool narrow);

/** Sends all of it, or says that the socket did not take it. */
bool hand_tell(int fd, const void *bytes, size_t len);

/** Sends all of it and reads meanwhile, as long as it goes on. False when not all was taken. */
bool hand_tell_all(int fd, const char *bytes, size_t len);

/** Closes, when there is something to close. */
void hand_drop(int fd);

/** Closes a held connection. */
void hand_lose(int *fd);

/** Waits a little for an answer and throws it away. */
bool hand_was_answered(int fd);

/** Throws away what there is to read, up to `most` bytes. False when the connection has ended. */
bool hand_drain(int fd, size_t most);

/** Joins what the query says, as "topic=room-0"; -1 when there is no answer. */
int hand_enter(struct hand *hand, const char *query, bool narrow);

/** The next of the held connections; made when it is not there. NULL when that fails. */
int *hand_next(struct hand *hand, const struct crowd *crowd);

/** Writes a frame with a mask of zeros; `declared` may be more than is there. */
size_t hand_frame(char *out, int first, size_t declared, const char *bytes, size_t len);

/** Writes an envelope of this kind, longer than `filling` by less than 200 bytes, as a frame. */
size_t hand_envelope(char *out, const char *kind, unsigned n, size_t filling);

/**
 * Sends the first `len` bytes of hand->text as often as the socket takes them, on the next of
 * `count` connections, each in a topic of its own.
 */
void hand_pour(struct hand *hand, unsigned count, const char *topic, size_t len);

/** One request; its answer is not looked at. */
void hand_request(struct hand *hand, const char *text, size_t len);

/** A request with this method, target and token. */
void hand_ask(struct hand *hand, const char *method, const char *target, const char *bearer);

#endif
