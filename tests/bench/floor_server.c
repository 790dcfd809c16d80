/*
 * floor_server.c - the least a broadcast server can cost on this machine: every text frame that
 * arrives goes to everybody in the topic, its sender included, and nobody looks at what it says.
 * What the router costs above this is the price of its checks; below it nobody can go.
 *
 *     floor_server                one send per client and message
 *     floor_server --coalesce     one send per client and loop turn, of all that came in it
 *     floor_server --history N    new clients are sent the last N messages first
 *
 * Topics are request targets up to the first `&`. Frames have to be whole and masked, as a load
 * generator's are.
 */
#include <mcpx/text.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 262144, EVENTS = 512, BACKLOG = 1024, HISTORY_MAX = 4096, KEPT = 65536 };

/*
 * turn      frames of this loop turn
 * past      frames of the last messages, oldest first, from `begins[first]` on
 */
struct topic {
    struct topic *next;
    char *name;
    struct client **clients;
    size_t count;
    size_t size;
    struct mcpx_text turn;
    struct mcpx_text past;
    size_t lens[HISTORY_MAX];
    size_t past_count;
    size_t past_next;
    size_t past_begin;
};

/*
 * in      what a read left over of a frame
 * out     what the socket did not take
 * torn    bytes of it that belong to its first frame
 */
struct client {
    int fd;
    struct topic *topic;
    size_t place;
    struct mcpx_text in;
    struct mcpx_text out;
    size_t torn;
};

static char buffer[READ_SIZE];
static struct topic *topics;
static int epoll;
static bool coalesce;
static size_t history;

static void watch(struct client *client, int operation, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = client};

    epoll_ctl(epoll, operation, client->fd, &event);
}

/* ---- sending ---- */

static void send_bytes(struct client *client, const char *bytes, size_t len)
{
    ssize_t sent = 0;

    if (client->out.len == 0)
        sent = send(client->fd, bytes, len, MSG_NOSIGNAL);
    if (sent < 0)
        sent = 0; /* full, or gone: then the next read says so */
    if ((size_t)sent == len)
        return;
    if (client->out.len == 0) {
        watch(client, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
        client->torn = len - (size_t)sent;
    }
    mcpx_text_add(&client->out, bytes + sent, len - (size_t)sent);
}

/* Length of the whole frame that begins here. */
static size_t frame_len(const char *frame)
{
    const unsigned char *bytes = (const unsigned char *)frame;
    size_t extra = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0, len = extra ? 0 : bytes[1];

    for (size_t i = 0; i < extra; i++)
        len = len << 8 | bytes[2 + i];
    return 2 + extra + len;
}

/* What has waited goes out as it would have: all at once, or one send per message. */
static void send_rest(struct client *client)
{
    struct mcpx_text *out = &client->out;
    size_t at = 0, next;
    ssize_t sent = 0;

    while (at < out->len) {
        next = coalesce ? out->len - at : client->torn;
        sent = send(client->fd, out->text + at, next, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        at += (size_t)sent;
        client->torn = (size_t)sent < next  ? next - (size_t)sent
                       : at + 2 <= out->len ? frame_len(out->text + at)
                                            : 0;
        if ((size_t)sent < next)
            break;
    }
    out->len -= at;
    memmove(out->text, out->text + at, out->len);
    if (out->len == 0) {
        mcpx_text_fini(out);
        watch(client, EPOLL_CTL_MOD, EPOLLIN);
    }
}

static void send_all(const struct topic *topic, const char *bytes, size_t len)
{
    for (size_t i = 0; i < topic->count; i++)
        send_bytes(topic->clients[i], bytes, len);
}

static void end_turn(void)
{
    for (struct topic *topic = topics; topic; topic = topic->next) {
        if (topic->turn.len == 0)
            continue;
        send_all(topic, topic->turn.text, topic->turn.len);
        topic->turn.len = 0;
    }
}

/* ---- history ---- */

static void remember(struct topic *topic, const char *frame, size_t len)
{
    struct mcpx_text *past = &topic->past;

    if (history == 0)
        return;
    if (topic->past_count == history)
        topic->past_begin += topic->lens[topic->past_next];
    else
        topic->past_count++;
    topic->lens[topic->past_next] = len;
    topic->past_next = (topic->past_next + 1) % history;
    mcpx_text_add(past, frame, len);
    if (topic->past_begin > past->len / 2) {
        past->len -= topic->past_begin;
        memmove(past->text, past->text + topic->past_begin, past->len);
        topic->past_begin = 0;
    }
}

static void replay(struct client *client)
{
    const struct topic *topic = client->topic;
    size_t at = topic->past_begin;
    size_t oldest = topic->past_next + history - topic->past_count;

    if (topic->past_count == 0)
        return;
    if (coalesce) {
        send_bytes(client, topic->past.text + at, topic->past.len - at);
        return;
    }
    for (size_t i = 0; i < topic->past_count; i++) {
        size_t len = topic->lens[(oldest + i) % history];

        send_bytes(client, topic->past.text + at, len);
        at += len;
    }
}

/* ---- clients ---- */

static struct topic *topic_named(const char *name)
{
    struct topic *topic = topics;

    while (topic && strcmp(topic->name, name) != 0)
        topic = topic->next;
    if (topic)
        return topic;
    topic = calloc(1, sizeof *topic);
    if (!topic || !(topic->name = strdup(name)))
        abort();
    topic->next = topics;
    topics = topic;
    return topic;
}

static void enter(struct client *client, struct topic *topic)
{
    if (topic->count == topic->size) {
        topic->size = topic->size ? topic->size * 2 : 2;
        topic->clients = realloc(topic->clients, topic->size * sizeof(struct client *));
        if (!topic->clients)
            abort();
    }
    client->place = topic->count;
    client->topic = topic;
    topic->clients[topic->count++] = client;
}

static void leave(struct client *client)
{
    struct topic *topic = client->topic;

    if (topic) {
        topic->clients[client->place] = topic->clients[--topic->count];
        topic->clients[client->place]->place = client->place;
    }
    close(client->fd);
    mcpx_text_fini(&client->in);
    mcpx_text_fini(&client->out);
    free(client);
}

static void accept_all(int listener)
{
    int fd, yes = 1;

    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        struct client *client = calloc(1, sizeof *client);

        if (!client)
            abort();
        client->fd = fd;
        fcntl(fd, F_SETFL, O_NONBLOCK);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        watch(client, EPOLL_CTL_ADD, EPOLLIN);
    }
}

/* ---- receiving ---- */

static void answer_upgrade(struct client *client, const char *key)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[128], accept[64], answer[256];
    int len;

    snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL);
    EVP_EncodeBlock((unsigned char *)accept, digest, 20);
    len = snprintf(answer, sizeof answer,
                   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                   "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
                   accept);
    send_bytes(client, answer, (size_t)len);
}

