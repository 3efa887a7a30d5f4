// A custom operator's failure as one CUDA program. The kernel is the very text that dsafuzz runs, so what is wrong with
// it can be seen and mended there. The launch restates what the operator does around it (kernels/aten/custom*.cpp).
#include <algorithm>
#include <array>
#include <cmath>

#include "repro/cpp_frame.h"
#include "repro/custom_kernel_source.h"
#include "repro/emit.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

// The lines know `input`, its `count`, the `factor` of those that take one, `made` and `zeroed` for buffers, and
// `error`, which they may set.
struct CudaCall {
  std::string_view op, kernel, lines;
};
constexpr std::string_view kScaleInStreams = R"(  float* buffer = made<float>(count);
  float* output = made<float>(count);
  cudaStream_t first = nullptr, second = nullptr;
  need(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  need(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  kernels::scale(input, buffer, count, factor, first);
)";
constexpr std::string_view kEvent = R"(  cudaEvent_t done = nullptr;
  need(cudaEventCreate(&done));
  need(cudaEventRecord(done, first));
  need(cudaStreamWaitEvent(second, done, 0));
)";
constexpr std::string_view kSecondHalf = "  kernels::scale(buffer, output, count, 1.0f, second);\n";
constexpr std::string_view kCopy = R"(  float* buffer = made<float>(count);
  need(cudaMemcpy(buffer, input, sizeof(float) * count, cudaMemcpyDeviceToDevice));
  float* sum = made<float>(1);
)";
constexpr std::string_view kFree = "  need(cudaFree(buffer));\n";
constexpr std::string_view kSum = "  kernels::sum_buffer(buffer, count, sum, nullptr);\n";

constexpr std::array kCalls{
    CudaCall{"scale", "scale_without_bounds_check", R"(  float* output = made<float>(count);
  kernels::scale(input, output, count, factor, nullptr);
)"},
    CudaCall{"scale_without_bounds_check", "scale_without_bounds_check", R"(  float* output = made<float>(count);
  kernels::scale_without_bounds_check(input, output, count, factor, nullptr);
)"},
    CudaCall{"pair_sums", "pair_sums", R"(  float* sums = made<float>(count / 2);
  kernels::pair_sums(input, sums, count / 2, nullptr);
)"},
    CudaCall{"pair_sums_without_alignment_check", "pair_sums", R"(  float* sums = made<float>(count / 2);
  kernels::pair_sums_without_alignment_check(input, sums, count / 2, nullptr);
)"},
    CudaCall{"count_values_in_shared", "count_values", R"(  int* counts = zeroed<int>(kernels::kSharedBins);
  kernels::count_values_in_shared(input, count, counts, true, nullptr);
)"},
    CudaCall{"count_values_in_shared_without_check", "count_values",
             R"(  int* counts = zeroed<int>(kernels::kSharedBins);
  kernels::count_values_in_shared(input, count, counts, false, nullptr);
)"},
    CudaCall{"count_values_in_local", "count_values", R"(  int* counts = zeroed<int>(kernels::kLocalBins);
  kernels::count_values_in_local(input, count, counts, true, nullptr);
)"},
    CudaCall{"count_values_in_local_without_check", "count_values",
             R"(  int* counts = zeroed<int>(kernels::kLocalBins);
  kernels::count_values_in_local(input, count, counts, false, nullptr);
)"},
    CudaCall{"sum_atomically", "unordered_sum", R"(  float* sum = zeroed<float>(1);
  kernels::sum_atomically(input, count, sum, nullptr);
)"},
    CudaCall{"sum_without_atomics", "unordered_sum", R"(  float* sum = zeroed<float>(1);
  kernels::sum_without_atomics(input, count, sum, nullptr);
)"},
    CudaCall{"scale_in_stages", "staged_scale", R"(  float* buffer = made<float>(count);
  float* output = made<float>(count);
  kernels::scale_in_stages(input, buffer, output, count, factor, true, nullptr);
)"},
    CudaCall{"scale_in_stages_unfinished", "staged_scale", R"(  float* buffer = made<float>(count);
  float* output = made<float>(count);
  kernels::scale_in_stages(input, buffer, output, count, factor, false, nullptr);
)"},
    CudaCall{"block_sums", "block_sums",
             R"(  float* sums = made<float>((count + kernels::kSumBlock - 1) / kernels::kSumBlock);
  kernels::block_sums(input, count, sums, true, nullptr);
)"},
    CudaCall{"block_sums_early_exit", "block_sums",
             R"(  float* sums = made<float>((count + kernels::kSumBlock - 1) / kernels::kSumBlock);
  kernels::block_sums(input, count, sums, false, nullptr);
)"},
};

