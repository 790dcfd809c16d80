/*
 * form.c - writes audit lines and the verdict of verify for a terminal, with all text made visible,
 * and audit lines in the formats of other programs. CSV has a column for each known member; the
 * other formats keep the whole line, a CloudEvent as its data, an OCSF event as its raw_data.
 *
 * A spreadsheet program may take a cell for a formula when it begins with = + - @, a tab or a line
 * end. Text of participants may begin with these, so such a cell gets an apostrophe in front.
 */
#include "tools/mcpxctl/audit/audit.h"

#include "lib/json/json_write.h"
#include "tools/common/visible.h"
#include <mcpx/json.h>

/* ---- for people ---- */

/* Members that a sentence has, after the time, what happened, sender, addressees and kind. */
static const struct part {
    const char *name, *format;
} parts[] = {{"topic", "  in %v"},      {"grant", "  grant %v"}, {"error", "  error %v"},
             {"reason", "  reason %v"}, {"by", "  by %v"},       {"address", "  address %v"},
             {"of", "  of line %v"},    {"count", "  count %v"}, {"since", "  since %v"},
             {"until", "  until %v"},   {"cut", "  cut off %v"}, {"key", "  key %v"}};

static struct mcpx_slice member(const struct audit_line *line, const char *name)
{
    return mcpx_json_get(line->whole, name);
}

static void add_sentence(struct mcpx_text *out, const struct audit_line *line)
{
    struct mcpx_slice kind = pick_kind(line);

    text_format(out, "%s  %s  %s", line->seq, line->time, line->name);
    text_member(out, "  %v", line->whole, "from");
    text_list(out, " to ", member(line, "to"), NULL);
    text_format(out, "%s%v", kind.text ? "  " : "", kind);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        text_member(out, parts[i].format, line->whole, parts[i].name);
    mcpx_text_puts(out, "\n");
}

static void add_json(struct mcpx_text *out, const struct audit_verdict *verdict,
                     const char *folder, const char *file)
{
    bool whole = verdict->damage == AUDIT_WHOLE;

    mx_format(out, "{\"folder\":%q,\"whole\":%s", folder, whole);
    if (!whole) {
        mx_format(out, ",\"damage\":%q,\"file\":%q,\"line\":%s,\"seq\":%s,\"reason\":%q",
                  audit_damage_name(verdict->damage), file, verdict->row, verdict->seq,
                  verdict->reason);
        if (verdict->count > 0)
            mx_json_add_number(out, "count", (int64_t)verdict->count);
    }
    mx_format(out,
              ",\"lines\":%s,\"first_seq\":%s,\"checkpoints\":%s,\"signed_seq\":%s,"
              "\"uncovered\":%s",
              verdict->lines, verdict->first_seq, verdict->checkpoints, verdict->signed_seq,
              verdict->uncovered);
    if (whole)
        mx_format(out, ",\"last_seq\":%s,\"last_sha256\":%q", verdict->last_seq,
                  verdict->last_sum);
    mcpx_text_puts(out, "}\n");
}

static void add_damage(struct mcpx_text *out, const struct audit_verdict *verdict,
                       const char *folder, const char *file)
{
    text_format(out, "%s: damaged: %s at %s, line %s, seq %s\n", folder,
                audit_damage_name(verdict->damage), file, verdict->row, verdict->seq);
    mx_format(out, "  reason       %s\n", verdict->reason);
    if (verdict->count > 0)
        mx_format(out, "  lines        %s\n", verdict->count);
    mx_format(out, "  before it    %s lines, %s of them signed\n", verdict->lines,
              verdict->signed_seq > 0 ? verdict->signed_seq - verdict->first_seq + 1 : 0);
}

void show_verdict(struct mcpx_text *out, const struct audit_verdict *verdict, bool json,
                  const char *folder, const char *file)
{
    if (json) {
        add_json(out, verdict, folder, file);
        return;
    }
    if (verdict->damage != AUDIT_WHOLE) {
        add_damage(out, verdict, folder, file);
        return;
    }
    text_format(out, "%s: whole: %s lines, seq %s to %s\n", folder, verdict->lines,
                verdict->first_seq, verdict->last_seq);
    mx_format(out, "  checkpoints  %s, the last is seq %s\n", verdict->checkpoints,
              verdict->signed_seq);
    mx_format(out, "  not signed   %s lines behind it\n", verdict->uncovered);
    mx_format(out, "  to note      %s:%s\n", verdict->last_seq, verdict->last_sum);
}

