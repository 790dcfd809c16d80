/*
 * config_value.c - checks values against a row, and stores them in the member that the row
 * names. One function copies integers of every width, booleans and enumerations by size, so a
 * row needs no code of its own.
 */
#include "router/policy/config/settings.h"

#include <mcpx/digest.h>
#include <openssl/crypto.h>
#include <stdlib.h>

static bool in_range(const struct setting *row, int64_t number)
{
    return number >= row->min && number <= row->max;
}

/* -1 when it is none of them. */
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

enum mcpx_err setting_store(const struct setting *row, const json_t *value,
                            enum setting_source source, struct settings *settings)
{
    void *at = (char *)settings + row->offset;
    enum mcpx_err err = MCPX_OK;

    settings->set_by[row - settings_table] = (unsigned char)source;
    if (row->size == 0)
        return MCPX_OK;
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

static int64_t read_number(const void *at, size_t size)
{
    bool flag;
    int32_t narrow;
    int64_t number;

    if (size == sizeof flag)
        return memcpy(&flag, at, size), flag;
    if (size == sizeof narrow)
        return memcpy(&narrow, at, size), narrow;
    return memcpy(&number, at, size), number;
}

static json_t *names_value(const struct names *names)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < names->count; i++) {
        if (json_array_append_new(array, json_string(names->text[i])) == 0)
            continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *digest_value(const char *text)
{
    char digest[MCPX_SHA256_LEN + 1];

    return mcpx_digest_bytes(mcpx_slice_of(text), digest) ? NULL : json_string(digest);
}

json_t *setting_value(const struct setting *row, const struct settings *settings)
{
    const void *at = (const char *)settings + row->offset;

    switch (row->type) {
    case SETTING_BOOL:
        return json_boolean(read_number(at, row->size));
    case SETTING_CHOICE:
        return json_string(row->choices[read_number(at, row->size)]);
    case SETTING_STRINGS:
        return names_value(at);
    case SETTING_STRING:
        return json_string(*(char *const *)at);
    case SETTING_SECRET:
        return digest_value(*(char *const *)at);
    default:
        return json_integer(read_number(at, row->size) / row->scale);
    }
}

enum setting_source settings_source(const struct settings *settings, const char *pointer)
{
    return (enum setting_source)settings->set_by[settings_find(pointer) - settings_table];
}

enum mcpx_err settings_init(struct settings *settings)
{
    enum mcpx_err err = MCPX_OK;

    for (const struct setting *row = settings_table; !err && row->pointer; row++) {
        json_t *value;

        if (!row->fallback)
            continue;
        value = json_loads(row->fallback, JSON_DECODE_ANY, NULL);
        err = value ? setting_store(row, value, FROM_DEFAULT, settings) : MCPX_ENOMEM;
        json_decref(value);
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
