#pragma once
// A parsed HTTP request as the handlers see it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/access/roles.h"

namespace hg {
class Writer;
}

namespace hg::http {

enum class Method { kGet, kPost, kPut, kDelete, kOptions, kHead, kOther };

/// Query-string parameters in order of appearance, percent-decoded (spec http-api.md §4).
class Parameters {
 public:
  void Add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  /// Presence is what flags mean, even "=false".
  [[nodiscard]] bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// The last one given; nullptr if none.
  [[nodiscard]] const std::string* Find(std::string_view name) const {
    for (auto it = items_.rbegin(); it != items_.rend(); ++it)
      if (it->first == name) return &it->second;
    return nullptr;
  }
  [[nodiscard]] std::vector<std::string> All(std::string_view name) const {
    std::vector<std::string> out;
    for (const auto& [k, v] : items_)
      if (k == name) out.push_back(v);
    return out;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& items() const {
    return items_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

/// Owns everything it shows but the body. One request at a time per connection.
struct Request {
  Method method = Method::kGet;
  std::string method_text;  // as sent
  std::string target;       // path and query string as sent
  std::vector<std::string>
      segments;  // path split at '/', as sent; "/api/v1/put" = {"api","v1","put"}
  /// API version; 1 if the path names none. -1 for unversioned paths (not below /api).
  int api_version = -1;
  /// Index in segments of the endpoint's name: after "api" and a version, if any.
  size_t endpoint_index = 0;
  Parameters parameters;
  std::vector<std::pair<std::string, std::string>> headers;  // names lower-case
  std::string_view body;           // decoded (gzip, chunks); lives as long as the handler runs
  std::string remote;              // "127.0.0.1:51000"
  std::string user;                // who has proved to be it; "" = nobody, or nobody was asked
  Roles roles = Roles::All();      // of the user; none of a stranger; all where nobody was asked
  std::shared_ptr<Writer> writer;  // how much the client may write; null = everything

  /// The endpoint's name in lower case; "" if the path ends before.
  [[nodiscard]] std::string Endpoint() const { return Segment(0); }
  /// Segment after the endpoint's name (1 = first after it) in lower case; "" if absent.
  [[nodiscard]] std::string Segment(size_t after) const {
    size_t i = endpoint_index + after;
    if (i >= segments.size()) return {};
    std::string s = segments[i];
    for (char& c : s)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return s;
  }
  [[nodiscard]] const std::string* Header(std::string_view lower_name) const {
    for (const auto& [k, v] : headers)
      if (k == lower_name) return &v;
    return nullptr;
  }
};

}  // namespace hg::http
