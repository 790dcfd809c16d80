/*
 * store_place.c - what is looked for in files is looked for in all of them, whatever they are.
 */
#define _GNU_SOURCE /* nftw, memmem */
#include "tests/support/store_place.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMITS                                                                                \
    "\"limits\":{\"joins_per_minute\":0,\"requests_per_minute\":0,\"messages_per_minute\":0," \
    "\"bytes_per_minute\":0,\"connects_per_s\":0,\"ping_s\":0,\"drain_s\":60}"

static void write_key(const char *path)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    FILE *file = fopen(path, "w");

    cr_assert(key && file && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(file);
    EVP_PKEY_free(key);
}

const char *store_place_path(const struct store_place *place, const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", place->folder, name);
    return path;
}

void store_place_make(struct store_place *place, const char *store, const char *audit,
                      const char *more)
{
    size_t size = sizeof place->config;
    char *config = place->config;
    int len;

    strcpy(place->folder, "/tmp/mcpx-test-store-XXXXXX");
    cr_assert_not_null(mkdtemp(place->folder));
    write_key(store_place_path(place, "key.pem"));
    len = snprintf(config, size, "{" LIMITS "%s", more);
    if (store)
        len += snprintf(config + len, size - (size_t)len,
                        ",\"store\":{\"kind\":\"sqlite\",\"file\":\"%s/router.db\"%s}",
                        place->folder, store);
    if (audit)
        len += snprintf(config + len, size - (size_t)len,
                        ",\"audit\":{\"folder\":\"%s/audit\",\"key_file\":\"%s/key.pem\"%s}",
                        place->folder, place->folder, audit);
    len += snprintf(config + len, size - (size_t)len, "}");
    cr_assert_lt((size_t)len, size);
}

static struct {
    const char *text;
    bool found;
} wanted;

static int look(const char *path, const struct stat *status, int type, struct FTW *where)
{
    FILE *file = type == FTW_F ? fopen(path, "r") : NULL;
    size_t size = (size_t)status->st_size;
    char *content = malloc(size + 1);

    (void)where;
    size = file ? fread(content, 1, size, file) : 0;
    wanted.found |= memmem(content, size, wanted.text, strlen(wanted.text)) != NULL;
    free(content);
    if (file)
        fclose(file);
    return 0;
}

bool store_place_holds(const struct store_place *place, const char *text)
{
    wanted.text = text;
    wanted.found = false;
    nftw(place->folder, look, 8, FTW_PHYS);
    return wanted.found;
}

void store_place_remove(struct store_place *place)
{
    if (*place->folder)
        folder_remove(place->folder);
    *place->folder = '\0';
}