// Those that differ in the order of a few lines.
std::string ordered_lines(std::string_view op) {
  const auto lines = [](std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += part;
    return out;
  };
  constexpr std::string_view kSecondFree = "  error = cudaFree(buffer);\n";
  if (op == "scale_in_streams") return lines({kScaleInStreams, kEvent, kSecondHalf});
  if (op == "scale_in_streams_without_event") return lines({kScaleInStreams, kSecondHalf});
  if (op == "sum_alive" || op == "sum_freed_once") return lines({kCopy, kSum, kFree});
  if (op == "sum_after_free" || op == "sum_after_empty_cache") return lines({kCopy, kFree, kSum});
  if (op == "sum_freed_twice") return lines({kCopy, kSum, kFree, kSecondFree});
  return {};
}

std::string_view ordered_kernel(std::string_view op) {
  return op.starts_with("scale") ? "scale_without_bounds_check" : "use_after_free";
}

// Without what belongs to this project's build.
std::string standing_alone(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const bool ours =
        line.starts_with("#include \"kernels/") || line == "#pragma once" || line.contains("COVERAGE_POINT(");
    const bool second_blank = line.empty() && (out.empty() || out.ends_with("\n\n"));
    if (!ours && !second_blank) out.append(line).push_back('\n');
  }
  return out;
}

constexpr std::string_view kFrame = R"(namespace {

// What the program needs to start with; without it nothing can be said of the bug.
void need(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("cannot run: %s\n", cudaGetErrorString(error));
  std::exit(125);
}

template <typename T>
T* made(std::int64_t count) {
  void* buffer = nullptr;
  need(cudaMalloc(&buffer, sizeof(T) * static_cast<std::size_t>(count)));
  return static_cast<T*>(buffer);
}

)";
constexpr std::string_view kZeroed = R"(template <typename T>
T* zeroed(std::int64_t count) {
  T* buffer = made<T>(count);
  need(cudaMemset(buffer, 0, sizeof(T) * static_cast<std::size_t>(count)));
  return buffer;
}

)";

std::string number_text(const Number& n, bool real) {
  if (!real) return std::to_string(static_cast<std::int64_t>(as_double(n)));
  const double value = as_double(n);
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return decimal(static_cast<float>(value)) + "f";
}

std::string values_of(const TensorPlan& plan, bool real) {
  const std::string type = real ? "float" : "std::int64_t";
  if (plan.kind == TensorPlan::Kind::literal) {
    std::vector<std::string> parts;
    for (const Number& n : plan.literal) parts.push_back(number_text(n, real));
    return cpp_line(1, "const std::vector<" + type + "> values{" + wrapped(parts, 6) + "};");
  }
  const std::string count = std::to_string(element_count(plan.shape));
  std::string out;
  if (plan.kind == TensorPlan::Kind::arange) {
    out = cpp_line(1, "std::vector<" + type + "> values(" + count + ");") +
          cpp_line(1, "for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<" + type + ">(i);");
  } else {
    const bool changed = !plan.set.empty();
    out = cpp_line(1, (changed ? "" : "const ") + ("std::vector<" + type) + "> values(" + count + ", " +
                          number_text(plan.constant, real) + ");");
  }
  for (const auto& [index, n] : plan.set) {
    out += cpp_line(1, "values[" + std::to_string(index) + "] = " + number_text(n, real) + ";");
  }
  return out;
}

}  // namespace

