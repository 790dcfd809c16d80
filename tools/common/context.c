/*
 * context.c - the file of contexts: read, checked, replaced as a whole. It never has a token, only
 * the path of the token's file, because people show each other their file of contexts.
 *
 * jansson reports the place of a syntax error, but not the place of a member. So members are
 * checked in the text itself.
 */
#include "tools/common/context.h"

#include "lib/base/digits.h"
#include "lib/base/match.h"
#include "lib/edge/file.h"
#include "lib/json/decisive.h"
#include "lib/json/json_write.h"
#include "lib/wire/pem.h"
#include "tools/common/command.h"
#include "tools/common/input.h"

#include <mcpx/json.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { NAME_MAX_BYTES = 64, FILE_MAX = 1 << 20 };

const struct context_setting_row context_settings[CONTEXT_SETTING_COUNT] = {
    [CONTEXT_URL] = {"--url", "url", "MCPX_URL"},
    [CONTEXT_TOPIC] = {"--topic", "topic", "MCPX_TOPIC"},
    [CONTEXT_TOKEN_FILE] = {"--token-file", "token_file", NULL},
    [CONTEXT_AS] = {"--as", "as", NULL},
    [CONTEXT_CA_FILE] = {"--ca-file", "ca_file", NULL},
    [CONTEXT_CERT_FILE] = {"--cert-file", "cert_file", NULL},
    [CONTEXT_KEY_FILE] = {"--key-file", "key_file", NULL},
};

const char context_name_rule[] =
    "a context's name is 1 to 64 letters, digits, \"-\", \"_\" and \".\", and begins with no "
    "\"-\"";

bool context_name_is_valid(struct mcpx_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!mx_is_letter(name.text[i]) && !mx_is_digit(name.text[i]) &&
            !strchr("-_.", name.text[i]))
            return false;
    return name.len > 0 && name.len <= NAME_MAX_BYTES && name.text[0] != '-';
}

/* Appends the folder, then the file. False when neither variable has an absolute path. */
static bool find_file(struct mcpx_text *folder, struct mcpx_text *path)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (config && config[0] == '/')
        mx_format(folder, "%s/mcpx", config);
    else if (home && home[0] == '/')
        mx_format(folder, "%s/.config/mcpx", home);
    else
        return false;
    mx_format(path, "%s/contexts.json", folder);
    return true;
}

static bool is_setting(struct mcpx_slice member)
{
    for (size_t i = 0; i < CONTEXT_SETTING_COUNT; i++)
        if (mcpx_slice_equal(mcpx_slice_of(context_settings[i].member), member))
            return true;
    return false;
}

/* Returns the first error and its place; NULL when there is none. */
static const char *fault_of(struct mcpx_slice whole, struct mcpx_slice *at)
{
    struct mcpx_slice contexts = mcpx_json_get(whole, "contexts");
    struct mcpx_slice current = mcpx_json_get(whole, "current");
    mx_scoped_text name = {0};

    *at = contexts.text ? contexts : whole;
    if (mcpx_json_type(whole) != MCPX_JSON_OBJECT)
        return "expected an object";
    if (mcpx_json_type(contexts) != MCPX_JSON_OBJECT)
        return "expected \"contexts\", an object of contexts by name";
    MCPX_JSON_EACH(context, contexts) {
        *at = context.value;
        if (!context_name_is_valid(context.name))
            return context_name_rule;
        if (mcpx_json_type(context.value) != MCPX_JSON_OBJECT)
            return "a context is an object";
        MCPX_JSON_EACH(member, context.value) {
            *at = member.value;
            if (!is_setting(member.name))
                return "a context has \"url\", \"topic\", \"token_file\", \"as\", "
                       "\"ca_file\", \"cert_file\" and \"key_file\", and nothing else; "
                       "a token stays in its own file";
            if (mcpx_json_type(member.value) != MCPX_JSON_STRING || member.value.len <= 2)
                return "expected a string that is not empty";
        }
    }
    *at = current;
    if (current.text && !(mcpx_json_add_unescaped(&name, current) && name.text &&
                          mcpx_json_get(contexts, name.text).text))
        return "\"current\" is the name of one of \"contexts\"";
    return NULL;
}

static int parse(const char *path, const struct mcpx_text *text, json_t **tree)
{
    struct mcpx_slice whole = {text->text, 0}, at;
    json_error_t error;
    const char *fault;

    *tree = json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES, &error);
    if (!*tree) {
        struct mcpx_slice reason = mx_json_reason(error.text);

        return fail_with(STATUS_USAGE, "%s, line %d, column %d: %.*s", path, error.line,
                         error.column, (int)reason.len, reason.text);
    }
    mcpx_json_check(mcpx_text_view(text), 0, &whole, NULL);
    fault = fault_of(whole, &at);
    if (!fault)
        return STATUS_OK;
    json_decref(*tree);
    *tree = NULL;
    return fail_at(STATUS_USAGE, path, 1,
                   (struct mcpx_slice){text->text, (size_t)(at.text - text->text)}, fault);
}

