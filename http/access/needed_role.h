#pragma once
// The role that a request or a telnet line needs. The table of endpoints (http/routes/endpoints)
// names one of these functions per endpoint.

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

/// Returns kRead for GET and HEAD, kWrite for other methods. A GET request counts as the method
/// that its parameter method_override names.
Role ForReadersByVerb(const Request& request);

/// kRead for GET, HEAD and POST; kAdmin for other methods, because DELETE deletes the points that
/// it reads. The handler itself checks for the member "delete" in a body.
Role ForQueries(const Request& request);

/// kWrite for assigning ids, with any method; kAdmin for renaming, which affects all data;
/// otherwise as ForReadersByVerb.
Role ForUids(const Request& request);

/// kAdmin for DELETE, which ends a query; kRead otherwise.
Role ForStats(const Request& request);

/// The role for a telnet line, by its first word.
Role RoleOfCommand(std::string_view command);

}  // namespace hg::http
