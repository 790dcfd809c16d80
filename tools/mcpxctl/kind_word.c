/*
 * kind_word.c - the command line may hold any bytes, an envelope only UTF-8. A kind that no
 * envelope can hold is refused here.
 */
#include "tools/mcpxctl/kind_word.h"

#include "lib/core/scan.h"

bool kind_word_read(const char *word, struct mcpx_kind *out, struct mcpx_fault *fault)
{
    struct mcpx_slice text = mcpx_slice_of(word);
    size_t offset = 0;

    if (!mx_utf8_is_valid(text, &offset)) {
        *fault = (struct mcpx_fault){"expected UTF-8", "kind", offset};
        return false;
    }
    return mcpx_kind_parse(text, out, fault) == MCPX_OK;
}