/* Columns, in order. Unknown members have none. */
static const char *const columns[] = {
    "seq", "time",           "what",  "topic", "from",   "to",     "kind_sent", "kind",
    "id",  "correlation_id", "grant", "error", "reason", "by",     "address",   "rev",
    "of",  "count",          "since", "until", "cut",    "format", "bytes",     "sha256",
    "key", "signature",      "prev",  "text"};

enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

/* ---- CSV: RFC 4180 ---- */

static void add_cell(struct mcpx_text *out, struct mcpx_slice text)
{
    mcpx_text_puts(out, "\"");
    if (text.len > 0 && memchr("=+-@\t\r\n", text.text[0], 7))
        mcpx_text_puts(out, "'");
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] == '"')
            mcpx_text_puts(out, "\"");
        mcpx_text_add(out, text.text + i, 1);
    }
    mcpx_text_puts(out, "\"");
}

static void add_row(struct mcpx_text *out, const struct audit_line *line)
{
    mx_scoped_text cell = {0};

    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        struct mcpx_slice value = member(line, columns[i]);

        mcpx_text_puts(out, i > 0 ? "," : "");
        mcpx_text_reset(&cell);
        if (mcpx_json_type(value) == MCPX_JSON_NUMBER)
            mcpx_text_slice(out, value);
        else if (mcpx_json_type(value) == MCPX_JSON_STRING) {
            mcpx_json_add_unescaped(&cell, value);
            add_cell(out, mcpx_text_view(&cell));
        } else if (value.text)
            add_cell(out, value);
    }
    mcpx_text_puts(out, "\r\n");
}

/* ---- CloudEvents 1.0 in JSON ---- */

static void add_if_present(struct mcpx_text *out, const char *name, struct mcpx_slice value)
{
    if (value.text)
        mx_json_add_raw(out, name, value);
}

static void add_cloud_event(struct mcpx_text *out, const struct audit_line *line,
                            struct mcpx_slice source)
{
    mx_format(
        out,
        "{\"specversion\":\"1.0\",\"id\":\"%s\",\"source\":%q,\"type\":\"mcpx.audit.%s\","
        "\"time\":\"%s\"",
        line->seq, source, line->name, line->time);
    add_if_present(out, "subject", member(line, "topic"));
    mx_format(out, ",\"datacontenttype\":\"application/json\",\"data\":%s}\n", line->whole);
}

/* ---- OCSF 1.3.0, class API Activity ---- */

enum {
    OCSF_CLASS = 6003,
    OCSF_CREATE = 1,
    OCSF_OTHER = 99,
    OCSF_SUCCESS = 1,
    OCSF_FAILURE = 2
};

/* Activity, status and severity of each sort of line. */
static const struct ocsf_row {
    int activity, status, severity;
} ocsf_rows[] = {
    [AUDIT_ALLOW] = {OCSF_CREATE, OCSF_SUCCESS, 1},
    [AUDIT_REFUSE] = {OCSF_CREATE, OCSF_FAILURE, 2},
    [AUDIT_TURNED_AWAY] = {OCSF_OTHER, OCSF_FAILURE, 2},
    [AUDIT_GRANT] = {OCSF_OTHER, OCSF_SUCCESS, 2},
    [AUDIT_REVOKE] = {OCSF_OTHER, OCSF_SUCCESS, 2},
    [AUDIT_KICK] = {OCSF_OTHER, OCSF_SUCCESS, 2},
    [AUDIT_LIFT] = {OCSF_OTHER, OCSF_SUCCESS, 2},
    [AUDIT_UNDELIVERED] = {OCSF_OTHER, OCSF_FAILURE, 2},
    [AUDIT_LOST] = {OCSF_OTHER, OCSF_FAILURE, 3},
    [AUDIT_OTHER] = {0},
};

