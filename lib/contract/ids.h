/*
 * ids.h - an id that is made of another one; mcpx/digest.h has those that are made of calls.
 */
#ifndef MX_IDS_H
#define MX_IDS_H

#include <mcpx/digest.h>

/**
 * Writes the id of the run that answers a request, and a NUL: a UUID of version 5 of "run:" and the
 * request's id, in the namespace that mcpx_ids_next uses. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err mx_id_of_run(struct mcpx_slice request_id, char out[MCPX_ID_LEN + 1]);

#endif
