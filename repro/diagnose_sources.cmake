# Sources of parsing, diagnosis and advice, relative to repro/.
set(DSAFUZZ_DIAGNOSE_SOURCES
  log_text.cpp
  code_point.cpp
  log_json.cpp
  log_margin.cpp
  log_reader.cpp
  scan.cpp
  parse_assert.cpp
  parse_dsa.cpp
  parse_cuda_error.cpp
  foreign_cuda_error.cpp
  cuda_codes.cpp
  error_mention.cpp
  exception_name.cpp
  parse_frames.cpp
  frame_forms.cpp
  parse_sanitizer.cpp
  sanitizer_location.cpp
  parse_sanitizer_xml.cpp
  parse_host_sanitizer.cpp
  parse_gdb.cpp
  parse_shell_death.cpp
  parse_system.cpp
  parse_environment.cpp
  parse_smi.cpp
  parse_smi_text.cpp
  smi_cells.cpp
  parse_log.cpp
  log_extent.cpp
  log_origin.cpp
  log_echoes.cpp
  contract_words.cpp
  likely_causes.cpp
  explain.cpp
  explain_assert.cpp
  checklist.cpp
  checklist_case.cpp
  checklist_loss.cpp
  explain_fault.cpp
  known_faults.cpp
  explain_text.cpp
  reading_json.cpp
  debug_program.cpp
  debug_plan.cpp
  parse_host_gdb.cpp
  debug_report.cpp
  debug_report_text.cpp
  normalise.cpp
  finding.cpp
  diagnose.cpp
  judge.cpp
  assert_site.cpp
  assert_catalogue.cpp
  "${CMAKE_CURRENT_BINARY_DIR}/assert_catalogue_text.cpp"
  bounds.cpp
  breach.cpp
  contract.cpp
  contracts_indexing.cpp
  contracts_loss.cpp
  contracts_numbers.cpp
  contracts_sparse.cpp
  guard.cpp
  known_shapes.cpp
  step_argument.cpp
  advice.cpp)

# The catalogue of device asserts becomes a text in the program; a change of the table makes it anew.
set(_asserts "${PROJECT_SOURCE_DIR}/corpus/catalogue/device_asserts.tsv")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_asserts}")
file(READ "${_asserts}" DSAFUZZ_ASSERT_CATALOGUE)
configure_file(assert_catalogue_text.cpp.in "${CMAKE_CURRENT_BINARY_DIR}/assert_catalogue_text.cpp" @ONLY)
