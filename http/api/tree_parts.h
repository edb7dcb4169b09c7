#pragma once
// Functions that the endpoints below /api/tree share. If an argument is invalid, these functions
// send the error reply themselves.

#include <optional>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/request/services.h"
#include "uid/tree_store.h"

namespace hg::http {

uid::TreeStore TreesOf(Services& services);

/// Sends 400 "Unsupported HTTP request method".
void SendUnsupportedMethod(ResponseWriter& out, const Request& request);
/// Sends 400 with the message, which is also in the details.
void SendTreeArgumentError(ResponseWriter& out, const Request& request, std::string_view message);

/// Returns the parameter treeid, 0 … 65535, or 0 if it is absent. If it is invalid, sends an error
/// and returns nullopt.
std::optional<int32_t> TreeIdParameter(const Request& request, ResponseWriter& out);
/// Returns the tree with that id. If the id is 0 or the tree does not exist, sends an error and
/// returns nullopt.
std::optional<uid::Tree> RequireTree(int32_t id, const Request& request, Services& services,
                                     ResponseWriter& out);
/// Returns a required integer parameter. If it is absent or invalid, sends an error and returns
/// nullopt.
std::optional<int32_t> RequiredNumber(const Request& request, std::string_view name,
                                      ResponseWriter& out);

/// Returns true for GET, POST and PUT, including methods in method_override. For other methods
/// sends an error and returns false.
bool RequireReadingVerb(const Request& request, ResponseWriter& out);

void HandleTreeRule(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeRules(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeBranch(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeFailures(const Request& request, Services& services, ResponseWriter& out,
                        uid::TreeFailure kind);
void HandleTreeTest(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
