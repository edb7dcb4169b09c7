#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "storage/lsm/cell_row.h"

namespace hg::lsm {
namespace {

CellVersion Cell(CellKind kind, int64_t time, uint64_t sequence, Bytes qualifier = "q",
                 Bytes value = "v") {
  CellVersion cell;
  cell.kind = kind;
  cell.qualifier = std::move(qualifier);
  cell.timestamp_ms = time;
  cell.sequence = sequence;
  if (kind == CellKind::kPut) cell.value = std::move(value);
  if (kind == CellKind::kDeleteFamily || kind == CellKind::kDeleteFamilyVersion) {
    cell.qualifier.clear();
  }
  return cell;
}

constexpr CellKind kKinds[] = {CellKind::kPut, CellKind::kDelete, CellKind::kDeleteFamilyVersion,
                               CellKind::kDeleteColumn, CellKind::kDeleteFamily};

std::vector<FamilyDescriptor> One(int32_t versions = 1) {
  std::vector<FamilyDescriptor> families = {{"f"}};
  families[0].versions = versions;
  return families;
}

std::string Seen(Families families, const CellVersions& row, int64_t now = 0,
                 const VersionRange& range = {}) {
  std::string text;
  for (const CellVersion* cell : VisibleVersions(families, now, range, row)) {
    text += cell->qualifier + "@" + std::to_string(cell->timestamp_ms) + " ";
  }
  return text;
}

TEST_CASE("cells sort by family and qualifier, then by descending time, kind and sequence") {
  std::mt19937 random(3);
  std::vector<CellVersion> cells;
  for (int i = 0; i < 400; ++i) {
    CellVersion cell = Cell(kKinds[random() % 5], static_cast<int64_t>(random() % 4) - 1,
                            random() % 3, Bytes(random() % 3, static_cast<char>(random() % 256)));
    cell.family = static_cast<uint8_t>(random() % 2);
    cells.push_back(cell);
  }
  const auto rank = [](const CellVersion& c) {
    return std::make_tuple(c.family, c.qualifier, -c.timestamp_ms, -static_cast<int>(c.kind),
                           -static_cast<int64_t>(c.sequence));
  };
  std::sort(cells.begin(), cells.end(), SortsBefore);
  CHECK(std::is_sorted(cells.begin(), cells.end(),
                       [&](const auto& a, const auto& b) { return rank(a) < rank(b); }));
  // A tombstone sorts before the put of its time.
  CHECK(SortsBefore(Cell(CellKind::kDelete, 5, 1), Cell(CellKind::kPut, 5, 9)));
  CHECK(SortsBefore(Cell(CellKind::kPut, 6, 1), Cell(CellKind::kPut, 5, 9)));
}

// All four kinds of tombstones, each with an older, equal and newer put, written before and after
// it.
TEST_CASE("each kind of delete hides its versions, by the default rule and by order of writing") {
  const Bytes columns[] = {"other", "q"};
  for (const bool new_behavior : {false, true}) {
    auto families = One(10);
    families[0].new_version_behavior = new_behavior;
    for (const CellKind kind : kKinds) {
      if (kind == CellKind::kPut) continue;
      const bool of_family =
          kind == CellKind::kDeleteFamily || kind == CellKind::kDeleteFamilyVersion;
      const bool of_one_time = kind == CellKind::kDelete || kind == CellKind::kDeleteFamilyVersion;
      for (const bool put_first : {true, false}) {
        for (const int64_t time : {9, 10, 11}) {
          for (const Bytes& column : columns) {
            CAPTURE(static_cast<int>(kind));
            CAPTURE(put_first);
            CAPTURE(time);
            CAPTURE(column);
            CAPTURE(new_behavior);
            const CellVersion put = Cell(CellKind::kPut, time, put_first ? 1 : 2, column);
            const CellVersion tombstone = Cell(kind, 10, put_first ? 2 : 1);
            const bool reached = (of_one_time ? time == 10 : time <= 10) &&
                                 (of_family || column == "q") && (put_first || !new_behavior);
            CellVersions row;
            AddVersions(families, {put_first ? put : tombstone}, &row);
            AddVersions(families, {put_first ? tombstone : put}, &row);
            CHECK(Seen(families, row).empty() == reached);
            // The result is the same in two files, and in one merged file.
            CellVersions merged =
                put_first ? MergeVersions({tombstone}, {put}) : MergeVersions({put}, {tombstone});
            CHECK(Seen(families, merged).empty() == reached);
            TidyVersions(families, {0, 100}, &merged);
            CHECK(Seen(families, merged).empty() == reached);
            CHECK(std::none_of(merged.begin(), merged.end(), [](const CellVersion& cell) {
              return cell.kind != CellKind::kPut;
            }));
          }
        }
      }
    }
  }
}

TEST_CASE("the newest n versions are kept, in reads and in any merges") {
  const auto families = One(3);
  CellVersions row;
  CellVersions parts[2];
  for (int64_t time = 1; time <= 5; ++time) {
    const auto put = Cell(CellKind::kPut, time, static_cast<uint64_t>(time));
    AddVersions(families, {put}, &row);
    AddVersions(families, {put}, &parts[time % 2]);
  }
  const VersionRange all{0, 100, 100};
  CHECK(Seen(families, row, 0, all) == "q@5 q@4 q@3 ");
  CHECK(Seen(families, row) == "q@5 ");
  CHECK(Seen(families, row, 0, {0, 5, 1}) == "q@4 ");
  CellVersions merged = MergeVersions(parts[0], parts[1]);
  CHECK(Seen(families, merged, 0, all) == "q@5 q@4 q@3 ");
  CHECK(merged.size() == 5);
  TidyVersions(families, {}, &merged);
  CHECK(merged.size() == 3);
  CHECK(Seen(families, merged, 0, all) == "q@5 q@4 q@3 ");
}

TEST_CASE("cells of a family are visible up to its TTL, and MIN_VERSIONS of them longer") {
  auto families = One(3);
  families[0].ttl_s = 10;
  CellVersions row;
  AddVersions(families, {Cell(CellKind::kPut, 5'000, 1)}, &row);
  AddVersions(families, {Cell(CellKind::kPut, 6'000, 2)}, &row);
  const VersionRange all{0, INT64_MAX, 100};
  CHECK(Seen(families, row, 14'999, all) == "q@6000 q@5000 ");
  CHECK(Seen(families, row, 15'000, all) == "q@6000 q@5000 ");
  CHECK(Seen(families, row, 15'001, all) == "q@6000 ");
  CHECK(Seen(families, row, 16'001, all).empty());
  auto keeping = families;
  keeping[0].min_versions = 1;
  CHECK(Seen(keeping, row, 99'000, all) == "q@6000 ");
  CellVersions tidy = row;
  TidyVersions(keeping, {99'000}, &tidy);
  CHECK(tidy.size() == 1);
  TidyVersions(families, {99'000}, &tidy);
  CHECK(tidy.empty());
}

TEST_CASE("a cell's own TTL shortens its life and does not prolong it") {
  auto families = One();
  families[0].ttl_s = 10;
  CellVersion early = Cell(CellKind::kPut, 1'000, 1, "early");
  early.expires_ms = 1'500;
  CellVersion late = Cell(CellKind::kPut, 1'000, 1, "late");
  late.expires_ms = 99'000;
  CellVersions row;
  AddVersions(families, {early}, &row);
  AddVersions(families, {late}, &row);
  CHECK(Seen(families, row, 1'500) == "early@1000 late@1000 ");
  CHECK(Seen(families, row, 1'501) == "late@1000 ");
  CHECK(Seen(families, row, 11'000) == "late@1000 ");
  CHECK(Seen(families, row, 11'001).empty());
}

TEST_CASE("kept deleted cells are visible to reads of the time before their delete") {
  for (const bool keep : {false, true}) {
    auto families = One(2);
    families[0].keep_deleted_cells = keep;
    CellVersions row;
    AddVersions(families, {Cell(CellKind::kPut, 10, 1)}, &row);
    AddVersions(families, {Cell(CellKind::kDeleteColumn, 20, 2)}, &row);
    for (const bool merged : {false, true}) {
      if (merged) TidyVersions(families, {100, 100}, &row);
      CHECK(Seen(families, row).empty());
      CHECK(Seen(families, row, 0, {0, 15, 1}) == (keep ? "q@10 " : ""));
      CHECK(Seen(families, row, 0, {0, 21, 1}).empty());
    }
    // Newer versions displace the deleted ones. Then the tombstone is dropped, too.
    AddVersions(families, {Cell(CellKind::kPut, 30, 3)}, &row);
    AddVersions(families, {Cell(CellKind::kPut, 31, 4)}, &row);
    TidyVersions(families, {100, 100}, &row);
    CHECK(row.size() == 2);
  }
}

CellVersion RandomVersion(std::mt19937_64& random, uint64_t sequence) {
  CellVersion cell =
      Cell(kKinds[random() % 2 ? 0 : random() % 5], static_cast<int64_t>(random() % 6), sequence,
           random() % 2 ? "a" : "", std::to_string(sequence));
  cell.family = static_cast<uint8_t>(random() % 2);
  return cell;
}

TEST_CASE("a history by time may be split anywhere: readers see the result of the whole history") {
  std::vector<FamilyDescriptor> families = {{"f"}, {"g"}};
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    // Many versions: which old version reappears after a delete of one depends on what was trimmed.
    for (auto& family : families) {
      family.versions = 100;
      family.keep_deleted_cells = seed % 3 == 1;
      family.new_version_behavior = seed % 3 == 2;
    }
    const size_t count = 2 + seed % 4;
    std::vector<CellVersions> parts(count);
    CellVersions whole;
    uint64_t sequence = 0;
    for (CellVersions& part : parts) {
      CellVersions added;
      for (int i = 0; i < 5; ++i) {
        added.push_back(RandomVersion(random, ++sequence));
        AddVersions(families, {added.back()}, &whole);
      }
      AddVersions(families, added, &part);
      TidyVersions(families, {}, &part);
    }
    CellVersions left = parts[0];
    for (size_t i = 1; i < count; ++i) left = MergeVersions(parts[i], left);
    CellVersions right = parts[count - 1];
    for (size_t i = count - 1; i-- > 0;) right = MergeVersions(right, parts[i]);
    CHECK(left == right);
    CellVersions bottom = left;
    TidyVersions(families, {0, 100}, &bottom);
    for (const VersionRange& range :
         {VersionRange{}, VersionRange{0, 3, 100}, VersionRange{2, 5, 2}}) {
      CHECK(Seen(families, left, 0, range) == Seen(families, whole, 0, range));
      CHECK(Seen(families, bottom, 0, range) == Seen(families, whole, 0, range));
    }
    Bytes bytes;
    EncodeVersions(left, &bytes);
    CellVersions back;
    ByteView in = bytes;
    REQUIRE(DecodeVersions(&in, &back));
    CHECK(in.empty());
    CHECK(back == left);
  }
}

// The definition of deletes, cell by cell.
bool OfOneTime(CellKind kind) {
  return kind == CellKind::kDelete || kind == CellKind::kDeleteFamilyVersion;
}
bool Hides(const FamilyDescriptor& family, const CellVersion& tombstone, const CellVersion& put) {
  if (tombstone.kind == CellKind::kPut) return false;
  if (!IsFamilyTombstone(tombstone) && tombstone.qualifier != put.qualifier) return false;
  const bool reaches = OfOneTime(tombstone.kind) ? put.timestamp_ms == tombstone.timestamp_ms
                                                 : put.timestamp_ms <= tombstone.timestamp_ms;
  return reaches && (!family.new_version_behavior || tombstone.sequence >= put.sequence);
}
// Returns whether `wider` hides everything that `tombstone` hides. Of two tombstones that hide the
// same cells, only one counts as wider.
bool Covers(const FamilyDescriptor& family, const CellVersion& wider,
            const CellVersion& tombstone) {
  if (&wider == &tombstone || wider.kind == CellKind::kPut) return false;
  if (!IsFamilyTombstone(wider) &&
      (IsFamilyTombstone(tombstone) || wider.qualifier != tombstone.qualifier)) {
    return false;
  }
  if (family.new_version_behavior && wider.sequence < tombstone.sequence) return false;
  if (OfOneTime(wider.kind)) {
    return OfOneTime(tombstone.kind) && wider.timestamp_ms == tombstone.timestamp_ms &&
           wider.kind != tombstone.kind;
  }
  return tombstone.timestamp_ms < wider.timestamp_ms ||
         (tombstone.timestamp_ms == wider.timestamp_ms && tombstone.kind != wider.kind);
}

TEST_CASE("reads and merges agree with the definition of deletes, cell by cell") {
  for (uint64_t seed = 1; seed <= 30'000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto families = One(random() % 2 ? 100 : 2);
    FamilyDescriptor& family = families[0];
    family.new_version_behavior = random() % 2;
    family.keep_deleted_cells = random() % 3 == 0;
    CellVersions row;
    for (uint64_t i = random() % 16; i > 0; --i) {
      const CellVersion cell = Cell(kKinds[random() % 5], static_cast<int64_t>(random() % 4),
                                    random() % 5, random() % 2 ? "a" : "");
      row = MergeVersions({cell}, std::move(row));
    }
    const TidyOptions options{0, static_cast<int64_t>(random() % 5) - 1};
    const VersionRange range{0, static_cast<int64_t>(random() % 5),
                             1 + static_cast<int>(random() % 3)};
    const auto any_of_row = [&](auto&& f) { return std::any_of(row.begin(), row.end(), f); };

    std::string expected_seen;
    CellVersions expected_tidy;
    std::map<Bytes, int> rank, given;
    std::map<Bytes, int64_t> oldest_put;
    int64_t oldest_of_family = INT64_MAX;
    for (const CellVersion& cell : row) {
      if (cell.kind != CellKind::kPut) continue;
      const auto hidden = [&](const VersionRange& deletes) {
        return any_of_row([&](const CellVersion& tombstone) {
          return deletes.Holds(tombstone.timestamp_ms) && Hides(family, tombstone, cell);
        });
      };
      if (!family.keep_deleted_cells && hidden({})) continue;
      if (++rank[cell.qualifier] > family.versions) continue;
      expected_tidy.push_back(cell);
      oldest_put[cell.qualifier] = oldest_of_family = cell.timestamp_ms;
      if (!range.Holds(cell.timestamp_ms) || (family.keep_deleted_cells && hidden(range))) continue;
      if (++given[cell.qualifier] > range.max_versions) continue;
      expected_seen += cell.qualifier + "@" + std::to_string(cell.timestamp_ms) + " ";
    }
    for (const auto& [qualifier, time] : oldest_put) {
      oldest_of_family = std::min(oldest_of_family, time);
    }
    for (const CellVersion& cell : row) {
      if (cell.kind == CellKind::kPut) continue;
      const bool is_old = cell.timestamp_ms <= options.tombstones_until_ms;
      if (family.keep_deleted_cells) {
        const auto column = oldest_put.find(cell.qualifier);
        const int64_t oldest = IsFamilyTombstone(cell)      ? oldest_of_family
                               : column != oldest_put.end() ? column->second
                                                            : INT64_MAX;
        if (is_old && cell.timestamp_ms < oldest) continue;
      } else if (is_old || any_of_row([&](const CellVersion& wider) {
                   return Covers(family, wider, cell);
                 })) {
        continue;
      }
      expected_tidy.push_back(cell);
    }
    std::sort(expected_tidy.begin(), expected_tidy.end(), SortsBefore);
    CHECK(Seen(families, row, 0, range) == expected_seen);
    TidyVersions(families, options, &row);
    CHECK(row == expected_tidy);
  }
}

TEST_CASE("a version that the same record deletes does not displace an older version") {
  const auto families = One();
  CellVersions row;
  AddVersions(
      families,
      {Cell(CellKind::kPut, 1, 1), Cell(CellKind::kPut, 2, 2), Cell(CellKind::kDelete, 2, 3)},
      &row);
  CHECK(Seen(families, row) == "q@1 ");
}

TEST_CASE("versions above the limit do not occupy memory") {
  CellVersions added, row;
  for (int64_t time = 1; time <= 1000; ++time) added.push_back(Cell(CellKind::kPut, time, 1));
  AddVersions(One(), added, &row);
  CHECK(row.size() == 1);
  CHECK(row.capacity() <= 2);
}

TEST_CASE("of equal cells in one record, the last one is kept") {
  const auto families = One();
  CellVersions row;
  AddVersions(families,
              {Cell(CellKind::kPut, 1, 7, "q", "first"), Cell(CellKind::kPut, 1, 7, "q", "last")},
              &row);
  REQUIRE(row.size() == 1);
  CHECK(row[0].value == "last");
  AddVersions(families, {Cell(CellKind::kPut, 1, 8, "q", "later")}, &row);
  REQUIRE(row.size() == 1);
  CHECK(row[0].value == "later");
}

TEST_CASE("deleting and putting a column repeatedly does not make its row grow") {
  const auto families = One();
  CellVersions row;
  for (uint64_t i = 1; i <= 1000; ++i) {
    AddVersions(families, {Cell(CellKind::kDeleteColumn, static_cast<int64_t>(2 * i), i)}, &row);
    AddVersions(families, {Cell(CellKind::kPut, static_cast<int64_t>(2 * i + 1), i)}, &row);
    REQUIRE(Seen(families, row) == "q@" + std::to_string(2 * i + 1) + " ");
  }
  CHECK(row.size() == 2);
}

}  // namespace
}  // namespace hg::lsm
