# Flags that every target of the project is built with. `fuelrail_options` carries them.
add_library(fuelrail_options INTERFACE)
target_compile_options(fuelrail_options INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
# Part of clang's -Wconversion, not of g++'s; one rule for both. Clang also checks base/guarded.h.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(fuelrail_options INTERFACE -Wno-sign-conversion -Wthread-safety)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # takes a source that it includes for a header
  target_compile_options(fuelrail_options INTERFACE -Wno-subobject-linkage)
endif()
# Results must not depend on the compiler fusing a multiply and an add (docs/design.md, rule 2).
target_compile_options(fuelrail_options INTERFACE -ffp-contract=off)
target_compile_options(fuelrail_options INTERFACE -fvisibility=hidden -fvisibility-inlines-hidden)
target_include_directories(fuelrail_options INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src")

if(FUELRAIL_SANITIZE)
  target_compile_options(fuelrail_options INTERFACE
    "-fsanitize=${FUELRAIL_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fuelrail_options INTERFACE "-fsanitize=${FUELRAIL_SANITIZE}")
endif()
