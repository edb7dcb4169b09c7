#pragma once
// A vector whose copies share their elements until one copy is changed.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace hg {

/// A vector with the reading functions of std::vector. Copying a SharedVector only increments a
/// reference count. When one of several copies is changed, its elements are copied first. Threads
/// may use different copies at the same time.
template <typename T>
class SharedVector {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedVector() = default;
  SharedVector(std::vector<T> elements)  // NOLINT: implicit on purpose
      : elements_(elements.empty() ? nullptr
                                   : std::make_shared<std::vector<T>>(std::move(elements))) {}
  SharedVector(std::initializer_list<T> elements) : SharedVector(std::vector<T>(elements)) {}

  [[nodiscard]] const std::vector<T>& get() const {
    static const std::vector<T> none;
    return elements_ != nullptr ? *elements_ : none;
  }
  operator const std::vector<T>&() const { return get(); }  // NOLINT: implicit on purpose

  [[nodiscard]] bool empty() const { return elements_ == nullptr || elements_->empty(); }
  [[nodiscard]] size_t size() const { return elements_ != nullptr ? elements_->size() : 0; }
  const T& operator[](size_t i) const { return (*elements_)[i]; }
  [[nodiscard]] const T& front() const { return elements_->front(); }
  [[nodiscard]] const T& back() const { return elements_->back(); }
  [[nodiscard]] const_iterator begin() const { return get().begin(); }
  [[nodiscard]] const_iterator end() const { return get().end(); }

  /// Copies the elements if other SharedVectors share them. Returns the elements, which the caller
  /// may change.
  std::vector<T>& Edit() {
    if (elements_ == nullptr) {
      elements_ = std::make_shared<std::vector<T>>();
    } else if (elements_.use_count() > 1) {
      elements_ = std::make_shared<std::vector<T>>(*elements_);
    }
    return *elements_;
  }
  void push_back(T element) { Edit().push_back(std::move(element)); }
  void clear() { elements_.reset(); }

  /// Returns whether this vector and `other` share their elements, or both are empty. Does not
  /// compare elements.
  [[nodiscard]] bool SharesWith(const SharedVector& other) const {
    return elements_ == other.elements_ || (empty() && other.empty());
  }
  /// Returns a pointer that is equal only for vectors that share their elements. Returns nullptr if
  /// this vector never had elements or was cleared.
  [[nodiscard]] const void* identity() const { return elements_.get(); }

  friend bool operator==(const SharedVector& a, const SharedVector& b) {
    return a.SharesWith(b) || a.get() == b.get();
  }

 private:
  std::shared_ptr<std::vector<T>> elements_;  // null if the vector is empty
};

}  // namespace hg
