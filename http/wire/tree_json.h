#pragma once
// Trees in the JSON of responses (opentsdb-http-api.md §18.2). In stored JSON, the fields and their
// order are different.

#include "http/wire/json_writer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/names.h"
#include "uid/tree.h"

namespace hg::http {

void WriteTree(const uid::Tree& tree, JsonWriter* json);
void WriteTreeRule(const uid::TreeRule& rule, JsonWriter* json);
/// Writes a branch of a tree. If `names` is null, each leaf has only its TSUID; otherwise, each
/// leaf also has its metric and its tags. Returns early if json->alive() is false. NotFound: an id
/// has no name. Also fails if the context reports an error.
Status WriteTreeBranch(int32_t tree, const uid::TreeBranch& branch, const KeyLayout& layout,
                       uid::Names* names, JsonWriter* json, RequestContext& context);

}  // namespace hg::http