static void add_actor(struct mcpx_text *out, const struct audit_line *line)
{
    struct mcpx_slice from = member(line, "from"), address = member(line, "address");

    if (from.text)
        mx_format(out, ",\"actor\":{\"user\":{\"uid\":%s}}", from);
    else
        mcpx_text_puts(out, ",\"actor\":{\"app_name\":\"mcpx-router\"}");
    if (address.text)
        mx_format(out, ",\"src_endpoint\":{\"ip\":%s}", address);
    else
        mx_format(out, ",\"src_endpoint\":{\"name\":%s}",
                  from.text ? from : MCPX_SLICE("\"mcpx-router\""));
}

static void add_api(struct mcpx_text *out, const struct audit_line *line)
{
    struct mcpx_slice kind = pick_kind(line), id = member(line, "id");
    struct mcpx_slice topic = member(line, "topic");

    mx_format(out, kind.text ? ",\"api\":{\"operation\":%s" : ",\"api\":{\"operation\":%q",
              kind.text ? kind : line->name);
    if (id.text)
        mx_format(out, ",\"request\":{\"uid\":%s}", id);
    mcpx_text_puts(out, "}");
    if (topic.text)
        mx_format(out, ",\"resources\":[{\"type\":\"topic\",\"name\":%s}]", topic);
}

static void add_decision(struct mcpx_text *out, const struct audit_line *line)
{
    struct mcpx_slice grant = member(line, "grant");

    if (line->what != AUDIT_ALLOW && line->what != AUDIT_REFUSE)
        return;
    mx_format(out, ",\"authorizations\":[{\"decision\":%q",
              line->what == AUDIT_REFUSE ? "denied" : "allowed");
    if (grant.text) {
        mx_format(out, ",\"policy\":{\"name\":%s", grant);
        add_if_present(out, "version", member(line, "rev"));
        mcpx_text_puts(out, "}");
    }
    mcpx_text_puts(out, "}]");
}

static void add_ocsf(struct mcpx_text *out, const struct audit_line *line)
{
    struct ocsf_row row = ocsf_rows[line->what];

    if (!row.activity)
        row = (struct ocsf_row){OCSF_OTHER, OCSF_SUCCESS, 1};
    mx_format(out,
              "{\"category_uid\":6,\"class_uid\":%s,\"activity_id\":%s,\"type_uid\":%s,"
              "\"activity_name\":%q,\"severity_id\":%s,\"status_id\":%s,\"time\":%s,",
              (int)OCSF_CLASS, row.activity, OCSF_CLASS * 100 + row.activity, line->name,
              row.severity, row.status, line->wall_ms);
    mx_format(out,
              "\"metadata\":{\"version\":\"1.3.0\",\"product\":{\"name\":\"mcpx-router\","
              "\"vendor_name\":\"mcpx\"},\"uid\":\"%s\",\"sequence\":%s,"
              "\"original_time\":\"%s\"}",
              line->seq, line->seq, line->time);
    add_actor(out, line);
    add_api(out, line);
    add_if_present(out, "status_code", member(line, "error"));
    add_if_present(out, "status_detail", member(line, "reason"));
    add_decision(out, line);
    mx_format(out, ",\"raw_data\":%q}\n", line->whole);
}

void export_head(struct mcpx_text *out, enum export_form form)
{
    if (form != EXPORT_CSV)
        return;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        mx_format(out, "%s%s", i > 0 ? "," : "", columns[i]);
    mcpx_text_puts(out, "\r\n");
}

void export_line(struct mcpx_text *out, enum export_form form, const struct audit_line *line,
                 struct mcpx_slice source)
{
    switch (form) {
    case EXPORT_CSV:
        add_row(out, line);
        break;
    case EXPORT_CLOUDEVENTS:
        add_cloud_event(out, line, source);
        break;
    case EXPORT_OCSF:
        add_ocsf(out, line);
        break;
    case EXPORT_SENTENCE:
        add_sentence(out, line);
        break;
    case EXPORT_JSON:
        mx_format(out, "%s\n", line->whole);
        break;
    }
}
