/*
 * secret.c - unsetenv(3) alone hides nothing: the kernel shows the memory that a process was given
 * at its start, whatever has become of the list of pointers to it. So the bytes themselves are
 * overwritten. Copies that a program needs live in its memory, which the same user could read as
 * well; a process that is not dumpable shows none of it.
 *
 * Refused: the program executes itself again, with the token in a pipe. The first program would show
 * the token for just as long.
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

/* The value of an entry of the environment; NULL when it is another variable's. */
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
