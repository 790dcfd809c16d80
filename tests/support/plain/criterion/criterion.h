/*
 * criterion.h - as much of Criterion as the tests of threads use, for builds with ThreadSanitizer:
 * Criterion itself maps memory where the sanitizer has its own. Each test runs in a process of its
 * own here as well.
 */
#ifndef PLAIN_CRITERION_H
#define PLAIN_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct plain_suite {
    const char *name;
    struct plain_suite *next;
    void (*init)(void);
    void (*fini)(void);
};

struct plain_test {
    const char *suite, *name;
    struct plain_test *next;
    void (*run)(void);
};

void plain_add_suite(struct plain_suite *suite);
void plain_add_test(struct plain_test *test);

/** Notes a failure; one that is fatal ends the test. A format follows, or NULL. */
void plain_check(bool fatal, const char *file, int line, const char *text, bool holds, ...);

#define TestSuite(suite_name, ...)                                                            \
    static struct plain_suite plain_suite_##suite_name = {.name = #suite_name, __VA_ARGS__};  \
    __attribute__((constructor)) static void plain_suite_add_##suite_name(void)               \
    {                                                                                         \
        plain_add_suite(&plain_suite_##suite_name);                                           \
    }                                                                                         \
    struct plain_suite

#define Test(suite_name, test_name)                                                           \
    static void plain_run_##suite_name##_##test_name(void);                                   \
    static struct plain_test plain_test_##suite_name##_##test_name = {                        \
        .suite = #suite_name,                                                                 \
        .name = #test_name,                                                                   \
        .run = plain_run_##suite_name##_##test_name};                                         \
    __attribute__((constructor)) static void plain_add_##suite_name##_##test_name(void)       \
    {                                                                                         \
        plain_add_test(&plain_test_##suite_name##_##test_name);                               \
    }                                                                                         \
    static void plain_run_##suite_name##_##test_name(void)

/* The first argument, and the others, of a list that ends with NULL. */
#define PLAIN_FIRST(first, ...) (first)
#define PLAIN_REST(first, ...) __VA_ARGS__

#define PLAIN_CHECK(fatal, text, ...)                                                         \
    plain_check(fatal, __FILE__, __LINE__, text, __VA_ARGS__, NULL)
#define PLAIN_COMPARE(fatal, a, compare, ...)                                                 \
    plain_check(fatal, __FILE__, __LINE__, #a " " #compare,                                   \
                (a)compare PLAIN_FIRST(__VA_ARGS__, NULL), PLAIN_REST(__VA_ARGS__, NULL))
#define PLAIN_STRINGS(fatal, a, ...)                                                          \
    plain_check(fatal, __FILE__, __LINE__, #a,                                                \
                strcmp(a, PLAIN_FIRST(__VA_ARGS__, NULL)) == 0,                               \
                PLAIN_REST(__VA_ARGS__, NULL))
#define cr_assert(...) PLAIN_CHECK(true, #__VA_ARGS__, __VA_ARGS__)
#define cr_expect(...) PLAIN_CHECK(false, #__VA_ARGS__, __VA_ARGS__)
#define cr_assert_not_null(...) PLAIN_COMPARE(true, NULL, !=, __VA_ARGS__)
#define cr_expect_not_null(...) PLAIN_COMPARE(false, NULL, !=, __VA_ARGS__)
#define cr_assert_null(...) PLAIN_COMPARE(true, NULL, ==, __VA_ARGS__)
#define cr_expect_null(...) PLAIN_COMPARE(false, NULL, ==, __VA_ARGS__)
#define cr_assert_not(...) PLAIN_COMPARE(true, false, ==, __VA_ARGS__)
#define cr_expect_not(...) PLAIN_COMPARE(false, false, ==, __VA_ARGS__)
#define cr_assert_eq(a, ...) PLAIN_COMPARE(true, a, ==, __VA_ARGS__)
#define cr_expect_eq(a, ...) PLAIN_COMPARE(false, a, ==, __VA_ARGS__)
#define cr_assert_neq(a, ...) PLAIN_COMPARE(true, a, !=, __VA_ARGS__)
#define cr_expect_neq(a, ...) PLAIN_COMPARE(false, a, !=, __VA_ARGS__)
#define cr_assert_lt(a, ...) PLAIN_COMPARE(true, a, <, __VA_ARGS__)
#define cr_expect_lt(a, ...) PLAIN_COMPARE(false, a, <, __VA_ARGS__)
#define cr_assert_leq(a, ...) PLAIN_COMPARE(true, a, <=, __VA_ARGS__)
#define cr_expect_leq(a, ...) PLAIN_COMPARE(false, a, <=, __VA_ARGS__)
#define cr_assert_gt(a, ...) PLAIN_COMPARE(true, a, >, __VA_ARGS__)
#define cr_expect_gt(a, ...) PLAIN_COMPARE(false, a, >, __VA_ARGS__)
#define cr_assert_geq(a, ...) PLAIN_COMPARE(true, a, >=, __VA_ARGS__)
#define cr_expect_geq(a, ...) PLAIN_COMPARE(false, a, >=, __VA_ARGS__)
#define cr_assert_str_eq(a, ...) PLAIN_STRINGS(true, a, __VA_ARGS__)
#define cr_expect_str_eq(a, ...) PLAIN_STRINGS(false, a, __VA_ARGS__)
#define cr_assert_fail(...)                                                                   \
    plain_check(true, __FILE__, __LINE__, "fails", false, __VA_ARGS__, NULL)

#endif
