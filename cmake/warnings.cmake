# Warnings are errors everywhere. -ffp-contract=off: OpenTSDB's doubles are Java's, so no fused
# multiply-add may change a last digit (opentsdb-queries.md §1).
add_compile_options(-Wall -Wextra -Werror -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these in inlined std::string and std::vector code at -O2.
  add_compile_options(-Wno-stringop-overflow -Wno-array-bounds -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(HOURGLASS_UNITY GREATER 1 AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes sources that are compiled together for headers. Presets that compile each source alone keep this warning.
  add_compile_options(-Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety)  # members marked GUARDED_BY (storage/base/thread_annotations.h)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
