/*
 * wire_tls.c - OpenSSL between two pieces of memory. All clients speak TLS 1.3 with one cipher.
 */
#include "tests/bench/wire_tls.h"

#include "tests/bench/wire.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

static SSL_CTX *context(void)
{
    static SSL_CTX *made;

    if (made)
        return made;
    made = SSL_CTX_new(TLS_client_method());
    if (!made || !SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(made, "TLS_AES_256_GCM_SHA384"))
        wire_die("no TLS");
    SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS);
    return made;
}

struct ssl_st *wire_tls_begin(int fd)
{
    SSL *ssl = SSL_new(context());
    BIO *out = BIO_new(BIO_s_mem());

    if (!ssl || !out || SSL_set_fd(ssl, fd) != 1 || SSL_connect(ssl) != 1)
        wire_die("no TLS handshake");
    SSL_set0_wbio(ssl, out);
    return ssl;
}

void wire_tls_end(struct ssl_st *ssl)
{
    SSL_free(ssl);
}

struct mcpx_slice wire_tls_seal(struct ssl_st *ssl, struct mcpx_slice bytes)
{
    size_t written;
    char *sealed;
    long len;

    (void)BIO_reset(SSL_get_wbio(ssl));
    if (SSL_write_ex(ssl, bytes.text, bytes.len, &written) != 1)
        wire_die("cannot seal");
    len = BIO_get_mem_data(SSL_get_wbio(ssl), &sealed);
    return (struct mcpx_slice){sealed, (size_t)len};
}

void wire_tls_feed(struct ssl_st *ssl, struct mcpx_slice sealed)
{
    BIO *in = BIO_new_mem_buf(sealed.text, (int)sealed.len);

    if (!in)
        wire_die("out of memory");
    BIO_set_mem_eof_return(in, -1); /* more will come */
    SSL_set0_rbio(ssl, in);
}

size_t wire_tls_open(struct ssl_st *ssl, char *out, size_t max)
{
    size_t got = 0;
    int result = SSL_read_ex(ssl, out, max, &got);

    if (result != 1 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ)
        wire_die("a record cannot be opened");
    return result == 1 ? got : 0;
}
