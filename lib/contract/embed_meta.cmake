# Makes the meta-schemas of meta/ one C file, each under its $id, without the white space between
# tokens that reading them would have to pass over.
#     cmake -D META=DIRECTORY -D OUTPUT=FILE.c "-DNAMES=NAME;..." -P embed_meta.cmake
cmake_minimum_required(VERSION 3.21)

set(arrays "")
set(rows "")
foreach(name IN LISTS NAMES)
    file(READ ${META}/${name}.json text)
    string(REGEX REPLACE "\n *" "" text "${text}")
    string(REGEX REPLACE ".*\"\\$id\": \"([^\"#]+)#?\".*" "\\1" id "${text}")
    string(HEX "${text}" hex)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(MAKE_C_IDENTIFIER ${name} identifier)
    string(APPEND arrays "static const char ${identifier}[] = {${bytes}};\n")
    string(APPEND rows "    {{\"${id}\", sizeof \"${id}\" - 1}, {${identifier}, sizeof ${identifier}}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by embed_meta.cmake from the files of lib/contract/meta. */
#include \"lib/contract/builtin.h\"

${arrays}
const struct mx_builtin mx_builtins[] = {
${rows}    {{NULL, 0}, {NULL, 0}},
};
")
