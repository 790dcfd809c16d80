/*
 * speech.c - what is said looks like what agents say: a tool call whose arguments are nested JSON
 * of every type, because a scanner's work depends on that, and not a run of one letter.
 */
#include "tests/bench/speech.h"

#include "tests/bench/wire.h"
#include "tests/support/jwt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const char *const speech_grants[8] = {
    "chat",
    "mcp/response:*",
    "mcp/proposal:*",
    "mcp/request:resources/*",
    "mcp/request:prompts/get:review",
    "mcp/request:tools/list",
    "mcp/request:tools/call:write_*",
    "mcp/request:tools/call:read_*",
};

char *speech_new(size_t bytes, const char *from, const char *to)
{
    static const char end[] = "\"}}}}";
    char *text = malloc(bytes + 512);
    size_t len;

    if (!text || bytes < SPEECH_MIN + strlen(to))
        wire_die("no message can have %zu bytes", bytes);
    len = (size_t)snprintf(text, bytes,
                           "{\"id\":\"0000-0000000000\",\"protocol\":\"mcpx/v0.1\","
                           "\"ts\":\"2026-11-21T23:18:00.000Z\",\"from\":\"%s\","
                           "\"kind\":\"mcp/request:tools/call:read_file\",%s%s%s"
                           "\"payload\":{\"method\":\"tools/call\",\"params\":{"
                           "\"name\":\"read_file\",\"arguments\":{",
                           from, *to ? "\"to\":" : "", to, *to ? "," : "");
    for (unsigned i = 0; len + 160 < bytes; i++)
        len +=
            (size_t)sprintf(text + len,
                            "\"r%u\":{\"name\":\"item %u\",\"ok\":%s,\"at\":[%u.5,-1e3,null],"
                            "\"tags\":[\"a\",\"bc\",\"d\\u00e9f\"],\"in\":{\"x\":[{}]}},",
                            i, i * 7919, i % 2 ? "true" : "false", i);
    len += (size_t)sprintf(text + len, "\"s\":\"");
    while (len + sizeof end - 1 < bytes)
        text[len++] = 'f';
    memcpy(text + len, end, sizeof end);
    if (len + sizeof end - 1 != bytes)
        wire_die("no message of %s can have %zu bytes", from, bytes);
    return text;
}

static void put_digits(char *at, int count, uint64_t number)
{
    for (int i = count; i-- > 0; number /= 10)
        at[i] = (char)('0' + number % 10);
}

static uint64_t read_digits(const char *at, int count)
{
    uint64_t number = 0;

    for (int i = 0; i < count; i++)
        number = number * 10 + (uint64_t)(at[i] - '0');
    return number;
}

void speech_number(char *text, unsigned flow, uint64_t serial)
{
    put_digits(text + SPEECH_BEGIN, SPEECH_FLOW_LEN, flow);
    put_digits(text + SPEECH_SERIAL_AT, SPEECH_SERIAL_LEN, serial);
}

bool speech_read(struct mcpx_slice text, unsigned *flow, uint64_t *serial)
{
    if (text.len < SPEECH_NUMBERS_END || memcmp(text.text, "{\"id\":\"", SPEECH_BEGIN) != 0)
        return false;
    *flow = (unsigned)read_digits(text.text + SPEECH_BEGIN, SPEECH_FLOW_LEN);
    *serial = read_digits(text.text + SPEECH_SERIAL_AT, SPEECH_SERIAL_LEN);
    return true;
}

char *speech_token(const char *participant, const char *topic, const char *secret)
{
    char claims[1024];
    int len = snprintf(claims, sizeof claims,
                       "{\"sub\":\"%s\",\"topic\":\"%s\",\"exp\":%ld,\"capabilities\":[",
                       participant, topic, (long)time(NULL) + 86400);

    for (size_t i = 0; i < 8; i++)
        len += snprintf(claims + len, sizeof claims - (size_t)len, "%s\"%s\"", i ? "," : "",
                        speech_grants[i]);
    snprintf(claims + len, sizeof claims - (size_t)len, "]}");
    return jwt_make("{\"alg\":\"HS256\",\"typ\":\"JWT\"}", claims, "SHA256", secret);
}
