# Tests of log parsing, diagnosis and advice.
dsafuzz_test(log_samples_test SOURCES log_samples_test.cpp LIBRARIES dsafuzz::repro nlohmann_json::nlohmann_json)
target_compile_definitions(log_samples_test PRIVATE DSAFUZZ_LOG_SAMPLES="${PROJECT_SOURCE_DIR}/corpus/logs")
dsafuzz_test(log_robustness_test SOURCES log_robustness_test.cpp LIBRARIES dsafuzz::repro)
target_compile_definitions(log_robustness_test PRIVATE DSAFUZZ_LOG_SAMPLES="${PROJECT_SOURCE_DIR}/corpus/logs")
dsafuzz_test(parse_test
  SOURCES log_text_test.cpp parse_assert_test.cpp parse_cuda_error_test.cpp parse_frames_test.cpp
          parse_sanitizer_test.cpp parse_shell_death_test.cpp normalise_test.cpp
  LIBRARIES dsafuzz::repro)
dsafuzz_test(diagnose_test
  SOURCES diagnose_test.cpp finding_test.cpp advice_test.cpp assert_site_test.cpp contract_test.cpp expected_test.cpp judge_test.cpp
  LIBRARIES dsafuzz::repro)
dsafuzz_test(checklist_test SOURCES checklist_test.cpp LIBRARIES dsafuzz::repro nlohmann_json::nlohmann_json)
dsafuzz_test(debug_test SOURCES debug_plan_test.cpp debug_test.cpp LIBRARIES dsafuzz::repro nlohmann_json::nlohmann_json)
target_compile_definitions(debug_test PRIVATE DSAFUZZ_LOG_SAMPLES="${PROJECT_SOURCE_DIR}/corpus/logs")
