dsafuzz_test(reduce_test SOURCES reduce_test.cpp fake_device.cpp LIBRARIES dsafuzz_repro)
dsafuzz_test(reduce_search_test SOURCES reduce_search_test.cpp fake_device.cpp LIBRARIES dsafuzz_repro)
dsafuzz_test(emit_test
  SOURCES api_name_test.cpp emit_cpp_test.cpp emit_example.cpp emit_files_test.cpp emit_python_test.cpp emit_report_test.cpp
          escape_test.cpp missing_check_test.cpp
  LIBRARIES dsafuzz_repro nlohmann_json::nlohmann_json TIMEOUT 600)
target_compile_definitions(emit_test PRIVATE
  DSAFUZZ_PYTHON="${DSAFUZZ_VENV}/bin/python" DSAFUZZ_CXX="${CMAKE_CXX_COMPILER}" DSAFUZZ_TORCH="${DSAFUZZ_TORCH_DIR}"
  DSAFUZZ_VENV_BIN="${DSAFUZZ_VENV}/bin" DSAFUZZ_VCUDA="$<TARGET_FILE:dsafuzz_vcuda>"
  DSAFUZZ_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
dsafuzz_test(regress_run_test SOURCES regress_run_test.cpp regress_compare_test.cpp
             LIBRARIES dsafuzz_repro nlohmann_json::nlohmann_json)
