/*
 * tls_watch.c - a large revocation list takes a second to be read, and a disk that has gone away
 * answers nothing for minutes. So a thread asks the files for their times, reads them, and frees
 * what was in force before; the loop only exchanges one for the other.
 *
 * Files are read again when they have not changed for a second: certificate and key are two files,
 * and between the first and the second change they do not belong together.
 */
#include "router/edge/tls_watch.h"

#include "router/edge/log.h"
#include "router/edge/record.h"
#include "router/edge/tls.h"

#include <stdlib.h>

/*
 * What the thread has found.
 *
 * has_read       all files were read
 * err, errors    of the first four of them
 * no_response    why there is no `response`; empty when there is one
 */
struct found {
    bool has_read;
    enum mcpx_err err;
    struct mcpx_text errors, no_response;
    struct tls_files files;
    struct ocsp response;
};

/*
 * settings       a copy: those of the configuration go with it at a reload, which changes none
 * library        where ciphers come from
 * stamp, seen    of the files, when they were read last and when they were looked at last; the
 *                thread's
 * retired        in force before, for the thread to be freed
 * busy           a thread looks or, `forced`, reads in any case; `asked`: it is to read once more
 * looked_ms      mono_ms when the loop looked last
 * wall_ms        the time by which the thread judges
 */
struct tls_watch {
    struct edge *edge;
    uv_work_t work;
    struct tls_settings settings;
    struct ossl_lib_ctx_st *library;
    struct tls_stamp stamp, seen;
    struct tls_files retired;
    bool busy, forced, asked;
    int64_t looked_ms, wall_ms;
    struct found found;
};

/* ---- on the thread: the loop does not touch what it looks at ---- */

static void read_all(struct tls_watch *watch)
{
    struct found *found = &watch->found;
    struct ssl_ctx_st *context;
    const char *why;

    found->err =
        tls_files_read(&watch->settings, watch->library, &found->errors, &found->files);
    context = found->err ? watch->edge->tls.files.context : found->files.context;
    if (!context || !*watch->settings.ocsp_file)
        return;
    why = ocsp_read(watch->settings.ocsp_file, context, watch->wall_ms, &found->response);
    if (why)
        mcpx_text_puts(&found->no_response, why);
}

static void look(uv_work_t *work)
{
    struct tls_watch *watch = work->data;
    struct tls_stamp now = tls_files_stamp(&watch->settings);
    bool has_settled =
        !tls_stamp_equals(&now, &watch->stamp) && tls_stamp_equals(&now, &watch->seen);

    tls_files_fini(&watch->retired);
    watch->seen = now;
    watch->found.has_read = watch->forced || has_settled;
    if (!watch->found.has_read)
        return;
    watch->stamp = now;
    read_all(watch);
}

/* ---- on the loop ---- */

static void forget_found(struct found *found)
{
    mcpx_text_fini(&found->errors);
    mcpx_text_fini(&found->no_response);
    tls_files_fini(&found->files);
    ocsp_fini(&found->response);
    *found = (struct found){.has_read = false};
}

static void take_lists(struct edge *edge)
{
    struct revocation *revoked = &edge->tls.files.revoked;
    int64_t wall_s = edge_now(edge).wall_ms / 1000;

    edge->tls.figures.crl_until_s = revoked->until_s;
    edge->tls.lists_ended = false;
    if (!revoked->lists)
        return;
    revocation_check(revoked, edge->tls.files.context);
    (void)revocation_has_begun(revoked, wall_s);
    edge->generation++; /* who is in may be revoked */
    if (revoked->from_s > wall_s)
        LOG(LOG_ERROR, "tls_crl_early", log_string("file", edge->config->tls.client_crl_file),
            log_number("begins", revoked->from_s),
            log_string("hint", "whoever shows a certificate of its authority is refused until "
                               "then; compare the clocks"));
}

static void take_files(struct edge *edge, struct tls_files *files)
{
    struct edge_tls *tls = &edge->tls;

    tls->watch->retired = tls->files;
    tls->files = *files;
    *files = (struct tls_files){.context = NULL};
    tls->figures.until_s = tls->files.until_s;
    take_lists(edge);
    ocsp_staple(&tls->ocsp, tls->files.context);
}

/* Without one, clients go on; so a response that cannot be used keeps nobody out. */
static void take_response(struct edge *edge, struct found *found)
{
    struct edge_tls *tls = &edge->tls;
    const char *path = edge->config->tls.ocsp_file;
    bool is_good = found->no_response.len == 0;

    if (!*path)
        return;
    if (!is_good) {
        LOG(LOG_ERROR, "tls_ocsp_unusable", log_string("file", path),
            log_text("reason", mcpx_text_view(&found->no_response)),
            log_string("hint", "one that was read before is shown as long as it is valid for "
                               "the certificate"));
    } else {
        ocsp_fini(&tls->ocsp);
        tls->ocsp = found->response;
        found->response = (struct ocsp){.about = NULL};
        LOG(LOG_INFO, "tls_ocsp_read", log_number("expires", tls->ocsp.until_s));
    }
    if (!ocsp_is_about(&tls->ocsp, tls->files.context))
        ocsp_fini(&tls->ocsp);
    tls->figures.has_ocsp = true;
    tls->figures.ocsp_stale = !is_good;
    tls->figures.ocsp_until_s = tls->ocsp.until_s;
}

