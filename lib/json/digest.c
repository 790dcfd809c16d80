/*
 * digest.c - the canonical form of values, and digests of it by libcrypto. The text is indexed, not
 * built into values, and a part that is canonical already is copied. Only the members of an object
 * need memory, for a list to sort. The form is written out whole and then digested: most of its
 * pieces are a comma or a name, too small to digest one by one.
 */
#include "lib/json/digest.h"

#include "lib/base/fault.h"
#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/json/escape.h"
#include "lib/json/number.h"
#include "lib/json/tree.h"

#include <mcpx/digest.h>

#include <openssl/evp.h>
#include <stdlib.h>

/* A byte of a string, as it stands between quotes. */
static void write_byte(struct mcpx_text *out, char byte)
{
    static const char meanings[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found;

    if (byte != '"' && byte != '\\' && (unsigned char)byte >= ' ') {
        mcpx_text_add(out, &byte, 1);
        return;
    }
    found = byte ? strchr(meanings, byte) : NULL;
    if (found)
        mcpx_text_add(out, (const char[]){'\\', letters[found - meanings]}, 2);
    else
        mx_hex_add(out, "\\u", (unsigned char)byte, 4);
}

void mx_canonical_string(struct mcpx_text *out, struct mcpx_slice text)
{
    mcpx_text_add(out, "\"", 1);
    for (size_t i = 0; i < text.len; i++)
        write_byte(out, text.text[i]);
    mcpx_text_add(out, "\"", 1);
}

static void write_string(struct mcpx_text *out, const struct mx_tree *tree, uint32_t node)
{
    struct mx_inside walk;
    int byte;

    if (!tree->nodes[node].escaped) {
        mcpx_text_slice(out, mx_tree_bytes(tree, node));
        return;
    }
    walk = mx_inside_start(mx_tree_inside(tree, node));
    mcpx_text_add(out, "\"", 1);
    while ((byte = mx_inside_next(&walk)) >= 0)
        write_byte(out, (char)byte);
    mcpx_text_add(out, "\"", 1);
}

static void write_value(struct mcpx_text *out, const struct mx_tree *tree, uint32_t node);

static void write_array(struct mcpx_text *out, const struct mx_tree *tree, uint32_t node)
{
    mcpx_text_add(out, "[", 1);
    MX_EACH_ITEM(at, tree, node) {
        if (at > node + 1)
            mcpx_text_add(out, ",", 1);
        write_value(out, tree, at);
    }
    mcpx_text_add(out, "]", 1);
}

static void write_object(struct mcpx_text *out, const struct mx_tree *tree, uint32_t node)
{
    struct mx_named *members = mx_tree_sorted(tree, node);

    out->failed = out->failed || !members;
    mcpx_text_add(out, "{", 1);
    for (size_t i = 0; members && i < tree->nodes[node].count; i++) {
        if (i > 0)
            mcpx_text_add(out, ",", 1);
        write_string(out, tree, members[i].node);
        mcpx_text_add(out, ":", 1);
        write_value(out, tree, members[i].node + 1);
    }
    mcpx_text_add(out, "}", 1);
    free(members);
}

/* Calls itself for the contents of containers; mx_tree_read limits the depth. */
static void write_value(struct mcpx_text *out, const struct mx_tree *tree, uint32_t node)
{
    struct mx_number number;

    switch (mx_tree_type(tree, node)) {
    case MCPX_JSON_OBJECT:
        write_object(out, tree, node);
        break;
    case MCPX_JSON_ARRAY:
        write_array(out, tree, node);
        break;
    case MCPX_JSON_STRING:
        write_string(out, tree, node);
        break;
    case MCPX_JSON_NUMBER:
        if (mx_number_read(mx_tree_bytes(tree, node), &number))
            mx_number_write(out, &number);
        break;
    default:
        mcpx_text_slice(out, mx_tree_bytes(tree, node));
        break;
    }
}

enum mcpx_err mx_canonical_read(struct mx_tree *tree, struct mcpx_slice json,
                                struct mcpx_fault *fault)
{
    const char *reason = "an exponent has more than nine digits";
    enum mcpx_err err = mx_tree_read(tree, json, fault);
    uint32_t node = 0;

    if (err || !tree->ambiguous)
        return err;
    while (node + 1 < tree->count && !tree->nodes[node].ambiguous)
        node++;
    if (mx_tree_type(tree, node) == MCPX_JSON_STRING)
        reason = mx_inside_has_half(mx_tree_inside(tree, node))
                     ? "a string holds half a surrogate pair"
                     : "a name stands twice in its object";
    return mx_fault_set(fault, reason, "", tree->nodes[node].begin);
}

enum mcpx_err mcpx_canonical_add(struct mcpx_text *out, struct mcpx_slice json,
                                 struct mcpx_fault *fault)
{
    MX_SCOPED(mx_tree_fini) struct mx_tree tree = {0};
    size_t len = out->len;
    enum mcpx_err err = mx_canonical_read(&tree, json, fault);

    if (!err && mcpx_text_reserve(out, json.len))
        write_value(out, &tree, 0);
    if (!err && out->failed)
        err = MCPX_ENOMEM;
    if (err)
        mx_take_back(out, len);
    return err;
}

bool mx_sha256(struct mcpx_slice bytes, unsigned char out[MX_SHA256_BYTES])
{
    return EVP_Digest(bytes.text, bytes.len, out, NULL, EVP_sha256(), NULL) == 1;
}

bool mx_sha1(struct mcpx_slice bytes, unsigned char out[MX_SHA1_BYTES])
{
    return EVP_Digest(bytes.text, bytes.len, out, NULL, EVP_sha1(), NULL) == 1;
}

bool mx_websocket_accept(struct mcpx_slice key, char out[MX_ACCEPT_LEN + 1])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char salted[MX_KEY_LEN + sizeof guid - 1];
    unsigned char sum[MX_SHA1_BYTES];

    memcpy(salted, key.text, MX_KEY_LEN);
    memcpy(salted + MX_KEY_LEN, guid, sizeof guid - 1);
    if (!mx_sha1((struct mcpx_slice){salted, sizeof salted}, sum))
        return false;
    EVP_EncodeBlock((unsigned char *)out, sum, sizeof sum);
    return true;
}

enum mcpx_err mcpx_digest_bytes(struct mcpx_slice bytes, char out[MCPX_SHA256_LEN + 1])
{
    unsigned char sum[MX_SHA256_BYTES];

    if (!mx_sha256(bytes, sum))
        return MCPX_ENOMEM;
    mx_hex_format(sum, sizeof sum, out);
    return MCPX_OK;
}

enum mcpx_err mcpx_digest_json(struct mcpx_slice json, char out[MCPX_SHA256_LEN + 1],
                               struct mcpx_fault *fault)
{
    mx_scoped_text form = {0};
    enum mcpx_err err = mcpx_canonical_add(&form, json, fault);

    return err ? err : mcpx_digest_bytes(mcpx_text_view(&form), out);
}
