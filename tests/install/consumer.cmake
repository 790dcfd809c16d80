# How somebody else's CMakeLists.txt finds the installed library; install.cmake makes it one.
cmake_minimum_required(VERSION 3.21)
project(consumer C)
find_package(mcpx 0.1 REQUIRED)
add_executable(consumer consumer.c)
add_executable(join join.c)
target_link_libraries(consumer PRIVATE mcpx::mcpx)
target_link_libraries(join PRIVATE mcpx::mcpx)
