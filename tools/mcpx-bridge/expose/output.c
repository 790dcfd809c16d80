/*
 * output.c - a list of actions. Texts are moved in, not copied: an answer may have megabytes. Nothing
 * bounds the list but that it is emptied after every input; what one input makes is bounded by the
 * calls, questions and lists that are kept. A second list for notes was refused: the log would tell
 * of a message before the client has it, or long after.
 */
#include "tools/mcpx-bridge/expose/output.h"

#include <stdlib.h>

static void fini_texts(struct expose_row *row)
{
    mcpx_text_fini(&row->about);
    mcpx_text_fini(&row->text);
    mcpx_text_fini(&row->to);
}

void expose_row_free(struct expose_row *row)
{
    if (row)
        fini_texts(row);
    free(row);
}

void expose_output_fini(struct expose_output *output)
{
    while (output->first)
        expose_row_free(expose_output_take(output));
}

bool expose_output_add(struct expose_output *output, struct expose_row row)
{
    bool failed = row.about.failed || row.text.failed || row.to.failed ||
                  (!row.about.len && !row.text.len);
    struct expose_row *added = failed ? NULL : malloc(sizeof *added);
    struct mcpx_draft *draft;

    if (!added) {
        fini_texts(&row);
        output->lost++;
        return false;
    }
    *added = row;
    added->next = NULL;
    added->addressee = mcpx_text_view(&added->to);
    added->action.about = mcpx_text_view(&added->about);
    added->action.text = mcpx_text_view(&added->text);
    draft = &added->action.draft;
    draft->to = &added->addressee;
    draft->to_count = 1;
    draft->correlation_id = added->action.about;
    draft->payload = added->action.text;
    *(output->first ? &output->last->next : &output->first) = added;
    output->last = added;
    return true;
}

const struct expose_action *expose_output_next(struct expose_output *output)
{
    output->note = (struct expose_action){
        .type = EXPOSE_NOTE, .text = MCPX_SLICE("out of memory: a message was lost")};
    if (output->first)
        return &output->first->action;
    return output->lost ? &output->note : NULL;
}

struct expose_row *expose_output_take(struct expose_output *output)
{
    struct expose_row *row = output->first;

    if (row)
        output->first = row->next;
    else
        output->lost--;
    return row;
}
