#pragma once
// INVARIANT(condition) checks for programming errors, even in release builds. If the condition is
// false, it prints the place in the code and aborts the process. Do not use it for data from disk,
// network or users, because functions report invalid data with a Status.

namespace hg {
[[noreturn]] void InvariantFailed(const char* condition, const char* file, int line);
}

#define INVARIANT(condition)                    \
  (__builtin_expect(!!(condition), 1) ? void(0) \
                                      : ::hg::InvariantFailed(#condition, __FILE__, __LINE__))
