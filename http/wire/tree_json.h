#pragma once
// Trees on the wire (spec http-api.md §18.2): other fields and another order than in storage.

#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "uid/names.h"
#include "uid/tree.h"

namespace hg::http {

void WriteTree(const uid::Tree& tree, JsonWriter* json);
void WriteTreeRule(const uid::TreeRule& rule, JsonWriter* json);
/// With `names` a leaf shows its series; without, only its TSUID. NotFound: an id without a name.
Status WriteTreeBranch(int32_t tree, const uid::TreeBranch& branch, const KeyLayout& layout,
                       uid::Names* names, JsonWriter* json);

}  // namespace hg::http
