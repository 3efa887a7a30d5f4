# Sources of the doctor, relative to repro/, and the tables of corpus/versions as texts in the program.
set(DSAFUZZ_DOCTOR_SOURCES
  allocator_setting.cpp condition.cpp derive_facts.cpp derive_gpu_facts.cpp device_code.cpp doctor.cpp
  doctor_report.cpp machine_facts.cpp read_installation.cpp read_libraries.cpp read_machine.cpp read_nvidia_smi.cpp
  read_smi_table.cpp read_system.cpp redact.cpp smi_extent.cpp smi_facts.cpp smi_failure.cpp tsv_table.cpp version_number.cpp
  version_tables.cpp visible_devices.cpp
  "${CMAKE_CURRENT_BINARY_DIR}/version_tables_text.cpp")

foreach(_table cuda_driver torch_builds gpu_arch host_compilers known_conflicts doctor_rules not_checkable)
  set(_path "${PROJECT_SOURCE_DIR}/corpus/versions/${_table}.tsv")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_path}")
  string(TOUPPER "DSAFUZZ_${_table}" _variable)
  file(READ "${_path}" ${_variable})
endforeach()
configure_file(version_tables_text.cpp.in "${CMAKE_CURRENT_BINARY_DIR}/version_tables_text.cpp" @ONLY)
