/* mcpx.h - all of the library, in reading order. Declares nothing itself. */
#ifndef MCPX_MCPX_H
#define MCPX_MCPX_H

#include <mcpx/base.h>
#include <mcpx/capability.h>
#include <mcpx/child.h>
#include <mcpx/client.h>
#include <mcpx/contract.h>
#include <mcpx/digest.h>
#include <mcpx/envelope.h>
#include <mcpx/error.h>
#include <mcpx/json.h>
#include <mcpx/kind.h>
#include <mcpx/lines.h>
#include <mcpx/record.h>
#include <mcpx/rpc.h>
#include <mcpx/schema.h>
#include <mcpx/session.h>
#include <mcpx/terms.h>
#include <mcpx/text.h>
#include <mcpx/wrap.h>

#endif
