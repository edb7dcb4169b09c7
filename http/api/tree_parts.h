#pragma once
// Functions that the endpoints below /api/tree have in common. If an argument is invalid, the
// functions themselves send the error reply.

#include <optional>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/request/services.h"
#include "uid/tree_store.h"

namespace hg::http {

uid::TreeStore TreesOf(Services& services);

/// Sends 400 "Unsupported HTTP request method".
void SendUnsupportedMethod(ResponseWriter& out, const Request& request);
/// Sends 400 with the message. The details of the error reply also contain the message.
void SendTreeArgumentError(ResponseWriter& out, const Request& request, std::string_view message);

/// Returns the parameter treeid, which is 0 to 65535, or 0 if the parameter is absent. If the
/// parameter is invalid, sends an error reply and returns nullopt.
std::optional<int32_t> TreeIdParameter(const Request& request, ResponseWriter& out);
/// Returns the tree with that id. If the id is 0 or the tree does not exist, sends an error reply
/// and returns nullopt.
std::optional<uid::Tree> RequireTree(int32_t id, const Request& request, Services& services,
                                     ResponseWriter& out);
/// Returns the value of a required integer parameter. If the parameter is absent or invalid, sends
/// an error reply and returns nullopt.
std::optional<int32_t> RequiredNumber(const Request& request, std::string_view name,
                                      ResponseWriter& out);

/// Returns true if the method is GET, POST or PUT; a method in method_override counts as well. For
/// other methods, sends an error reply and returns false.
bool RequireReadingVerb(const Request& request, ResponseWriter& out);

void HandleTreeRule(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeRules(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeBranch(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeFailures(const Request& request, Services& services, ResponseWriter& out,
                        uid::TreeFailure kind);
void HandleTreeTest(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
