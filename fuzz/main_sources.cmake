# The command line: what belongs to the program and not to the library.
set(DSAFUZZ_MAIN_SOURCES
  child_process.cpp
  command_checklist.cpp
  command_coverage.cpp
  command_debug.cpp
  command_doctor.cpp
  command_examine.cpp
  command_explain.cpp
  command_fidelity.cpp
  command_fuzz.cpp
  command_import.cpp
  command_matrix.cpp
  command_merge.cpp
  command_nightly.cpp
  command_regress.cpp
  command_replay.cpp
  command_report.cpp
  command_show.cpp
  command_top.cpp
  commands.cpp
  expectation.cpp
  find_debugger.cpp
  look_at_installation.cpp
  look_at_machine.cpp
  look_at_system.cpp
  machine_folder.cpp
  main.cpp
  run_reproducer.cpp
  terminal_screen.cpp
  worker_pool.cpp
  worker_process.cpp)

# Reproducers are built the way their CMakeLists.txt builds them; the headers are compiled ahead for speed.
set(_reproducer_flags -std=c++17 -O0 -D_GLIBCXX_USE_CXX11_ABI=1)
set(DSAFUZZ_REPRODUCER_PCH "${PROJECT_BINARY_DIR}/lib/reproducer.pch")
list(TRANSFORM _reproducer_flags REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE _quoted)
list(JOIN _quoted "," _quoted)
set_source_files_properties(run_reproducer.cpp PROPERTIES COMPILE_DEFINITIONS
  "DSAFUZZ_DEFAULT_TORCH_DIR=\"${DSAFUZZ_TORCH_DIR}\";DSAFUZZ_DEFAULT_CXX=\"${CMAKE_CXX_COMPILER}\";DSAFUZZ_DEFAULT_PCH=\"${DSAFUZZ_REPRODUCER_PCH}\";DSAFUZZ_REPRODUCER_FLAGS=${_quoted}")
set_source_files_properties(main.cpp command_fidelity.cpp command_regress.cpp PROPERTIES COMPILE_DEFINITIONS "DSAFUZZ_VERSION=\"${PROJECT_VERSION}\"")
add_custom_command(OUTPUT "${DSAFUZZ_REPRODUCER_PCH}"
  COMMAND "${CMAKE_CXX_COMPILER}" ${_reproducer_flags} -x c++-header -MD -MF "${DSAFUZZ_REPRODUCER_PCH}.d"
          -isystem "${DSAFUZZ_TORCH_DIR}/include" -isystem "${DSAFUZZ_TORCH_DIR}/include/torch/csrc/api/include"
          "${CMAKE_CURRENT_SOURCE_DIR}/reproducer_headers.h" -o "${DSAFUZZ_REPRODUCER_PCH}"
  DEPENDS reproducer_headers.h DEPFILE "${DSAFUZZ_REPRODUCER_PCH}.d" COMMENT "Compiling the reproducers' headers" VERBATIM)
add_custom_target(dsafuzz_reproducer_pch ALL DEPENDS "${DSAFUZZ_REPRODUCER_PCH}")
