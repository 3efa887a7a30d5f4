# Tests of the doctor.
dsafuzz_test(doctor_test SOURCES doctor_test.cpp doctor_rows.cpp installation.cpp machine_facts_test.cpp smi_failure_test.cpp
             LIBRARIES dsafuzz_repro nlohmann_json::nlohmann_json)
target_compile_definitions(doctor_test PRIVATE
  DSAFUZZ_INSTALLATIONS="${CMAKE_CURRENT_SOURCE_DIR}/installations"
  DSAFUZZ_LOG_SAMPLES="${PROJECT_SOURCE_DIR}/corpus/logs")
