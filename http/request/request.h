#pragma once
// A parsed HTTP request, which is the input of a handler.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/access/roles.h"
#include "http/wire/request_memory.h"

namespace hg {
class Writer;
namespace query {
class RunningRequest;
}
}  // namespace hg

namespace hg::http {

enum class Method { kGet, kPost, kPut, kDelete, kOptions, kHead, kOther };

/// Query-string parameters in order of appearance, percent-decoded (opentsdb-http-api.md §4).
class Parameters {
 public:
  void Add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  /// Returns whether the parameter is present. A parameter without a meaningful value counts as set
  /// if it is present, even as "=false".
  [[nodiscard]] bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// Returns the last value of a parameter, or nullptr if there is none.
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

/// Work that a handler keeps between two calls for one request. The first call, on an event loop,
/// ends early because it would have to wait. The second call, on a pool thread, continues with this
/// work.
struct KeptWork {
  virtual ~KeptWork() = default;
};

/// A request. It owns all its texts except the body. A connection has one request at a time.
struct Request {
  Method method = Method::kGet;
  std::string method_text;  // the name of the method as sent
  std::string target;       // path and query string as sent
  std::vector<std::string>
      segments;  // path split at '/', unchanged; "/api/v1/put" = {"api","v1","put"}
  /// API version; 1 if the path has none; -1 for unversioned paths (not below /api).
  int api_version = -1;
  /// The index of the endpoint's name in `segments`. If "api" and a version are present, they come
  /// before the name.
  size_t endpoint_index = 0;
  Parameters parameters;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string_view body;  // decoded (gzip, chunks); valid while the handler runs
  std::string remote;     // "127.0.0.1:51000"
  std::string user;  // the authenticated user; "" = not authenticated, or authentication is off
  /// The user's roles; empty if not authenticated; all roles if authentication is off.
  Roles roles = Roles::All();
  std::shared_ptr<Writer> writer;  // write limits of the client; null = unlimited
  /// The request's limits of time and memory, and its cancellation. Dispatch sets this member while
  /// the handler runs. Handlers pass it to every call that may take long.
  query::RunningRequest* running = nullptr;
  /// Whether the request is tried on an event loop. `running` then rejects work that would wait
  /// (RequestContext::MayWait). The caller of Dispatch sets this member.
  bool on_loop = false;
  /// Dispatch sets this member if `running` rejected work. The caller must then discard everything
  /// that the handler sent, and run the request again with on_loop = false.
  bool refused = false;
  /// The memory that parsers may use for the request; nullptr = no limit. It is set while the
  /// handler runs.
  RequestMemory::Share* memory = nullptr;
  /// Work that the first call of the handler leaves for the second call. Only the handler uses this
  /// member and knows the type of the object.
  mutable std::unique_ptr<KeptWork> kept_work;

  /// Returns the name of the endpoint in lower case, or "" if the path has none.
  [[nodiscard]] std::string Endpoint() const { return Segment(0); }
  /// Returns the path segment `after` positions behind the name of the endpoint, in lower case, or
  /// "".
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
