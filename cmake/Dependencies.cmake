# Finds the system libraries, all at once, so that one message names everything that is missing.
find_package(PkgConfig QUIET)
find_package(Threads REQUIRED)
set(FUELRAIL_MISSING "")

# fuelrail_need(<name> <pkg-config module> <Debian package> [HEADERS_ONLY]): defines the imported target
# fuelrail_dep::<name>. What has something to link is listed in FUELRAIL_LINKED, as "name module package".
set(FUELRAIL_HEADERS_ONLY "")
set(FUELRAIL_LINKED "")
function(fuelrail_need name module package)
  if("HEADERS_ONLY" IN_LIST ARGN)
    set(FUELRAIL_HEADERS_ONLY ${FUELRAIL_HEADERS_ONLY} fuelrail_dep::${name} PARENT_SCOPE)
  else()
    set(FUELRAIL_LINKED ${FUELRAIL_LINKED} "${name} ${module} ${package}" PARENT_SCOPE)
  endif()
  if(PkgConfig_FOUND)
    pkg_check_modules(FUELRAIL_${name} QUIET IMPORTED_TARGET GLOBAL ${module})
  endif()
  if(FUELRAIL_${name}_FOUND)
    add_library(fuelrail_dep::${name} ALIAS PkgConfig::FUELRAIL_${name})
  else()
    list(APPEND FUELRAIL_MISSING ${package})
    set(FUELRAIL_MISSING "${FUELRAIL_MISSING}" PARENT_SCOPE)
  endif()
endfunction()

if(NOT PkgConfig_FOUND)
  list(APPEND FUELRAIL_MISSING pkg-config)
endif()
fuelrail_need(jpeg libjpeg libjpeg62-turbo-dev)
fuelrail_need(spng spng libspng-dev)
fuelrail_need(webp libwebp libwebp-dev)
if(FUELRAIL_TIFF)
  fuelrail_need(tiff libtiff-4 libtiff-dev)
endif()
fuelrail_need(deflate libdeflate libdeflate-dev)
fuelrail_need(fmt fmt libfmt-dev)
fuelrail_need(json nlohmann_json nlohmann-json3-dev HEADERS_ONLY)
fuelrail_need(pugixml pugixml libpugixml-dev)
fuelrail_need(cli11 CLI11 libcli11-dev HEADERS_ONLY)
fuelrail_need(hwy libhwy libhwy-dev)
if(TARGET PkgConfig::FUELRAIL_hwy)
  # The kernels know vectors of 1, 2 or 4 blocks of 16 bytes, and none of unknown length. Under sanitizers one instruction
  # set of each length is compiled.
  set(disabled "HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV")
  if(FUELRAIL_SANITIZE)
    string(APPEND disabled "|HWY_SSSE3|HWY_SSE4")
  endif()
  # Processors without SSSE3 take the kernels of Highway's emulated vectors. Of g++ before 12.3 it expects wrong code for them
  # (GCC bug 106322), and would have scalar ones in their place; our tests run all kernels on them.
  target_compile_definitions(PkgConfig::FUELRAIL_hwy INTERFACE "HWY_DISABLED_TARGETS=(${disabled})" HWY_BROKEN_EMU128=0)
endif()
set(FUELRAIL_INSTALLED_NEEDS "${FUELRAIL_LINKED}")  # what an installed fuelrail has to find again
if(FUELRAIL_BUILD_TESTS)
  fuelrail_need(gtest gtest_main libgtest-dev)
  fuelrail_need(gmock gmock libgmock-dev)
endif()
if(FUELRAIL_BUILD_BENCHMARKS)
  fuelrail_need(benchmark benchmark libbenchmark-dev)
endif()

if(FUELRAIL_MISSING)
  list(REMOVE_DUPLICATES FUELRAIL_MISSING)
  list(JOIN FUELRAIL_MISSING " " packages)
  message(FATAL_ERROR
    "fuelrail: system libraries are missing. Install them with\n"
    "    sudo apt-get install -y ${packages}\n"
    "and run the same command again.")
endif()
