#pragma once
// Creates certificates for tests, and writes files that contain certificates.

#include <filesystem>
#include <string>
#include <vector>

namespace hg::http {

/// The content of a certificate that a test wants to create.
struct CertificateWish {
  std::string common_name;
  std::vector<std::string> dns_names = {};
  bool authority = false;
  /// Number of days until the certificate expires. If negative, number of days since the
  /// certificate has expired.
  int valid_days = 1;
};

struct Certificate {
  std::string certificate, key;  // certificate and key in PEM form
};

/// Creates a certificate and signs it with the key of `authority`. If `authority` is nullptr, the
/// certificate is self-signed.
Certificate MakeCertificate(const CertificateWish& wish, const Certificate* authority = nullptr);

/// Returns a certificate revocation list in PEM form. `authority` signs the list, which contains
/// the certificates in `revoked` and is valid for `valid_days` days.
std::string MakeRevocations(const Certificate& authority,
                            const std::vector<const Certificate*>& revoked, int valid_days = 1);

/// A folder for the files of a test. The destructor removes the folder.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  /// Writes a file into the folder, and returns the path of the file.
  std::string Write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string Path(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hg::http
