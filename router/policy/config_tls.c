/*
 * config_tls.c - the settings of TLS that only make sense together. Whether certificate and key can
 * be used is no matter of the configuration: they change while the router runs, and for --check
 * router/edge/paths.c looks.
 */
#include "router/policy/loading.h"

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
    setting_resolve(loading, "/tls/certificate_file", &tls->certificate_file);
    setting_resolve(loading, "/tls/key_file", &tls->key_file);
}
