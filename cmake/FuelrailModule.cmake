# fuelrail_test_options(<target>): what every test program is compiled with. Tests are not optimised (under sanitizers
# that is four fifths of their compile time): what they test is. GoogleTest's headers and the most common others, half of
# what is left, are compiled once.
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
    POSITION_INDEPENDENT_CODE OFF)  # one setting for all that share the headers
  if(target STREQUAL fuelrail_test_headers)
    target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <algorithm>
                              <array> <filesystem> <functional> <map> <memory> <mutex> <optional> <string> <thread>
                              <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM fuelrail_test_headers)
  endif()
endfunction()
if(FUELRAIL_BUILD_TESTS)
  fuelrail_test_options(fuelrail_test_headers)
endif()
# fuelrail_precompiled(<target> <option>...): under sanitizers, the headers that most sources include are compiled once for
# each list of options. The release build compiles without them, so that a missing #include is found.
function(fuelrail_precompiled target)
  if(NOT FUELRAIL_SANITIZE)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "fuelrail_headers${ARGN}" headers)
  if(NOT TARGET ${headers})
    file(WRITE "${PROJECT_BINARY_DIR}/headers.cc" "")
    add_library(${headers} OBJECT "${PROJECT_BINARY_DIR}/headers.cc")
    target_link_libraries(${headers} PRIVATE fuelrail_options fuelrail_dep::fmt Threads::Threads)
    target_compile_options(${headers} PRIVATE ${ARGN})
    target_precompile_headers(${headers} PRIVATE <fmt/format.h> <algorithm> <array> <atomic> <condition_variable>
                              <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string> <thread>
                              <unordered_map> <utility> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# fuelrail_optimise(<test source>...): for tests that compute for seconds themselves, such as references of arithmetic.
function(fuelrail_optimise)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# fuelrail_benchmark(<name> SOURCES ... [LIBRARIES ...]): a program that measures. Under sanitizers it is only compiled, so
# that `./run test` sees that it does.
function(fuelrail_benchmark name)
  cmake_parse_arguments(B "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(FUELRAIL_SANITIZE)
    add_library(${name} OBJECT ${B_SOURCES})
    target_compile_options(${name} PRIVATE -O0)
  else()
    add_executable(${name} ${B_SOURCES})
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE fuelrail_options fuelrail_dep::fmt ${B_LIBRARIES})
  target_compile_definitions(${name} PRIVATE FUELRAIL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# What `./run test` builds and runs without sanitizers; `ctest -L release` runs it.
add_custom_target(release_tests)

# fuelrail_add_test(<name> SOURCES ... [LIBRARIES <target>...] [RELEASE]): a program of GoogleTest's, and the test
# of this name. RELEASE: one of release_tests.
function(fuelrail_add_test name)
  cmake_parse_arguments(T "RELEASE" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name}_test ${T_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${T_LIBRARIES})
  fuelrail_test_options(${name}_test)
  add_test(NAME ${name} COMMAND ${name}_test)
  # A forked child starts threads of its own, which TSan does not let it by default.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
    "TSAN_OPTIONS=die_after_fork=0 suppressions=${PROJECT_SOURCE_DIR}/tests/tsan_suppressions.txt;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan_suppressions.txt")
  if(T_RELEASE)
    add_dependencies(release_tests ${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS release)
  endif()
endfunction()

# fuelrail_module(<name> SOURCES ... [DEPENDS <module>...] [LIBRARIES <dep>...] [TESTS ...] [RELEASE_TESTS ...]
#                 [SERIAL_TESTS ...] [TESTS_APART ...] [TEST_LIBRARIES <target>...] [BENCHMARKS ...] [COLD] [FUZZED]
#                 [KERNELS ...])
#
# One static library a module, `fuelrail_<name>`. DEPENDS names modules (the table of docs/design.md, section 3);
# LIBRARIES names third-party targets, private to the module's sources. TESTS makes one program, `<name>_test`,
# which also links TEST_LIBRARIES; BENCHMARKS one, `<name>_benchmark`. Without SOURCES the module is headers only.
# RELEASE_TESTS are tests that need the release build: what they test depends on optimisation or vector code, or sanitizers
# leave some of it out. Without sanitizers, and beside TESTS, they are a program of their own, `<name>_release_test`.
# SERIAL_TESTS names those of both whose code runs on one thread: the TSan build leaves them out. A conformance suite has
# threads.
# TESTS_APART names those of both that are compiled by themselves where sources are compiled as one (CMAKE_UNITY_BUILD),
# because their helpers have names of other tests' helpers. COLD: under sanitizers the module is not optimised, which takes
# half the time to compile. FUZZED: libFuzzer is steered by the module's branches. KERNELS are sources that include
# themselves once for every instruction set.
function(fuelrail_module name)
  cmake_parse_arguments(M "COLD;FUZZED" ""
    "SOURCES;KERNELS;DEPENDS;LIBRARIES;TESTS;RELEASE_TESTS;SERIAL_TESTS;TESTS_APART;TEST_LIBRARIES;BENCHMARKS" ${ARGN})
  list(TRANSFORM M_DEPENDS PREPEND fuelrail_)
  if(M_SOURCES)
    add_library(fuelrail_${name} STATIC ${M_SOURCES} ${M_KERNELS})
    set_source_files_properties(${M_KERNELS} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    if(M_COLD AND FUELRAIL_SANITIZE)
      target_compile_options(fuelrail_${name} PRIVATE -O0)
      set_source_files_properties(${M_KERNELS} PROPERTIES COMPILE_OPTIONS -O1)
    endif()
    target_link_libraries(fuelrail_${name} PUBLIC ${M_DEPENDS} Threads::Threads PRIVATE $<BUILD_INTERFACE:fuelrail_options>)
    foreach(library IN LISTS M_LIBRARIES)  # an installed module asks for what has something to link
      if(library IN_LIST FUELRAIL_HEADERS_ONLY)
        target_link_libraries(fuelrail_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
      else()
        target_link_libraries(fuelrail_${name} PRIVATE ${library})
      endif()
    endforeach()
    if(M_FUZZED AND FUELRAIL_BUILD_FUZZERS)
      target_compile_options(fuelrail_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    get_property(options TARGET fuelrail_${name} PROPERTY COMPILE_OPTIONS)
    fuelrail_precompiled(fuelrail_${name} ${options})
    target_include_directories(fuelrail_${name} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
    target_compile_features(fuelrail_${name} PUBLIC cxx_std_20)
    set_target_properties(fuelrail_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS fuelrail_${name} EXPORT fuelrail COMPONENT development EXCLUDE_FROM_ALL)
  else()
    add_library(fuelrail_${name} INTERFACE)
    target_link_libraries(fuelrail_${name} INTERFACE ${M_DEPENDS})
  endif()

  foreach(test IN LISTS M_SERIAL_TESTS)
    file(STRINGS ${test} threaded REGEX "#include (<thread>|\".*_conformance\\.h\")")
    if(threaded)
      message(FATAL_ERROR "${name}/${test} is one of SERIAL_TESTS, and has threads: ${threaded}")
    endif()
  endforeach()
  if(M_SERIAL_TESTS AND FUELRAIL_SANITIZE STREQUAL "thread")
    list(REMOVE_ITEM M_TESTS ${M_SERIAL_TESTS})
    list(REMOVE_ITEM M_RELEASE_TESTS ${M_SERIAL_TESTS})
  endif()
  if(FUELRAIL_BUILD_TESTS AND (M_TESTS OR M_RELEASE_TESTS))
    set_source_files_properties(${M_TESTS_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set(libraries fuelrail_${name} ${M_TEST_LIBRARIES} ${M_LIBRARIES})
    if(NOT M_TESTS)
      fuelrail_add_test(${name} SOURCES ${M_RELEASE_TESTS} LIBRARIES ${libraries} RELEASE)
    elseif(FUELRAIL_SANITIZE)
      fuelrail_add_test(${name} SOURCES ${M_TESTS} ${M_RELEASE_TESTS} LIBRARIES ${libraries})
    else()
      fuelrail_add_test(${name} SOURCES ${M_TESTS} LIBRARIES ${libraries})
      if(M_RELEASE_TESTS)
        fuelrail_add_test(${name}_release SOURCES ${M_RELEASE_TESTS} LIBRARIES ${libraries} RELEASE)
      endif()
    endif()
  endif()
  if(FUELRAIL_BUILD_BENCHMARKS AND M_BENCHMARKS)
    fuelrail_benchmark(${name}_benchmark SOURCES ${M_BENCHMARKS}
      LIBRARIES fuelrail_${name} ${M_LIBRARIES} fuelrail_dep::benchmark benchmark_main)
  endif()
endfunction()
