#pragma once
// Functions that compute the role that a request or a telnet line needs. The table of endpoints
// (http/routes/endpoints) has one of these functions for each endpoint.

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

/// Returns kRead for GET and HEAD, and kWrite for other methods. If a GET request has the parameter
/// method_override, the method in that parameter decides.
Role ForReadersByVerb(const Request& request);

/// Returns kRead for GET, HEAD and POST, and kAdmin for other methods, because DELETE deletes the
/// points that it reads. The handler itself checks whether a body has the member "delete".
Role ForQueries(const Request& request);

/// Returns kWrite for assigning ids, with any method, and kAdmin for renaming, which affects all
/// data. Returns the result of ForReadersByVerb for all other requests.
Role ForUids(const Request& request);

/// Returns kAdmin for DELETE, which ends a query, and kRead for other methods.
Role ForStats(const Request& request);

/// Returns the role that a telnet line needs, by its first word.
Role RoleOfCommand(std::string_view command);

}  // namespace hg::http
