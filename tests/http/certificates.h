#pragma once
// Certificates made for a test, and files of them.

#include <filesystem>
#include <string>
#include <vector>

namespace hg::http {

/// What a certificate is to say.
struct CertificateWish {
  std::string common_name;
  std::vector<std::string> dns_names = {};
  bool authority = false;
  int valid_days = 1;  // negative: it has been over for so long
};

struct Certificate {
  std::string certificate, key;  // PEM
};

/// Signed by `authority`; by itself if that is nullptr.
Certificate MakeCertificate(const CertificateWish& wish, const Certificate* authority = nullptr);

/// The authority's list of certificates that it took back, PEM.
std::string MakeRevocations(const Certificate& authority,
                            const std::vector<const Certificate*>& revoked, int valid_days = 1);

/// A folder for a test's files, gone with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  /// Its path.
  std::string Write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string Path(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hg::http
