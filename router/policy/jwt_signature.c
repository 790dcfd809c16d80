/*
 * jwt_signature.c - has copies of all that it needs: while it is verified the keys of the
 * configuration may become others, and the connection that asks may end. What it says is which key
 * has signed, not that the token is good: that is judged with the keys that are in force by then.
 */
#include "router/policy/jwt_signature.h"

static void add(struct jwt_signature *signature, const struct jwt_key *key)
{
    struct jwt_key *row = &signature->keys[signature->count];

    if (EVP_PKEY_up_ref(key->key) != 1)
        return;
    *row = *key;
    row->kid = NULL;
    signature->count++;
}

bool jwt_signature_is_by(struct jwt_signature *signature, const struct jwt_key *key,
                         struct mcpx_slice covered, struct mcpx_slice bytes)
{
    if (signature->state == JWT_SIGNATURE_UNKNOWN)
        add(signature, key);
    return signature->state == JWT_SIGNATURE_KNOWN &&
           memcmp(key->digest, signature->signer, sizeof key->digest) == 0 &&
           mcpx_slice_equal(mcpx_text_view(&signature->covered), covered) &&
           mcpx_slice_equal(mcpx_text_view(&signature->bytes), bytes);
}

enum mcpx_err jwt_signature_want(struct jwt_signature *signature, struct mcpx_slice covered,
                                 struct mcpx_slice bytes)
{
    mcpx_text_slice(&signature->covered, covered);
    mcpx_text_slice(&signature->bytes, bytes);
    signature->state = JWT_SIGNATURE_WANTED;
    if (!signature->covered.failed && !signature->bytes.failed)
        return MCPX_EOPENING;
    jwt_signature_fini(signature);
    return MCPX_ENOMEM;
}

void jwt_signature_verify(struct jwt_signature *signature)
{
    struct mcpx_slice covered = mcpx_text_view(&signature->covered);
    struct mcpx_slice bytes = mcpx_text_view(&signature->bytes);

    for (size_t i = 0; i < signature->count; i++) {
        const struct jwt_key *key = &signature->keys[i];

        if (!jwt_alg_verify(key->alg, key->key, covered, bytes))
            continue;
        memcpy(signature->signer, key->digest, sizeof signature->signer);
        break;
    }
    signature->state = JWT_SIGNATURE_KNOWN;
}

void jwt_signature_fini(struct jwt_signature *signature)
{
    for (size_t i = 0; i < signature->count; i++)
        EVP_PKEY_free(signature->keys[i].key);
    mcpx_text_fini(&signature->covered);
    mcpx_text_fini(&signature->bytes);
    *signature = (struct jwt_signature){.count = 0};
}
