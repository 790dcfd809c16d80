/*
 * config.c - the order of the steps: defaults, file, environment, flags, each overwriting the one
 * before; then checks across several values; then tokens. Every step adds its errors to one text
 * and continues, so that an operator can correct all of them at once. The files of TLS, store and
 * audit are opened by their users, not here; for --check, router/connection/bounds.c examines them.
 */
#include "lib/base/scoped.h"
#include "lib/edge/file.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"
#include "router/policy/identity/tokens_make.h"

#include <mcpx/digest.h>
#include <mcpx/json.h>

#include <stdlib.h>

/* ---- TLS, store and audit ---- */

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct tls_name *)a)->name, ((const struct tls_name *)b)->name);
}

static bool name_is_valid(const char *name)
{
    static const char *const sorts[] = {"dns:", "uri:", "email:", "cn:"};

    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (strncmp(name, sorts[i], strlen(sorts[i])) == 0)
            return name[strlen(sorts[i])] != '\0';
    return false;
}

/* A name without a participant is a typing error; it locks a client out. */
static void check_name(struct loading *loading, const char *name, const char *participant)
{
    size_t len = pointer_push(loading, name);

    if (!name_is_valid(name))
        report_here(loading, REPORT_ERROR,
                    "expected a name that begins with dns:, uri:, email: or cn:");
    if (!tree_at(loading, "participants", participant))
        report_here(loading, REPORT_ERROR, "expected the id of one of participants");
    pointer_pop(loading, len);
}

static void take_names(struct loading *loading, const json_t *names)
{
    struct tls_settings *tls = &loading->settings.config.tls;
    const char *name;
    json_t *value;

    tls->names = calloc(json_object_size(names) + 1, sizeof *tls->names);
    loading->no_memory |= !tls->names;
    pointer_set(loading, "tls", "client_names");
    json_object_foreach((json_t *)names, name, value) {
        struct tls_name *row = &tls->names[tls->name_count];

        if (loading->no_memory || !json_is_string(value))
            break; /* reported already */
        check_name(loading, name, json_string_value(value));
        row->name = strdup(name);
        row->participant = strdup(json_string_value(value));
        tls->name_count++;
        loading->no_memory |= !row->name || !row->participant;
    }
    if (!loading->no_memory)
        qsort(tls->names, tls->name_count, sizeof *tls->names, compare);
}

/*
 * Resolves the paths of settings: those of the file are relative to its directory, those of the
 * environment to the working directory. The files are not opened.
 */
static void resolve_paths(struct loading *loading)
{
    static const char *const settings[] = {"/tls/certificate_file", "/tls/key_file",
                                           "/tls/client_ca_file",   "/tls/client_crl_file",
                                           "/store/file",           "/audit/folder",
                                           "/audit/key_file"};

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        size_t offset = settings_find(settings[i])->offset;
        char **path = (char **)(void *)((char *)&loading->settings + offset);
        bool of_file = settings_source(&loading->settings, settings[i]) == FROM_FILE;
        mx_scoped_text resolved = {0};

        if (!**path)
            continue;
        mx_path_resolve(*path, of_file ? loading->sources->file : NULL, &resolved);
        loading->no_memory |= resolved.failed;
        if (resolved.failed)
            continue;
        loading->no_memory |= json_object_set_new(loading->settings.config.values, settings[i],
                                                  json_string(resolved.text)) != 0;
        free(*path);
        *path = resolved.text;
        resolved.text = NULL;
    }
}

/* Checks settings that need each other. */
static void load_tls(struct loading *loading)
{
    struct tls_settings *tls = &loading->settings.config.tls;
    const json_t *names = tree_at(loading, "tls", "client_names");
    const bool used = tls->wanted, has_names = json_object_size(names) > 0;
    const bool certificate = *tls->files[TLS_CERTIFICATE], ca = *tls->files[TLS_CLIENT_CA];
    const struct report_rule rows[] = {
        {used && !certificate, REPORT_ERROR, "/tls/certificate_file",
         "is empty, expected the path of a certificate in PEM, because an address of listen "
         "begins with tls://"},
        {used && !*tls->files[TLS_KEY], REPORT_ERROR, "/tls/key_file",
         "is empty, expected the path of the certificate's key in PEM, because an address of "
         "listen begins with tls://"},
        {!used && certificate, REPORT_WARNING, "/tls/certificate_file",
         "is not used: no address of listen begins with tls://"},
        {has_names && !ca, REPORT_ERROR, "/tls/client_ca_file",
         "is empty, expected the path of authorities in PEM, because there are "
         "tls.client_names"},
        {*tls->files[TLS_CLIENT_CRL] && !ca, REPORT_ERROR, "/tls/client_crl_file",
         "is not used: tls.client_ca_file is empty, expected the path of the authorities that "
         "have signed the lists"},
        {!has_names && ca, REPORT_WARNING, "/tls/client_ca_file",
         "tls.client_names is empty, so everybody who shows a certificate is refused"}};

    report_rules(loading, rows, sizeof rows / sizeof *rows);
    take_names(loading, names);
}

