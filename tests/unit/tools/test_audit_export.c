/*
 * What breaks for whom: what participants wrote ends in spreadsheets and in the tools of a security
 * team, and must be neither executed nor misread there. docs/audit.md, "For other programs".
 */
#include "tools/mcpxctl/audit/audit.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD(what)                                                                            \
    "{\"seq\":7,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"" what "\",\"prev\":\""      \
    "0000000000000000000000000000000000000000000000000000000000000000\""

static struct audit_line read(const char *text)
{
    struct audit_line line;

    cr_assert(audit_line_read(mcpx_slice_of(text), &line), "%s", text);
    return line;
}

/* The cell of the column "id", which is the ninth. */
static const struct {
    const char *json, *cell;
} cells[] = {
    {"plain", ",\"plain\","},   {"a,b", ",\"a,b\","},
    {"a\\\"b", ",\"a\"\"b\","}, {"a\\nb", ",\"a\nb\","},
    {"=1+1", ",\"'=1+1\","},    {"+1", ",\"'+1\","},
    {"-1", ",\"'-1\","},        {"@SUM(A1)", ",\"'@SUM(A1)\","},
    {"\\t=1", ",\"'\t=1\","},   {"\\r=1", ",\"'\r=1\","},
    {"\\n=1", ",\"'\n=1\","},   {"\\u003d1", ",\"'=1\","},
    {"\\\"=1", ",\"\"\"=1\","}, {"", ",\"\","},
};

Test(audit_export, no_cell_begins_like_a_formula)
{
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct mcpx_text text = {0}, out = {0};
        struct audit_line line;

        mcpx_text_puts(&text, HEAD("allow") ",\"id\":\"");
        mcpx_text_puts(&text, cells[i].json);
        mcpx_text_puts(&text, "\",\"bytes\":12}");
        line = read(text.text);
        export_line(&out, EXPORT_CSV, &line, MCPX_SLICE(""));
        cr_expect(strstr(out.text, cells[i].cell), "row %zu: %s", i, out.text);
        cr_expect(strncmp(out.text, "7,\"2026-09-21T14:13:20.123Z\",\"allow\",,", 38) == 0);
        cr_expect(strstr(out.text, ",12,"));
        cr_expect_str_eq(out.text + out.len - 2, "\r\n");
        mcpx_text_fini(&text);
        mcpx_text_fini(&out);
    }
}

/* As many cells as the head has names. */
Test(audit_export, a_row_has_a_cell_for_each_column)
{
    struct audit_line line = read(HEAD("stop") "}");
    struct mcpx_text head = {0}, row = {0};
    size_t commas[2] = {0};

    export_head(&head, EXPORT_CSV);
    export_line(&row, EXPORT_CSV, &line, MCPX_SLICE(""));
    for (const char *at = head.text; *at; at++)
        commas[0] += *at == ',';
    for (const char *at = row.text; *at; at++)
        commas[1] += *at == ',';
    cr_expect_eq(commas[0], commas[1]);
    mcpx_text_fini(&head);
    mcpx_text_fini(&row);
    export_head(&head, EXPORT_OCSF);
    cr_expect_eq(head.len, 0);
}

