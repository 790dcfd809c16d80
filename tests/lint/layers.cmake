# Checks every #include in include/, lib/, router/ and tools/ against docs/layers.txt: what is
# ours lies in a lower layer or under the same path, a public header may be of the same layer;
# what is not ours stays where FOREIGN says. Run: cmake -D ROOT=<source dir> -P layers.cmake
set(FOREIGN libwebsockets.h=^router/edge/|^router/process/log.c$|^router/connection/
    uv.h=/edge/|^lib/client/|^router/connection/
    sqlite3.h=^router/store/sqlite/
    "pcre2.h=^lib/(protocol/capability|schema/regex).c$"
    jansson.h=^router/policy/|^router/api/|/edge/|^router/main.c$|^tools/)
file(STRINGS ${ROOT}/docs/layers.txt table REGEX "^[0-9]")

macro(place file layer path) # of two paths that begin a file's name the longer sorts later
    set(${path} "")
    foreach(row IN LISTS table)
        separate_arguments(row)
        list(GET row 1 prefix)
        if("${file}" MATCHES "^${prefix}" AND prefix STRGREATER "${${path}}")
            list(GET row 0 ${layer})
            set(${path} ${prefix})
        endif()
    endforeach()
    if(NOT ${path})
        message(SEND_ERROR "${file} stands in no layer of docs/layers.txt")
    endif()
endmacro()

cmake_policy(VERSION 3.21)
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/include/*.h ${ROOT}/lib/*.[ch]
     ${ROOT}/router/*.[ch] ${ROOT}/tools/*.[ch])
foreach(file IN LISTS files)
    place(${file} layer path)
    file(STRINGS ${ROOT}/${file} lines REGEX "^#include [<\"]")
    list(TRANSFORM lines REPLACE "^#include [<\"]([^>\"]+).*" "\\1")
    list(TRANSFORM lines REPLACE "^mcpx/" "include/mcpx/")
    foreach(include IN LISTS lines)
        foreach(rule IN LISTS FOREIGN)
            string(REGEX MATCH "^([^=]+)=(.*)" _ "${rule}")
            if(include STREQUAL CMAKE_MATCH_1 AND NOT file MATCHES "${CMAKE_MATCH_2}")
                message(SEND_ERROR "${file} includes ${include}, kept to ${rule}")
            endif()
        endforeach()
        if(EXISTS ${ROOT}/${include})
            place(${include} layer2 path2)
            if(NOT layer2 LESS layer AND NOT path2 STREQUAL path
               AND NOT (layer2 EQUAL layer AND path2 MATCHES "^include/"))
                message(SEND_ERROR "${file} (${layer}) includes ${include} (${layer2})")
            endif()
        endif()
    endforeach()
endforeach()
