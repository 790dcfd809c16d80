/*
 * config_tls.c - the settings of TLS that only make sense together. Whether certificate and key can
 * be used is no matter of the configuration: they change while the router runs, and for --check
 * router/edge/paths.c looks.
 */
#include "router/policy/loading.h"

#include <stdlib.h>

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

/* A name that means nobody is a typing error that locks somebody out. */
static void check_name(struct loading *loading, const char *name, const char *participant)
{
    size_t len = pointer_push(loading, name);

    if (!name_is_valid(name))
        error_here(loading, "expected a name that begins with dns:, uri:, email: or cn:");
    if (!tree_at(loading, "participants", participant))
        error_here(loading, "expected the id of one of participants");
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
    json_object_foreach((json_t *)names, name, value)
    {
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

static void load_clients(struct loading *loading)
{
    const json_t *names = tree_at(loading, "tls", "client_names");
    bool has_authorities = *loading->settings.config.tls.client_ca_file;
    bool has_lists = *loading->settings.config.tls.client_crl_file;

    if (json_object_size(names) > 0 && !has_authorities)
        setting_line(loading, "/tls/client_ca_file",
                     "is empty, expected the path of authorities in PEM, because there are "
                     "tls.client_names",
                     error_line);
    if (has_lists && !has_authorities)
        setting_line(loading, "/tls/client_crl_file",
                     "is not used: tls.client_ca_file is empty, expected the path of the "
                     "authorities that have signed the lists",
                     error_line);
    if (json_object_size(names) == 0 && has_authorities)
        setting_line(loading, "/tls/client_ca_file",
                     "tls.client_names is empty, so everybody who shows a certificate is "
                     "refused",
                     warning_line);
    take_names(loading, names);
}

void load_tls(struct loading *loading)
{
    struct tls_settings *tls = &loading->settings.config.tls;
    bool used = tls->wanted;

    if (used && !*tls->certificate_file)
        setting_line(loading, "/tls/certificate_file",
                     "is empty, expected the path of a certificate in PEM, because an address "
                     "of listen begins with tls://",
                     error_line);
    if (used && !*tls->key_file)
        setting_line(loading, "/tls/key_file",
                     "is empty, expected the path of the certificate's key in PEM, because an "
                     "address of listen begins with tls://",
                     error_line);
    if (!used && *tls->certificate_file)
        setting_line(loading, "/tls/certificate_file",
                     "is not used: no address of listen begins with tls://", warning_line);
    load_clients(loading);
    setting_resolve(loading, "/tls/client_ca_file", &tls->client_ca_file);
    setting_resolve(loading, "/tls/client_crl_file", &tls->client_crl_file);
    setting_resolve(loading, "/tls/certificate_file", &tls->certificate_file);
    setting_resolve(loading, "/tls/key_file", &tls->key_file);
    setting_resolve(loading, "/tls/ocsp_file", &tls->ocsp_file);
}
