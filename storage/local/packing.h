#pragma once
// Serializes the types of the cell store and of maintenance. All fields of a structure are written
// in order. Numbers become varints, and bytes are preceded by their length. The serialized data has
// no field names, so client and server must have the same version, which the greeting checks
// (calls.h).

#include <bit>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/base/sized_bytes.h"
#include "storage/base/status.h"
#include "storage/maintenance.h"
#include "storage/store.h"

namespace hg::local {

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// Returns the fields of a structure in the order in which they are packed and unpacked. There is
// one overload for each structure.
template <Is<Cell> T>
auto Fields(T& v) {
  return std::tie(v.family, v.qualifier, v.value, v.timestamp_ms);
}
template <Is<Row> T>
auto Fields(T& v) {
  return std::tie(v.key, v.cells);
}
template <Is<CellChange> T>
auto Fields(T& v) {
  return std::tie(v.kind, v.family, v.qualifier, v.value, v.timestamp_ms, v.ttl_ms);
}
template <Is<RowMutation> T>
auto Fields(T& v) {
  return std::tie(v.key, v.changes);
}
template <Is<ColumnIncrement> T>
auto Fields(T& v) {
  return std::tie(v.family, v.qualifier, v.by);
}
template <Is<ColumnAppend> T>
auto Fields(T& v) {
  return std::tie(v.family, v.qualifier, v.value);
}
template <Is<CellSelection> T>
auto Fields(T& v) {
  return std::tie(v.family, v.qualifiers, v.prefixes, v.column_min, v.column_max, v.min_ms,
                  v.max_ms, v.max_versions, v.keys_only, v.first_cell_only);
}
template <Is<KeyLayout> T>
auto Fields(T& v) {
  return std::tie(v.metric_width, v.tagk_width, v.tagv_width, v.salt_width, v.salt_buckets);
}
template <Is<TagClause> T>
auto Fields(T& v) {
  return std::tie(v.tagk, v.kind, v.values);
}
template <Is<SeriesMatcher> T>
auto Fields(T& v) {
  return std::tie(v.clauses, v.exact_tags, v.tsuids);
}
template <Is<RowFilter> T>
auto Fields(T& v) {
  return std::tie(v.kind, v.op, v.comparator, v.operand, v.mask, v.family, v.qualifier,
                  v.pass_if_missing, v.chance, v.seed, v.layout, v.series, v.children);
}
template <Is<ScanSpec> T>
auto Fields(T& v) {
  using Selection = std::conditional_t<std::is_const_v<T>, const CellSelection, CellSelection>;
  return std::tuple_cat(Fields(static_cast<Selection&>(v)),
                        std::tie(v.table, v.start, v.stop, v.reversed, v.batch_rows, v.batch_bytes,
                                 v.limit_rows, v.fill_cache, v.filter));
}
template <Is<FamilyDescriptor> T>
auto Fields(T& v) {
  return std::tie(v.name, v.versions, v.min_versions, v.ttl_s, v.keep_deleted_cells,
                  v.new_version_behavior, v.compression, v.data_block_encoding, v.bloom_filter,
                  v.in_memory, v.block_cache, v.block_size);
}
template <Is<TableSplitPolicy> T>
auto Fields(T& v) {
  return std::tie(v.kind, v.prefix_length, v.delimiter);
}
template <Is<TableDescriptor> T>
auto Fields(T& v) {
  return std::tie(v.name, v.families, v.points, v.splits, v.split_policy);
}
template <Is<RegionInfo> T>
auto Fields(T& v) {
  return std::tie(v.start, v.stop, v.file_bytes, v.file_count, v.memory_bytes, v.references,
                  v.writes, v.reads);
}
template <Is<StoreCapabilities> T>
auto Fields(T& v) {
  return std::tie(v.seek_filters, v.region_admin);
}
template <Is<CopyProgress> T>
auto Fields(T& v) {
  return std::tie(v.files, v.files_total, v.bytes, v.bytes_total, v.kept, v.linked, v.copied);
}
template <Is<Damage> T>
auto Fields(T& v) {
  return std::tie(v.file, v.offset, v.what, v.lost);
}
template <Is<CheckReport> T>
auto Fields(T& v) {
  return std::tie(v.files, v.bytes, v.damages, v.notes);
}

template <Is<RepairReport> T>
auto Fields(T& v) {
  return std::tie(v.done, v.lost);
}

// The greatest valid value of an enumeration. Unpacker rejects greater values. There is one
// specialization for each enumeration.
template <typename T>
constexpr T kGreatest = T::kNoSuchKind;
template <>
inline constexpr CellChange::Kind kGreatest<CellChange::Kind> =
    CellChange::Kind::kDeleteFamilyVersion;
template <>
inline constexpr TagClause::Kind kGreatest<TagClause::Kind> = TagClause::Kind::kAbsent;
template <>
inline constexpr RowFilter::Kind kGreatest<RowFilter::Kind> = RowFilter::Kind::kOr;
template <>
inline constexpr RowFilter::Op kGreatest<RowFilter::Op> = RowFilter::Op::kGreater;
template <>
inline constexpr RowFilter::Comparator kGreatest<RowFilter::Comparator> =
    RowFilter::Comparator::kBitXor;
template <>
inline constexpr TableSplitPolicy::Kind kGreatest<TableSplitPolicy::Kind> =
    TableSplitPolicy::Kind::kDelimitedKeyPrefix;
template <>
inline constexpr BloomFilter kGreatest<BloomFilter> = BloomFilter::kRow;
template <>
inline constexpr StatusCode kGreatest<StatusCode> = StatusCode::kExhausted;

/// Serializes values in sequence.
class Packer {
 public:
  template <typename... T>
  Packer& Put(const T&... values) {
    (One(values), ...);
    return *this;
  }
  [[nodiscard]] Bytes Take() { return std::move(out_); }

