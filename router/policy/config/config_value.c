/*
 * config_value.c - checks values against a row, and stores them in the row's member. One function
 * copies integers of every width, booleans and enumerations by size, so a row needs no code of its
 * own.
 */
#include "router/policy/config/settings.h"

#include <mcpx/digest.h>
#include <openssl/crypto.h>
#include <stdlib.h>

static bool in_range(const struct setting *row, int64_t number)
{
    return number >= row->min && number <= row->max;
}

/* Returns -1 when it is not one of them. */
static int choice_index(const struct setting *row, const json_t *value)
{
    for (int i = 0; json_is_string(value) && row->choices[i]; i++) {
        if (strcmp(json_string_value(value), row->choices[i]) == 0)
            return i;
    }
    return -1;
}

static bool is_hex(const json_t *value)
{
    const char *text = json_string_value(value);

    return strspn(text, "0123456789abcdefABCDEF") == json_string_length(value);
}

bool setting_fits(const struct setting *row, const json_t *value)
{
    switch (row->type) {
    case SETTING_BOOL:
        return json_is_boolean(value);
    case SETTING_INTEGER:
        return json_is_integer(value) && (in_range(row, json_integer_value(value)) ||
                                          (*row->zero && json_integer_value(value) == 0));
    case SETTING_CHOICE:
        return choice_index(row, value) >= 0;
    case SETTING_STRING:
    case SETTING_SECRET:
    case SETTING_SHA256:
        return json_is_string(value) && in_range(row, (int64_t)json_string_length(value)) &&
               (row->type != SETTING_SHA256 || is_hex(value));
    case SETTING_STRINGS:
    case SETTING_PATTERNS:
    case SETTING_GRANTS:
    case SETTING_LIST:
        return json_is_array(value) && in_range(row, (int64_t)json_array_size(value));
    case SETTING_MAP:
        return json_is_object(value) && in_range(row, (int64_t)json_object_size(value));
    }
    return false;
}

static void forget_text(char **text)
{
    if (*text)
        OPENSSL_cleanse(*text, strlen(*text)); /* it may be a secret */
    free(*text);
    *text = NULL;
}

static enum mcpx_err store_text(char **text, const json_t *value)
{
    char *made = strdup(json_string_value(value));

    if (!made)
        return MCPX_ENOMEM;
    forget_text(text);
    *text = made;
    return MCPX_OK;
}

static void store_number(void *at, size_t size, int64_t number)
{
    bool flag = number != 0;
    int32_t narrow = (int32_t)number;

    if (size == sizeof flag)
        memcpy(at, &flag, sizeof flag);
    else if (size == sizeof narrow)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &number, sizeof number);
}

/* Notes a value for the comparison with another configuration; a secret as its digest. */
static bool note_value(const struct setting *row, const json_t *value,
                       struct settings *settings)
{
    char digest[MCPX_SHA256_LEN + 1];
    json_t *noted = json_incref((json_t *)value);

    if (row->type == SETTING_SECRET) {
        json_decref(noted);
        noted = mcpx_digest_bytes(json_slice(value), digest) ? NULL : json_string(digest);
    }
    return json_object_set_new(settings->config.values, row->pointer, noted) == 0;
}

enum mcpx_err setting_store(const struct setting *row, const json_t *value,
                            enum setting_source source, struct settings *settings)
{
    void *at = (char *)settings + row->offset;
    enum mcpx_err err = MCPX_OK;

    settings->set_by[row - settings_table] = (unsigned char)source;
    if (row->size == 0)
        return MCPX_OK;
    if (!note_value(row, value, settings))
        return MCPX_ENOMEM;
    if (row->type == SETTING_STRINGS)
        err = names_read(at, value) ? MCPX_OK : MCPX_ENOMEM;
    else if (row->type == SETTING_STRING || row->type == SETTING_SECRET)
        err = store_text(at, value);
    else if (row->type == SETTING_BOOL)
        store_number(at, row->size, json_is_true(value));
    else if (row->type == SETTING_CHOICE)
        store_number(at, row->size, choice_index(row, value));
    else
        store_number(at, row->size, json_integer_value(value) * row->scale);
    return err;
}

enum setting_source settings_source(const struct settings *settings, const char *pointer)
{
    return (enum setting_source)settings->set_by[settings_find(pointer) - settings_table];
}

enum mcpx_err settings_init(struct settings *settings)
{
    enum mcpx_err err = MCPX_OK;

    settings->config.values = json_object();
    for (const struct setting *row = settings_table; !err && row->pointer; row++) {
        json_auto_t *value =
            row->fallback ? json_loads(row->fallback, JSON_DECODE_ANY, NULL) : NULL;

        if (row->fallback)
            err = value ? setting_store(row, value, FROM_DEFAULT, settings) : MCPX_ENOMEM;
    }
    return err;
}

void settings_fini(struct settings *settings)
{
    names_fini(&settings->listen);
    names_fini(&settings->proxies);
    forget_text(&settings->issuer);
    forget_text(&settings->audience);
    forget_text(&settings->secret);
    forget_text(&settings->secret_file);
    forget_text(&settings->jwks_file);
}
