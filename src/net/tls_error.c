/*
 * tls_error.c: why TLS failed.  One rule: a sentence for each reason that an
 * operator can do something about, HF_DENIED if a certificate is
 * refused; and nothing the server sent gets into it but letters and digits.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "net/tls_parts.h"

#define NAMES_MAX 96 /* bytes for the names of a certificate */
#define BREAKS_MAX 8 /* in a row, until they are taken for a refusal */

/* ---- the server's certificate ---- */

/* Add a name that the certificate has. */
static void name_add(char out[NAMES_MAX], const unsigned char *text, int len)
{
    size_t at = strlen(out);
    if (at > 0 && at + 2 < NAMES_MAX) {
        out[at++] = ',';
        out[at++] = ' ';
    }
    for (int i = 0; i < len && at + 1 < NAMES_MAX; i++)
        out[at++] = text[i] > ' ' && text[i] <= '~' ? (char)text[i] : '?';
    out[at] = '\0';
}

static void address_add(char out[NAMES_MAX], const unsigned char *bytes,
                        int len)
{
    char text[48] = "";
    if (len == 4)
        snprintf(text, sizeof text, "%d.%d.%d.%d", bytes[0], bytes[1], bytes[2],
                 bytes[3]);
    for (int i = 0, at = 0; len == 16 && i < 16; i += 2)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%x",
                       i > 0 ? ":" : "", bytes[i] << 8 | bytes[i + 1]);
    name_add(out, (const unsigned char *)text, (int)strlen(text));
}

static void names_read(const X509 *cert, char out[NAMES_MAX])
{
    GENERAL_NAMES *names =
        X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    const OPENSSL_STACK *list = (const OPENSSL_STACK *)names;
    out[0] = '\0';
    for (int i = 0; names && i < OPENSSL_sk_num(list); i++) {
        const GENERAL_NAME *n = OPENSSL_sk_value(list, i);
        if (n->type == GEN_DNS)
            name_add(out, ASN1_STRING_get0_data(n->d.dNSName),
                     ASN1_STRING_length(n->d.dNSName));
        if (n->type == GEN_IPADD)
            address_add(out, ASN1_STRING_get0_data(n->d.iPAddress),
                        ASN1_STRING_length(n->d.iPAddress));
    }
    if (names) GENERAL_NAMES_free(names);
}

static void day_write(const ASN1_TIME *when, char out[32])
{
    struct tm tm;
    snprintf(out, 32, "?");
    if (when && ASN1_TIME_to_tm(when, &tm) == 1)
        strftime(out, 32, "%Y-%m-%d %H:%M UTC", &tm);
}

static void denied(struct tls *t, const char *what)
{
    hf__error_set(&t->err, HF_DENIED, "tls: the server's certificate %s", what);
}

static void name_denied(struct tls *t, const X509 *cert)
{
    char names[NAMES_MAX] = "";
    if (cert) names_read(cert, names);
    if (names[0])
        hf__error_set(
            &t->err, HF_DENIED,
            "tls: the server's certificate is not for %.80s, but for %s",
            t->name, names);
    else
        hf__error_set(&t->err, HF_DENIED,
                      "tls: the server's certificate is not for %.80s: it has "
                      "no subject alternative name, and the subject itself "
                      "does not count",
                      t->name);
}

static void time_denied(struct tls *t, const X509 *cert, int depth, int is_over)
{
    char day[32] = "?";
    const ASN1_TIME *when = NULL;
    if (cert)
        when = is_over ? X509_get0_notAfter(cert) : X509_get0_notBefore(cert);
    day_write(when, day);
    hf__error_set(&t->err, HF_DENIED, "tls: the %s certificate %s %s",
                  depth > 0 ? "server's authority's" : "server's",
                  is_over ? "has expired on" : "is not valid before", day);
}

