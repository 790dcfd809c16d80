/*
 * secret.c - unsetenv(3) is not enough: it only changes a list of pointers, and the kernel still
 * shows the memory that the process was given at its start. So the bytes themselves are
 * overwritten. A program keeps copies of a token in its memory, which the same user could read too.
 * So the process is made not dumpable: then its memory cannot be read.
 *
 * Refused: the program executes itself again and gets the token through a pipe. The first program
 * would show the token for the same time.
 */
#include "tools/common/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

extern char **environ;

void secret_wipe(char *text, size_t len)
{
    volatile char *at = text;

    while (len-- > 0)
        *at++ = '\0';
}

/* The value of an entry of the environment; NULL when the entry is of another variable. */
static char *value_of(char *entry, const char *variable, size_t len)
{
    return strncmp(entry, variable, len) == 0 && entry[len] == '=' ? entry + len + 1 : NULL;
}

char *secret_take(const char *variable)
{
    const char *value = getenv(variable);
    char *taken = value && value[0] ? strdup(value) : NULL;
    size_t len = strlen(variable);

    for (size_t i = 0; environ && environ[i]; i++) {
        char *found = value_of(environ[i], variable, len);

        if (found)
            secret_wipe(found, strlen(found));
    }
    unsetenv(variable);
    return taken;
}

void secret_hide_process(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}
