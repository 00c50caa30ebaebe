/*
 * openssl.h: OpenSSL, loaded when it is first needed.
 *
 * Linking it would cost every start of every program some 3 ms, TLS or not, as
 * much as all the rest of `holdfast run`.  So its functions are looked up on
 * the first use, and called by their own names: a file that includes this one
 * reads as any other that uses OpenSSL.
 */
#ifndef HF_NET_OPENSSL_H
#define HF_NET_OPENSSL_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "holdfast/status.h"

/* Every function that is used. */
#define OPENSSL_FUNCTIONS(X)                                                   \
    X(ASN1_STRING_get0_data)                                                   \
    X(ASN1_STRING_length)                                                      \
    X(ASN1_TIME_to_tm)                                                         \
    X(BIO_clear_flags)                                                         \
    X(BIO_get_data)                                                            \
    X(BIO_meth_free)                                                           \
    X(BIO_meth_new)                                                            \
    X(BIO_meth_set_ctrl)                                                       \
    X(BIO_meth_set_read)                                                       \
    X(BIO_meth_set_write)                                                      \
    X(BIO_new)                                                                 \
    X(BIO_set_data)                                                            \
    X(BIO_set_flags)                                                           \
    X(BIO_set_init)                                                            \
    X(ERR_clear_error)                                                         \
    X(ERR_peek_error)                                                          \
    X(ERR_peek_last_error)                                                     \
    X(ERR_reason_error_string)                                                 \
    X(GENERAL_NAMES_free)                                                      \
    X(OPENSSL_init_ssl)                                                        \
    X(OPENSSL_sk_num)                                                          \
    X(OPENSSL_sk_value)                                                        \
    X(SSL_CTX_check_private_key)                                               \
    X(SSL_CTX_ctrl)                                                            \
    X(SSL_CTX_free)                                                            \
    X(SSL_CTX_load_verify_locations)                                           \
    X(SSL_CTX_new)                                                             \
    X(SSL_CTX_sess_set_new_cb)                                                 \
    X(SSL_CTX_set_alpn_protos)                                                 \
    X(SSL_CTX_set_cert_cb)                                                     \
    X(SSL_CTX_set_default_passwd_cb)                                           \
    X(SSL_CTX_set_default_passwd_cb_userdata)                                  \
    X(SSL_CTX_set_default_verify_paths)                                        \
    X(SSL_CTX_set_options)                                                     \
    X(SSL_CTX_set_verify)                                                      \
    X(SSL_CTX_use_PrivateKey_file)                                             \
    X(SSL_CTX_use_certificate_chain_file)                                      \
    X(SSL_SESSION_free)                                                        \
    X(SSL_SESSION_is_resumable)                                                \
    X(SSL_ctrl)                                                                \
    X(SSL_do_handshake)                                                        \
    X(SSL_free)                                                                \
    X(SSL_get0_param)                                                          \
    X(SSL_get_ex_data)                                                         \
    X(SSL_get_ex_data_X509_STORE_CTX_idx)                                      \
    X(SSL_get_shutdown)                                                        \
    X(SSL_has_pending)                                                         \
    X(SSL_new)                                                                 \
    X(SSL_read)                                                                \
    X(SSL_set_bio)                                                             \
    X(SSL_set_connect_state)                                                   \
    X(SSL_set_ex_data)                                                         \
    X(SSL_set_session)                                                         \
    X(SSL_set_shutdown)                                                        \
    X(SSL_write)                                                               \
    X(TLS_client_method)                                                       \
    X(X509_STORE_CTX_get_current_cert)                                         \
    X(X509_STORE_CTX_get_error)                                                \
    X(X509_STORE_CTX_get_error_depth)                                          \
    X(X509_STORE_CTX_get_ex_data)                                              \
    X(X509_VERIFY_PARAM_set1_host)                                             \
    X(X509_VERIFY_PARAM_set1_ip_asc)                                           \
    X(X509_VERIFY_PARAM_set_hostflags)                                         \
    X(X509_get0_notAfter)                                                      \
    X(X509_get0_notBefore)                                                     \
    X(X509_get_ext_d2i)                                                        \
    X(X509_verify_cert_error_string)

#define OPENSSL_POINTER(name) __typeof__(name) *name##_fn;
struct openssl {
    OPENSSL_FUNCTIONS(OPENSSL_POINTER)
};
#undef OPENSSL_POINTER

extern struct openssl hf__openssl;

/* Have it loaded.  HF_OK, or HF_UNSUPPORTED with err filled.  Any thread. */
int hf__openssl_load(struct hf_error *err);