static void verify_explain(struct tls *t, int code, const X509 *cert, int depth)
{
    static const char of_system[] =
        "is not signed by an authority that we trust: name it by tls_ca=";
    static const char of_file[] =
        "is not signed by an authority of tls_ca= (a directory there needs "
        "openssl rehash)";
    char why[160];
    switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        time_denied(t, cert, depth, code == X509_V_ERR_CERT_HAS_EXPIRED);
        return;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        name_denied(t, cert);
        return;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        denied(t, t->context->ca ? of_file : of_system);
        return;
    default:
        snprintf(why, sizeof why, "is not good: %s",
                 X509_verify_cert_error_string(code));
        denied(t, why);
        return;
    }
}

int hf__tls_verify(int is_good, X509_STORE_CTX *store)
{
    if (is_good) return 1;
    SSL *ssl =
        X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls *t = ssl ? SSL_get_ex_data(ssl, 0) : NULL;
    if (t && t->err.status == HF_OK)
        verify_explain(t, X509_STORE_CTX_get_error(store),
                       X509_STORE_CTX_get_current_cert(store),
                       X509_STORE_CTX_get_error_depth(store));
    return 0;
}

/* ---- everything else ---- */

static const struct reason {
    int code; /* SSL_R_* */
    int status;
    const char *text;
} reasons[] = {
    {SSL_R_WRONG_VERSION_NUMBER, HF_UNAVAILABLE,
     "the server does not speak TLS: write redis:// if it need not"},
    {SSL_R_UNSUPPORTED_PROTOCOL, HF_UNAVAILABLE,
     "the server speaks no TLS of version 1.2 or later"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, HF_UNAVAILABLE,
     "the server speaks no version of TLS that we do"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, HF_DENIED,
     "the server refuses us: it may want a certificate: tls_cert="},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, HF_DENIED,
     "the server wants a certificate of ours: give it by tls_cert="},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA, HF_DENIED,
     "the server does not trust the authority of our certificate"},
    {SSL_R_TLSV1_ALERT_DECRYPT_ERROR, HF_DENIED,
     "the server does not accept our certificate"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, HF_DENIED,
     "the server does not accept our certificate"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, HF_DENIED,
     "the server does not accept our certificate"},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, HF_DENIED,
     "the server does not accept our certificate"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, HF_DENIED,
     "the server says that our certificate was revoked"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, HF_DENIED,
     "the server says that our certificate has expired"},
    {SSL_R_TLSV1_ALERT_ACCESS_DENIED, HF_DENIED, "the server refuses us"},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME, HF_DENIED,
     "the server does not go by the name we asked for: tls_name="},
};

int hf__tls_asked(SSL *ssl, void *unused)
{
    struct tls *t = SSL_get_ex_data(ssl, 0);
    (void)unused;
    if (t) t->is_asked = 1;
    return 1;
}

/* With TLS 1.3 our side of the handshake is over before the server has looked
 * at our certificate, and our first command is on its way.  A server that hangs
 * up then has not read that, so its system resets the connection, and the alert
 * that says why is lost now and then. */
void hf__tls_explain_break(struct tls *t)
{
    if (!t->is_through || !t->is_asked || t->has_heard) return;
    /* The next connection may hear the alert; and it may have died just now. */
    if (++t->context->breaks < BREAKS_MAX) return;
    hf__error_set(&t->err, HF_DENIED,
                  "tls: the server hung up when it had asked for a certificate "
                  "of ours: %s",
                  t->context->cert ? "it does not accept our certificate"
                                   : "give it by tls_cert=");
}

void hf__tls_explain(struct tls *t)
{
    unsigned long code = ERR_peek_last_error();
    const char *words = ERR_reason_error_string(code);
    if (t->err.status != HF_OK) return;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        int reason = reasons[i].code;
        if (ERR_GET_LIB(code) != ERR_LIB_SSL || ERR_GET_REASON(code) != reason)
            continue;
        /* Later on it is a broken record. */
        if (reason == SSL_R_WRONG_VERSION_NUMBER && t->is_through) continue;
        hf__error_set(&t->err, reasons[i].status, "tls: %s", reasons[i].text);
        return;
    }
    hf__error_set(&t->err, HF_UNAVAILABLE, "tls: %s",
                  words ? words : "the connection is not usable any more");
}
