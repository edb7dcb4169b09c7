#pragma once

namespace hg {

/// Whether the tests are built with ThreadSanitizer, which makes code 5 to 30 times slower. Tests
/// that repeat one thread's work many times then repeat it less often.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

/// Whether the tests are built with AddressSanitizer, which makes code two to three times slower.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace hg
