/*
 * What breaks for whom: a bridge that is short of memory sends half of what a server said, or
 * leaves a caller waiting for ever; a script takes half of an answer for all of it. Runs the real
 * programs with less memory than what they are given wants.
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OUTPUT_MAX = 4096 };

/* Runs "INPUT | PROGRAM WORDS" in so many KiB, both outputs together. Returns its status. */
static int run(int kib, const char *input, const char *words, char output[OUTPUT_MAX])
{
    char line[1024];
    FILE *pipe;
    size_t len;

    snprintf(line, sizeof line,
             "(%s) 2>/dev/null | (ulimit -v %d; exec \"$MCPX_BINARY_DIR\"/bin/%s) 2>&1", input,
             kib, words);
    pipe = popen(line, "r");
    cr_assert_not_null(pipe);
    len = fread(output, 1, OUTPUT_MAX - 1, pipe);
    output[len] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

#define LETTERS(mib) "head -c " mib "M /dev/zero | tr '\\0' a"

Test(memory, of_mcpxctl_ends_it)
{
    char output[OUTPUT_MAX];

    cr_expect_eq(
        run(70000, "printf '\"'; " LETTERS("15") "; printf '\"'", "mcpxctl digest", output),
        71);
    cr_expect_str_eq(output, "mcpxctl: out of memory\n");
}

/* Its client's line is one that it reads: at most 64 MiB. */
Test(memory, of_a_bridge_ends_it)
{
    static const char expected[] = "\nmcpx-bridge: out of memory\n";
    char output[OUTPUT_MAX];

    cr_expect_eq(run(80000, LETTERS("60"),
                     "mcpx-bridge expose --url ws://127.0.0.1:1 --topic room --as desk",
                     output),
                 71, "%s", output);
    cr_assert_gt(strlen(output), sizeof expected);
    cr_expect_str_eq(output + strlen(output) - strlen(expected), expected);
}