static void take(struct edge *edge, struct found *found)
{
    edge->tls.figures.stale = found->err != MCPX_OK;
    if (found->err) {
        LOG(LOG_ERROR, "tls_files_unusable",
            log_text("reason", mcpx_text_view(&found->errors)),
            log_string("hint", "the certificate that was read before stays in force"));
    } else {
        record_keys(edge, "/tls");
        take_files(edge, &found->files);
        LOG(LOG_INFO, "tls_files_read", log_number("expires", edge->tls.files.until_s));
    }
    take_response(edge, found);
}

static void on_looked(uv_work_t *work, int status);

static void begin(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    watch->busy = true;
    watch->forced = watch->asked;
    watch->asked = false;
    watch->wall_ms = edge_now(edge).wall_ms;
    watch->work.data = watch;
    if (uv_queue_work(&edge->loop, &watch->work, look, on_looked))
        abort(); /* it only fails without a function */
}

static void on_looked(uv_work_t *work, int status)
{
    struct tls_watch *watch = work->data;
    struct edge *edge = watch->edge;

    (void)status; /* it is never cancelled */
    watch->busy = false;
    if (watch->found.has_read && !edge->stopping)
        take(edge, &watch->found);
    forget_found(&watch->found);
    if (watch->asked && !edge->stopping)
        begin(edge);
}

void tls_watch_reread(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    if (!watch || edge->stopping)
        return;
    watch->asked = true;
    if (!watch->busy)
        begin(edge);
}

bool tls_watch_is_rereading(const struct edge *edge)
{
    const struct tls_watch *watch = edge->tls.watch;

    return watch && (watch->asked || (watch->busy && watch->forced));
}

static void tell_lists_ended(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    int64_t until_s = tls->files.revoked.until_s;

    if (!until_s || until_s > edge_now(edge).wall_ms / 1000 || tls->lists_ended)
        return;
    tls->lists_ended = true;
    LOG(LOG_ERROR, "tls_crl_expired", log_string("file", edge->config->tls.client_crl_file),
        log_string("hint",
                   "whoever shows a certificate of its authority is refused until there "
                   "is another list"));
}

static void end_response(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;

    if (!tls->ocsp.about || tls->ocsp.until_s > edge_now(edge).wall_ms / 1000)
        return;
    ocsp_fini(&tls->ocsp);
    tls->figures.ocsp_until_s = 0;
    LOG(LOG_ERROR, "tls_ocsp_expired", log_string("file", edge->config->tls.ocsp_file),
        log_string("hint", "clients are shown none until there is another one"));
}

void tls_watch_look(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;
    struct mcpx_now now = edge_now(edge);

    if (!watch || now.mono_ms - watch->looked_ms < TICK_MS)
        return;
    watch->looked_ms = now.mono_ms;
    end_response(edge);
    tell_lists_ended(edge);
    if (revocation_has_begun(&edge->tls.files.revoked, now.wall_ms / 1000))
        edge->generation++;
    if (!watch->busy && !edge->stopping)
        begin(edge);
}

/* ---- beginning and end ---- */

static bool copy(const struct tls_settings *from, struct tls_settings *to)
{
    to->only_1_3 = from->only_1_3;
    to->certificate_file = strdup(from->certificate_file);
    to->key_file = strdup(from->key_file);
    to->client_ca_file = strdup(from->client_ca_file);
    to->client_crl_file = strdup(from->client_crl_file);
    to->ocsp_file = strdup(from->ocsp_file);
    return to->certificate_file && to->key_file && to->client_ca_file && to->client_crl_file &&
           to->ocsp_file;
}

static enum mcpx_err read_first(struct edge *edge, struct mcpx_text *errors)
{
    struct tls_watch *watch = edge->tls.watch;
    struct found *found = &watch->found;

    if (!copy(&edge->config->tls, &watch->settings))
        return MCPX_ENOMEM;
    watch->edge = edge;
    watch->library = tls_files_library(&edge->config->tls);
    watch->wall_ms = edge_now(edge).wall_ms;
    watch->work.data = watch;
    watch->forced = true;
    look(&watch->work);
    watch->forced = false;
    if (found->err) {
        mcpx_text_slice(errors, mcpx_text_view(&found->errors));
        return found->err;
    }
    edge->api.tls = &edge->tls.figures;
    take_files(edge, &found->files);
    take_response(edge, found);
    forget_found(found);
    return MCPX_OK;
}

enum mcpx_err tls_watch_open(struct edge *edge, struct mcpx_text *errors)
{
    struct edge_tls *tls = &edge->tls;

    if (!edge->config->tls.wanted)
        return MCPX_OK;
    tls->room = tls_room_new();
    tls->watch = calloc(1, sizeof *tls->watch);
    return tls->room && tls->watch ? read_first(edge, errors) : MCPX_ENOMEM;
}

void tls_watch_close(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    tls_files_fini(&edge->tls.files);
    ocsp_fini(&edge->tls.ocsp);
    tls_room_free(edge->tls.room);
    if (!watch)
        return;
    forget_found(&watch->found);
    tls_files_fini(&watch->retired);
    free(watch->settings.certificate_file);
    free(watch->settings.key_file);
    free(watch->settings.client_ca_file);
    free(watch->settings.client_crl_file);
    free(watch->settings.ocsp_file);
    free(watch);
}
