/*
 * config_key_files.c - the first reading of files with public keys. What is wrong then is a fault
 * of the configuration; later readings are the loop's business, and leave the keys as they were.
 */
#include "lib/core/format.h"
#include "router/policy/loading.h"
#include "router/policy/tokens_make.h"

static void read_first(struct loading *loading, const struct key_place *where,
                       struct key_file *file, struct tokens *tokens)
{
    struct key_reading reading;

    key_file_read(file, &reading);
    if (reading.err == MCPX_ENOMEM || reading.why.failed)
        loading->no_memory = true;
    else if (reading.err)
        mx_format(error_begin(loading, where->source, where->pointer), "the file %s: %s\n",
                  file->path, &reading.why);
    else if (file_is_anybodys(file->path))
        warning_line(loading, where->source, where->pointer,
                     "everybody on this machine may change the keys, and so come in as "
                     "anybody; chmod o-w mends that");
    key_file_take(file, &reading);
    key_reading_fini(&reading);
    if (jwt_ring_add_file(tokens_ring(tokens), file))
        loading->no_memory = true;
}

void load_key_file(struct loading *loading, const struct key_place *where,
                   const struct jwt_key *model, struct tokens *tokens)
{
    const char *setting = *where->pointer ? where->pointer : "/auth/jwt/jwks_file";
    struct mcpx_text path = {0};
    struct key_file *file = NULL;

    if (model && model->exp_optional)
        warning_line(loading, where->source, where->pointer,
                     "tokens of this key need no \"exp\"; those without are good for ever");
    path_resolve(where->path, where->beside, &path);
    if (!path.failed)
        file = key_file_new(path.text, setting, model);
    if (file)
        read_first(loading, where, file, tokens);
    else
        loading->no_memory = true;
    key_file_unref(file);
    mcpx_text_fini(&path);
}
