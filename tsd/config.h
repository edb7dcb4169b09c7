#pragma once
// The settings of a process: OpenTSDB's keys and ours with their defaults, a Java properties file
// over them, the command line over both (spec schema.md §19; our deviations: design.md §3). Only
// this folder knows the keys; every other room is handed a plain options struct (tsd/settings.h).

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::tsd {

/// One thread at a time while it is built; read by many afterwards.
class Config {
 public:
  /// Every known key at its default.
  Config();

  /// The defaults and a file over them. Empty path: the first readable one of the default places,
  /// or none at all. IoError: a path was given and cannot be read.
  static Result<Config> Load(const std::string& path);
  /// Where Load looks without a path, first one first.
  static const std::vector<std::string>& DefaultPlaces();

  /// The file that was read; empty if there was none.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Also remembers that the key was set, to whatever value.
  void Set(std::string_view key, std::string_view value);

  /// The keys that were set and have no effect, and why (tsd/known_settings.h).
  struct Ineffective {
    std::string key, why;
    bool operator==(const Ineffective&) const = default;
  };
  [[nodiscard]] std::vector<Ineffective> IneffectiveSettings() const;

  /// Present and not empty.
  [[nodiscard]] bool Has(std::string_view key) const { return !String(key).empty(); }
  /// As written; empty if absent.
  [[nodiscard]] const std::string& String(std::string_view key) const;
  /// "1", "true", "yes" in any case, trimmed; everything else is false.
  [[nodiscard]] bool Bool(std::string_view key) const;
  /// A trimmed decimal number of [min, max]; absent or empty = `absent`. InvalidArgument names key
  /// and value.
  [[nodiscard]] Result<int64_t> Int(std::string_view key, int64_t absent, int64_t min,
                                    int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// The value, or what is in the file if it names one (".json" at its end). IoError: the file
  /// cannot be read.
  [[nodiscard]] Result<std::string> JsonText(std::string_view key) const;
  /// Words between commas, trimmed, empty ones left out.
  [[nodiscard]] std::vector<std::string> List(std::string_view key) const;

  /// Every effective setting; values of keys with PASS in them are masked. For /api/config.
  [[nodiscard]] std::map<std::string, std::string> Shown() const;

 private:
  void Apply(std::string_view properties);

  std::map<std::string, std::string, std::less<>> values_;
  std::string file_;
  std::set<std::string, std::less<>> set_;  // keys
};

}  // namespace hg::tsd
