/*
 * paths.c - a configuration is checked before the service is restarted with it, and a folder that
 * is missing would show only then. Of a database the header is read, as at a start: whether all of
 * it is whole is for its own programs to say.
 */
#include "router/edge/paths.h"

#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "router/connection/tls_files.h"
#include "router/policy/identity/key_file.h"
#include "router/process/clock.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/sqlite/sqlite_file.h"
#include "router/tls/tls.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * RENEW_DAYS   how long a certificate has to be good when nobody is to be warned; as the alert
 *              McpxCertificateEnds
 */
enum { RENEW_DAYS = 14, DAY_S = 86400 };

static bool fault(struct mcpx_text *errors, const char *setting, const char *path,
                  const char *what)
{
    mx_format(errors, "%s: %s: %s\n", setting, path, what);
    return false;
}

/* The folder that a path is in. */
static void write_parent(const char *path, struct mcpx_text *out)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;

    if (slash)
        mcpx_text_add(out, path, len ? len : 1);
    else
        mcpx_text_puts(out, ".");
}

static bool check_folder(const char *setting, const char *path, struct mcpx_text *errors)
{
    struct stat status;

    if (stat(path, &status))
        return fault(errors, setting, path,
                     errno == ENOENT ? "there is no such folder; expected one that exists"
                                     : strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return fault(errors, setting, path, "is no folder");
    if (access(path, W_OK | X_OK))
        return fault(errors, setting, path, "this user may not write in it");
    return true;
}

static bool check_parent(const char *setting, const char *path, struct mcpx_text *errors)
{
    struct mcpx_text parent = {0};
    bool good = true;

    write_parent(path, &parent);
    if (!parent.failed)
        good = check_folder(setting, parent.text, errors);
    mcpx_text_fini(&parent);
    return good;
}

/* A file that stands beside the database, often because somebody else has worked on it. */
static bool check_beside(const char *path, const char *ending, struct mcpx_text *errors)
{
    struct mcpx_text beside = mx_formatted("%s%s", path, ending);
    bool good = beside.failed || access(beside.text, R_OK | W_OK) == 0 || errno == ENOENT;

    if (!good)
        mx_format(
            errors,
            "store.file: %s: this user may not read and write it (%s); expected a file of "
            "its own, or none\n",
            &beside, strerror(errno));
    mcpx_text_fini(&beside);
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
        return fault(errors, "store.file", path, "is no file");
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
        return check_parent("audit.folder", path, errors); /* it will be made */
    return check_folder("audit.folder", path, errors);
}

static bool check_key(const char *path, struct mcpx_text *errors)
{
    struct mcpx_text pem = {0};
    struct audit_key *key = NULL;
    struct mcpx_fault fault_of_key = {0};
    const char *why = file_read(path, AUDIT_KEY_FILE_MAX, &pem);
    enum mcpx_err err = MCPX_OK;

    if (!why)
        err = audit_key_read(mcpx_text_view(&pem), AUDIT_PRIVATE, &fault_of_key, &key);
    audit_key_free(key);
    if (err)
        why = fault_of_key.reason ? fault_of_key.reason : mcpx_strerror(err);
    OPENSSL_cleanse(pem.text, pem.len);
    mcpx_text_fini(&pem);
    return why ? fault(errors, "audit.key_file", path, why) : true;
}

/* The names of the certificate, and when it ends. */
static void describe_certificate(const struct tls_settings *settings,
                                 const struct tls_files *files, int64_t wall_ms,
                                 struct mcpx_text *out)
{
    struct mcpx_text names = {0};
    int64_t left_s = files->until_s - wall_ms / 1000;
    char end[MX_TIME_LEN + 1];

    tls_add_names(SSL_CTX_get0_certificate(files->context), &names);
    for (size_t i = 0; i < names.len; i++)
        if (names.text[i] == '\0')
            names.text[i] = ' ';
    mx_time_format(files->until_s * 1000, end);
    mx_format(out, "certificate: %s: %sends %s, in %s days\n", settings->certificate_file,
              mcpx_text_view(&names), end, left_s > 0 ? left_s / DAY_S : 0);
    mcpx_text_fini(&names);
}

static void warn_of_end(const char *path, int64_t left_s, struct mcpx_text *warnings)
{
    if (left_s <= 0)
        mx_format(warnings,
                  "tls.certificate_file: %s: has expired, so clients refuse it; expected one "
                  "that is valid today\n",
                  path);
    else if (left_s < RENEW_DAYS * DAY_S)
        mx_format(warnings,
                  "tls.certificate_file: %s: ends in %s days; expected one that is good for "
                  "%s days more\n",
                  path, left_s / DAY_S, (int64_t)RENEW_DAYS);
}

/* RFC 7633: "must staple". */
static bool wants_staple(const SSL_CTX *context)
{
    return X509_get_ext_by_NID(SSL_CTX_get0_certificate(context), NID_tlsfeature, -1) >= 0;
}

/* A line for each thing about them that is surely not meant. */
static void warn_of_tls(const struct tls_settings *settings, const struct tls_files *files,
                        int64_t wall_ms, struct mcpx_text *warnings)
{
    struct stat status;

    warn_of_end(settings->certificate_file, files->until_s - wall_ms / 1000, warnings);
    if (stat(settings->key_file, &status) == 0 && (status.st_mode & S_IROTH))
        mx_format(warnings,
                  "tls.key_file: %s: everybody on this machine may read it; chmod o-r mends "
                  "that\n",
                  settings->key_file);
    if (files->revoked.until_s && files->revoked.until_s <= wall_ms / 1000)
        (void)fault(warnings, "tls.client_crl_file", settings->client_crl_file,
                    "has a list that has expired, so everybody of its authority who shows a "
                    "certificate is refused; expected lists that are valid today");
    if (files->revoked.from_s > wall_ms / 1000)
        (void)fault(warnings, "tls.client_crl_file", settings->client_crl_file,
                    "has a list that has not begun, so everybody of its authority who shows a "
                    "certificate is refused; expected lists that are valid today");
    if (wants_staple(files->context))
        (void)fault(warnings, "tls.certificate_file", settings->certificate_file,
                    "says that clients shall refuse it without an OCSP response, which the "
                    "router does not show; expected one without \"must staple\"");
}

static bool check_tls(const struct config *config, struct mcpx_text *errors,
                      struct mcpx_text *found)
{
    int64_t wall_ms = clock_ask().wall_ms;
    struct tls_files files = {0};
    bool good = tls_files_read(&config->tls, errors, &files) == MCPX_OK;

    if (good) {
        warn_of_tls(&config->tls, &files, wall_ms, errors);
        describe_certificate(&config->tls, &files, wall_ms, found);
    }
    tls_files_fini(&files);
    return good;
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