/* The same for store and audit. Sets the hub's settings that follow from them. */
static void load_store(struct loading *loading)
{
    struct config *config = &loading->settings.config;
    const bool stored = config->store.kind == STORE_KIND_SQLITE;
    const bool audited = *config->audit.folder, has_key = *config->audit.key_file;
    const struct report_rule rows[] = {
        {stored && !*config->store.file, REPORT_ERROR, "/store/file",
         "is empty, expected the path of a file, because store.kind is \"sqlite\""},
        {audited && !has_key, REPORT_ERROR, "/audit/key_file",
         "is empty, expected the path of an Ed25519 key in PEM, because audit.folder is set; "
         "\"openssl genpkey -algorithm ed25519 -out FILE\" makes one"},
        {!stored && *config->store.file, REPORT_WARNING, "/store/file",
         "is not used while store.kind is \"memory\"; expected \"sqlite\" there"},
        {!audited && has_key, REPORT_WARNING, "/audit/key_file",
         "is not used: nothing is audited without audit.folder"},
        {audited && mx_file_is_public(config->audit.key_file), REPORT_WARNING,
         "/audit/key_file",
         "everybody on this machine may read the key; chmod o-r mends that"}};

    report_rules(loading, rows, sizeof rows / sizeof *rows);
    config->hub.stored = stored;
    config->hub.audited = audited;
    config->hub.needs_commit = stored || audited;
}

/*
 * Comparison of two configurations: changed settings, and whether they require a restart. Every
 * setting is noted when it is read, as a value by its pointer. Rejected: comparing the members of
 * two structs, because half of them are derived from others.
 */

/* Digest of a whole list or map: the noted values must not contain the secrets of keys. */
static json_t *whole_digest(const struct loading *loading, const struct setting *row)
{
    const json_t *whole = loading->tree;
    char name[64], digest[MCPX_SHA256_LEN + 1];
    json_t *value = NULL;
    char *text;

    for (const char *at = row->pointer; *at; at += strcspn(at + 1, "/") + 1) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "/"), at + 1);
        whole = json_object_get(whole, name);
    }
    text = whole ? json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY)
                 : strdup(row->fallback);
    if (text && mcpx_digest_bytes(mcpx_slice_of(text), digest) == MCPX_OK)
        value = json_string(digest);
    free(text);
    return value;
}

static bool is_whole(const struct setting *row)
{
    return row->type == SETTING_LIST || row->type == SETTING_MAP;
}

/* Parts of lists and maps are not noted; difference_find compares participants. */
static bool is_kept(const struct setting *row)
{
    if (strchr(row->pointer, '*') || strcmp(row->pointer, "/profiles") == 0 ||
        strcmp(row->pointer, "/participants") == 0)
        return false;
    return row->size > 0 || is_whole(row);
}

/* Written with sorted names, so that order and white space do not matter. */
static void name_policy(struct loading *loading)
{
    char *profiles =
        json_dumps(tree_at(loading, "profiles", NULL), JSON_SORT_KEYS | JSON_COMPACT);
    char *people =
        json_dumps(tree_at(loading, "participants", NULL), JSON_SORT_KEYS | JSON_COMPACT);
    char digest[MCPX_SHA256_LEN + 1] = "";
    struct mcpx_text policy =
        mx_formatted("%s\n%s", profiles ? profiles : "{}", people ? people : "{}");

    if (policy.failed || mcpx_digest_bytes(mcpx_text_view(&policy), digest))
        loading->no_memory = true;
    memcpy(loading->settings.config.rev, digest, CONFIG_REV_LEN);
    memcpy(loading->settings.config.hub.rev, digest, CONFIG_REV_LEN);
    mcpx_text_fini(&policy);
    free(profiles);
    free(people);
}

/* Notes lists and maps; other values were noted when they were stored. */
static void note_wholes(struct loading *loading)
{
    json_t *values = loading->settings.config.values;

    for (const struct setting *row = settings_table; row->pointer; row++)
        if (is_whole(row) && is_kept(row) &&
            json_object_set_new(values, row->pointer, whole_digest(loading, row)))
            loading->no_memory = true;
}

/* ---- all of it ---- */

