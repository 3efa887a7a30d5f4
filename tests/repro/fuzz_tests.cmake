# libFuzzer targets for the readers of foreign text. The readers are compiled again with instrumentation; the rest comes
# from the library as it is. ctest gives each a few seconds from the corpus; for a long run call the program itself:
#   build/PRESET/bin/fuzz_parse_log -max_len=8192 FOLDER corpus/logs      (new inputs are written into FOLDER)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  return()
endif()

# dsafuzz_fuzz_target(NAME RUNS count SOURCES files of repro/ SEEDS files)
function(dsafuzz_fuzz_target name)
  cmake_parse_arguments(arg "" "RUNS" "SOURCES;SEEDS" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/repro/")
  add_executable(${name} ${name}.cpp ${arg_SOURCES})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link,address -O1)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address)
  target_link_libraries(${name} PRIVATE dsafuzz_repro dsafuzz_options yaml-cpp nlohmann_json::nlohmann_json)
  list(JOIN arg_SEEDS "," _seeds)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}.seeds" "${_seeds}")
  add_test(NAME ${name} COMMAND ${name} -runs=${arg_RUNS} -seed=1 -max_len=8192 -timeout=20 -verbosity=0
           "-seed_inputs=@${CMAKE_CURRENT_BINARY_DIR}/${name}.seeds" "-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/")
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

file(GLOB _logs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/corpus/logs/*.log")
dsafuzz_fuzz_target(fuzz_parse_log RUNS 5000 SEEDS ${_logs}
  SOURCES log_text.cpp log_json.cpp code_point.cpp log_margin.cpp log_reader.cpp scan.cpp parse_assert.cpp parse_dsa.cpp parse_cuda_error.cpp foreign_cuda_error.cpp cuda_codes.cpp error_mention.cpp
          exception_name.cpp parse_frames.cpp frame_forms.cpp
          parse_sanitizer.cpp sanitizer_location.cpp parse_sanitizer_xml.cpp parse_host_sanitizer.cpp parse_gdb.cpp
          parse_shell_death.cpp parse_system.cpp parse_environment.cpp parse_smi.cpp parse_smi_text.cpp smi_cells.cpp parse_log.cpp log_extent.cpp log_origin.cpp
          log_echoes.cpp normalise.cpp explain.cpp explain_assert.cpp explain_fault.cpp explain_text.cpp
          escape.cpp)

file(GLOB _cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scenarios/*.yaml"
     "${PROJECT_SOURCE_DIR}/corpus/regressions/*/case.yaml")
dsafuzz_fuzz_target(fuzz_parse_case RUNS 2000 SEEDS ${_cases}
  SOURCES case.cpp case_bytes.cpp case_text.cpp cbor.cpp yaml_document.cpp tensor_text.cpp step_text.cpp scenario.cpp
          extent.cpp fill.cpp sugar.cpp)
