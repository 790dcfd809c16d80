/*
 * bounds.c - shows for --check the bounds of the whole router, and of one participant or address.
 * It also examines files and folders: otherwise a missing folder shows only at the start. Of a
 * database it reads only the header, as a start does.
 */
#include "router/connection/bounds.h"

#include "lib/base/ident.h"
#include "lib/edge/file.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "lib/wire/tls.h"
#include "router/connection/edge.h"
#include "router/connection/tls_files.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tokens_make.h"
#include "router/store/audit/audit_writer.h"
#include "router/store/commit/work_queue.h"
#include "router/store/sqlite/sqlite_schema.h"

#include <errno.h>
#include <libgen.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Descriptors for listeners, loop, log, files and sockets about to be closed. Connections assumed
 * when limits.connections is 0. Bytes of an idle connection: some more than docs/performance.md
 * measures. Bytes of the grants of a signed token: eight patterns of its own.
 */
enum {
    SPARE_DESCRIPTORS = 256,
    CONNECTIONS_UNLIMITED = 65536,
    CONNECTION_BYTES = 12 << 10,
    GRANTS_BYTES = 8 << 10
};

void bounds_settle(struct config *config, uint64_t memory)
{
    uint64_t quarter = memory / 4;

    if (config->hub.log_bytes != 0)
        return;
    if (memory == 0)
        quarter = BOUNDS_LOG_BYTES;
    else if (quarter < BOUNDS_LOG_BYTES_MIN)
        quarter = BOUNDS_LOG_BYTES_MIN;
    config->hub.log_bytes = (size_t)quarter;
}

uint64_t bounds_descriptors(const struct config *config)
{
    size_t connections = config->hub.connections_max;

    return (connections ? connections : CONNECTIONS_UNLIMITED) + UNAUTHENTICATED_MAX +
           SPARE_DESCRIPTORS;
}

size_t bounds_room(uint64_t descriptors)
{
    return descriptors < 2 * SPARE_DESCRIPTORS ? descriptors / 2
                                               : descriptors - SPARE_DESCRIPTORS;
}

/* The format of its number: "bytes of ..." get readable units. */
static const char *sign_of(const char *what)
{
    return strncmp(what, "bytes ", 6) == 0 ? "%b" : "%s";
}

static void write_limit(const char *what, uint64_t limit, struct mcpx_text *out)
{
    if (limit == 0)
        mcpx_text_puts(out, "no limit");
    else
        mx_format(out, sign_of(what), limit);
}

/* `each` is UINT64_MAX when one owner has no quota of its own. */
static void write_bound(const char *what, uint64_t all, const char *one, uint64_t each,
                        struct mcpx_text *out)
{
    mx_format(out, "bound: %s: ", what);
    write_limit(what, all, out);
    if (each != UINT64_MAX) {
        mx_format(out, ", of one %s: ", one);
        write_limit(what, each, out);
    }
    mcpx_text_puts(out, "\n");
}

void bounds_write(const struct config *config, struct mcpx_text *out)
{
    const struct hub_config *hub = &config->hub;
    uint64_t larger = hub->history_bytes;

    if (hub->backlog_bytes == 0 || hub->backlog_bytes > larger)
        larger = hub->backlog_bytes; /* 0: a slow subscriber may use all of it */
    write_bound("bytes of logs", hub->log_bytes, "topic", larger, out);
    write_bound("bytes of messages that have not arrived whole", bounds_buffers(config), "",
                UINT64_MAX, out);
    write_bound("bytes that sockets have not taken", bounds_buffers(config), "", UINT64_MAX,
                out);
    write_bound("bytes that were read and wait for their turn", DEFERRED_MAX, "", UINT64_MAX,
                out);
    if (hub->needs_commit)
        write_bound("bytes of messages that wait to be stored or audited", hub->pending_bytes,
                    "participant", hub->pending_bytes / PENDING_OWNERS, out);
    write_bound("topics", hub->topics_max, "participant", hub->topics_each, out);
    write_bound("connections", hub->connections_max, "participant", hub->connections_each,
                out);
    write_bound("connections without a token yet", UNAUTHENTICATED_MAX, "", UINT64_MAX, out);
    if (config->tls.wanted)
        write_bound("bytes that TLS takes of one connection", TLS_BYTES, "", UINT64_MAX, out);
    write_bound("unused tickets", TICKETS_MAX, "participant", config->tickets_each, out);
    write_bound("connection attempts per second",
                config->connects_per_s * RATE_LIMITS_ALL_SHARES, "address",
                config->connects_per_s, out);
    write_bound("requests per minute of one participant", config->requests_per_minute, "",
                UINT64_MAX, out);
}

struct part {
    const char *what;
    uint64_t bytes;
};

