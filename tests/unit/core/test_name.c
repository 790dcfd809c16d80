/*
 * What breaks for whom: a participant that may call itself `System` signs as the router, and a
 * name with a line break in it forges log lines. Protocol: sections 1 and 2.
 */
#include <mcpx/envelope.h>

#include <criterion/criterion.h>

#define T(literal)                                                                            \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

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
        {T("a\xff"), false, false},
        {T("\xed\xa0\x80"), false, false},
        {T("\xc3"), false, false},
        {T("system"), true, false},
        {T("SyStEm"), true, false},
        {T("system:gateway"), true, false},
        {T("SYSTEM:"), true, false},
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

Test(name, holds_names_to_256_bytes)
{
    char text[MCPX_ID_MAX + 1];

    memset(text, 'x', sizeof text);
    cr_expect(mcpx_topic_name_is_valid((struct mcpx_slice){text, MCPX_ID_MAX}));
    cr_expect(mcpx_participant_id_is_valid((struct mcpx_slice){text, MCPX_ID_MAX}));
    cr_expect_not(mcpx_topic_name_is_valid((struct mcpx_slice){text, MCPX_ID_MAX + 1}));
    cr_expect_not(mcpx_participant_id_is_valid((struct mcpx_slice){text, MCPX_ID_MAX + 1}));
}
