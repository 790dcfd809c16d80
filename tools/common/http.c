/*
 * http.c - libcurl, set up for a router, and for other servers. For a router it uses no proxy,
 * because the WebSocket client uses none either. For another server it uses the proxy of the
 * environment. The length of answers is limited. It follows no redirects, and speaks only http and
 * https.
 */
#include "tools/common/http.h"

#include "lib/base/digits.h"
#include "lib/client/ws_wire.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "tools/common/context.h"
#include "tools/common/visible.h"

#include <mcpx/json.h>

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the address ---- */

static void cut_end(struct mcpx_slice *text, struct mcpx_slice end)
{
    if (text->len >= end.len &&
        memcmp(text->text + text->len - end.len, end.text, end.len) == 0)
        text->len -= end.len;
}

bool url_api(const char *url, struct mcpx_text *out)
{
    struct mx_address address;
    struct mcpx_slice rest;
    size_t whole;

    if (mx_url_read(url, &address, NULL) != MCPX_OK)
        return false;
    rest = mcpx_slice_of(strstr(url, "://") + 3);
    cut_end(&rest, MCPX_SLICE("/"));
    whole = rest.len;
    cut_end(&rest, MCPX_SLICE("/ws"));
    if (rest.len < whole)
        cut_end(&rest, MCPX_SLICE("/v0.1"));
    mx_format(out, "%s://%s", address.tls ? "https" : "http", rest);
    return true;
}

/* ---- the router ---- */

enum { TOO_MANY = 429, PATIENCE_MS = 60000, LINES_MAX = 20 };
enum { ANSWER_MAX = 64 << 20, TIMEOUT_MS = 30000, CONNECT_MS = 10000 };

/* As fail_with, unless the caller prints its own complaints. */
#define FAIL(call, status, ...) ((call)->quiet ? (status) : fail_with((status), __VA_ARGS__))

/* The text that libcurl fills while it receives. */
struct received {
    struct mcpx_text *text;
    size_t bytes_max;
};

/* Anything too long ends the call with CURLE_WRITE_ERROR. */
static size_t collect(char *bytes, size_t size, size_t count, void *user)
{
    struct received *received = user;

    if (received->text->len + size * count > received->bytes_max)
        return 0;
    mcpx_text_add(received->text, bytes, size * count);
    return size * count;
}

/* Sets the options for any server. `protocols` as libcurl wants them: "http,https". */
static void begin(CURL *curl, const char *url, const char *protocols, const char *ca_file,
                  struct received *received)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, received);
    if (ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
}

int http_status_of(long status, const char *code)
{
    if (status >= 200 && status < 300)
        return STATUS_OK;
    if (strcmp(code, "capability_violation") == 0)
        return STATUS_REFUSED;
    if (status == 401 || status == 403 || strcmp(code, "draining") == 0)
        return STATUS_UNREACHABLE;
    if (status == 404)
        return STATUS_ABSENT;
    return status >= 400 && status < 500 && status != 429 ? STATUS_USAGE : STATUS_FAILED;
}

/* Prints a complaint per line of the detail: a refused reload lists all errors of the file. */
static void complain_in_turn(long status, const char *detail)
{
    struct mcpx_slice rest = mcpx_slice_of(detail);
    mx_scoped_text shown = {0};

    for (int i = 0; rest.len > 0 && i < LINES_MAX; i++) {
        mcpx_text_reset(&shown);
        text_visible_short(&shown, mx_cut_at(&rest, '\n'), 500);
        if (i == 0)
            complain("the router answers %ld: %s", status, shown.text ? shown.text : "");
        else
            complain("%s", shown.text ? shown.text : "");
    }
    if (rest.len > 0)
        complain("the router's log has more errors");
}

