#include "query/series/name_memo.h"

namespace hg::query {

Result<Bytes> NameMemo::Find(UidKind kind, std::string_view name) {
  if (name.empty()) return Status::InvalidArgument("Missing UID name");
  Result<Bytes> id = names_.Find(kind, name, &context_);
  if (!id.ok() && id.status().code() == StatusCode::kNotFound) {
    return Status::NotFound("No such name for '" + std::string(UidKindName(kind)) + "': '" +
                            std::string(name) + "'");
  }
  return id;
}

Result<const Bytes*> NameMemo::NameOf(UidKind kind, ByteView id) {
  auto& known = by_id_[static_cast<size_t>(kind)];
  if (auto it = known.find(id); it != known.end()) return &it->second;
  Result<Bytes> name = names_.NameOf(kind, id, &context_);
  if (!name.ok()) {
    if (name.status().code() != StatusCode::kNotFound) return name.status();
    return Status::NotFound("No such unique ID for '" + std::string(UidKindName(kind)) +
                            "': " + ToHexUpper(id));
  }
  constexpr size_t kEntryBytes = 160;  // entries for both texts in two tables
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(kEntryBytes + id.size() + name->size())));
  return &known.emplace(Bytes(id), std::move(*name)).first->second;
}

}  // namespace hg::query
