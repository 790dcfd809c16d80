/*
 * What breaks for whom: a participant that may call itself `System` signs as the router, and a
 * name with a line break in it forges log lines. Protocol: sections 1 and 2.
 */
#include <mcpx/envelope.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>

#define T(literal)                                                                            \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }

Test(name, knows_good_names_from_bad)
{
    static const struct {
        struct mcpx_slice text;
        bool topic, participant;
    } rows[] = {
        {T("a"), true, true},
        {T("agent-1"), true, true},
        {T("a b/c:d*\"\\"), true, true},
        {T("J\xc3\xb6rg \xf0\x9f\x98\x80"), true, true},
        {T(""), false, false},
        {{NULL, 0}, false, false},
        {T("a\nb"), false, false},
        {T("a\0b"), false, false},
        {T("\x1f"), false, false},
        {T("\x7f"), false, false},
        /* C1, direction, line breaks, what nobody sees */
        {T("a\xc2\x80"), false, false},
        {T("\xc2\x9b"
           "31m"),
         false, false},
        {T("a\xc2\x9f"), false, false},
        {T("\xd8\x9c"), false, false},
        {T("a\xe2\x80\x8b"), false, false},
        {T("\xe2\x80\x8e"), false, false},
        {T("\xe2\x80\x8f"), false, false},
        {T("\xe2\x80\xa8"), false, false},
        {T("x\xe2\x80\xae"), false, false},
        {T("\xe2\x81\xa0"), false, false},
        {T("\xe2\x81\xa9"), false, false},
        {T("\xe2\x81\xaf"), false, false},
        {T("\xef\xbb\xbf"
           "a"),
         false, false},
        /* their neighbours, and what scripts and emoji are joined with */
        {T("\xc2\xa0"), true, true},
        {T("\xd8\x9b\xd8\x9d"), true, true},
        {T("\xe2\x80\x8a\xe2\x80\x8c\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa7"), true, true},
        {T("\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0"), true, true},
        {T("\xef\xbb\xbe\xef\xbc\x80"), true, true},
        {T("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\xef\xb8\x8f"), true, true},
        {T("a\xff"), false, false},
        {T("\xed\xa0\x80"), false, false},
        {T("\xc3"), false, false},
        {T("system"), true, false},
        {T("SyStEm"), true, false},
        {T("system:gateway"), true, false},
        {T("SYSTEM:"), true, false},
        {T("\xc5\xbfy\xc5\xbftem:gateway"), true, false},
        {T("Sy\xc5\xbf"
           "tem"),
         true, false},
        {T("sy\xc5\xbe"
           "tem"),
         true, true},
        {T("syst"), true, true},
        {T("systems"), true, true},
        {T("system-x"), true, true},
        {T("system/x"), true, true},
        {T("syste"), true, true},
        {T("sYstex"), true, true},
        {T("xsystem:a"), true, true},
        {T("presence"), true, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(mcpx_topic_name_is_valid(rows[i].text), rows[i].topic, "topic %s",
                     rows[i].text.text);
        cr_expect_eq(mcpx_participant_id_is_valid(rows[i].text), rows[i].participant,
                     "participant %s", rows[i].text.text);
    }
}

Test(name, tells_instances_from_the_participant_they_are_of)
{
    static const struct {
        struct mcpx_slice id, identity;
        bool is_identity;
    } rows[] = {
        {T("desk"), T("desk"), true},
        {T("desk~2"), T("desk"), false},
        {T("desk~64"), T("desk"), false},
        {T("desk~007"), T("desk"), false},
        {T("desk~"), T("desk~"), true},
        {T("desk2"), T("desk2"), true},
        {T("desk~2x"), T("desk~2x"), true},
        {T("a~1~2"), T("a~1"), false},
        {T("a~b"), T("a~b"), true},
        {T("a~~3"), T("a~"), false},
        {T("~5"), T(""), false},
        {T("5"), T("5"), true},
        {T("system~2"), T("system"), false},
        {T("system:a"), T("system:a"), false},
        {T("a\n~2"), T("a\n"), false},
        {T(""), T(""), false},
        {T("a~\xd9\xa2"), T("a~\xd9\xa2"), true}, /* an Arabic digit is none of ours */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect(mcpx_slice_equal(mcpx_identity_of(rows[i].id), rows[i].identity), "%s",
                  rows[i].id.text);
        cr_expect_eq(mcpx_identity_is_valid(rows[i].id), rows[i].is_identity, "%s",
                     rows[i].id.text);
    }
}

Test(name, holds_names_to_256_bytes)
{
    char text[MCPX_ID_MAX + 1];

    memset(text, 'x', sizeof text);
    cr_expect(mcpx_topic_name_is_valid((struct mcpx_slice){text, MCPX_ID_MAX}));
    cr_expect(mcpx_participant_id_is_valid((struct mcpx_slice){text, MCPX_ID_MAX}));
    cr_expect_not(mcpx_topic_name_is_valid((struct mcpx_slice){text, MCPX_ID_MAX + 1}));
    cr_expect_not(mcpx_participant_id_is_valid((struct mcpx_slice){text, MCPX_ID_MAX + 1}));
}