/* Complains with the router's answer. Returns its exit code. */
static int complain_about(const struct http_call *call, long status,
                          const struct mcpx_text *answer)
{
    mx_scoped_text detail = {0}, code = {0};
    struct mcpx_slice problem = {NULL, 0};
    int result;

    (void)mcpx_json_check(mcpx_text_view(answer), 0, &problem, NULL);
    mcpx_json_add_unescaped(&detail, mcpx_json_get(problem, "detail"));
    mcpx_json_add_unescaped(&code, mcpx_json_get(problem, "code"));
    result = http_status_of(status, code.text ? code.text : "");
    if (detail.len == 0)
        return FAIL(call, result, "%s answers %ld; is it an MCPx router?", call->base, status);
    if (!call->quiet)
        complain_in_turn(status, detail.text);
    return result;
}

/* `said` is libcurl's text about this attempt; its general texts about TLS give no reason. */
static int complain_of_tls(const struct http_call *call, CURLcode code, const char *said)
{
    const char *why = *said ? said : curl_easy_strerror(code);

    if (call->cert_file && strstr(why, " alert "))
        return FAIL(call, STATUS_UNREACHABLE,
                    "%s: the router refuses the certificate that it was shown: %s", call->base,
                    why);
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return FAIL(call, STATUS_UNREACHABLE,
                    "%s: the router's certificate is not trusted: %s", call->base, why);
    return FAIL(call, STATUS_UNREACHABLE,
                "%s: the TLS handshake failed (%s); use ws:// for a port without TLS",
                call->base, why);
}

static int complain_of_curl(const struct http_call *call, CURL *curl, CURLcode code,
                            const char *said)
{
    long cause = 0;

    if (code == CURLE_OPERATION_TIMEDOUT)
        return FAIL(call, STATUS_TIMEOUT, "%s does not answer", call->base);
    if (code == CURLE_WRITE_ERROR)
        return FAIL(call, STATUS_FAILED, "the answer is too long");
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
        (code == CURLE_RECV_ERROR && strstr(said, " alert ")))
        return complain_of_tls(call, code, said);
    if (code == CURLE_COULDNT_CONNECT)
        curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &cause);
    return FAIL(call, STATUS_UNREACHABLE, "%s cannot be reached: %s", call->base,
                cause != 0 ? strerror((int)cause) : curl_easy_strerror(code));
}

static struct curl_slist *headers_of(const struct http_call *call)
{
    struct curl_slist *headers = NULL;
    mx_scoped_text line = {0};

    /* With a body of more than 1 KiB, libcurl would wait for a 100 that no router sends. */
    headers = curl_slist_append(headers, "Expect:");
    if (call->body)
        headers = curl_slist_append(headers, "Content-Type: application/json");
    if (call->token) {
        mx_format(&line, "Authorization: Bearer %s", call->token);
        headers = curl_slist_append(headers, line.text);
        secret_wipe(line.text, line.len);
    }
    return headers;
}

/* The headers hold the token. */
static void free_headers(struct curl_slist *headers)
{
    for (const struct curl_slist *at = headers; at; at = at->next)
        secret_wipe(at->data, strlen(at->data));
    curl_slist_free_all(headers);
}

static void set_up(CURL *curl, const struct http_call *call)
{
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (call->body)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
    if (call->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
    if (!call->cert_file)
        return;
    curl_easy_setopt(curl, CURLOPT_SSLCERT, call->cert_file);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, call->key_file);
    curl_easy_setopt(curl, CURLOPT_KEYPASSWD, ""); /* or OpenSSL asks the terminal */
}

/* The time left for an attempt, at least 1 ms: libcurl takes 0 for no limit. */
static long time_left(const struct http_call *call)
{
    int64_t wanted = call->timeout_ms > 0 ? call->timeout_ms : TIMEOUT_MS;
    int64_t left = call->deadline_ms ? call->deadline_ms - mx_clock_now().mono_ms : wanted;

    return (long)(left > wanted ? wanted : left > 0 ? left : 1);
}

/*
 * A router that answers 429 (too many requests, or too long answers) names a time to ask again.
 * Waits until then. Returns false when asking again is useless.
 */
