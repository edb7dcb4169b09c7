#pragma once
// What the endpoints below /api/tree share. Where an argument is wrong the answer is sent here.

#include <optional>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/services.h"
#include "uid/tree_store.h"

namespace hg::http {

uid::TreeStore TreesOf(Services& services);

/// 400 "Unsupported HTTP request method".
void SendUnsupportedMethod(ResponseWriter& out, const Request& request);
/// 400 with the message as details, too.
void SendTreeArgumentError(ResponseWriter& out, const Request& request, std::string_view message);

/// treeid of the query string, 0 … 65535; 0 = none was given. None: the error was sent.
std::optional<int32_t> TreeIdParameter(const Request& request, ResponseWriter& out);
/// The tree, which must have a number and exist.
std::optional<uid::Tree> RequireTree(int32_t id, const Request& request, Services& services,
                                     ResponseWriter& out);
/// A whole number of the query string, which must be there.
std::optional<int32_t> RequiredNumber(const Request& request, std::string_view name,
                                      ResponseWriter& out);

/// GET, POST and PUT, by override or not; else the error was sent.
bool RequireReadingVerb(const Request& request, ResponseWriter& out);

void HandleTreeRule(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeRules(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeBranch(const Request& request, Services& services, ResponseWriter& out);
void HandleTreeFailures(const Request& request, Services& services, ResponseWriter& out,
                        uid::TreeFailure kind);
void HandleTreeTest(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
