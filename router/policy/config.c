/*
 * config.c - the order of the steps: defaults, file, environment, flags, each overwriting the
 * one before; then checks across several values; then tokens. Every step adds its faults to one
 * text and goes on, so that a person can correct all of them at once.
 */
#include "router/policy/loading.h"
#include "router/policy/tokens_make.h"

#include <stdlib.h>

void config_fini(struct config *config)
{
    for (size_t i = 0; i < config->listen_count; i++) {
        free(config->listen[i].host);
        free(config->listen[i].port);
    }
    for (size_t i = 0; i < config->origin_count; i++)
        free(config->origins[i]);
    free(config->listen);
    free(config->origins);
    free(config->tls.certificate_file);
    free(config->tls.key_file);
    free(config->tls.client_ca_file);
    free(config->tls.client_crl_file);
    free(config->tls.ocsp_file);
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
    struct tokens *tokens = tokens_new();

    if (!tokens) {
        loading->no_memory = true;
        return NULL;
    }
    if (loading->sources->before)
        tokens_share(tokens, loading->sources->before->tokens);
    load_keys(loading, tokens);
    check_people(loading);
    if (loading->faults == 0 && !loading->no_memory)
        build_people(loading, tokens);
    if (loading->faults == 0 && !loading->no_memory)
        write_warnings(loading, tokens);
    return tokens;
}

/* Moves what was loaded into the result. */
static void hand_over(struct loading *loading, struct config *out)
{
    struct settings *settings = &loading->settings;

    settings->config.dev = loading->sources->dev;
    if (settings->config.dev && settings_source(settings, "/auth/instances") == FROM_DEFAULT)
        settings->config.hub.instances = INSTANCES_MAX; /* everybody is let in anyway */
    settings->config.origins = settings->origins.text;
    settings->config.origin_count = settings->origins.count;
    settings->config.warnings = loading->warnings;
    settings->origins = (struct names){0};
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
        load_tls(&loading);
        load_proxies(&loading);
        load_store(&loading);
        note_values(&loading);
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
