/*
 * download.c - libcurl, set up for a server of the internet: with a proxy where the environment
 * names one, without redirects, and with a bound on what it may send.
 */
#include "tools/common/download.h"

#include "tools/common/command.h"

#include <curl/curl.h>
#include <string.h>

enum { CONNECT_MS = 10000, HTTP_OK = 200 };

/* What libcurl fills while it receives. */
struct received {
    struct mcpx_text *text;
    size_t bytes_max;
    bool is_too_long;
};

static size_t collect(char *bytes, size_t size, size_t count, void *user)
{
    struct received *received = user;

    if (received->text->len + size * count > received->bytes_max) {
        received->is_too_long = true;
        return 0;
    }
    mcpx_text_add(received->text, bytes, size * count);
    return received->text->failed ? 0 : size * count;
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

/* NULL when the address may be asked, else what is wrong with it. */
static const char *fault_of(const struct download *download)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL, *user = NULL;
    const char *fault = NULL;

    if (!url || curl_url_set(url, CURLUPART_URL, download->url, 0) ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
        curl_url_get(url, CURLUPART_HOST, &host, 0))
        fault = "is no address such as https://id.example.org/jwks.json";
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

static int complain_of_answer(const struct download *download, CURL *curl, CURLcode code,
                              const struct received *received)
{
    long status = 0;

    if (code == CURLE_OPERATION_TIMEDOUT)
        return fail_with(STATUS_TIMEOUT, download->verb, "no answer in time");
    if (received->text->failed)
        return complain_of_memory(download->verb);
    if (received->is_too_long)
        return fail_with(STATUS_FAILED, download->verb, "the answer has more than %zu bytes",
                         download->bytes_max);
    if (code != CURLE_OK)
        return fail_with(STATUS_UNREACHABLE, download->verb, "cannot fetch it: %s",
                         curl_easy_strerror(code));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == HTTP_OK)
        return STATUS_OK;
    return fail_with(STATUS_FAILED, download->verb, "the answer is %ld, expected 200%s",
                     status,
                     status >= 300 && status < 400 ? "; redirects are not followed" : "");
}

static int perform(CURL *curl, const struct download *download, struct mcpx_text *out)
{
    struct received received = {.text = out, .bytes_max = download->bytes_max};
    CURLcode code;

    curl_easy_setopt(curl, CURLOPT_URL, download->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
                     download->loopback_http ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)download->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
    if (download->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, download->ca_file);
    code = curl_easy_perform(curl);
    return complain_of_answer(download, curl, code, &received);
}

int download_do(const struct download *download, struct mcpx_text *out)
{
    const char *fault = fault_of(download);
    CURL *curl;
    int status;

    if (fault)
        return fail_with(STATUS_USAGE, download->verb, "the address %s", fault);
    curl = curl_easy_init();
    status = curl ? perform(curl, download, out) : complain_of_memory(download->verb);
    curl_easy_cleanup(curl);
    return status;
}
