#include "http/wire/json_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hg::http {
namespace {

constexpr size_t kPartsPerThread = 2;

/// Returns whether the elements are long enough for several threads. Printing a shorter array takes
/// less time than waking a thread.
bool AreLong(const ElementPrinting& elements) {
  size_t bytes = 0;
  for (size_t i = 0; i < elements.count && bytes < kStreamedBytes; ++i)
    bytes += elements.bytes_max(i);
  return bytes >= kStreamedBytes;
}

/// The parts that are printed concurrently.
class Round {
 public:
  Round(const ElementPrinting& elements, const Printers& printers, JsonWriter* json)
      : elements_(elements), printers_(printers), json_(*json), texts_(PartsMax()) {}

  void Add(size_t begin, size_t end) {
    if (begin == end) return;
    parts_.emplace_back(begin, end);
    if (parts_.size() == texts_.size()) Print();
  }

  void Print() {
    printers_.run(parts_.size(), [this](size_t i) {
      texts_[i].clear();
      JsonWriter json(&texts_[i]);
      elements_.print(parts_[i].first, parts_[i].second, &json);
      return true;
    });
    for (size_t i = 0; i < parts_.size() && json_.alive(); ++i) json_.Raw(texts_[i]);
    parts_.clear();
  }

 private:
  [[nodiscard]] size_t PartsMax() const {
    return std::min(kPartsPerThread * printers_.threads, kWaitingPartsMax);
  }

  const ElementPrinting& elements_;
  const Printers& printers_;
  JsonWriter& json_;
  std::vector<std::string> texts_;  // buffers, reused to save allocations
  std::vector<std::pair<size_t, size_t>> parts_;
};

}  // namespace

void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json) {
  if (!printers.run || printers.threads < 2 || !AreLong(elements))
    return elements.print(0, elements.count, json);

  Round round(elements, printers, json);
  size_t begin = 0, of_part = 0;
  for (size_t i = 0; i < elements.count && json->alive(); ++i) {
    const size_t of_element = elements.bytes_max(i);
    if (of_element >= kStreamedBytes) {
      round.Add(begin, i);
      round.Print();
      elements.print(i, i + 1, json);
    } else if ((of_part += of_element) >= kPartBytes) {
      round.Add(begin, i + 1);
    } else {
      continue;
    }
    begin = i + 1;
    of_part = 0;
  }
  if (!json->alive()) return;
  round.Add(begin, elements.count);
  round.Print();
}

}  // namespace hg::http
