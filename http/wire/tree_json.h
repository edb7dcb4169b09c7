#pragma once
// Trees in the JSON of responses (opentsdb-http-api.md §18.2). Fields and their order differ from
// the stored JSON.

#include "http/wire/json_writer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/names.h"
#include "uid/tree.h"

namespace hg::http {

void WriteTree(const uid::Tree& tree, JsonWriter* json);
void WriteTreeRule(const uid::TreeRule& rule, JsonWriter* json);
/// Writes a branch of a tree. If `names` is null, a leaf has only its TSUID; otherwise it also has
/// its metric and tags. NotFound: an id has no name. Returns early if json->alive() is false. Also
/// fails with errors of the context.
Status WriteTreeBranch(int32_t tree, const uid::TreeBranch& branch, const KeyLayout& layout,
                       uid::Names* names, JsonWriter* json, RequestContext& context);

}  // namespace hg::http