void config_fini(struct config *config)
{
    for (size_t i = 0; i < config->listen_count; i++) {
        free(config->listen[i].host);
        free(config->listen[i].port);
    }
    free(config->listen);
    names_fini(&config->origins);
    for (size_t i = 0; i < TLS_FILES; i++)
        free(config->tls.files[i]);
    for (size_t i = 0; i < config->tls.name_count; i++) {
        free(config->tls.names[i].name);
        free(config->tls.names[i].participant);
    }
    free(config->tls.names);
    free(config->proxies);
    free(config->store.file);
    free(config->audit.folder);
    free(config->audit.key_file);
    tokens_free(config->tokens);
    json_decref(config->values);
    mcpx_text_fini(&config->warnings);
    *config = (struct config){0};
}

static struct tokens *load_tokens(struct loading *loading)
{
    const struct config *before = loading->sources->before;
    struct tokens *tokens = tokens_new(before ? before->tokens : NULL);

    if (!tokens) {
        loading->no_memory = true;
        return NULL;
    }
    load_keys(loading, tokens);
    load_people(loading, tokens);
    if (loading->faults == 0 && !loading->no_memory)
        write_warnings(loading, tokens);
    return tokens;
}

static void hand_over(struct loading *loading, struct config *out)
{
    struct settings *settings = &loading->settings;

    settings->config.dev = loading->sources->dev;
    if (settings->config.dev && settings_source(settings, "/auth/instances") == FROM_DEFAULT)
        settings->config.hub.instances = INSTANCES_MAX; /* dev mode admits everybody anyway */
    settings->config.warnings = loading->warnings;
    loading->warnings = (struct mcpx_text){0};
    *out = settings->config;
    settings->config = (struct config){0};
}

enum mcpx_err config_load(const struct config_sources *sources, struct mcpx_text *errors,
                          struct config *out)
{
    struct loading loading = {.sources = sources, .errors = errors};
    enum mcpx_err err = settings_init(&loading.settings);

    if (!err) {
        load_file(&loading);
        load_environment(&loading);
        load_listen(&loading);
        resolve_paths(&loading);
        load_tls(&loading);
        load_proxies(&loading);
        load_store(&loading);
        note_wholes(&loading);
        name_policy(&loading);
        if (!loading.no_memory)
            loading.settings.config.tokens = load_tokens(&loading);
        mcpx_text_puts(&loading.warnings, ""); /* "" if none, never NULL */
        if (loading.no_memory || loading.pointer.failed || errors->failed ||
            loading.warnings.failed)
            err = MCPX_ENOMEM;
        else if (loading.faults > 0)
            err = MCPX_ECONFIG;
    }
    if (!err)
        hand_over(&loading, out);
    config_fini(&loading.settings.config);
    settings_fini(&loading.settings);
    mcpx_text_fini(&loading.warnings);
    mcpx_text_fini(&loading.pointer);
    json_decref(loading.tree);
    return err;
}

static bool is_shown(const struct setting *row)
{
    return row->type != SETTING_SECRET && !is_whole(row);
}

static void add_value(struct mcpx_text *out, const char *before, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    mcpx_text_puts(out, before);
    mcpx_text_puts(out, text ? text : "");
    out->failed |= !text;
    free(text);
}

static void tell_restart(struct mcpx_text *errors, const struct setting *row,
                         const json_t *was, const json_t *now)
{
    mx_format(errors, "%s: ", row->pointer);
    if (is_shown(row)) {
        add_value(errors, "", was);
        add_value(errors, " -> ", now);
    } else {
        mcpx_text_puts(errors, "has changed");
    }
    mcpx_text_puts(errors, ", which takes a restart of the router\n");
}

static void tell_change(struct mcpx_text *changes, const struct setting *row,
                        const json_t *was, const json_t *now)
{
    mx_json_begin_object(changes, NULL);
    mcpx_json_add_member(changes, "setting", mcpx_slice_of(row->pointer));
    if (is_shown(row)) {
        add_value(changes, ",\"was\":", was);
        add_value(changes, ",\"now\":", now);
    }
    mx_json_end_object(changes);
}

bool config_compare(const struct config *before, const struct config *after,
                    struct mcpx_text *errors, struct mcpx_text *changes)
{
    bool live = true;

    mx_json_begin_array(changes, NULL);
    for (const struct setting *row = settings_table; row->pointer; row++) {
        const json_t *was = json_object_get(before->values, row->pointer);
        const json_t *now = json_object_get(after->values, row->pointer);

        if (json_equal(was, now) || !is_kept(row))
            continue;
        live &= row->live;
        if (row->live)
            tell_change(changes, row, was, now);
        else
            tell_restart(errors, row, was, now);
    }
    mx_json_end_array(changes);
    return live;
}
