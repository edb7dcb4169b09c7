#pragma once
// Trees in JSON (opentsdb-http-api.md §18.2). Fields and their order differ from those of the
// stored JSON.

#include "http/wire/json_writer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/names.h"
#include "uid/tree.h"

namespace hg::http {

void WriteTree(const uid::Tree& tree, JsonWriter* json);
void WriteTreeRule(const uid::TreeRule& rule, JsonWriter* json);
/// Writes a branch of a tree. With `names`, a leaf shows its metric and tags; if `names` is null,
/// only its TSUID. NotFound: an id has no name. Returns early if json->alive() is false. Also fails
/// with errors of the context.
Status WriteTreeBranch(int32_t tree, const uid::TreeBranch& branch, const KeyLayout& layout,
                       uid::Names* names, JsonWriter* json, RequestContext& context);

}  // namespace hg::http
