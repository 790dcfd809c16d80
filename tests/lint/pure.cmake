# lib/contract and lib/schema ask nothing of the world: what their objects need is in themselves, in
# mcpx_core, or in the list below, which has neither files nor sockets, clocks nor chance. The C
# names are those of memory and strings; compilers add some that begin with two underscores.
# Run: cmake -D LIBRARY=libmcpx_contract.a -D CORE=libmcpx_core.a -P pure.cmake
cmake_policy(VERSION 3.21)
set(allowed "^(mem[a-z]+|str[a-z]+|malloc|calloc|realloc|free|qsort|bcmp|EVP_[A-Za-z0-9_]+|pcre2_.*\
|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__assert_fail|__[a-z]+_chk)$")

# Names of one kind in a library: "U" for what it needs, "[A-TV-Z]" for what it has.
function(names_of library kind result)
    execute_process(COMMAND nm --format=posix ${library} OUTPUT_VARIABLE table
                    COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "\n[^ \n]+ ${kind} " rows "\n${table}")
    list(TRANSFORM rows REPLACE "\n([^ ]+) .*" "\\1")
    list(REMOVE_DUPLICATES rows)
    set(${result} "${rows}" PARENT_SCOPE)
endfunction()

names_of(${LIBRARY} U needed)
names_of(${LIBRARY} "[A-TV-Z]" own)
names_of(${CORE} "[A-TV-Z]" core)
list(REMOVE_ITEM needed ${own} ${core})
list(LENGTH needed count)
if(count EQUAL 0)
    message(FATAL_ERROR "no names found in ${LIBRARY}")
endif()
foreach(name IN LISTS needed)
    if(NOT name MATCHES "${allowed}")
        message(SEND_ERROR "${LIBRARY} needs ${name}")
    endif()
endforeach()
message(STATUS "${count} names of others needed")
