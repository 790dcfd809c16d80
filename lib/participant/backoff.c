/*
 * backoff.c - pauses that grow, with jitter: when a router restarts, its participants must not all
 * come back in the same instant. Only the upper half is drawn from, so that a first failure is not
 * followed by an attempt at once.
 * Includes backoff.h only.
 */
#include "lib/participant/backoff.h"

enum { FIRST_MS = 500, LONGEST_MS = 30000, DOUBLINGS = 6 };

int64_t mx_backoff_next(struct mx_backoff *backoff, uint32_t chance)
{
    int64_t pause = FIRST_MS;

    for (unsigned i = 0; i < backoff->failures && i < DOUBLINGS; i++)
        pause *= 2;
    if (pause > LONGEST_MS)
        pause = LONGEST_MS;
    backoff->failures++;
    return pause / 2 + (int64_t)(chance % (uint32_t)(pause / 2 + 1));
}

bool mx_backoff_is_about_token(int code)
{
    return code == 401 || code == 4005;
}

bool mx_backoff_is_final(int code)
{
    static const int codes[] = {400, 401, 403, 404, 1003, 1007, 1008, 1009, 4001, 4004, 4005};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}
