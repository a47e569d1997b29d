#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Options of ssl.h defined through function-like macros, which Swift does not import.
static const uint64_t COpenSSL_OP_IGNORE_UNEXPECTED_EOF = SSL_OP_IGNORE_UNEXPECTED_EOF;
static const uint64_t COpenSSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t COpenSSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
