/*
 * ws_lookup.c - libwebsockets asks the resolver from within the loop and everybody waits; libuv
 * asks it on a thread of its own. A question that was put cannot be taken back, so it lives by
 * itself until it is answered.
 */
#include "lib/edge/ws_lookup.h"

#include <stdlib.h>

struct mx_lookup {
    uv_getaddrinfo_t request;
    mx_lookup_done done; /* NULL: dropped */
    void *user;
};

static void on_answer(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct mx_lookup *lookup = request->data;

    if (!lookup->done)
        uv_freeaddrinfo(found);
    else if (status)
        lookup->done(lookup->user, NULL, uv_strerror(status));
    else
        lookup->done(lookup->user, found, NULL);
    free(lookup);
}

struct mx_lookup *mx_lookup_start(uv_loop_t *loop, const char *host, mx_lookup_done done,
                                  void *user)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct mx_lookup *lookup = calloc(1, sizeof *lookup);

    if (!lookup)
        return NULL;
    lookup->request.data = lookup;
    lookup->done = done;
    lookup->user = user;
    if (uv_getaddrinfo(loop, &lookup->request, on_answer, host, NULL, &hints)) {
        free(lookup);
        return NULL;
    }
    return lookup;
}

void mx_lookup_drop(struct mx_lookup *lookup)
{
    if (!lookup)
        return;
    lookup->done = NULL;
    uv_cancel((uv_req_t *)&lookup->request);
}
