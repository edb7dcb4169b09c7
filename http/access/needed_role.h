#pragma once
// Functions that compute the role that a client needs for a request or a telnet line. The table of
// endpoints (http/routes/endpoints) has one of these functions for each endpoint.

#include <string_view>

#include "http/access/roles.h"
#include "http/request/request.h"

namespace hg::http {

using NeededRole = Role (*)(const Request&);

inline Role ForAnyone(const Request&) { return Role::kAnyone; }
inline Role ForUsers(const Request&) { return Role::kUser; }
inline Role ForReaders(const Request&) { return Role::kRead; }
inline Role ForWriters(const Request&) { return Role::kWrite; }
inline Role ForAdmins(const Request&) { return Role::kAdmin; }

/// Returns kRead for GET and HEAD, and kWrite for all other methods. If a GET request has the
/// parameter method_override, the method in this parameter counts instead of GET.
Role ForReadersByVerb(const Request& request);

/// Returns kRead for GET, HEAD and POST, and kAdmin for all other methods. DELETE needs kAdmin
/// because it deletes the points that the query reads. The body of a POST can request the same with
/// the member "delete"; for such a body, the handler itself checks that the user has kAdmin.
Role ForQueries(const Request& request);

/// Returns kWrite for requests to /api/uid/assign with any method. Returns kAdmin for requests to
/// /api/uid/rename with any method, because a new name affects all data. Returns the result of
/// ForReadersByVerb for all other requests.
Role ForUids(const Request& request);

/// Returns kAdmin for DELETE, which ends a query, and kRead for all other methods.
Role ForStats(const Request& request);

/// Returns the role that is needed for a telnet line. `command` is the first word of the line.
Role RoleOfCommand(std::string_view command);

}  // namespace hg::http
