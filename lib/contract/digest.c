/*
 * digest.c - digests, by libcrypto. The canonical form is written out whole and then digested:
 * feeding it piece by piece would save its memory, but most pieces are a comma or a name.
 */
#include "lib/contract/digest.h"

#include "lib/core/ident.h"

#include <openssl/evp.h>

static bool digest(const EVP_MD *algorithm, struct mcpx_slice bytes, unsigned char *out)
{
    return EVP_Digest(bytes.text, bytes.len, out, NULL, algorithm, NULL) == 1;
}

bool mx_sha256(struct mcpx_slice bytes, unsigned char out[MX_SHA256_BYTES])
{
    return digest(EVP_sha256(), bytes, out);
}

bool mx_sha1(struct mcpx_slice bytes, unsigned char out[MX_SHA1_BYTES])
{
    return digest(EVP_sha1(), bytes, out);
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
    struct mcpx_text form = {0};
    enum mcpx_err err = mcpx_canonical_add(&form, json, fault);

    if (!err)
        err = mcpx_digest_bytes(mcpx_text_view(&form), out);
    mcpx_text_fini(&form);
    return err;
}
