# Makes schemas one C file: a table of them, each under its $id. A schema may name others of its
# folder by their $id (urn:mcpx:...); here it gets all that it needs under $defs, so that each is
# complete by itself.
#     cmake -D FOLDER=DIRECTORY -D TABLE=VARIABLE -D OUTPUT=FILE.c "-DNAMES=NAME;..." -P embed.cmake
cmake_minimum_required(VERSION 3.21)

# The $ids that a schema names, in their order.
function(referred text result)
    string(REGEX MATCHALL "\\$ref\": \"urn:mcpx:[a-z0-9._:]+" refs "${text}")
    list(TRANSFORM refs REPLACE ".*\"" "")
    set(${result} ${refs} PARENT_SCOPE)
endfunction()

# The text of a schema file, by $id.
function(schema_text id result)
    string(REGEX REPLACE "^urn:mcpx:contract:" "" file "${id}")
    string(REGEX REPLACE "^urn:mcpx:part:" "part/" file "${file}")
    file(READ ${FOLDER}/${file}.json text)
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

# A schema of the folder and, under $defs, all that it leads to.
function(complete name result)
    file(READ ${FOLDER}/${name}.json whole)
    referred("${whole}" wanted)
    list(REMOVE_DUPLICATES wanted)
    set(parts "")
    set(seen "")
    while(wanted)
        list(POP_FRONT wanted id)
        list(APPEND seen ${id})
        schema_text(${id} text)
        referred("${text}" more)
        list(APPEND wanted ${more})
        list(REMOVE_DUPLICATES wanted)
        list(REMOVE_ITEM wanted ${seen})
        string(REGEX REPLACE ".*:" "" key ${id})
        string(STRIP "${text}" text)
        string(REPLACE "\n" "\n    " text "${text}")
        string(APPEND parts ",\n    \"${key}\": ${text}")
    endwhile()
    if(parts)
        string(REGEX REPLACE "\n}\n$" "" whole "${whole}")
        string(REGEX REPLACE "^," "" parts "${parts}")
        string(APPEND whole ",\n  \"\$defs\": {${parts}\n  }\n}\n")
    endif()
    set(${result} "${whole}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(rows "")
foreach(name IN LISTS NAMES)
    complete(${name} text)
    string(REGEX REPLACE "^[^$]*\"\\$schema\"[^\n]*\n *\"\\$id\": \"([^\"#]+).*" "\\1" id "${text}")
    string(HEX "${text}" hex)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(MAKE_C_IDENTIFIER ${name} identifier)
    string(APPEND arrays "static const char ${identifier}[] = {${bytes}};\n")
    string(APPEND rows "    {{\"${id}\", sizeof \"${id}\" - 1}, {${identifier}, sizeof ${identifier}}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by embed.cmake from ${FOLDER}. */
#include \"lib/schema/library.h\"

${arrays}
const struct mx_builtin ${TABLE}[] = {
${rows}    {{NULL, 0}, {NULL, 0}},
};
")
