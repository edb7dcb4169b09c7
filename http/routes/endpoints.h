#pragma once
// The table of HTTP endpoints: paths, allowed methods, modes, roles and handlers
// (opentsdb-http-api.md §3). Each endpoint has one line.

#include <cstdint>
#include <span>
#include <string_view>

#include "http/access/needed_role.h"
#include "http/request/services.h"

namespace hg::http {

/// A bit set of HTTP methods. For kAny, the handler itself checks the method, and calls
/// SendMethodNotAllowed (http/request/errors.h) for methods that it does not serve. Except with
/// Place::kApi, the router rejects Method::kOther, such as PATCH, even for kAny.
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

/// A bit set of the daemon modes in which an endpoint exists. In other modes, requests to its path
/// get 404.
enum Modes : uint8_t {
  kInReadWrite = 1,
  kInReadOnly = 2,
  kInWriteOnly = 4,
};
inline constexpr uint8_t kReads = kInReadWrite | kInReadOnly;
inline constexpr uint8_t kWrites = kInReadWrite | kInWriteOnly;
inline constexpr uint8_t kAllModes = kInReadWrite | kInReadOnly | kInWriteOnly;

/// How the path of a request is compared with an endpoint, and which option enables the endpoint.
enum class Place : uint8_t {
  kApi,   // compares the first path segment below /api[/vN]; needs Options::api_enabled
  kRoot,  // compares the first path segment; needs Options::ui_enabled
  /// Compares the whole path, for the APIs of other products. These endpoints are tried before kApi
  /// and kRoot. Needs Options::api_enabled.
  kPath,
  /// Compares the whole path as kPath does, but needs no option, because the endpoint serves the
  /// monitoring of the process.
  kWatch,
};

/// The kind of thread on which a handler runs first.
enum class Where : uint8_t {
  kPool,
  kLoop,  // the event loop; if the request would wait, then a pool thread (Request::on_loop)
};

struct Endpoint {
  /// The name of the endpoint in lower case; it is compared with Request::Endpoint(). With
  /// Place::kRoot, "" is the home page. With Place::kPath and Place::kWatch, the name is the whole
  /// path. With Place::kPath, requests may have one more slash at the end of the path.
  std::string_view name;
  Place place;
  uint8_t verbs;  // allowed methods; other methods get 405, or 400 on unversioned paths
  uint8_t modes;
  NeededRole role;  // returns the role that a request needs if authentication is on
  Handler handler;
  Where where = Where::kPool;
};

/// Returns all endpoints. The result does not change while the process runs.
std::span<const Endpoint> Endpoints();

/// Returns whether the path is one of Place::kPath, whatever the options say.
bool IsWholePath(const Request& request);

/// Finds the endpoint of a request. Returns nullptr if no endpoint has the path of the request, or
/// if the mode of the daemon or an option disables the endpoint.
const Endpoint* FindEndpoint(const Request& request, const Options& options);

/// Finds an endpoint by its name. Returns nullptr if no endpoint has this name, or if the mode of
/// the daemon or an option disables the endpoint ("diediedie" has its own option).
const Endpoint* FindEndpoint(std::string_view name, Place place, const Options& options);

}  // namespace hg::http
