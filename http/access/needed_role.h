#pragma once
// Which role a request or a line needs: what the table of endpoints (http/endpoints) names for
// each.

#include <string_view>

#include "http/access/roles.h"
#include "http/request.h"

namespace hg::http {

using NeededRole = Role (*)(const Request&);

inline Role ForAnyone(const Request&) { return Role::kAnyone; }
inline Role ForUsers(const Request&) { return Role::kUser; }
inline Role ForReaders(const Request&) { return Role::kRead; }
inline Role ForWriters(const Request&) { return Role::kWrite; }
inline Role ForAdmins(const Request&) { return Role::kAdmin; }

/// GET reads; other verbs, and a method_override that names one, write.
Role ForReadersByVerb(const Request& request);

/// Queries read by GET and POST, and delete what they read by DELETE. (A body's "delete" is seen by
/// the handler alone.)
Role ForQueries(const Request& request);

/// Whoever assigns ids writes, whatever the verb; renaming changes all that there is.
Role ForUids(const Request& request);

/// Statistics read; ending another's query does not.
Role ForStats(const Request& request);

/// Of a line of the line protocol, by its first word.
Role RoleOfCommand(std::string_view command);

}  // namespace hg::http
