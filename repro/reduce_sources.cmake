# Reduction and emission.
set(DSAFUZZ_REDUCE_SOURCES
  axis_class.cpp reduce.cpp reduce_attributes.cpp reduce_passes.cpp reduce_search.cpp reduce_shapes.cpp reduce_steps.cpp
  reduce_values.cpp
  cpp_frame.cpp emit_cmake.cpp emit_cpp.cpp emit_json.cpp emit_plan.cpp emit_python.cpp emit_report.cpp escape.cpp python_literal.cpp
  regress_compare.cpp regress_json.cpp regress_junit.cpp regress_run.cpp regress_sarif.cpp)