static bool is_put_off(CURL *curl, int64_t until_ms)
{
    int64_t left_ms = until_ms - mx_clock_now().mono_ms;
    curl_off_t pause_s = 0;
    long status = 0;

    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &pause_s);
    return status == TOO_MANY && pause_s > 0 && pause_s <= left_ms / 1000 &&
           sleep((unsigned)pause_s) == 0;
}

static int perform(CURL *curl, const struct http_call *call, const char *url,
                   struct mcpx_text *answer)
{
    struct curl_slist *headers = headers_of(call);
    int64_t patient_until = call->quiet ? 0 : mx_clock_now().mono_ms + PATIENCE_MS;
    struct received received = {.text = answer, .bytes_max = ANSWER_MAX};
    char said[CURL_ERROR_SIZE] = "";
    CURLcode code;
    long status = 0;

    begin(curl, url, "http,https", call->ca_file, &received);
    set_up(curl, call);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, said);
    if (call->deadline_ms && call->deadline_ms < patient_until)
        patient_until = call->deadline_ms;
    do {
        mcpx_text_reset(answer);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, time_left(call));
        code = curl_easy_perform(curl);
    } while (code == CURLE_OK && is_put_off(curl, patient_until));
    free_headers(headers);
    if (code != CURLE_OK)
        return complain_of_curl(call, curl, code, said);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300 ? STATUS_OK : complain_about(call, status, answer);
}

int http_do(const struct http_call *call, struct mcpx_text *answer)
{
    CURL *curl = curl_easy_init();
    mx_scoped_text url = {0}, name = {0};
    struct http_call named = *call;
    int status;

    mx_format(&url, "%s%s", call->base, call->path);
    mcpx_text_puts(&name, call->base);
    if (call->from)
        mx_format(&name, " (from %s)", call->from);
    named.base = name.text;
    status = perform(curl, &named, url.text, answer);
    curl_easy_cleanup(curl);
    return status;
}

/* ---- other servers ---- */

enum { HTTP_OK = 200 };

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

/* Returns the error in the address; NULL when it is allowed. */
static const char *fault_of(const struct download *download)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL, *user = NULL;
    const char *fault = NULL;

    if (curl_url_set(url, CURLUPART_URL, download->url, 0) ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
        curl_url_get(url, CURLUPART_HOST, &host, 0))
        fault = "is not an address such as https://id.example.org/jwks.json";
    else if (curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK)
        fault = "has a name before the @, which others can see";
    else if (strcmp(scheme, "https") != 0 &&
             !(download->loopback_http && strcmp(scheme, "http") == 0 && is_loopback(host)))
        fault = "has to begin with https://; --insecure-http allows http:// to this machine";
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(url);
    return fault;
}

static int complain_of_answer(const struct download *download, CURL *curl, CURLcode code)
{
    long status = 0;

    if (code == CURLE_OPERATION_TIMEDOUT)
        return fail_with(STATUS_TIMEOUT, "no answer in time");
    if (code == CURLE_WRITE_ERROR)
        return fail_with(STATUS_FAILED, "the answer has more than %zu bytes",
                         download->bytes_max);
    if (code != CURLE_OK)
        return fail_with(STATUS_UNREACHABLE, "cannot fetch it: %s", curl_easy_strerror(code));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == HTTP_OK)
        return STATUS_OK;
    return fail_with(STATUS_FAILED, "the answer is %ld, expected 200%s", status,
                     status >= 300 && status < 400 ? "; redirects are not followed" : "");
}

int download_do(const struct download *download, struct mcpx_text *out)
{
    struct received received = {.text = out, .bytes_max = download->bytes_max};
    const char *fault = fault_of(download);
    CURL *curl;
    int status;

    if (fault)
        return fail_with(STATUS_USAGE, "the address %s", fault);
    curl = curl_easy_init();
    begin(curl, download->url, download->loopback_http ? "http,https" : "https",
          download->ca_file, &received);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)download->timeout_ms);
    status = complain_of_answer(download, curl, curl_easy_perform(curl));
    curl_easy_cleanup(curl);
    return status;
}
