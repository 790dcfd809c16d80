/*
 * proposal.c - reads the text of an envelope as the router delivers it: the digest covers every
 * byte, so equal digests mean that a person sees what is approved.
 */
#include "tools/common/proposal.h"

#include "lib/base/ident.h"
#include "lib/base/scoped.h"
#include "lib/json/digest.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"

#include <mcpx/json.h>

void proposal_digest(struct mcpx_slice envelope, char out[PROPOSAL_DIGEST_LEN + 1])
{
    unsigned char hash[MX_SHA256_BYTES];

    memory_checked(mx_sha256(envelope, hash) ? MCPX_OK : MCPX_ENOMEM);
    mx_hex_format(hash, PROPOSAL_DIGEST_LEN / 2, out);
}

void proposal_add_pin(struct mcpx_text *out, struct mcpx_slice tool)
{
    struct mcpx_slice about = mcpx_json_get(tool, "description");
    bool is_text = mcpx_json_type(about) == MCPX_JSON_STRING;
    mx_scoped_text bytes = mx_formatted("%s\n%s\n%s", mcpx_json_get(tool, "name"),
                                        is_text ? about : (struct mcpx_slice){0},
                                        mcpx_json_get(tool, "inputSchema"));
    char digest[MCPX_SHA256_LEN + 1];

    memory_checked(mcpx_digest_bytes(mcpx_text_view(&bytes), digest));
    mx_format(out, "\"sha256:%s\"", digest);
}

const char *proposal_answer_prompt(struct mcpx_text *out, struct mcpx_slice asker,
                                   struct mcpx_slice params, const struct mcpx_event *approval)
{
    const struct mcpx_rpc *rpc = approval->rpc;
    const char *why = NULL;

    if (mcpx_slice_equal(mcpx_identity_of(approval->envelope->from), mcpx_identity_of(asker)))
        why = "the asker cannot approve its own permission prompt";
    else if (!mcpx_slice_equal(rpc->method, MCPX_SLICE("permission/ask")) ||
             !mcpx_json_same(rpc->params, params))
        why = "the approved params are not those of the permission prompt";
    mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,", rpc->id);
    if (why) /* the code is that of what a policy does not permit */
        mx_format(out, "\"error\":{\"code\":-31002,\"message\":%q}}", why);
    else
        mcpx_text_puts(out, "\"result\":{\"behavior\":\"allow\"}}");
    return why;
}

int64_t proposal_expires_ms(struct mcpx_slice envelope)
{
    struct mcpx_slice raw = mcpx_json_get(envelope, "expires");
    mx_scoped_text text = {0};
    int64_t at_ms;

    if (!raw.text)
        return INT64_MAX;
    return mcpx_json_add_unescaped(&text, raw) &&
                   mx_time_parse(mcpx_text_view(&text), &at_ms) && at_ms > 0
               ? at_ms
               : 0;
}
