# libmcpx as others use it: one shared library that shows what include/mcpx declares, the headers,
# and the two files by which pkg-config and CMake find it. Nothing in it knows its prefix, so an
# installed tree may be moved.
include(CMakePackageConfigHelpers)

add_library(mcpx SHARED $<TARGET_OBJECTS:mcpx_core> $<TARGET_OBJECTS:mcpx_contract>
            $<TARGET_OBJECTS:mcpx_participant> $<TARGET_OBJECTS:mcpx_line_writer>
            $<TARGET_OBJECTS:mcpx_edge>)
add_library(mcpx::mcpx ALIAS mcpx)
target_link_libraries(mcpx PRIVATE mcpx_options PkgConfig::PCRE2 PkgConfig::UV PkgConfig::SSL
                      PkgConfig::CRYPTO)
target_include_directories(mcpx INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(mcpx PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

install(TARGETS mcpx EXPORT mcpxTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mcpx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

set(mcpx_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mcpx)
install(EXPORT mcpxTargets NAMESPACE mcpx:: DESTINATION ${mcpx_cmake_dir})
configure_package_config_file(mcpxConfig.cmake.in mcpxConfig.cmake
                              INSTALL_DESTINATION ${mcpx_cmake_dir})
write_basic_package_version_file(mcpxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mcpxConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/mcpxConfigVersion.cmake DESTINATION ${mcpx_cmake_dir})

file(RELATIVE_PATH MCPX_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(mcpx.pc.in mcpx.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mcpx.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
