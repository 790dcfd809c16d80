/*
 * What breaks for whom: a call that cannot work reaches a server, or a person who has to approve
 * it; a broken result reaches a model; whoever reads the log sees another call than there was. The
 * scenes are in transcripts/, each with the requirement that it is for.
 */
#include "tests/unit/contract/edge.h"

#include <criterion/criterion.h>

Test(calls, are_judged_by_the_schemas_of_their_tools)
{
    edge_play("schemas");
}

Test(calls, have_a_context)
{
    edge_play("context");
}

Test(calls, come_by_other_names)
{
    edge_play("aliases");
}

Test(calls, end_once_whatever_their_end)
{
    edge_play("ends");
}

Test(calls, are_answered_in_envelopes)
{
    edge_play("envelopes");
}

Test(calls, come_as_invocations)
{
    edge_play("invocations");
}