#ifndef HF_OPENSSL_AS_IT_IS
#define ASN1_STRING_get0_data hf__openssl.ASN1_STRING_get0_data_fn
#define ASN1_STRING_length hf__openssl.ASN1_STRING_length_fn
#define ASN1_TIME_to_tm hf__openssl.ASN1_TIME_to_tm_fn
#define BIO_clear_flags hf__openssl.BIO_clear_flags_fn
#define BIO_get_data hf__openssl.BIO_get_data_fn
#define BIO_meth_free hf__openssl.BIO_meth_free_fn
#define BIO_meth_new hf__openssl.BIO_meth_new_fn
#define BIO_meth_set_ctrl hf__openssl.BIO_meth_set_ctrl_fn
#define BIO_meth_set_read hf__openssl.BIO_meth_set_read_fn
#define BIO_meth_set_write hf__openssl.BIO_meth_set_write_fn
#define BIO_new hf__openssl.BIO_new_fn
#define BIO_set_data hf__openssl.BIO_set_data_fn
#define BIO_set_flags hf__openssl.BIO_set_flags_fn
#define BIO_set_init hf__openssl.BIO_set_init_fn
#define ERR_clear_error hf__openssl.ERR_clear_error_fn
#define ERR_peek_error hf__openssl.ERR_peek_error_fn
#define ERR_peek_last_error hf__openssl.ERR_peek_last_error_fn
#define ERR_reason_error_string hf__openssl.ERR_reason_error_string_fn
#define GENERAL_NAMES_free hf__openssl.GENERAL_NAMES_free_fn
#define OPENSSL_init_ssl hf__openssl.OPENSSL_init_ssl_fn
#define OPENSSL_sk_num hf__openssl.OPENSSL_sk_num_fn
#define OPENSSL_sk_value hf__openssl.OPENSSL_sk_value_fn
#define SSL_CTX_check_private_key hf__openssl.SSL_CTX_check_private_key_fn
#define SSL_CTX_ctrl hf__openssl.SSL_CTX_ctrl_fn
#define SSL_CTX_free hf__openssl.SSL_CTX_free_fn
#define SSL_CTX_load_verify_locations                                          \
    hf__openssl.SSL_CTX_load_verify_locations_fn
#define SSL_CTX_new hf__openssl.SSL_CTX_new_fn
#define SSL_CTX_sess_set_new_cb hf__openssl.SSL_CTX_sess_set_new_cb_fn
#define SSL_CTX_set_alpn_protos hf__openssl.SSL_CTX_set_alpn_protos_fn
#define SSL_CTX_set_cert_cb hf__openssl.SSL_CTX_set_cert_cb_fn
#define SSL_CTX_set_default_passwd_cb                                          \
    hf__openssl.SSL_CTX_set_default_passwd_cb_fn
#define SSL_CTX_set_default_passwd_cb_userdata                                 \
    hf__openssl.SSL_CTX_set_default_passwd_cb_userdata_fn
#define SSL_CTX_set_default_verify_paths                                       \
    hf__openssl.SSL_CTX_set_default_verify_paths_fn
#define SSL_CTX_set_options hf__openssl.SSL_CTX_set_options_fn
#define SSL_CTX_set_verify hf__openssl.SSL_CTX_set_verify_fn
#define SSL_CTX_use_PrivateKey_file hf__openssl.SSL_CTX_use_PrivateKey_file_fn
#define SSL_CTX_use_certificate_chain_file                                     \
    hf__openssl.SSL_CTX_use_certificate_chain_file_fn
#define SSL_SESSION_free hf__openssl.SSL_SESSION_free_fn
#define SSL_SESSION_is_resumable hf__openssl.SSL_SESSION_is_resumable_fn
#define SSL_ctrl hf__openssl.SSL_ctrl_fn
#define SSL_do_handshake hf__openssl.SSL_do_handshake_fn
#define SSL_free hf__openssl.SSL_free_fn
#define SSL_get0_param hf__openssl.SSL_get0_param_fn
#define SSL_get_ex_data hf__openssl.SSL_get_ex_data_fn
#define SSL_get_ex_data_X509_STORE_CTX_idx                                     \
    hf__openssl.SSL_get_ex_data_X509_STORE_CTX_idx_fn
#define SSL_get_shutdown hf__openssl.SSL_get_shutdown_fn
#define SSL_has_pending hf__openssl.SSL_has_pending_fn
#define SSL_new hf__openssl.SSL_new_fn
#define SSL_read hf__openssl.SSL_read_fn
#define SSL_set_bio hf__openssl.SSL_set_bio_fn
#define SSL_set_connect_state hf__openssl.SSL_set_connect_state_fn
#define SSL_set_ex_data hf__openssl.SSL_set_ex_data_fn
#define SSL_set_session hf__openssl.SSL_set_session_fn
#define SSL_set_shutdown hf__openssl.SSL_set_shutdown_fn
#define SSL_write hf__openssl.SSL_write_fn
#define TLS_client_method hf__openssl.TLS_client_method_fn
#define X509_STORE_CTX_get_current_cert                                        \
    hf__openssl.X509_STORE_CTX_get_current_cert_fn
#define X509_STORE_CTX_get_error hf__openssl.X509_STORE_CTX_get_error_fn
#define X509_STORE_CTX_get_error_depth                                         \
    hf__openssl.X509_STORE_CTX_get_error_depth_fn
#define X509_STORE_CTX_get_ex_data hf__openssl.X509_STORE_CTX_get_ex_data_fn
#define X509_VERIFY_PARAM_set1_host hf__openssl.X509_VERIFY_PARAM_set1_host_fn
#define X509_VERIFY_PARAM_set1_ip_asc                                          \
    hf__openssl.X509_VERIFY_PARAM_set1_ip_asc_fn
#define X509_VERIFY_PARAM_set_hostflags                                        \
    hf__openssl.X509_VERIFY_PARAM_set_hostflags_fn
#define X509_get0_notAfter hf__openssl.X509_get0_notAfter_fn
#define X509_get0_notBefore hf__openssl.X509_get0_notBefore_fn
#define X509_get_ext_d2i hf__openssl.X509_get_ext_d2i_fn
#define X509_verify_cert_error_string                                          \
    hf__openssl.X509_verify_cert_error_string_fn
#endif

#endif
