#include "tests/http/certificates.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>

namespace hg::http {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using X509Ptr = std::unique_ptr<X509, void (*)(X509*)>;
using Memory = std::unique_ptr<BIO, void (*)(BIO*)>;

Memory MemoryOf(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free_all};
}

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<size_t>(size)};
}

void AddExtension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  REQUIRE(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void SetName(X509_NAME* name, const std::string& common_name) {
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
}

constexpr long kDayS = 86400;

X509Ptr CertificateOf(const Certificate& made) {
  const Memory text = MemoryOf(made.certificate);
  return {PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free};
}

Key KeyOf(const Certificate& made) {
  const Memory text = MemoryOf(made.key);
  return {PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
}

}  // namespace

Certificate MakeCertificate(const CertificateWish& wish, const Certificate* authority) {
  static long serial = 1;
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const X509Ptr certificate(X509_new(), X509_free);
  X509* const x509 = certificate.get();
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x509), -100 * kDayS);
  X509_gmtime_adj(X509_getm_notAfter(x509), wish.valid_days * kDayS);
  X509_set_pubkey(x509, key.get());
  SetName(X509_get_subject_name(x509), wish.common_name);
  if (wish.authority) AddExtension(x509, NID_basic_constraints, "critical,CA:TRUE");
  std::string names;
  for (const std::string& name : wish.dns_names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  if (!names.empty()) AddExtension(x509, NID_subject_alt_name, names);
  if (authority == nullptr) {
    X509_set_issuer_name(x509, X509_get_subject_name(x509));
    REQUIRE(X509_sign(x509, key.get(), EVP_sha256()) > 0);
  } else {
    X509_set_issuer_name(x509, X509_get_subject_name(CertificateOf(*authority).get()));
    REQUIRE(X509_sign(x509, KeyOf(*authority).get(), EVP_sha256()) > 0);
  }
  const Memory certificate_out(BIO_new(BIO_s_mem()), BIO_free_all);
  const Memory key_out(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509(certificate_out.get(), x509);
  PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {TextOf(certificate_out.get()), TextOf(key_out.get())};
}

std::string MakeRevocations(const Certificate& authority,
                            const std::vector<const Certificate*>& revoked, int valid_days) {
  const std::unique_ptr<X509_CRL, void (*)(X509_CRL*)> list(X509_CRL_new(), X509_CRL_free);
  const std::unique_ptr<ASN1_TIME, void (*)(ASN1_TIME*)> time(ASN1_TIME_new(), ASN1_TIME_free);
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(CertificateOf(authority).get()));
  X509_gmtime_adj(time.get(), -100 * kDayS);
  X509_CRL_set1_lastUpdate(list.get(), time.get());
  for (const Certificate* one : revoked) {
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(CertificateOf(*one).get()));
    X509_REVOKED_set_revocationDate(entry, time.get());
    REQUIRE(X509_CRL_add0_revoked(list.get(), entry) == 1);
  }
  X509_gmtime_adj(time.get(), valid_days * kDayS);
  X509_CRL_set1_nextUpdate(list.get(), time.get());
  REQUIRE(X509_CRL_sign(list.get(), KeyOf(authority).get(), EVP_sha256()) > 0);
  const Memory out(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509_CRL(out.get(), list.get());
  return TextOf(out.get());
}

TestFolder::TestFolder() {
  static int count = 0;
  folder_ = std::filesystem::temp_directory_path() /
            ("certificates." + std::to_string(getpid()) + "." + std::to_string(++count));
  std::filesystem::create_directories(folder_);
}

TestFolder::~TestFolder() { std::filesystem::remove_all(folder_); }

std::string TestFolder::Path(const std::string& name) const { return (folder_ / name).string(); }

std::string TestFolder::Write(const std::string& name, const std::string& text) const {
  std::ofstream(Path(name), std::ios::binary) << text;
  return Path(name);
}

}  // namespace hg::http
