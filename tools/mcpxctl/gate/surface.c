/*
 * surface.c - the items about what a server offers. handshake and drift: is it what was written
 * down, under the names, versions and schemas that were written down? aliases: does an old name do
 * what the tool does, in success and in failure?
 */
#include "lib/json/json_write.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/gate/compare.h"
#include "tools/mcpxctl/gate/gate.h"

#include <stdio.h>

/* ---- the items handshake and drift ---- */

/* Writes FOLDER/NAME anew, in a layout that can be read and compared line by line. */
static enum gate_verdict write_down(const struct gate *gate, const char *name,
                                    struct mcpx_slice value, struct mcpx_text *detail)
{
    struct mcpx_text path = {0}, text = {0};
    bool written;

    mx_format(&path, "%s/%s", gate->folder, name);
    text_pretty(&text, value, 0);
    mcpx_text_puts(&text, "\n");
    written = gate_write(path.text, mcpx_text_view(&text), detail);
    if (written)
        mx_format(detail, "%s was written anew", &path);
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    return written ? GATE_PASS : GATE_FAIL;
}

/* Every tool has an owner. */
static bool is_owned(struct mcpx_slice handshake, struct mcpx_text *detail)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, mcpx_json_get(handshake, "toolNamespaces"));
    while (mcpx_json_walk_next(&walk)) {
        if (!mcpx_json_equals(mcpx_json_get(walk.value, "ownerTeam"), MCPX_SLICE("unowned")))
            continue;
        text_format(detail, "nobody owns the namespace %v",
                    mcpx_json_get(walk.value, "namespace"));
        return false;
    }
    return true;
}

static enum gate_verdict compare_handshake(struct gate *gate, struct mcpx_slice handshake,
                                           struct mcpx_text *detail)
{
    struct mcpx_text path = {0}, text = {0}, place = {0};
    struct mcpx_slice was;
    enum gate_verdict verdict = GATE_FAIL;

    mx_format(&path, "%s/%s", gate->folder, "capabilities.json");
    if (gate_read(gate, path.text, &text, &was, detail)) {
        switch (gate_difference_find(&place, was, handshake)) {
        case DIFFERENCE_NONE:
            verdict = GATE_PASS;
            break;
        case DIFFERENCE_FOUND:
            mx_format(detail, "differs from %s at %s", &path,
                      place.len > 0 ? mcpx_text_view(&place) : MCPX_SLICE("its root"));
            break;
        case DIFFERENCE_UNKNOWN:
            mx_format(detail, "%s cannot be compared: it is ambiguous", &path);
        }
    }
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    mcpx_text_fini(&place);
    return verdict;
}

enum gate_verdict gate_item_handshake(struct gate *gate, struct mcpx_text *detail)
{
    struct mcpx_slice handshake;
    enum gate_verdict verdict;

    if (!gate_fetch_handshake(gate))
        return GATE_FAIL;
    handshake = mcpx_text_view(&gate->handshake);
    if (handshake.len == 0) {
        mcpx_text_puts(detail, "mcp.capabilities.get is not answered");
        return GATE_FAIL;
    }
    if (!gate_keeps(gate, MCPX_CONTRACT_CAPABILITIES, handshake, detail) ||
        !is_owned(handshake, detail))
        return GATE_FAIL;
    if (arguments_have(gate->arguments, "--update"))
        return write_down(gate, "capabilities.json", handshake, detail);
    verdict = compare_handshake(gate, handshake, detail);
    if (verdict == GATE_PASS)
        mx_format(detail, "namespaces: %s",
                  mcpx_json_length(mcpx_json_get(handshake, "toolNamespaces")));
    return verdict;
}

static enum gate_verdict compare_fingerprints(struct gate *gate, struct mcpx_slice is,
                                              struct mcpx_text *detail)
{
    struct mcpx_text path = {0}, text = {0}, changes = {0};
    struct mcpx_slice was;
    enum gate_verdict verdict = GATE_FAIL;

    mx_format(&path, "%s/%s", gate->folder, "schemas.json");
    if (gate_read(gate, path.text, &text, &was, detail)) {
        if (fingerprints_equal(&changes, was, is)) {
            verdict = GATE_PASS;
            mx_format(detail, "tools: %s", mcpx_json_length(is));
        } else {
            text_format(detail, "%s", &changes);
        }
    }
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    mcpx_text_fini(&changes);
    return verdict;
}

enum gate_verdict gate_item_drift(struct gate *gate, struct mcpx_text *detail)
{
    struct mcpx_text is = {0};
    struct mcpx_slice tool = {NULL, 0};
    enum gate_verdict verdict = GATE_FAIL;

