/*
 * scalar.c - the grammar of RFC 8259 below brackets: strings, numbers, literals. Nothing is
 * converted, so a number may have any size and a string any length. Most bytes of real messages lie
 * inside strings, so plain.h passes over those in vectors.
 */
#include "lib/json/scan.h"

#include "lib/base/digits.h"
#include "lib/base/plain.h"
#include "lib/json/escape.h"

const unsigned char *mx_reader_refuse(struct mx_reader *reader, const unsigned char *at,
                                      const char *reason)
{
    reader->fault_at = at;
    reader->reason = reason;
    return NULL;
}

const unsigned char *mx_space_run(const unsigned char *at, const unsigned char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* The four digits of "\u"; `at` is the u. */
static const unsigned char *skip_digits(struct mx_reader *reader, const unsigned char *at)
{
    for (int i = 0; i < 4; i++) {
        at++;
        if (at == reader->end)
            return mx_reader_refuse(reader, at, "text ends inside a string");
        if (mx_hex_digit((char)*at) < 0)
            return mx_reader_refuse(reader, at,
                                    "expected four hexadecimal digits after '\\u'");
    }
    return at + 1;
}

/* `at` is the backslash. */
static const unsigned char *skip_escape(struct mx_reader *reader, const unsigned char *at)
{
    reader->escaped = true;
    at++;
    if (at == reader->end)
        return mx_reader_refuse(reader, at, "text ends inside a string");
    switch (*at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return at + 1;
    case 'u':
        return skip_digits(reader, at);
    default:
        return mx_reader_refuse(reader, at, "expected one of \" \\ / b f n r t u after '\\'");
    }
}

/* A run of non-ASCII text: one check per character, no return to the word loop between. */
static const unsigned char *skip_sequences(struct mx_reader *reader, const unsigned char *at)
{
    do {
        size_t len = mx_utf8_sequence(at, reader->end);

        if (len == 0)
            return mx_reader_refuse(reader, at, "string is not UTF-8");
        at += len;
    } while (at < reader->end && *at >= 0x80);
    return at;
}

const unsigned char *mx_string_skip(struct mx_reader *reader, const unsigned char *at)
{
    for (;;) {
        at = mx_plain_skip(at, reader->end);
        if (at == reader->end)
            return mx_reader_refuse(reader, at, "text ends inside a string");
        if (*at == '"')
            return at + 1;
        if (*at == '\\')
            at = skip_escape(reader, at);
        else if (*at >= 0x80)
            at = skip_sequences(reader, at);
        else
            return mx_reader_refuse(reader, at,
                                    "control character in a string, expected an escape");
        if (!at)
            return NULL;
    }
}

static const unsigned char *refuse_literal(struct mx_reader *reader, const unsigned char *at,
                                           const char *literal, const char *reason)
{
    while (at < reader->end && *at == (unsigned char)*literal) {
        at++;
        literal++;
    }
    return mx_reader_refuse(reader, at, reason);
}

/* `begin` holds a 't', 'f' or 'n'. */
static const unsigned char *skip_literal(struct mx_reader *reader, const unsigned char *begin)
{
    size_t left = (size_t)(reader->end - begin);

    if (*begin == 't')
        return left >= 4 && memcmp(begin, "true", 4) == 0
                   ? begin + 4
                   : refuse_literal(reader, begin, "true", "expected 'true'");
    if (*begin == 'n')
        return left >= 4 && memcmp(begin, "null", 4) == 0
                   ? begin + 4
                   : refuse_literal(reader, begin, "null", "expected 'null'");
    return left >= 5 && memcmp(begin, "false", 5) == 0
               ? begin + 5
               : refuse_literal(reader, begin, "false", "expected 'false'");
}

/* The first byte from `at` on that is not a digit, or `end`. */
static inline const unsigned char *pass_digits(const unsigned char *at,
                                               const unsigned char *end)
{
    while (at < end && (unsigned char)(*at - '0') < 10)
        at++;
    return at;
}

/* Fraction and exponent, behind the digits they follow. */
static const unsigned char *skip_rest(struct mx_reader *reader, const unsigned char *at)
{
    const unsigned char *end = reader->end, *digits;

    if (*at == '.') {
        digits = at + 1;
        at = pass_digits(digits, end);
        if (at == digits)
            return mx_reader_refuse(reader, at, "expected a digit after the decimal point");
    }
    if (at == end || (*at | 0x20) != 'e')
        return at;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    digits = at;
    at = pass_digits(digits, end);
    return at > digits ? at : mx_reader_refuse(reader, at, "expected a digit in the exponent");
}

static const unsigned char *skip_number(struct mx_reader *reader, const unsigned char *at)
{
    const unsigned char *end = reader->end, *digits = *at == '-' ? at + 1 : at;

    at = pass_digits(digits, end);
    if (at == digits)
        return mx_reader_refuse(reader, at, "expected a digit after '-'");
    if (*digits == '0' && at > digits + 1)
        return mx_reader_refuse(reader, digits + 1, "expected no digit after a leading 0");
    if (at < end && (*at == '.' || (*at | 0x20) == 'e'))
        return skip_rest(reader, at);
    return at;
}

/* Why no value begins here. Notations that only other languages allow have their own sentences. */
static const char *no_value_reason(const unsigned char *at, const unsigned char *end)
{
    switch (*at) {
    case '}':
    case ']':
    case ',':
    case ':':
        return "expected a value before this";
    case '\'':
        return "expected a value; strings take double quotes";
    case '/':
    case '#':
        return "expected a value; JSON has no comments";
    case '+':
    case '.':
        return "expected a value; numbers begin with a digit or '-'";
    case 'N':
    case 'I':
        return "expected a value; JSON has no NaN or Infinity";
    case 'T':
    case 'F':
        return "expected a value; true, false and null are lower case";
    case 0xef:
        if (end - at >= 3 && at[1] == 0xbb && at[2] == 0xbf)
            return "byte order mark, expected the text to begin without one";
        break;
    default:
        break;
    }
    return "expected a value";
}

const unsigned char *mx_scalar_skip(struct mx_reader *reader, const unsigned char *at)
{
    if (at == reader->end)
        return mx_reader_refuse(reader, at, "text ends where a value was expected");
    if (*at == '"')
        return mx_string_skip(reader, at + 1);
    if ((unsigned char)(*at - '0') < 10 || *at == '-')
        return skip_number(reader, at);
    if (*at == 't' || *at == 'f' || *at == 'n')
        return skip_literal(reader, at);
    return mx_reader_refuse(reader, at, no_value_reason(at, reader->end));
}
