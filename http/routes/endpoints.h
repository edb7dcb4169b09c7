#pragma once
// The table of endpoints: paths, allowed methods, modes, roles and handlers (opentsdb-http-api.md
// §3). Each endpoint is one line.

#include <cstdint>
#include <span>
#include <string_view>

#include "http/access/needed_role.h"
#include "http/request/services.h"

namespace hg::http {

/// Bit set of HTTP methods. For kAny the handler checks the method itself, including HEAD and PATCH
/// (SendMethodNotAllowed in http/request/errors.h).
enum Verbs : uint8_t {
  kGet = 1,
  kPost = 2,
  kPut = 4,
  kDelete = 8,
  kAny = 0xFF,
};
inline constexpr uint8_t kGetPost = kGet | kPost;
inline constexpr uint8_t kGetPostDelete = kGet | kPost | kDelete;
inline constexpr uint8_t kGetPostPutDelete = kGet | kPost | kPut | kDelete;

/// Bit set of the modes in which an endpoint exists. In other modes, its path gets 404.
enum Modes : uint8_t {
  kInReadWrite = 1,
  kInReadOnly = 2,
  kInWriteOnly = 4,
};
inline constexpr uint8_t kReads = kInReadWrite | kInReadOnly;
inline constexpr uint8_t kWrites = kInReadWrite | kInWriteOnly;
inline constexpr uint8_t kAllModes = kInReadWrite | kInReadOnly | kInWriteOnly;

/// How the path of an endpoint is matched, and which option enables the endpoint.
enum class Place : uint8_t {
  kApi,   // first path segment below /api[/vN]; needs Options::api_enabled
  kRoot,  // first path segment; needs Options::ui_enabled
  kPath,  // the whole path, for APIs of other products; looked up first; needs Options::api_enabled
  kWatch,  // as kPath, but always enabled, because it serves monitoring of the process
};

/// The thread that handles a request first.
enum class Where : uint8_t {
  kPool,
  kLoop,  // the event loop, or a pool thread if the request would wait (Request::on_loop)
};

struct Endpoint {
  /// The name that is compared with Request::Endpoint(), in lower case. With Place::kRoot, "" is
  /// the home page. With Place::kPath and Place::kWatch, the name is the whole path as sent.
  /// A path of Place::kPath may end with a slash.
  std::string_view name;
  Place place;
  uint8_t verbs;  // other methods get 405, or 400 on unversioned paths
  uint8_t modes;
  NeededRole role;  // the role that an authenticated user needs
  Handler handler;
  Where where = Where::kPool;
};

/// Returns all endpoints. The result is constant while the process runs.
std::span<const Endpoint> Endpoints();

/// Finds the endpoint of a request. Returns nullptr if no endpoint has this path, or if the mode of
/// the daemon or an option disables it.
const Endpoint* FindEndpoint(const Request& request, const Options& options);

/// Finds an endpoint by name. Returns nullptr if there is no such name, or if the mode of the
/// daemon or an option disables it ("diediedie" has its own option).
const Endpoint* FindEndpoint(std::string_view name, Place place, const Options& options);

}  // namespace hg::http