    if (!gate_fetch_tools(gate))
        return GATE_FAIL;
    if (!fingerprints_add(&is, mcpx_text_view(&gate->tools), &tool))
        text_format(detail,
                    "the tool %v has no schema that has a fingerprint, or stands twice",
                    mcpx_json_get(tool, "name"));
    else if (arguments_have(gate->arguments, "--update"))
        verdict = write_down(gate, "schemas.json", mcpx_text_view(&is), detail);
    else
        verdict = compare_fingerprints(gate, mcpx_text_view(&is), detail);
    mcpx_text_fini(&is);
    return verdict;
}

/* ---- the item aliases ---- */

/* A name that no server has. */
#define NO_TOOL "gate.no-such-tool"

/* A row of the file. Texts of the document, raw JSON; names are unescaped too. */
struct row {
    struct mcpx_slice fixture;
    struct mcpx_text alias;
    struct mcpx_text tool;
};

static void row_fini(struct row *row)
{
    mcpx_text_fini(&row->alias);
    mcpx_text_fini(&row->tool);
}

static bool row_read(struct row *row, struct mcpx_slice value, struct mcpx_text *detail)
{
    bool read = mcpx_json_add_unescaped(&row->alias, mcpx_json_get(value, "legacyAlias")) &&
                mcpx_json_add_unescaped(&row->tool, mcpx_json_get(value, "canonicalTool"));

    row->fixture = mcpx_json_get(value, "fixture");
    if (read && mcpx_json_type(row->fixture) == MCPX_JSON_STRING &&
        mcpx_json_equals(mcpx_json_get(value, "parityMode"), MCPX_SLICE("response_shape")))
        return true;
    mcpx_text_puts(detail,
                   "a row has legacyAlias, canonicalTool, the parityMode response_shape "
                   "and a fixture");
    return false;
}

/* True when an item of the array before `row` has the same member. */
static bool stood_before(struct mcpx_slice rows, struct mcpx_slice row, const char *member)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, rows);
    while (mcpx_json_walk_next(&walk) && walk.value.text != row.text)
        if (mcpx_json_same(mcpx_json_get(walk.value, member), mcpx_json_get(row, member)))
            return true;
    return false;
}

/* The handshake lists the alias, as another name of this very tool; or the namespace says so. */
static bool is_promised(const struct gate *gate, const struct row *row)
{
    struct mcpx_slice promises =
        mcpx_json_get(mcpx_text_view(&gate->handshake), "compatibility");
    struct mcpx_text expected = {0};
    struct mcpx_json_walk walk;
    bool found;

    mcpx_json_add_unescaped(&expected, mcpx_json_get(promises, "aliasNamespace"));
    found = expected.len > 0;
    mx_format(&expected, ".%s", &row->tool);
    found = found && mcpx_slice_equal(mcpx_text_view(&expected), mcpx_text_view(&row->alias));
    mcpx_text_fini(&expected);
    mcpx_json_walk_start(&walk, mcpx_json_get(promises, "aliases"));
    while (!found && mcpx_json_walk_next(&walk))
        found = mcpx_json_equals(mcpx_json_get(walk.value, "alias"),
                                 mcpx_text_view(&row->alias)) &&
                mcpx_json_equals(mcpx_json_get(walk.value, "canonical"),
                                 mcpx_text_view(&row->tool));
    return found;
}

/* Calls a tool; a call that is `told` stands in the edge's telemetry. */
static bool call(struct gate *gate, struct mcpx_slice tool, struct mcpx_slice arguments,
                 bool told, struct mcpx_text *response)
{
    struct mcpx_text meta = {0};
    char id[GATE_ID_SIZE];
    bool answered = gate_make_id(gate, id);

    if (answered)
        gate_meta(gate, id, &meta);
    if (answered && told)
        mx_format(&gate->called, "%s\n", id);
    answered = answered && gate_call(gate, tool, arguments, mcpx_text_view(&meta), response);
    mcpx_text_fini(&meta);
    return answered;
}

/* Appends the shape of what was answered, `_meta` left out. */
static bool add_shape(struct mcpx_text *out, const struct mcpx_text *response)
{
    static const struct mcpx_json_change without_meta = {"_meta", {NULL, 0}};
    struct mcpx_slice result = mcpx_json_get(mcpx_text_view(response), "result");
    struct mcpx_text bare = {0};
    bool added;

    mcpx_json_add_changed(&bare, result, &without_meta, 1);
    added = shape_add(out, mcpx_text_view(&bare));
    mcpx_text_fini(&bare);
    return added;
}

/* Both names answer, and in the same shape. */
static bool compare_answers(const struct mcpx_text *by_tool, const struct mcpx_text *by_alias,
                            struct mcpx_text *detail)
{
    const char *first = outcome_of(mcpx_text_view(by_tool));
    const char *second = outcome_of(mcpx_text_view(by_alias));
    struct mcpx_text left = {0}, right = {0};
    bool same = false;

