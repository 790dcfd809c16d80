/* key_file.c - takes all keys of a file or none: a broken or missing file removes no key. */
#include "router/policy/identity/jwt.h"

#include "lib/base/scoped.h"

#include <stdlib.h>
#include <string.h>

struct key_file *key_file_new(const char *path, const char *setting,
                              const struct jwt_key *model)
{
    struct key_file *file = calloc(1, sizeof *file);

    if (!file)
        return NULL;
    file->refs = 1;
    file->path = strdup(path);
    file->setting = strdup(setting);
    file->is_set = !model;
    if (model)
        file->model = *model;
    file->model.kid = strdup(model && model->kid ? model->kid : "");
    if (!file->path || !file->setting || !file->model.kid) {
        key_file_unref(file);
        return NULL;
    }
    return file;
}

struct key_file *key_file_ref(struct key_file *file)
{
    file->refs++;
    return file;
}

void key_file_unref(struct key_file *file)
{
    if (!file || --file->refs > 0)
        return;
    jwt_keys_fini(&file->keys);
    free(file->path);
    free(file->setting);
    free(file->model.kid);
    free(file);
}

bool key_file_has_changed(const struct key_file *file)
{
    struct mx_file_stamp now = mx_file_stamp_take(file->path);

    return memcmp(&now, &file->tried, sizeof now) != 0;
}

void key_file_read(const struct key_file *file, struct key_reading *reading)
{
    mx_scoped_text text = {0};
    const char *why;

    /* Later changes of the file cause another reading. */
    *reading = (struct key_reading){.stamp = mx_file_stamp_take(file->path)};
    why = mx_file_read(file->path, KEY_FILE_BYTES, &text);
    if (text.failed) {
        reading->err = MCPX_ENOMEM;
    } else if (why) {
        mcpx_text_puts(&reading->why, "it cannot be read: ");
        mcpx_text_puts(&reading->why, why);
        reading->err = MCPX_ECONFIG;
    } else {
        reading->err =
            public_keys_read(mcpx_text_view(&text), file->is_set ? NULL : &file->model,
                             &reading->keys, &reading->passed_over, &reading->why);
    }
    if (why || text.failed) /* to be tried again: no content has this stamp */
        reading->stamp = (struct mx_file_stamp){0};
}

bool key_file_take(struct key_file *file, struct key_reading *reading)
{
    bool is_news = !reading->err || !file->is_faulty ||
                   memcmp(&reading->stamp, &file->tried, sizeof file->tried) != 0;

    file->reads++;
    file->tried = reading->stamp;
    file->is_faulty = reading->err != MCPX_OK;
    file->failures += file->is_faulty && is_news;
    if (file->is_faulty)
        return is_news;
    jwt_keys_fini(&file->keys);
    file->keys = reading->keys;
    file->stamp = reading->stamp;
    reading->keys = (struct jwt_keys){0};
    return true;
}

void key_reading_fini(struct key_reading *reading)
{
    jwt_keys_fini(&reading->keys);
    mcpx_text_fini(&reading->why);
}

int64_t key_file_age_ms(const struct key_file *file, int64_t wall_ms)
{
    int64_t age = wall_ms - file->stamp.modified_ns / 1000000;

    return age > 0 ? age : 0;
}

/* ---- the ring ---- */

void jwt_ring_fini(struct jwt_ring *ring)
{
    for (size_t i = 0; i < ring->file_count; i++)
        key_file_unref(ring->files[i]);
    jwt_keys_fini(&ring->secrets);
    free(ring->files);
    free(ring->issuer);
    free(ring->audience);
    *ring = (struct jwt_ring){.files = NULL};
}

size_t jwt_ring_count(const struct jwt_ring *ring)
{
    size_t count = ring->secrets.count;

    for (size_t i = 0; i < ring->file_count; i++)
        count += ring->files[i]->keys.count;
    return count;
}

enum mcpx_err jwt_ring_add(struct jwt_ring *ring, const struct jwt_key *model,
                           struct mcpx_slice secret)
{
    struct jwt_key key = *model;

    key.key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, NULL,
                                           (const unsigned char *)secret.text, secret.len);
    return jwt_keys_add(&ring->secrets, &key);
}

enum mcpx_err jwt_ring_add_file(struct jwt_ring *ring, struct key_file *file)
{
    struct key_file **files =
        realloc(ring->files, (ring->file_count + 1) * sizeof(struct key_file *));

    if (!files)
        return MCPX_ENOMEM;
    ring->files = files;
    ring->files[ring->file_count++] = key_file_ref(file);
    return MCPX_OK;
}
