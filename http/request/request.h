#pragma once
// A parsed HTTP request. Handlers get it as their input.

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

/// The query-string parameters in the order of their appearance, percent-decoded
/// (opentsdb-http-api.md §4).
class Parameters {
 public:
  void Add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  /// Returns whether the parameter is present. A parameter that acts as a switch counts as set if
  /// it is present, even in the form "=false".
  [[nodiscard]] bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// Returns the last value of a parameter, or nullptr if the parameter is absent.
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

/// Work that a handler keeps between two calls for one request. The first call runs on an event
/// loop and ends early because it would have to wait. The second call runs on a pool thread and
/// continues with the kept work.
struct KeptWork {
  virtual ~KeptWork() = default;
};

/// A request. It owns all its texts except the body. A connection handles one request at a time.
struct Request {
  Method method = Method::kGet;
  std::string method_text;  // name of the HTTP method as the client sent it
  /// The path and the query string, with their percent-escapes. ParseTarget removes the prefixes
  /// /influx and /prometheus.
  std::string target;
  /// The path of `target`, split at '/'. "/api/v1/put" becomes {"api","v1","put"}. Bytes that are
  /// not UTF-8 become U+FFFD.
  std::vector<std::string> segments;
  /// The API version in the path: 0 below /api/v0, and 1 on all other paths below /api. -1: the
  /// path is not below /api (unversioned paths).
  int api_version = -1;
  /// The index in `segments` of the endpoint's name. If the path has "api" and a version, they
  /// stand before this name.
  size_t endpoint_index = 0;
  Parameters parameters;
  /// The header fields. Names are in lower case, and bytes of values that are not UTF-8 became
  /// U+FFFD.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;  // body after all decoding, as UTF-8; valid while the handler runs
  std::string remote;     // address of the client, such as "127.0.0.1:51000"
  std::string user;  // the authenticated user; "" = not authenticated, or authentication is off
  /// The roles of the user. The set is empty if the client is not authenticated, and has all roles
  /// if authentication is off.
  Roles roles = Roles::All();
  std::shared_ptr<Writer> writer;  // write limits of the client; null = unlimited
  /// Enforces the time limit and the memory limit of the request, and can end the request early.
  /// Dispatch sets this member before it calls the handler, and sets it to nullptr afterwards.
  /// Handlers pass this object to every call that may take long.
  query::RunningRequest* running = nullptr;
  /// Whether the request is tried on an event loop. If it is, `running` rejects work that would
  /// wait (RequestContext::MayWait). The caller of Dispatch sets this member.
  bool on_loop = false;
  /// Whether `running` rejected work of the handler. Dispatch sets this member. If it is true, the
  /// caller must discard everything that the handler sent, and run the request again with on_loop =
  /// false.
  bool refused = false;
  /// The memory that parsers may use for the request; nullptr = no limit. This member is set while
  /// the handler runs.
  RequestMemory::Share* memory = nullptr;
  /// Work that the first call of the handler keeps for the second call. Only the handler uses this
  /// member and knows the type of the object.
  mutable std::unique_ptr<KeptWork> kept_work;

  /// Returns the name of the endpoint in lower case, or "" if the path has no such name.
  [[nodiscard]] std::string Endpoint() const { return Segment(0); }
  /// Returns the path segment that is `after` positions behind the name of the endpoint, in lower
  /// case. Returns "" if the path has no such segment.
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