 private:
  void One(const Status& status) { Put(status.code(), status.message()); }
  template <typename T>
  void One(const Result<T>& result) {
    One(result.ok() ? Status() : result.status());
    if (result.ok()) One(*result);
  }
  template <typename T>
  void One(const std::optional<T>& value) {
    One(value.has_value());
    if (value) One(*value);
  }
  template <typename T>
  void One(const std::vector<T>& values) {
    AppendVarint(&out_, values.size());
    for (const T& value : values) One(value);
  }
  template <typename T>
  void One(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      AppendVarint(&out_, static_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      AppendVarint(&out_, ZigZag(static_cast<int64_t>(value)));
    } else if constexpr (std::is_same_v<T, double>) {
      AppendBig(&out_, std::bit_cast<uint64_t>(value), 8);
    } else if constexpr (std::is_convertible_v<const T&, ByteView>) {
      AppendSized(&out_, value);
    } else {
      std::apply([&](const auto&... fields) { Put(fields...); }, Fields(value));
    }
  }

  Bytes out_;
};

/// Reads values in the order in which they were written. Get returns false if the bytes end early
/// or have an invalid value. After a return of false, the variables that Get should set have
/// unspecified values.
class Unpacker {
 public:
  /// Maximum depth of nested structures. Only filters are nested, and they have only few levels.
  static constexpr int kDepthMax = 100;

  explicit Unpacker(ByteView in) : in_(in) {}

  template <typename... T>
  [[nodiscard]] bool Get(T*... values) {
    return (One(values) && ...);
  }
  [[nodiscard]] bool at_end() const { return in_.empty(); }

 private:
  bool One(Status* status) {
    StatusCode code{};
    std::string message;
    if (!Get(&code, &message)) return false;
    *status = code == StatusCode::kOk ? Status() : Status(code, std::move(message));
    return true;
  }
  template <typename T>
  bool One(Result<T>* result) {
    Status status;
    if (!One(&status)) return false;
    if (!status.ok()) {
      *result = std::move(status);
      return true;
    }
    T value{};
    if (!One(&value)) return false;
    *result = std::move(value);
    return true;
  }
  template <typename T>
  bool One(std::optional<T>* value) {
    bool there = false;
    if (!One(&there)) return false;
    value->reset();
    return !there || One(&value->emplace());
  }
  template <typename T>
  bool One(std::vector<T>* values) {
    uint64_t count;
    // A count above the number of remaining bytes is invalid, because each element has at least one
    // byte.
    if (!GetVarint64(&in_, &count) || count > in_.size()) return false;
    values->clear();
    for (uint64_t i = 0; i < count; ++i) {
      if constexpr (std::is_default_constructible_v<T>) {
        values->emplace_back();
      } else {
        values->emplace_back(Status());
      }
      if (!One(&values->back())) return false;
    }
    return true;
  }
  template <typename T>
  bool One(T* value) {
    uint64_t number;
    if constexpr (std::is_enum_v<T>) {
      if (!GetVarint64(&in_, &number) || number > static_cast<uint64_t>(kGreatest<T>)) return false;
      *value = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      if (!GetVarint64(&in_, &number)) return false;
      *value = static_cast<T>(UnZigZag(number));
    } else if constexpr (std::is_same_v<T, double>) {
      if (in_.size() < 8) return false;
      *value = std::bit_cast<double>(ReadBig64(in_.data()));
      in_.remove_prefix(8);
    } else if constexpr (std::is_same_v<T, Bytes>) {
      return TakeSized(&in_, value);
    } else {
      if (depth_ == kDepthMax) return false;
      ++depth_;
      const bool good =
          std::apply([&](auto&... fields) { return Get(&fields...); }, Fields(*value));
      --depth_;
      return good;
    }
    return true;
  }

  ByteView in_;
  int depth_ = 0;
};

}  // namespace hg::local
