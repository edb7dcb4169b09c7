#include "http/wire/json_parts.h"

#include <string>
#include <utility>
#include <vector>

namespace hg::http {
namespace {

// Minimum number of points for which several threads print. Fewer points take less time than waking
// a thread.
constexpr size_t kPointsInParts = 16384;
constexpr size_t kPartPoints = 2048;
constexpr size_t kElementPoints = 4;  // cost of an element in addition to its points
constexpr size_t kPartsPerThread = 2;

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
  [[nodiscard]] size_t PartsMax() const { return kPartsPerThread * printers_.threads; }

  const ElementPrinting& elements_;
  const Printers& printers_;
  JsonWriter& json_;
  std::vector<std::string> texts_;  // buffers, reused to save allocations
  std::vector<std::pair<size_t, size_t>> parts_;
};

}  // namespace

void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json) {
  size_t points = 0;
  for (size_t i = 0; i < elements.count; ++i) points += kElementPoints + elements.points(i);
  if (!printers.run || printers.threads < 2 || points < kPointsInParts)
    return elements.print(0, elements.count, json);

  Round round(elements, printers, json);
  size_t begin = 0, of_part = 0;
  for (size_t i = 0; i < elements.count && json->alive(); ++i) {
    const size_t of_element = kElementPoints + elements.points(i);
    if (of_element >= kPointsInParts) {
      round.Add(begin, i);
      round.Print();
      elements.print(i, i + 1, json);
    } else if ((of_part += of_element) >= kPartPoints) {
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
