/*
 * cmd_digest.c - prints the digest of a JSON document.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "tools/common/input.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/digest.h>

static int report(const char *path, const struct mcpx_text *text, enum mcpx_err err,
                  const struct mcpx_fault *fault)
{
    if (err == MCPX_ENOMEM)
        return complain_of_memory("digest");
    complain_at("digest", input_name(path), (struct mcpx_slice){text->text, fault->offset},
                fault->reason);
    return STATUS_FAILED;
}

int cmd_digest(const struct arguments *arguments)
{
    const char *path = arguments->operand_count > 0 ? arguments->operands[0] : NULL;
    struct mcpx_text text = {0}, form = {0}, out = {0};
    struct mcpx_fault fault = {"", "", 0};
    char sum[MCPX_SHA256_LEN + 1];
    enum mcpx_err err;
    int status = input_read("digest", path, &text);

    if (status != STATUS_OK)
        goto done;
    err = mcpx_canonical_add(&form, mcpx_text_view(&text), &fault);
    if (!err)
        err = mcpx_digest_bytes(mcpx_text_view(&form), sum);
    if (err)
        status = report(path, &text, err, &fault);
    else if (arguments_have(arguments, "--json"))
        mx_format(&out, "{\"sha256\":%q,\"bytes\":%s,\"canonical\":%q}\n", sum, form.len,
                  &form);
    else
        mx_format(&out, "%s\n", sum);
    if (status == STATUS_OK)
        status = output_print(&out, "digest", STATUS_OK);
done:
    mcpx_text_fini(&text);
    mcpx_text_fini(&form);
    return status;
}
