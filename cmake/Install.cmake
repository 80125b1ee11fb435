# What a C++ program installs: `cmake --install BUILD --component development`, then find_package(fuelrail) and the
# target fuelrail::fuelrail. The modules' own install rules are in FuelrailModule.cmake.
include(CMakePackageConfigHelpers)

# The top: everything that a program needs. fuelrail::cli, the command's cli_main, is apart.
add_library(fuelrail_all INTERFACE)
target_link_libraries(fuelrail_all INTERFACE fuelrail_mxnet fuelrail_benzina fuelrail_pack)
set_target_properties(fuelrail_all PROPERTIES EXPORT_NAME fuelrail)
add_library(fuelrail::fuelrail ALIAS fuelrail_all)
install(TARGETS fuelrail_all EXPORT fuelrail COMPONENT development EXCLUDE_FROM_ALL)

# The public headers are those of the table in docs/design.md, section 3, its only copy.
file(STRINGS "${PROJECT_SOURCE_DIR}/docs/design.md" design_lines)
list(FIND design_lines "| module | public headers |" heading)
if(heading EQUAL -1)
  message(FATAL_ERROR "docs/design.md has no table '| module | public headers |'")
endif()
math(EXPR row "${heading} + 2")
list(GET design_lines ${row} line)
while(line MATCHES "^\\| ([a-z]+) \\| ([^|]+) \\|$")
  set(module "${CMAKE_MATCH_1}")
  string(REPLACE " " ";" headers "${CMAKE_MATCH_2}")
  foreach(header ${headers})
    get_filename_component(folder "include/fuelrail/${module}/${header}" DIRECTORY)
    install(FILES "${PROJECT_SOURCE_DIR}/src/fuelrail/${module}/${header}" DESTINATION "${folder}"
      COMPONENT development EXCLUDE_FROM_ALL)
  endforeach()
  math(EXPR row "${row} + 1")
  list(GET design_lines ${row} line)
endwhile()

set(config_folder lib/cmake/fuelrail)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/fuelrailConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/fuelrailConfig.cmake" INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fuelrailConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fuelrailConfig.cmake" "${PROJECT_BINARY_DIR}/fuelrailConfigVersion.cmake"
  DESTINATION ${config_folder} COMPONENT development EXCLUDE_FROM_ALL)
install(EXPORT fuelrail NAMESPACE fuelrail:: FILE fuelrailTargets.cmake
  DESTINATION ${config_folder} COMPONENT development EXCLUDE_FROM_ALL)
