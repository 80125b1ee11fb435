# fuelrail_test_options(<target>): what every test program is compiled with. Tests are not optimised (under sanitizers
# that is four fifths of their compile time): what they test is. GoogleTest's headers, a third of what is left, are
# compiled once.
if(FUELRAIL_BUILD_TESTS)
  file(WRITE "${PROJECT_BINARY_DIR}/test_headers.cc" "")
  add_library(fuelrail_test_headers OBJECT "${PROJECT_BINARY_DIR}/test_headers.cc")
endif()
function(fuelrail_test_options target)
  target_link_libraries(${target} PRIVATE fuelrail_options fuelrail_dep::fmt fuelrail_dep::gtest fuelrail_dep::gmock
                        Threads::Threads)
  target_compile_definitions(${target} PRIVATE
    FUELRAIL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FUELRAIL_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(FUELRAIL_SANITIZE)  # its allocators end the process where ours throw; tests of that are left out
    target_compile_definitions(${target} PRIVATE FUELRAIL_SANITIZED)
  endif()
  target_compile_options(${target} PRIVATE -O0)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # sees bounds broken where two std::strings are joined (GCC bug 105329)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                           -Wno-stringop-overread)
  endif()
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE OFF  # one setting for all who share the headers
    UNITY_BUILD OFF)               # many tests have helpers of the same names
  if(target STREQUAL fuelrail_test_headers)
    target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h> <memory> <string> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM fuelrail_test_headers)
  endif()
endfunction()
if(FUELRAIL_BUILD_TESTS)
  fuelrail_test_options(fuelrail_test_headers)
endif()
# fuelrail_optimise(<test source>...): for tests that compute for seconds themselves, such as references of arithmetic.
function(fuelrail_optimise)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# fuelrail_module(<name> SOURCES ... [DEPENDS <module>...] [LIBRARIES <dep>...] [TESTS ...] [TEST_LIBRARIES <target>...]
#                 [BENCHMARKS ...] [TESTS_AS_ONE])
#
# One static library a module, `fuelrail_<name>`. DEPENDS names modules (the table of docs/design.md, section 3);
# LIBRARIES names third-party targets, private to the module's sources. TESTS makes one program, `<name>_test`,
# which also links TEST_LIBRARIES; BENCHMARKS one, `<name>_benchmark`. Without SOURCES the module is headers only.
# TESTS_AS_ONE = where sources are compiled as one (CMAKE_UNITY_BUILD), the tests are too: no two of their helpers have
# the same name.
function(fuelrail_module name)
  cmake_parse_arguments(M "TESTS_AS_ONE" "" "SOURCES;DEPENDS;LIBRARIES;TESTS;TEST_LIBRARIES;BENCHMARKS" ${ARGN})
  list(TRANSFORM M_DEPENDS PREPEND fuelrail_)
  if(M_SOURCES)
    add_library(fuelrail_${name} STATIC ${M_SOURCES})
    target_link_libraries(fuelrail_${name} PUBLIC ${M_DEPENDS} Threads::Threads PRIVATE $<BUILD_INTERFACE:fuelrail_options>)
    foreach(library IN LISTS M_LIBRARIES)  # an installed module asks for what has something to link
      if(library IN_LIST FUELRAIL_HEADERS_ONLY)
        target_link_libraries(fuelrail_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
      else()
        target_link_libraries(fuelrail_${name} PRIVATE ${library})
      endif()
    endforeach()
    if(FUELRAIL_BUILD_FUZZERS)  # what libFuzzer steers by; its programs link the rest
      target_compile_options(fuelrail_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    target_include_directories(fuelrail_${name} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
    target_compile_features(fuelrail_${name} PUBLIC cxx_std_20)
    set_target_properties(fuelrail_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS fuelrail_${name} EXPORT fuelrail COMPONENT development EXCLUDE_FROM_ALL)
  else()
    add_library(fuelrail_${name} INTERFACE)
    target_link_libraries(fuelrail_${name} INTERFACE ${M_DEPENDS})
  endif()

  if(FUELRAIL_BUILD_TESTS AND M_TESTS)
    add_executable(${name}_test ${M_TESTS})
    target_link_libraries(${name}_test PRIVATE fuelrail_${name} ${M_TEST_LIBRARIES} ${M_LIBRARIES})
    fuelrail_test_options(${name}_test)
    if(M_TESTS_AS_ONE AND CMAKE_UNITY_BUILD)
      set_target_properties(${name}_test PROPERTIES UNITY_BUILD ON)
    endif()
    add_test(NAME ${name} COMMAND ${name}_test)
    # A forked child starts threads of its own, which TSan does not let it by default.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "TSAN_OPTIONS=die_after_fork=0")
  endif()
  if(FUELRAIL_BUILD_BENCHMARKS AND M_BENCHMARKS)
    add_executable(${name}_benchmark ${M_BENCHMARKS})
    target_link_libraries(${name}_benchmark PRIVATE fuelrail_${name} fuelrail_options ${M_LIBRARIES}
                          fuelrail_dep::fmt fuelrail_dep::benchmark benchmark_main)
    target_compile_definitions(${name}_benchmark PRIVATE FUELRAIL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  endif()
endfunction()
