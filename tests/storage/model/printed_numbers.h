#pragma once
// Checks tables of numbers and of the texts that the program must print for them.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace hg {

template <typename Number>
void CheckPrinted(void (*append)(std::string*, Number),
                  std::initializer_list<std::pair<Number, const char*>> table) {
  for (const auto& [number, text] : table) {
    std::string printed;
    append(&printed, number);
    CHECK(printed == text);
  }
}

}  // namespace hg