/* Two database connections and two topics: a thread reads one, the loop takes over the other. */
static uint64_t bytes_of_store(const struct hub_config *hub)
{
    return 2 * ((uint64_t)SCHEMA_CACHE_KIB << 10) + 2 * hub->history_bytes;
}

/* Pending refusals, and the lines of a batch: quoting makes text longer, and its buffer has spare
 * room. */
static uint64_t bytes_of_audit(const struct config *config)
{
    uint64_t batch = config->audit.payloads ? bounds_message(config) : 0;

    return AUDIT_WAITING_MAX + 4 * (batch > BATCH_BYTES_MAX ? batch : BATCH_BYTES_MAX);
}

static void write_parts(const struct part *parts, size_t count, struct mcpx_text *out)
{
    const char *before = "";

    mcpx_text_puts(out, "need: of the memory: ");
    for (size_t i = 0; i < count; i++) {
        if (parts[i].bytes == 0)
            continue;
        mx_format(out, "%s%b for %s", before, parts[i].bytes, parts[i].what);
        before = ", ";
    }
    mcpx_text_puts(out, "\n");
}

static void write_need(const char *what, uint64_t need, uint64_t there, const char *advice,
                       struct mcpx_text *out)
{
    mx_format(out, "need: %s: ", what);
    mx_format(out, sign_of(what), need);
    mcpx_text_puts(out, there ? " at most, there are " : " at most");
    if (there)
        mx_format(out, sign_of(what), there);
    if (there && there < need)
        mx_format(out, ": too few, %s", advice);
    mcpx_text_puts(out, "\n");
}

void bounds_write_needs(const struct config *config, const struct machine_limits *machine,
                        struct mcpx_text *out)
{
    const struct hub_config *hub = &config->hub;
    uint64_t connections = hub->connections_max ? hub->connections_max : CONNECTIONS_UNLIMITED;
    bool is_signed = config->tokens && jwt_ring_count(&config->tokens->ring) > 0;
    const struct part parts[] = {
        {"the program and its configuration", machine->taken},
        {"logs", hub->log_bytes},
        {"messages on their way", 2 * bounds_buffers(config) + DEFERRED_MAX +
                                      (hub->needs_commit ? hub->pending_bytes : 0)},
        {"connections", connections * CONNECTION_BYTES},
        {"TLS", config->tls.wanted ? connections * TLS_BYTES : 0},
        {"grants of signed tokens", is_signed ? connections * GRANTS_BYTES : 0},
        {"the store", hub->stored ? bytes_of_store(hub) : 0},
        {"the audit", hub->audited ? bytes_of_audit(config) : 0},
    };
    const size_t count = sizeof parts / sizeof *parts;
    uint64_t memory = 0;

    for (size_t i = 0; i < count; i++)
        memory += parts[i].bytes;
    write_need("bytes of memory", memory, machine->memory, "lower limits.log_bytes", out);
    write_parts(parts, count, out);
    write_need("file descriptors", bounds_descriptors(config), machine->descriptors,
               "raise LimitNOFILE= or ulimit -n, or lower limits.connections", out);
}

/* ---- files and folders ---- */

/*
 * RENEW_DAYS   a certificate with fewer days left causes a warning; as the alert
 *              McpxCertificateEnds
 */
enum { RENEW_DAYS = 14, DAY_S = 86400 };

static bool fault(struct mcpx_text *errors, const char *setting, const char *path,
                  const char *what)
{
    mx_format(errors, "%s: %s: %s\n", setting, path, what);
    return false;
}