/* Reads the request; returns its length, or 0 when it is not all there. */
static size_t upgrade(struct client *client, char *text, size_t len)
{
    char *end, *key;

    if (len == READ_SIZE)
        abort();
    text[len] = '\0';
    end = strstr(text, "\r\n\r\n");
    key = strstr(text, "Sec-WebSocket-Key: ");
    if (!end || !key)
        return 0;
    answer_upgrade(client, key + 19);
    text[strcspn(text + 4, " &") + 4] = '\0';
    enter(client, topic_named(text + 4));
    replay(client);
    return (size_t)(end + 4 - text);
}

static void unmask(char *payload, size_t len, const char mask[4])
{
    uint32_t key;
    uint64_t wide, word;
    size_t i = 0;

    memcpy(&key, mask, sizeof key);
    wide = (uint64_t)key << 32 | key;
    for (; i + 8 <= len; i += 8) {
        memcpy(&word, payload + i, 8);
        word ^= wide;
        memcpy(payload + i, &word, 8);
    }
    for (; i < len; i++)
        payload[i] = (char)(payload[i] ^ mask[i % 4]);
}

/* Sends a frame on: the mask goes, and the head moves up to where it ends. */
static void broadcast(struct client *client, char *frame, size_t head, size_t len)
{
    struct topic *topic = client->topic;

    unmask(frame + head + 4, len, frame + head);
    memmove(frame + 4, frame, head);
    frame[5] = (char)(frame[5] & 0x7f);
    remember(topic, frame + 4, head + len);
    if (coalesce)
        mcpx_text_add(&topic->turn, frame + 4, head + len);
    else
        send_all(topic, frame + 4, head + len);
}

/* Takes one whole frame; returns its length, or 0 when it is not all there. */
static size_t take_frame(struct client *client, char *bytes, size_t have)
{
    size_t len, head;

    if (have < 2)
        return 0;
    len = (unsigned char)bytes[1] & 0x7f;
    head = len == 126 ? 4 : len == 127 ? 10 : 2;
    if (have < head + 4)
        return 0;
    if (head > 2)
        len = 0;
    for (size_t i = 2; i < head; i++)
        len = len << 8 | (unsigned char)bytes[i];
    if (have < head + 4 + len)
        return 0;
    if ((bytes[0] & 0x0f) == 1)
        broadcast(client, bytes, head, len);
    return head + 4 + len;
}

/* Returns how many bytes were used. */
static size_t take(struct client *client, char *bytes, size_t len)
{
    size_t at = client->topic ? 0 : upgrade(client, bytes, len);
    size_t used = at;

    while (client->topic && (used = take_frame(client, bytes + at, len - at)) > 0)
        at += used;
    return at;
}

static void receive(struct client *client)
{
    struct mcpx_text *in = &client->in;
    ssize_t got = recv(client->fd, buffer, sizeof buffer - 1, 0);
    size_t used;

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        leave(client);
        return;
    }
    if (in->len == 0) {
        used = take(client, buffer, (size_t)got);
        mcpx_text_add(in, buffer + used, (size_t)got - used);
        return;
    }
    mcpx_text_add(in, buffer, (size_t)got);
    used = take(client, in->text, in->len);
    in->len -= used;
    memmove(in->text, in->text + used, in->len);
    if (in->len == 0 && in->size > KEPT)
        mcpx_text_fini(in);
}

/* ---- the loop ---- */

static int listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, BACKLOG) ||
        getsockname(listener, (struct sockaddr *)&address, &size)) {
        perror("floor_server");
        exit(EXIT_FAILURE);
    }
    fcntl(listener, F_SETFL, O_NONBLOCK);
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    printf("listening ws://127.0.0.1:%d/\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void serve(int listener)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(epoll, events, EVENTS, -1);

    for (int i = 0; i < count; i++) {
        struct client *client = events[i].data.ptr;

        if (!client) {
            accept_all(listener);
            continue;
        }
        if (events[i].events & EPOLLOUT)
            send_rest(client);
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            receive(client);
    }
    end_turn();
}

int main(int argc, char **argv)
{
    int listener;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--coalesce") == 0)
            coalesce = true;
        else if (strcmp(argv[i], "--history") == 0 && i + 1 < argc)
            history = strtoul(argv[++i], NULL, 10);
    }
    if (history > HISTORY_MAX)
        history = HISTORY_MAX;
    epoll = epoll_create1(0);
    listener = listen_somewhere();
    for (;;)
        serve(listener);
}