    if (strcmp(first, "ok") != 0 || strcmp(second, "ok") != 0)
        mx_format(detail, "with its fixture the tool answers %s, the alias %s", first, second);
    else if (!add_shape(&left, by_tool) || !add_shape(&right, by_alias))
        mcpx_text_puts(detail, "an answer is too deep or ambiguous");
    else if (!mcpx_slice_equal(mcpx_text_view(&left), mcpx_text_view(&right)))
        mcpx_text_puts(detail, "the alias answers in another shape than the tool");
    else
        same = true;
    mcpx_text_fini(&left);
    mcpx_text_fini(&right);
    return same;
}

/* Both names are refused with the same code. */
static bool compare_refusals(const struct mcpx_text *by_tool, const struct mcpx_text *by_alias,
                             struct mcpx_text *detail)
{
    const char *first = outcome_of(mcpx_text_view(by_tool));
    const char *second = outcome_of(mcpx_text_view(by_alias));

    if (strcmp(first, "ok") != 0 && strcmp(first, second) == 0)
        return true;
    mx_format(detail, "to a call that cannot work the tool answers %s, the alias %s", first,
              second);
    return false;
}

/* Calls a tool and its alias with the same arguments, and compares. */
static bool call_both(struct gate *gate, const struct row *row, struct mcpx_slice arguments,
                      bool works, struct mcpx_text *detail)
{
    struct mcpx_text by_tool = {0}, by_alias = {0};
    bool same = call(gate, mcpx_text_view(&row->tool), arguments, works, &by_tool) &&
                call(gate, mcpx_text_view(&row->alias), arguments, works, &by_alias) &&
                (works ? compare_answers : compare_refusals)(&by_tool, &by_alias, detail);

    mcpx_text_fini(&by_tool);
    mcpx_text_fini(&by_alias);
    return same;
}

static bool try_row(struct gate *gate, struct mcpx_slice rows, struct mcpx_slice value,
                    struct row *row, struct mcpx_text *detail)
{
    struct mcpx_text name = {0}, path = {0}, text = {0};
    struct mcpx_slice arguments;
    bool good = false;

    if (!row_read(row, value, detail))
        return false;
    if (stood_before(rows, value, "legacyAlias") ||
        stood_before(rows, value, "canonicalTool")) {
        mcpx_text_puts(detail, "the alias or its tool stands twice");
    } else if (!is_promised(gate, row)) {
        mx_format(detail, "the handshake knows no such alias of %s", &row->tool);
    } else {
        mcpx_json_add_unescaped(&name, row->fixture);
        if (name.len > 0)
            mx_format(&path, "%s/%s", gate->folder, name.text);
        good = path.len > 0 && gate_read(gate, path.text, &text, &arguments, detail) &&
               call_both(gate, row, arguments, true, detail) &&
               call_both(gate, row, MCPX_SLICE("[]"), false, detail);
    }
    mcpx_text_fini(&name);
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    return good;
}

/* A name that is no tool's is as unknown with the namespace as without. */
static bool try_unknown(struct gate *gate, struct mcpx_text *detail)
{
    struct mcpx_slice promises =
        mcpx_json_get(mcpx_text_view(&gate->handshake), "compatibility");
    struct row row = {.fixture = {NULL, 0}};
    bool good = true;

    mcpx_json_add_unescaped(&row.alias, mcpx_json_get(promises, "aliasNamespace"));
    if (row.alias.len > 0) {
        mcpx_text_puts(&row.alias, "." NO_TOOL);
        mcpx_text_puts(&row.tool, NO_TOOL);
        good = call_both(gate, &row, MCPX_SLICE("{}"), false, detail);
    }
    row_fini(&row);
    return good;
}

static bool try_rows(struct gate *gate, struct mcpx_slice rows, struct mcpx_text *detail)
{
    struct mcpx_json_walk walk;
    bool good = true;

    mcpx_json_walk_start(&walk, rows);
    while (good && mcpx_json_walk_next(&walk)) {
        struct row row = {.fixture = {NULL, 0}};
        struct mcpx_text fault = {0};

        good = try_row(gate, rows, walk.value, &row, &fault);
        if (!good)
            text_format(detail, "%s: %s", &row.alias, &fault);
        row_fini(&row);
        mcpx_text_fini(&fault);
    }
    return good && try_unknown(gate, detail);
}

enum gate_verdict gate_item_aliases(struct gate *gate, struct mcpx_text *detail)
{
    struct mcpx_text path = {0}, text = {0};
    struct mcpx_slice rows = {NULL, 0};
    bool good = false;

    mx_format(&path, "%s/%s", gate->folder, "aliases.json");
    if (gate_fetch_handshake(gate) && gate_read(gate, path.text, &text, &rows, detail)) {
        good = mcpx_json_type(rows) == MCPX_JSON_ARRAY;
        if (!good)
            mx_format(detail, "%s is no list", &path);
    }
    good = good && try_rows(gate, rows, detail);
    if (good)
        mx_format(detail, "aliases: %s", mcpx_json_length(rows));
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    return good ? GATE_PASS : GATE_FAIL;
}
