/*
 * surface.c - the items handshake and drift: does the server offer what was written down, under the
 * names, versions and schemas that were written down?
 */
#include "lib/core/format.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/gate/difference.h"
#include "tools/mcpxctl/gate/fingerprints.h"
#include "tools/mcpxctl/gate/gate.h"

/* Writes FOLDER/NAME anew, in a layout that can be read and compared line by line. */
static enum gate_verdict write_down(const struct gate *gate, const char *name,
                                    struct mcpx_slice value, struct mcpx_text *detail)
{
    struct mcpx_text path = {0}, text = {0};
    bool written;

    gate_path(&path, gate->folder, name);
    text_pretty(&text, value, 0);
    mcpx_text_puts(&text, "\n");
    detail->failed |= path.failed || text.failed;
    written = !detail->failed && gate_write(path.text, mcpx_text_view(&text), detail);
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

    gate_path(&path, gate->folder, "capabilities.json");
    if (!path.failed && gate_read(gate, path.text, &text, &was, detail)) {
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
    detail->failed |= path.failed || place.failed;
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

    gate_path(&path, gate->folder, "schemas.json");
    if (!path.failed && gate_read(gate, path.text, &text, &was, detail)) {
        if (fingerprints_equal(&changes, was, is)) {
            verdict = GATE_PASS;
            mx_format(detail, "tools: %s", mcpx_json_length(is));
        } else {
            text_format(detail, "%s", &changes);
        }
    }
    detail->failed |= path.failed || changes.failed;
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
    enum mcpx_err err;

    if (!gate_fetch_tools(gate))
        return GATE_FAIL;
    err = fingerprints_add(&is, mcpx_text_view(&gate->tools), &tool);
    if (err == MCPX_EINVALID)
        text_format(detail,
                    "the tool %v has no schema that has a fingerprint, or stands twice",
                    mcpx_json_get(tool, "name"));
    else if (err)
        detail->failed = true;
    else if (arguments_have(gate->arguments, "--update"))
        verdict = write_down(gate, "schemas.json", mcpx_text_view(&is), detail);
    else
        verdict = compare_fingerprints(gate, mcpx_text_view(&is), detail);
    mcpx_text_fini(&is);
    return verdict;
}