std::optional<std::string> emit_cuda(const Finding& finding) {
  const Case& c = finding.minimal;
  if (c.steps.size() != 1 || c.tensors.size() != 1 || !c.steps[0].op.starts_with("dsafuzz::")) return std::nullopt;
  const Step& step = c.steps[0];
  const std::string op = step.op.substr(9);
  const TensorPlan plan = plan_tensors(c)[0];
  const Name* name = as_name(argument(step, "input", 0));
  if (!name) name = as_name(argument(step, "values", 0));
  if (!name || name->text != plan.name || plan.kind == TensorPlan::Kind::random) return std::nullopt;
  const bool counts = op.starts_with("count_values");
  if (plan.dtype != (counts ? Dtype::int64 : Dtype::float32)) return std::nullopt;

  std::string lines = ordered_lines(op);
  std::string_view kernel = ordered_kernel(op);
  if (lines.empty()) {
    const auto call = std::ranges::find(kCalls, op, &CudaCall::op);
    if (call == kCalls.end()) return std::nullopt;
    lines = call->lines;
    kernel = call->kernel;
  }
  const CustomKernelSource* source = custom_kernel_source(kernel);
  if (!source) return std::nullopt;

  std::string out;
  for (const std::string& line : headline(finding)) out += "// " + line + "\n";
  const std::string tool = special_tool(finding).empty() ? "memcheck" : special_tool(finding);
  out += "// nvcc -std=c++17 repro.cu -o repro_cu && compute-sanitizer --tool " + tool +
         " --error-exitcode 1 ./repro_cu\n";
  out += "// 1: the bug shows; 0: it does not; 125: it cannot be run here. Without the tool a GPU may not notice.\n";
  out +=
      "#include <cuda_runtime.h>\n\n#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n"
      "#include <cstring>\n#include <vector>\n\n";
  out += "namespace vcuda {\nusing Stream = cudaStream_t;\n}\n";
  const bool barriers = source->source.contains("LAUNCH_WITH_BARRIERS(");
  if (source->source.contains(" LAUNCH(")) {
    out += "#define LAUNCH(KERNEL, GRID, BLOCK, STREAM, ...) KERNEL<<<GRID, BLOCK, 0, STREAM>>>(__VA_ARGS__)\n";
  }
  if (barriers) {
    out +=
        "#define LAUNCH_WITH_BARRIERS(KERNEL, GRID, BLOCK, STREAM, ...) KERNEL<<<GRID, BLOCK, 0, "
        "STREAM>>>(__VA_ARGS__)\n";
  }
  out += "\n" + standing_alone(source->header) + "\n" + standing_alone(source->source) + "\n" + std::string(kFrame);
  if (lines.contains("zeroed<")) out += kZeroed;
  out += "}  // namespace\n\nint main() {\n  int devices = 0;\n  need(cudaGetDeviceCount(&devices));\n";
  out += values_of(plan, !counts);
  const std::string type = counts ? "std::int64_t" : "float";
  const bool offset = plan.layout == Layout::offset;
  out += "  const auto count = static_cast<std::int64_t>(values.size());\n";
  if (offset) out += "  // Starts one element into its storage.\n";
  out += "  " + type + "* input = made<" + type + ">(count" + (offset ? " + 1) + 1;\n" : ");\n");
  out += "  need(cudaMemcpy(input, values.data(), sizeof(" + type + ") * values.size(), cudaMemcpyHostToDevice));\n";
  if (lines.contains("factor")) {
    const Value* given = argument(step, "factor", 1);
    double factor = 1;
    if (given && std::holds_alternative<double>(given->v)) factor = std::get<double>(given->v);
    if (const auto whole = as_integer(c, given)) factor = static_cast<double>(*whole);
    out += "  const float factor = " + number_text(factor, true) + ";\n";
  }
  out += "  cudaError_t error = cudaSuccess;\n" + lines;
  out += R"(  if (error == cudaSuccess) error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  std::printf("%s\nthe bug %s\n", cudaGetErrorString(error), error == cudaSuccess ? "does not show" : "shows");
  return error == cudaSuccess ? 0 : 1;
}
)";
  return out;
}

}  // namespace dsafuzz