static bool check_folder(const char *setting, const char *path, struct mcpx_text *errors)
{
    struct stat status;

    if (stat(path, &status))
        return fault(errors, setting, path,
                     errno == ENOENT ? "there is no such folder; expected one that exists"
                                     : strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return fault(errors, setting, path, "is not a folder");
    if (access(path, W_OK | X_OK))
        return fault(errors, setting, path, "this user may not write in it");
    return true;
}

static bool check_parent(const char *setting, const char *path, struct mcpx_text *errors)
{
    mx_scoped_text copy = mx_formatted("%s", path);

    return copy.failed || check_folder(setting, dirname(copy.text), errors);
}

/* A file beside the database. Another user's program may have created it. */
static bool check_beside(const char *path, const char *ending, struct mcpx_text *errors)
{
    mx_scoped_text beside = mx_formatted("%s%s", path, ending);
    bool good = beside.failed || access(beside.text, R_OK | W_OK) == 0 || errno == ENOENT;

    if (!good)
        mx_format(
            errors,
            "store.file: %s: this user may not read and write it (%s); expected a file of "
            "its own, or none\n",
            &beside, strerror(errno));
    return good;
}

static bool check_database(const char *path, struct mcpx_text *errors)
{
    struct stat status;
    bool is_there;

    if (!check_parent("store.file", path, errors))
        return false;
    if (stat(path, &status))
        return errno == ENOENT || fault(errors, "store.file", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fault(errors, "store.file", path, "is not a file");
    if (access(path, R_OK | W_OK))
        return fault(errors, "store.file", path, "this user may not read and write it");
    if (sqlite_file_examine(path, errors, &is_there))
        return false;
    return check_beside(path, "-wal", errors) && check_beside(path, "-shm", errors) &&
           check_beside(path, ".lock", errors);
}

static bool check_audit_folder(const char *path, struct mcpx_text *errors)
{
    struct stat status;

    if (stat(path, &status) && errno == ENOENT)
        return check_parent("audit.folder", path, errors); /* the start makes it */
    return check_folder("audit.folder", path, errors);
}

static bool check_key(const char *path, struct mcpx_text *errors)
{
    struct audit_key *key = NULL;
    const char *why = NULL;
    enum mcpx_err err = audit_key_load(path, &why, &key);

    audit_key_free(key);
    return !err || fault(errors, "audit.key_file", path, why ? why : mcpx_strerror(err));
}

static void describe_certificate(const struct tls_settings *settings,
                                 const struct tls_files *files, int64_t wall_ms,
                                 struct mcpx_text *out)
{
    mx_scoped_text names = {0};
    int64_t left_s = files->until_s - wall_ms / 1000;
    char end[MX_TIME_LEN + 1];

    mx_tls_add_names(SSL_CTX_get0_certificate(files->context), &names);
    for (size_t i = 0; i < names.len; i++)
        if (names.text[i] == '\0')
            names.text[i] = ' ';
    mx_time_format(files->until_s * 1000, end);
    mx_format(out, "certificate: %s: %sends %s, in %s days\n",
              settings->files[TLS_CERTIFICATE], mcpx_text_view(&names), end,
              left_s > 0 ? left_s / DAY_S : 0);
}

static void warn_of_end(const char *path, int64_t left_s, struct mcpx_text *warnings)
{
    if (left_s <= 0)
        (void)fault(warnings, "tls.certificate_file", path,
                    "has expired, so clients refuse it; expected one that is valid today");
    else if (left_s < RENEW_DAYS * DAY_S)
        mx_format(warnings,
                  "tls.certificate_file: %s: ends in %s days; expected one that is good for "
                  "%s days more\n",
                  path, left_s / DAY_S, (int64_t)RENEW_DAYS);
}

static void warn_of_tls(const struct tls_settings *settings, const struct tls_files *files,
                        int64_t wall_ms, struct mcpx_text *warnings)
{
    warn_of_end(settings->files[TLS_CERTIFICATE], files->until_s - wall_ms / 1000, warnings);
    if (mx_file_is_public(settings->files[TLS_KEY]))
        (void)fault(warnings, "tls.key_file", settings->files[TLS_KEY],
                    "everybody on this machine may read it; chmod o-r mends that");
    if (files->revoked.until_s && files->revoked.until_s <= wall_ms / 1000)
        (void)fault(warnings, "tls.client_crl_file", settings->files[TLS_CLIENT_CRL],
                    "has a list that has expired, so everybody of its authority who shows a "
                    "certificate is refused; expected lists that are valid today");
    if (files->revoked.from_s > wall_ms / 1000)
        (void)fault(warnings, "tls.client_crl_file", settings->files[TLS_CLIENT_CRL],
                    "has a list that has not begun, so everybody of its authority who shows a "
                    "certificate is refused; expected lists that are valid today");
    /* RFC 7633. */
    if (X509_get_ext_by_NID(SSL_CTX_get0_certificate(files->context), NID_tlsfeature, -1) >= 0)
        (void)fault(warnings, "tls.certificate_file", settings->files[TLS_CERTIFICATE],
                    "says that clients shall refuse it without an OCSP response, which the "
                    "router does not show; expected one without \"must staple\"");
}

static bool check_tls(const struct config *config, struct mcpx_text *errors,
                      struct mcpx_text *found)
{
    int64_t wall_ms = mx_clock_now().wall_ms;
    MX_SCOPED(tls_files_fini) struct tls_files files = {0};

    if (tls_files_read(&config->tls, errors, &files))
        return false;
    warn_of_tls(&config->tls, &files, wall_ms, errors);
    describe_certificate(&config->tls, &files, wall_ms, found);
    return true;
}

bool paths_check(const struct config *config, struct mcpx_text *errors,
                 struct mcpx_text *found)
{
    bool good = true;

    if (config->hub.stored)
        good &= check_database(config->store.file, errors);
    if (config->tls.wanted)
        good &= check_tls(config, errors, found);
    if (config->hub.audited) {
        good &= check_audit_folder(config->audit.folder, errors);
        good &= check_key(config->audit.key_file, errors);
    }
    return good;
}
