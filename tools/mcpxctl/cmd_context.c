/*
 * cmd_context.c - contexts: add, list, show, use, remove. "add" checks its values as other
 * verbs will, so that a stored context can be used. A path is stored as absolute path, because
 * it is used from other folders.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "tools/common/context.h"
#include "tools/common/visible.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The input of an action: the words, the file's tree, and the given name or NULL. */
struct work {
    const struct arguments *arguments;
    json_t *tree;
    const char *name;
};

static json_t *all_of(const struct work *work)
{
    return json_object_get(work->tree, "contexts");
}

/* Appends the absolute path. A symbolic link is not resolved: its target may change. */
static void add_full_path(struct mcpx_text *out, const char *path)
{
    char folder[PATH_MAX];

    if (path[0] != '/' && getcwd(folder, sizeof folder))
        mx_format(out, "%s/", folder);
    mcpx_text_puts(out, path);
}

/* Checks that the file is readable. A complaint does not repeat the path: it may be a token. */
static int check_file(enum context_setting setting, const char *path)
{
    struct stat about;

    if (access(path, R_OK) == 0 && stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
        return STATUS_OK;
    return fail_with(
        STATUS_USAGE, "%s needs a file that can be read%s", context_settings[setting].option,
        setting == CONTEXT_TOKEN_FILE ? " and that holds the token; the token itself is "
                                        "never kept in a context"
                                      : "");
}

/* Checks a value as other verbs do. */
static int check_value(enum context_setting setting, const char *value)
{
    mx_scoped_text api = {0};

    switch (setting) {
    case CONTEXT_URL:
        return connection_check_url(value, &api);
    case CONTEXT_TOPIC:
        return connection_check_topic(value);
    case CONTEXT_AS:
        return connection_check_as(value);
    default:
        return check_file(setting, value);
    }
}

static void keep(json_t *context, enum context_setting setting, const char *value)
{
    mx_scoped_text kept = {0};

    must(check_value(setting, value));
    if (setting == CONTEXT_TOKEN_FILE || setting >= CONTEXT_CA_FILE)
        add_full_path(&kept, value);
    else
        mcpx_text_puts(&kept, value);
    if (json_object_set_new(context, context_settings[setting].member,
                            json_stringn(kept.text, kept.len)) != 0)
        end_with(STATUS_USAGE, "%s needs UTF-8", context_settings[setting].option);
}

static int check_words_of_add(const struct work *work)
{
    if (json_object_get(all_of(work), work->name))
        return fail_with(STATUS_USAGE,
                         "there is a context of that name already; remove it first");
    if (!context_name_is_valid(mcpx_slice_of(work->name)))
        return fail_with(STATUS_USAGE, "%s", context_name_rule);
    if (arguments_have(work->arguments, "--context"))
        return fail_with(STATUS_USAGE, "add takes the name as an operand, not with --context");
    if (arguments_have(work->arguments, "--as") &&
        arguments_have(work->arguments, "--token-file"))
        return connection_complain_of_both();
    return STATUS_OK;
}

static int add(const struct work *work)
{
    json_t *context = json_object();

    must(check_words_of_add(work));
    for (int i = 0; i < CONTEXT_SETTING_COUNT; i++) {
        const char *value = arguments_value(work->arguments, context_settings[i].option);

        if (value)
            keep(context, (enum context_setting)i, value);
    }
    if (json_object_size(context) == 0)
        end_with(STATUS_USAGE,
                 "a context needs something to keep: --url, --topic, --token-file, --as, "
                 "--ca-file, --cert-file or --key-file");
    json_object_set_new(all_of(work), work->name, context);
    if (!json_object_get(work->tree, "current"))
        json_object_set_new(work->tree, "current", json_string(work->name));
    return contexts_write(work->tree);
}

static int use(const struct work *work)
{
    must(context_find(work->tree, work->name));
    json_object_set_new(work->tree, "current", json_string(work->name));
    return contexts_write(work->tree);
}

static int forget(const struct work *work)
{
    const char *current = json_string_value(json_object_get(work->tree, "current"));

    must(context_find(work->tree, work->name));
    if (current && strcmp(current, work->name) == 0)
        json_object_del(work->tree, "current");
    json_object_del(all_of(work), work->name);
    return contexts_write(work->tree);
}

/* An object, or "* work --url ws://... --topic ...": the options that could be typed instead. */
static void add_context(struct mcpx_text *out, const struct work *work, const char *name,
                        bool counts)
{
    bool json = arguments_have(work->arguments, "--json");

    if (json)
        mx_format(out, "{\"name\":%q,\"current\":%s", name, counts);
    else
        mx_format(out, "%s %s ", counts ? "*" : " ", name);
    for (int i = 0; i < CONTEXT_SETTING_COUNT; i++) {
        const char *value = context_value(work->tree, name, (enum context_setting)i);

        if (json)
            mx_json_add_optional(out, context_settings[i].member, mcpx_slice_of(value));
        else if (value)
            text_format(out, " %s %s", context_settings[i].option, value);
    }
    mcpx_text_puts(out, json ? "}\n" : "\n");
}

/* Prints the context of that name; all without a name. */
static int print(const struct work *work)
{
    const char *chosen = context_chosen(work->arguments, work->tree), *name;
    struct mcpx_text out = {0};
    json_t *context;

    json_object_foreach(all_of(work), name, context)
        if (!work->name || strcmp(name, work->name) == 0)
            add_context(&out, work, name, chosen && strcmp(name, chosen) == 0);
    return output_print(&out, STATUS_OK);
}

static int show(const struct work *work)
{
    struct work chosen = *work;

    if (!chosen.name)
        chosen.name = context_chosen(work->arguments, work->tree);
    if (!chosen.name)
        return fail_with(STATUS_ABSENT,
                         "no context is in use; \"mcpxctl context use NAME\" chooses one");
    must(context_find(chosen.tree, chosen.name));
    return print(&chosen);
}

/* In the order of the verb's choices. Each takes some names, and perhaps connection options. */
static const struct action {
    const char *word;
    size_t names_min, names_max;
    bool takes_settings;
    int (*run)(const struct work *work);
} actions[] = {
    {"add", 1, 1, true, add},  {"list", 0, 0, false, print},    {"show", 0, 1, false, show},
    {"use", 1, 1, false, use}, {"remove", 1, 1, false, forget},
};

static int check_call(const struct action *action, const struct arguments *arguments)
{
    size_t names = arguments->operand_count - 1;

    if (names < action->names_min || names > action->names_max)
        return fail_with(STATUS_USAGE,
                         action->names_max == 0 ? "%s takes no NAME" : "%s needs one NAME",
                         action->word);
    for (int i = 0; i < CONTEXT_SETTING_COUNT && !action->takes_settings; i++)
        if (arguments_have(arguments, context_settings[i].option))
            return fail_with(STATUS_USAGE, "%s takes no %s; add does", action->word,
                             context_settings[i].option);
    return STATUS_OK;
}

static int cmd_context(const struct arguments *arguments)
{
    struct work work = {.arguments = arguments, .name = arguments->operands[1]};
    const struct action *action = &actions[arguments_action(arguments)];
    int status;

    must(check_call(action, arguments));
    must(contexts_read(&work.tree));
    status = action->run(&work);
    json_decref(work.tree);
    return status;
}

const struct command context_verbs[] = {
    {"context", "add|list|show|use|remove [NAME]", 1, 2, false,
     "keep where to connect, and as whom, under a name",
     "add keeps the connection options that are given under NAME, in "
     "$XDG_CONFIG_HOME/mcpx/contexts.json, or ~/.config/mcpx/contexts.json; the first one is "
     "used at once. use chooses the one that all verbs use from now on, show prints what a "
     "context holds, without NAME the one that counts, and remove forgets one. Of a token "
     "only the path of its file is kept. Exits 4 when there is no context of that name.",
     OPTIONS(JSON_OPTION("print one JSON object for each context")), connect_options,
     cmd_context, "prepare"},
    {.name = NULL},
};
