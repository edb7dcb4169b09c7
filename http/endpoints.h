#pragma once
// The table of endpoints: which paths exist, where, for which verbs and modes (spec http-api.md
// §3). One line each.

#include <cstdint>
#include <span>
#include <string_view>

#include "http/access/needed_role.h"
#include "http/services.h"

namespace hg::http {

/// Sets of verbs. kAny: the handler checks verbs itself (SendMethodNotAllowed in http/errors.h),
/// HEAD and PATCH too.
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

/// Sets of modes in which the endpoint exists; elsewhere it is a 404.
enum Modes : uint8_t {
  kInReadWrite = 1,
  kInReadOnly = 2,
  kInWriteOnly = 4,
};
inline constexpr uint8_t kReads = kInReadWrite | kInReadOnly;
inline constexpr uint8_t kWrites = kInReadWrite | kInWriteOnly;
inline constexpr uint8_t kAllModes = kInReadWrite | kInReadOnly | kInWriteOnly;

/// Where the endpoint lives, and with that which switch it needs.
enum class Place : uint8_t {
  kApi,    // below /api[/vN]; needs Options::api_enabled
  kRoot,   // first segment of the path; needs Options::ui_enabled
  kPath,   // a whole path of another product's API, looked for first; needs Options::api_enabled
  kWatch,  // first segment of the path; needs no switch: who watches the process asks for it
};

/// Which thread a request is answered on first.
enum class Where : uint8_t {
  kPool,
  kLoop,  // the loop that read it, under NoWait; on the pool once that refused
};

struct Endpoint {
  /// Lower case; Request::Endpoint(). "" at kRoot = the home page. Of kPath all of the path, as
  /// sent.
  std::string_view name;
  Place place;
  uint8_t verbs;  // others are answered 405 (unversioned 400)
  uint8_t modes;
  NeededRole role;  // of those whom authentication knows
  Handler handler;
  Where where = Where::kPool;
};

/// All of them, the same for the life of the process.
std::span<const Endpoint> Endpoints();

/// The endpoint of a request; nullptr as below.
const Endpoint* FindEndpoint(const Request& request, const Options& options);

/// The endpoint of a name; nullptr if there is none, or none with these modes and switches
/// ("diediedie" has its own).
const Endpoint* FindEndpoint(std::string_view name, Place place, const Options& options);

}  // namespace hg::http
