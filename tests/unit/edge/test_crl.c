/*
 * What breaks for whom: an operator whose certificates are never read again, and whose router does
 * not stop, because a pipe came where a revocation list was.
 */
#include "router/edge/revocation.h"

#include <criterion/criterion.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Test(crl, a_pipe_is_no_list_and_nobody_waits_for_it, .timeout = 60)
{
    char folder[] = "/tmp/mcpx-crl-XXXXXX", path[sizeof folder + 8];
    STACK_OF(X509_CRL) *lists = sk_X509_CRL_new_null();
    const char *why;

    cr_assert(mkdtemp(folder) && lists);
    snprintf(path, sizeof path, "%s/pipe", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    why = crl_read(path, lists);
    cr_expect(why && strcmp(why, "no start line") == 0, "%s", why ? why : "read");
    unlink(path);
    why = crl_read(path, lists);
    cr_expect(why && strcmp(why, "No such file or directory") == 0, "%s", why ? why : "read");
    rmdir(folder);
    cr_expect_eq(sk_X509_CRL_num(lists), 0);
    sk_X509_CRL_free(lists);
}
