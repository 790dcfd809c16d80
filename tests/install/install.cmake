# Installs everything below a staging prefix, looks where the service unit expects the
# program, moves that prefix, and builds and runs a foreign program against it: with pkg-config, and
# with find_package. Who would suffer otherwise: everyone who uses libmcpx or the unit. Run: cmake -D BUILD=<build> -D WORK=<scratch> -D CC=cc -D FLAGS=...
# -D BINDIR=<where programs go, in full> -P install.cmake
function(run)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
    set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_greeting how)
    if(NOT output MATCHES "^mcpx [0-9]+\\.[0-9]+\\.[0-9]+ ls\n$")
        message(FATAL_ERROR "built with ${how}, it says: ${output}")
    endif()
    message(STATUS "built with ${how}: ${output}")
endfunction()

# docs/examples/join.c, started without settings, names the first one it misses.
function(expect_example how program)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=MCPX_URL ${program}
                    RESULT_VARIABLE status ERROR_VARIABLE text)
    if(NOT status EQUAL 2 OR NOT text MATCHES "^url: ")
        message(FATAL_ERROR "join.c built with ${how} ends with ${status}: ${text}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/staged)
file(GLOB_RECURSE unit ${WORK}/staged/*/mcpx-router.service)
file(STRINGS ${unit} start REGEX "^ExecStart=${BINDIR}/mcpx-router ")
if(NOT start)
    message(FATAL_ERROR "the service unit does not start ${BINDIR}/mcpx-router")
endif()
foreach(file IN ITEMS lib/sysusers.d/mcpx-router.conf lib/systemd/system/mcpx-router.service lib/systemd/system/mcpx-router.socket
        share/man/man8/mcpx-router.8 share/man/man5/mcpx-router.json.5
        share/mcpx-router/gate.py share/man/man1/mcpxctl.1 share/man/man1/mcpx-bridge.1
        share/bash-completion/completions/mcpxctl share/bash-completion/completions/mcpx-bridge
        share/zsh/site-functions/_mcpxctl share/zsh/site-functions/_mcpx-bridge
        share/fish/vendor_completions.d/mcpxctl.fish
        share/fish/vendor_completions.d/mcpx-bridge.fish
        share/doc/mcpx/examples/router.schema.json
        share/doc/mcpx/examples/terms.example.json share/doc/mcpx/examples/terms.schema.json share/doc/mcpx/examples/profiles.example.json)
    if(NOT EXISTS ${WORK}/staged/${file})
        message(FATAL_ERROR "${file} is not installed")
    endif()
endforeach()
file(RENAME ${WORK}/staged ${WORK}/moved)
file(GLOB_RECURSE pc ${WORK}/moved/*/mcpx.pc)
file(GLOB_RECURSE so ${WORK}/moved/*/libmcpx.so)
get_filename_component(pc_dir ${pc} DIRECTORY)
get_filename_component(so_dir ${so} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
set(ENV{LD_LIBRARY_PATH} ${so_dir})

run(${WORK}/moved/bin/mcpx-router --check
    --config ${WORK}/moved/share/doc/mcpx/examples/router.example.json)
foreach(program IN ITEMS mcpxctl mcpx-bridge)
    run(bash -c ". $1 && complete -p $2" -
        ${WORK}/moved/share/bash-completion/completions/${program} ${program})
endforeach()

run(pkg-config --cflags --libs mcpx)
separate_arguments(words UNIX_COMMAND "${output} ${FLAGS}")
run(${CC} ${CMAKE_CURRENT_LIST_DIR}/consumer.c -o ${WORK}/consumer ${words})
run(${WORK}/consumer)
expect_greeting(pkg-config)
set(examples ${CMAKE_CURRENT_LIST_DIR}/../../docs/examples)
run(${CC} ${examples}/join.c -o ${WORK}/join ${words})
expect_example(pkg-config ${WORK}/join)

file(COPY ${CMAKE_CURRENT_LIST_DIR}/consumer.c ${examples}/join.c DESTINATION ${WORK}/project)
configure_file(${CMAKE_CURRENT_LIST_DIR}/consumer.cmake ${WORK}/project/CMakeLists.txt COPYONLY)
run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/project/build
    -D CMAKE_PREFIX_PATH=${WORK}/moved -D CMAKE_C_COMPILER=${CC} -D CMAKE_C_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/project/build)
run(${WORK}/project/build/consumer)
expect_greeting(find_package)
expect_example(find_package ${WORK}/project/build/join)
