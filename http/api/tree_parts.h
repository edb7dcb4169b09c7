#pragma once
// Shared by the endpoints below /api/tree. For invalid arguments these functions send the error
// reply themselves.

#include <optional>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/services.h"
#include "uid/tree_store.h"

namespace hg::http {

uid::TreeStore TreesOf(Services& services);

/// Sends 400 "Unsupported HTTP request method".
void SendUnsupportedMethod(ResponseWriter& out, const Request& request);
/// Sends 400 with the message as details, too.
void SendTreeArgumentError(ResponseWriter& out, const Request& request, std::string_view message);

/// The parameter treeid, 0 … 65535; 0 if it is absent. nullopt: an error was sent.
std::optional<int32_t> TreeIdParameter(const Request& request, ResponseWriter& out);
/// The tree with that id. nullopt: the id is 0 or the tree does not exist, and an error was sent.
std::optional<uid::Tree> RequireTree(int32_t id, const Request& request, Services& services,
                                     ResponseWriter& out);
/// A required integer parameter. nullopt: an error was sent.
std::optional<int32_t> RequiredNumber(const Request& request, std::string_view name,
                                      ResponseWriter& out);

/// True for GET, POST and PUT, also by method_override. False: an error was sent.
bool RequireReadingVerb(const Request& request, ResponseWriter& out);

void HandleTreeRule(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeRules(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeBranch(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeFailures(const Request& request, Services& services, ResponseWriter& out,
                        uid::TreeFailure kind);
void HandleTreeTest(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
