#pragma once
// Creates certificates for tests, and files that contain the certificates.

#include <filesystem>
#include <string>
#include <vector>

namespace hg::http {

/// The content of a certificate to create.
struct CertificateWish {
  std::string common_name;
  std::vector<std::string> dns_names = {};
  bool authority = false;
  int valid_days = 1;  // days until the certificate expires; negative: days since then
};

struct Certificate {
  std::string certificate, key;  // PEM
};

/// Creates a certificate signed by `authority`, or by itself if `authority` is nullptr.
Certificate MakeCertificate(const CertificateWish& wish, const Certificate* authority = nullptr);

/// Returns the certificate revocation list of `authority` in PEM form.
std::string MakeRevocations(const Certificate& authority,
                            const std::vector<const Certificate*>& revoked, int valid_days = 1);

/// A folder for the files of a test. The destructor removes it.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  /// Writes a file in the folder and returns the path of the file.
  std::string Write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string Path(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hg::http
