/*
 * What breaks for whom: an operator whose certificates are never read again, and whose router does
 * not stop, because a pipe came where a revocation list was; whoever relies on a list that says
 * only a part of what is revoked; and everybody, when a list fills the memory.
 */
#include "lib/base/scoped.h"
#include "router/connection/tls_files.h"

#include <criterion/criterion.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 1000001 };

static char path[] = "/tmp/mcpx-crl-XXXXXX/crl";

static void make_folder(void)
{
    path[strlen(path) - 4] = '\0';
    cr_assert(mkdtemp(path));
    path[strlen(path)] = '/';
}

static void drop_folder(void)
{
    unlink(path);
    path[strlen(path) - 4] = '\0';
    rmdir(path);
}

TestSuite(crl, .init = make_folder, .fini = drop_folder);

static void expect_refused(const char *reason)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    struct revocation lists = {0};
    mx_scoped_text errors = {0};

    cr_expect_eq(revocation_read(path, context, &errors, &lists), MCPX_ESYSTEM);
    cr_expect_str_eq(errors.text, reason);
    revocation_fini(&lists);
    SSL_CTX_free(context);
}

Test(crl, a_pipe_is_no_list_and_nobody_waits_for_it, .timeout = 60)
{
    cr_assert_eq(mkfifo(path, 0600), 0);
    expect_refused("it is a pipe; expected a regular file");
    unlink(path);
    expect_refused("No such file or directory");
}

/* A list with so many entries, which nobody has signed. */
static X509_CRL *make_list(int entries)
{
    X509_CRL *list = X509_CRL_new();
    ASN1_TIME *now = ASN1_TIME_set(NULL, 0);
    EVP_PKEY *key = EVP_EC_gen("P-256");

    X509_CRL_set1_lastUpdate(list, now);
    for (int i = 0; i < entries; i++) {
        X509_REVOKED *entry = X509_REVOKED_new();
        ASN1_INTEGER *number = ASN1_INTEGER_new();

        ASN1_INTEGER_set(number, i + 1);
        X509_REVOKED_set_serialNumber(entry, number);
        X509_REVOKED_set_revocationDate(entry, now);
        X509_CRL_add0_revoked(list, entry);
        ASN1_INTEGER_free(number);
    }
    cr_assert(X509_CRL_sign(list, key, EVP_sha256()));
    EVP_PKEY_free(key);
    ASN1_TIME_free(now);
    return list;
}

/* Takes the list. */
static void write_list(X509_CRL *list)
{
    FILE *file = fopen(path, "w");

    cr_assert(file && PEM_write_X509_CRL(file, list));
    fclose(file);
    X509_CRL_free(list);
}

/* RFC 5280 sections 5.2.4, 5.2.5, 5.3.3: changes only, of users only, of other authorities. */
Test(crl, a_list_of_only_some_certificates_is_refused)
{
    static const char reason[] = "has a list of only some certificates, as its critical "
                                 "extension says; expected whole lists";
    X509_CRL *list = make_list(1);
    ASN1_INTEGER *number = ASN1_INTEGER_new();

    ASN1_INTEGER_set(number, 1);
    cr_assert(X509_CRL_add1_ext_i2d(list, NID_delta_crl, number, 1, X509V3_ADD_DEFAULT));
    write_list(list);
    expect_refused(reason);

    list = make_list(1);
    cr_assert(X509_REVOKED_add1_ext_i2d(sk_X509_REVOKED_value(X509_CRL_get_REVOKED(list), 0),
                                        NID_delta_crl, number, 1, X509V3_ADD_DEFAULT));
    write_list(list);
    expect_refused(reason);
    ASN1_INTEGER_free(number);
}

Test(crl, a_list_that_is_too_long_is_refused, .timeout = 120)
{
    write_list(make_list(MANY));
    expect_refused("has more than 1000000 entries");
}
