/*
 * reader.c - events keep texts, because a struct mcpx_envelope is large. Most events are told
 * right after their message came, and then nothing is read twice. The reader holds a reference
 * to the text, so that no other text can get the same address.
 */
#include "lib/participant/reader.h"

static void forget(struct mx_reader *reader)
{
    mx_block_unref(reader->block);
    reader->block = NULL;
    reader->has_rpc = false;
}

void mx_reader_fini(struct mx_reader *reader)
{
    forget(reader);
    mcpx_envelope_fini(&reader->envelope);
}

enum mcpx_err mx_reader_read(struct mx_reader *reader, struct mx_block *block,
                             struct mcpx_slice span, struct mcpx_fault *fault)
{
    enum mcpx_err err;

    if (reader->block == block && reader->envelope.text.text == span.text)
        return MCPX_OK;
    forget(reader);
    err = mcpx_envelope_parse(span, MX_DEPTH_MAX, &reader->envelope, fault);
    if (!err)
        reader->block = mx_block_ref(block);
    return err;
}

const struct mcpx_rpc *mx_reader_rpc(struct mx_reader *reader)
{
    if (!reader->has_rpc)
        reader->has_rpc = !mcpx_rpc_read(reader->envelope.payload, &reader->rpc, NULL);
    return reader->has_rpc ? &reader->rpc : NULL;
}

enum mcpx_err mx_reader_open(struct mx_reader *reader, struct mx_incoming *in,
                             struct mcpx_fault *fault)
{
    enum mcpx_err err = mx_reader_read(reader, in->block, in->span, fault);

    in->envelope = NULL;
    in->rpc = NULL;
    if (!err && !reader->envelope.from.text) {
        *fault = (struct mcpx_fault){"expected to be told who sent it", "from", 0};
        err = MCPX_EINVALID;
    }
    if (!err)
        in->envelope = &reader->envelope;
    return err;
}

enum mcpx_violation mx_reader_judge(struct mx_reader *reader, struct mx_incoming *in,
                                    struct mcpx_fault *fault)
{
    enum mcpx_violation violation = mx_validate_payload(in->envelope, &reader->rpc, fault);

    reader->has_rpc = !violation;
    in->rpc = reader->has_rpc ? &reader->rpc : NULL;
    return violation;
}