/* A missing file, or one that this user may not read, counts as empty. */
int contexts_read(json_t **tree)
{
    mx_scoped_text folder = {0}, path = {0}, text = {0};
    const char *why = NULL;
    int status = STATUS_OK;

    *tree = NULL;
    if (find_file(&folder, &path))
        why = mx_file_read(path.text, FILE_MAX, &text);
    if (why && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        return fail_with(STATUS_USAGE, "%s: %s", path.text, why);
    if (text.len > 0)
        status = parse(path.text, &text, tree);
    if (status == STATUS_OK && !*tree)
        *tree = json_pack("{s:{}}", "contexts");
    return status;
}

/* Makes a folder and the folders above it. Only the user may read them. */
static bool make_folder(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
}

int contexts_write(const json_t *tree)
{
    mx_scoped_text folder = {0}, path = {0}, whole = {0};
    char *text = json_dumps(tree, JSON_INDENT(2));
    int status = STATUS_FAILED;

    mx_format(&whole, "%s\n", text);
    if (!find_file(&folder, &path))
        complain("nowhere to keep contexts: neither XDG_CONFIG_HOME nor HOME is set");
    else if (!make_folder(folder.text))
        complain("%s cannot be written: %s", path.text, strerror(errno));
    else
        status = input_replace(path.text, mcpx_text_view(&whole), S_IRUSR | S_IWUSR);
    free(text);
    return status;
}

const char *context_chosen(const struct arguments *arguments, const json_t *tree)
{
    const char *chosen = arguments_value(arguments, "--context");

    if (!chosen)
        chosen = getenv("MCPX_CONTEXT");
    return chosen && chosen[0] ? chosen : json_string_value(json_object_get(tree, "current"));
}

int context_find(const json_t *tree, const char *name)
{
    json_t *contexts = json_object_get(tree, "contexts"), *context;
    struct nearest nearest;
    const char *known;

    if (json_object_get(contexts, name))
        return STATUS_OK;
    nearest_begin(&nearest, name, strlen(name));
    json_object_foreach(contexts, known, context)
        nearest_consider(&nearest, known);
    return fail_with(
        STATUS_ABSENT,
        "there is no such context%s; \"mcpxctl context list\" shows those there are",
        nearest.hint);
}

const char *context_value(const json_t *tree, const char *name, enum context_setting setting)
{
    json_t *context = name ? json_object_get(json_object_get(tree, "contexts"), name) : NULL;

    return json_string_value(json_object_get(context, context_settings[setting].member));
}

/*
 * Tokens and keys, kept from others.
 *
 * unsetenv(3) is not enough: it only changes a list of pointers, and the kernel still shows the
 * memory that the process was given at its start. So the bytes themselves are overwritten. A
 * program keeps copies of a token in its memory, which the same user could read too. So the process
 * is made not dumpable: then its memory cannot be read. Rejected: the program executes itself again
 * and gets the token through a pipe. The first program would show the token for the same time.
 *
 * The files of a certificate are checked before the first call of the router, because errors of
 * libcurl name neither the file nor the reason.
 */

extern char **environ;

void secret_wipe(char *text, size_t len)
{
    volatile char *at = text;

    while (len-- > 0)
        *at++ = '\0';
}

char *secret_take(const char *variable)
{
    const char *value = getenv(variable);
    char *taken = value && value[0] ? strdup(value) : NULL;
    size_t len = strlen(variable);

    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, variable, len) == 0 && (*entry)[len] == '=')
            secret_wipe(*entry + len + 1, strlen(*entry + len + 1));
    unsetenv(variable);
    return taken;
}

void secret_drop_others(void)
{
    static char *const secrets[] = {"MCPX_*_TOKEN", "MCPX_SECRET", "MCPX_*_SECRET"};
    size_t count = 0;

    for (size_t i = 0; environ && environ[i]; i++) {
        char *entry = environ[i];
        size_t len = strcspn(entry, "=");

        if (mx_glob_any_matches(secrets, sizeof secrets / sizeof *secrets,
                                (struct mcpx_slice){entry, len}))
            secret_wipe(entry + len, strlen(entry + len));
        else
            environ[count++] = entry;
    }
    if (environ)
        environ[count] = NULL;
}

void secret_hide_process(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

/* ---- a certificate's files ---- */

void certificate_warn_of_readers(const char *file, const struct stat *about)
{
    if (S_ISREG(about->st_mode) && (about->st_mode & (S_IRGRP | S_IROTH)))
        complain("warning: other users can read %s; use chmod 600", file);
}

int certificate_check(const char *api, struct mcpx_client_config *client)
{
    const char *field, *why;
    struct stat about;

    if (client->key_file && !client->cert_file)
        return fail_with(STATUS_USAGE, "--key-file needs --cert-file beside it");
    if (!client->cert_file)
        return STATUS_OK;
    if (strncmp(api, "https:", strlen("https:")) != 0)
        return fail_with(STATUS_USAGE,
                         "--cert-file can be shown under TLS only; --url needs wss://");
    if (!client->key_file)
        client->key_file = client->cert_file;
    why = mx_certificate_fault(client->cert_file, client->key_file, &field);
    if (why)
        return fail_with(STATUS_USAGE, "%s: %s",
                         strcmp(field, "key_file") == 0 ? client->key_file : client->cert_file,
                         why);
    if (stat(client->key_file, &about) == 0)
        certificate_warn_of_readers(client->key_file, &about);
    return STATUS_OK;
}