static const struct {
    enum export_form form;
    const char *line, *out;
} forms[] = {
    {EXPORT_JSON, HEAD("stop") "}", HEAD("stop") "}\n"},
    {EXPORT_CLOUDEVENTS, HEAD("allow") ",\"topic\":\"a\\\"b\"}",
     "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"urn:x\",\"type\":\"mcpx.audit."
     "allow\","
     "\"time\":\"2026-09-21T14:13:20.123Z\",\"subject\":\"a\\\"b\","
     "\"datacontenttype\":\"application/json\",\"data\":" HEAD(
         "allow") ",\"topic\":\"a\\\"b\"}}\n"},
    {EXPORT_OCSF, HEAD("later") "}",
     "{\"category_uid\":6,\"class_uid\":6003,\"activity_id\":99,\"type_uid\":600399,"
     "\"activity_name\":\"later\",\"severity_id\":1,\"status_id\":1,\"time\":1790000000123,"
     "\"metadata\":{\"version\":\"1.3.0\",\"product\":{\"name\":\"mcpx-router\","
     "\"vendor_name\":\"mcpx\"},\"uid\":\"7\",\"sequence\":7,"
     "\"original_time\":\"2026-09-21T14:13:20.123Z\"},\"actor\":{\"app_name\":\"mcpx-router\"}"
     ","
     "\"src_endpoint\":{\"name\":\"mcpx-router\"},\"api\":{\"operation\":\"later\"},"},
    {EXPORT_OCSF,
     HEAD("refuse") ",\"topic\":\"t\",\"from\":\"ann\",\"kind_sent\":\"chat\",\"id\":\"i\","
                    "\"error\":\"capability_violation\",\"reason\":\"denied\"}",
     "{\"category_uid\":6,\"class_uid\":6003,\"activity_id\":1,\"type_uid\":600301,"
     "\"activity_name\":\"refuse\",\"severity_id\":2,\"status_id\":2,\"time\":1790000000123,"
     "\"metadata\":{\"version\":\"1.3.0\",\"product\":{\"name\":\"mcpx-router\","
     "\"vendor_name\":\"mcpx\"},\"uid\":\"7\",\"sequence\":7,"
     "\"original_time\":\"2026-09-21T14:13:20.123Z\"},\"actor\":{\"user\":{\"uid\":\"ann\"}},"
     "\"src_endpoint\":{\"name\":\"ann\"},"
     "\"api\":{\"operation\":\"chat\",\"request\":{\"uid\":\"i\"}},"
     "\"resources\":[{\"type\":\"topic\",\"name\":\"t\"}],"
     "\"status_code\":\"capability_violation\",\"status_detail\":\"denied\","
     "\"authorizations\":[{\"decision\":\"denied\"}],\"raw_data\":"},
};

Test(audit_export, each_form_has_its_members)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct audit_line line = read(forms[i].line);
        struct mcpx_text out = {0};

        export_line(&out, forms[i].form, &line, MCPX_SLICE("urn:x"));
        cr_expect(strncmp(out.text, forms[i].out, strlen(forms[i].out)) == 0, "row %zu:\n%s",
                  i, out.text);
        mcpx_text_fini(&out);
    }
}

/* What participants wrote does not move the cursor. */
Test(audit_export, a_line_for_people_is_made_visible)
{
    struct audit_line line =
        read(HEAD("allow") ",\"topic\":\"t\",\"from\":\"a\\u001b[2Jb\",\"to\":[\"c\",\"d\"],"
                           "\"kind\":\"chat\",\"grant\":\"chat\"}");
    mx_scoped_text out = {0};

    export_line(&out, EXPORT_SENTENCE, &line, MCPX_SLICE(""));
    cr_expect_str_eq(out.text,
                     "7  2026-09-21T14:13:20.123Z  allow  a\\u001b[2Jb to c, d  chat  "
                     "in t  grant chat\n",
                     "%s", out.text);
}

/* A story, line by line; the first has seq 1. */
static const struct {
    const char *what, *id, *before;
    unsigned of;
    bool belongs;
} story[] = {
    {"allow", "p", "", 0, true},      {"allow", "x", "", 0, false},
    {"allow", "r", "p", 0, true},     {"undelivered", "", "", 2, false},
    {"allow", "s", "r", 0, true},     {"undelivered", "", "", 5, true},
    {"allow", "y", "x", 0, false},    {"allow", "n", "s", 0, true},
    {"refuse", "late", "p", 0, true},
};

enum { STORY = sizeof story / sizeof *story };

static struct audit_line story_line(size_t at, char text[400])
{
    snprintf(text, 400,
             "{\"seq\":%zu,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"%s\","
             "\"prev\":\"%s\",\"id\":\"%s\",\"correlation_id\":\"%s\",\"of\":%u}",
             at + 1, story[at].what, audit_prev_none, story[at].id, story[at].before,
             story[at].of);
    return read(text);
}

Test(audit_export, a_chain_is_what_is_answered_and_what_answers)
{
    static const char *const begun[] = {"p", "r", "s", "n"};

    for (size_t begin = 0; begin < sizeof begun / sizeof *begun; begin++) {
        struct follow follow = {.grown = false};
        struct audit_line line;
        char text[400];

        follow_add(&follow, mcpx_slice_of(begun[begin]));
        for (size_t pass = 0; follow.grown; pass++) {
            cr_assert_leq(pass, 4);
            follow.grown = false;
            for (size_t at = 0; at < STORY; at++) {
                line = story_line(at, text);
                follow_learn(&follow, &line);
            }
        }
        for (size_t at = 0; at < STORY; at++) {
            line = story_line(at, text);
            cr_expect_eq(follow_takes(&follow, &line), story[at].belongs, "%s: line %zu",
                         begun[begin], at + 1);
        }
        follow_fini(&follow);
    }
}
