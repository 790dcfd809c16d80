/*
 * config_store.c - the settings of store and audit that only make sense together. Whether their
 * files can be used is no matter of the configuration: whoever opens them finds out, and for
 * --check router/edge/paths.c looks.
 */
#include "router/policy/loading.h"

void load_store(struct loading *loading)
{
    struct config *config = &loading->settings.config;
    bool has_file = config->store.kind == STORE_KIND_SQLITE;
    bool has_audit = *config->audit.folder;

    if (has_file && !*config->store.file)
        setting_line(loading, "/store/file",
                     "is empty, expected the path of a file, because store.kind is \"sqlite\"",
                     error_line);
    if (has_audit && !*config->audit.key_file)
        setting_line(
            loading, "/audit/key_file",
            "is empty, expected the path of an Ed25519 key in PEM, because audit.folder "
            "is set; \"openssl genpkey -algorithm ed25519 -out FILE\" makes one",
            error_line);
    if (!has_file && *config->store.file)
        setting_line(loading, "/store/file",
                     "is not used while store.kind is \"memory\"; expected \"sqlite\" there",
                     warning_line);
    if (!has_audit && *config->audit.key_file)
        setting_line(loading, "/audit/key_file",
                     "is not used: nothing is audited without audit.folder", warning_line);
    config->hub.stored = has_file;
    config->hub.audited = has_audit;
    config->hub.gated = has_file || has_audit;
    setting_resolve(loading, "/store/file", &config->store.file);
    setting_resolve(loading, "/audit/folder", &config->audit.folder);
    setting_resolve(loading, "/audit/key_file", &config->audit.key_file);
    if (has_audit && file_is_public(config->audit.key_file))
        setting_line(loading, "/audit/key_file",
                     "everybody on this machine may read the key; chmod o-r mends that",
                     warning_line);
}
