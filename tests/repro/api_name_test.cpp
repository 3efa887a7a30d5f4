// A user's call must do exactly the operator's work: for each row of the table both are run on the CPU, and on vcuda
// where it is built, and must return the same. Every row needs an example here, so that none is believed unseen.
#include "repro/api_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "repro/python_program.h"
#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTensorsForCalls =
    "case: calls\nseed: 0\nshapes: {}\ntensors:\n"
    "  x: {shape: [2, 3], dtype: float32, fill: [0.5, 0.25, 0.125, 0.75, 0.0, 1.0]}\n"
    "  y: {shape: [2, 3], dtype: float32, fill: [0.25, 0.5, 0.5, 1.0, 0.125, 0.0]}\n"
    "  v: {shape: [3], dtype: float32, fill: [0.5, 1, 2]}\n"
    "  w: {shape: [4, 3], dtype: float32, fill: arange}\n"
    "  z: {shape: [2], dtype: int64, fill: [1, 0]}\n"
    "  t: {shape: [2, 3], dtype: int64, fill: [1, 0, 1, 0, 1, 1]}\n"
    "  m: {shape: [2, 3], dtype: bool, fill: [1, 0, 1, 0, 0, 1]}\n"
    "  n: {shape: [2], dtype: int64, fill: [0, 1]}\n"
    "  four: {shape: [1, 2, 2, 2], dtype: float32, fill: arange}\n"
    "  square: {shape: [2, 2], dtype: float32, fill: [2, 1, 1, 3]}\n"
    "  pivots: {shape: [2], dtype: int32, fill: [1, 2]}\n"
    "  ones: {shape: [2], dtype: int64, fill: 1}\n"
    "  rows: {shape: [3], dtype: int64, fill: [0, 1, 2]}\n"
    "  logs: {shape: [4, 1, 3], dtype: float32, fill: -1}\n"
    "  one: {shape: [1], dtype: int64, fill: 1}\n"
    "  long: {shape: [1], dtype: int64, fill: 4}\n"
    "  half: {shape: [8, 8], dtype: bfloat16, fill: 1}\n"
    "  halves: {shape: [2, 8, 8], dtype: bfloat16, fill: 1}\n"
    "  ends: {shape: [2], dtype: int32, fill: [4, 8]}\n"
    "  points: {shape: [3], dtype: int32, fill: 0}\n"
    "  fives: {shape: [2], dtype: float32, fill: 5}\n"
    "  counted: {shape: [3], dtype: int64, fill: [1, 2, 3]}\n"
    "  units: {shape: [2], dtype: float32, fill: 1}\n"
    "steps:\n";

// By the row's name. Written so that the result does not depend on chance but for the seed.
const std::map<std::string, std::string> kExamples{
    {"cross_entropy_loss", "(x, z, ignore_index=0, reduction=sum)"},
    {"nll_loss", "(x, z, reduction=none)"},
    {"nll_loss_nd", "(x, z, reduction=mean, ignore_index=1)"},
    {"mse_loss", "(x, y, reduction=sum)"},
    {"l1_loss", "(x, y)"},
    {"smooth_l1_loss", "(x, y, reduction=none)"},
    {"huber_loss", "(x, y, reduction=sum, delta=0.25)"},
    {"kl_div", "(x, y, log_target=true)"},
    {"binary_cross_entropy", "(x, y, reduction=sum)"},
    {"binary_cross_entropy_with_logits", "(x, y, pos_weight=v)"},
    {"multi_margin_loss", "(x, z, p=2, margin=0.5, reduction=sum)"},
    {"multilabel_margin_loss", "(x, t, reduction=none)"},
    {"ctc_loss", "(logs, one, long, one, reduction=sum)"},
    {"embedding", "(w, z)"},
    {"embedding_bag", "(w, z, n, mode=1)"},
    {"index", ".Tensor(x, [none, z])"},
    {"index_put_", "(x, [z], v, accumulate=true)"},
    {"index_put", "(x, [z], v)"},
    {"index_select", "(w, 1, z)"},
    {"gather", "(x, 1, t)"},
    {"take", "(x, t)"},
    {"take_along_dim", "(x, t, 1)"},
    {"scatter", "(x, 1, t, y)"},
    {"scatter.value", "(x, 1, t, 4.0)"},
    {"scatter_", "(x, 1, t, y)"},
    {"scatter_.value", "(x, 1, t, 4.0)"},
    {"scatter_add", "(x, 1, t, y)"},
    {"scatter_add_", "(x, 1, t, y)"},
    {"scatter_reduce", ".two(x, 1, t, y, amax, include_self=false)"},
    {"scatter_reduce_", ".two(x, 1, t, y, prod)"},
    {"index_add", "(w, 0, z, x, alpha=2)"},
    {"index_add_", "(w, 0, z, x)"},
    {"index_copy", "(w, 0, z, x)"},
    {"index_copy_", "(w, 0, z, x)"},
    {"index_fill", ".int_Scalar(w, 0, z, 2.5)"},
    {"index_fill_", ".int_Scalar(w, 0, z, 2.5)"},
    {"index_reduce", "(w, 0, z, x, amax, include_self=false)"},
    {"index_reduce_", "(w, 0, z, x, prod)"},
    {"put", "(w, z, fives, true)"},
    {"put_", "(w, z, fives)"},
    {"masked_scatter", "(x, m, y)"},
    {"masked_scatter_", "(x, m, y)"},
    {"one_hot", "(z, 4)"},
    {"searchsorted", ".Tensor(v, x, right=true)"},
    {"bincount", "(z, minlength=5)"},
    {"histc", "(x, 4, min=0, max=1)"},
    {"repeat_interleave.Tensor", "(z, output_size=1)"},
    {"repeat_interleave.self_Tensor", "(x, z, 0, output_size=1)"},
    {"segment_reduce", "(x, sum, lengths=ones, unsafe=true)"},
    {"multinomial", "(v, 2, replacement=true)"},
    {"bernoulli", "(x)"},
    {"bernoulli.p", "(x, 0.5)"},
    {"bernoulli_", ".float(x, 0.25)"},
    {"poisson", "(v)"},
    {"binomial", "(y, x)"},
    {"normal.Tensor_Tensor", "(x, y)"},
    {"exponential_", "(x, 2.0)"},
    {"geometric_", "(x, 0.5)"},
    {"floor_divide", "(t, counted)"},
    {"remainder", ".Tensor(x, v)"},
    {"fmod", ".Tensor(x, v)"},
    {"div", ".Tensor_mode(x, v, rounding_mode=floor)"},
    {"add", ".Tensor(x, y, alpha=2)"},
    {"sub", ".Tensor(x, y)"},
    {"mul", ".Tensor(x, y)"},
    {"fake_quantize_per_channel_affine", "(x, v, points, 1, 0, 255)"},
    {"_assert_async", ".msg(one, \"it is one\")"},
    {"linear", "(x, w)"},
    {"layer_norm", "(x, [3], weight=v)"},
    {"conv2d", "(four, four, padding=[1, 1])"},
    {"relu", "(x)"},
    {"gelu", "(x)"},
    {"silu", "(x)"},
    {"tanh", "(x)"},
    {"sigmoid", "(x)"},
    {"flatten.using_ints", "(four, start_dim=1)"},
    {"softmax.int", "(x, 1)"},
    {"log_softmax.int", "(x, 1, dtype=float64)"},
    {"_grouped_mm", "(half, halves, ends)"},
    {"lu_unpack", "(square, pivots)"},
    {"linalg_lu_solve", "(square, pivots, square, left=false)"},
    {"sparse_csr_tensor.crow_col_value_size", "(rows, z, units, [2, 2], device=device)"},
    {"to_dense", "(x)"},
    {"to_sparse", "(x)"},
    {"sort", "(x, 1, true)"},
    {"max.dim", "(x, 1)"},
    {"amin", "(x, [1], keepdim=true)"},
    {"sum", "(x)"},
    {"sum.dim_IntList", "(x, [1], keepdim=true, dtype=float64)"},
    {"narrow", "(w, 0, 1, 2)"},
    {"expand", "(v, [2, 3])"},
    {"reshape", "(x, [3, 2])"},
    {"unsqueeze", "(x, 0)"},
    {"transpose.int", "(x, 0, 1)"},
    {"t", "(x)"},
    {"cat", "([x, y], dim=1)"},
    {"complex", "(x, y)"},
};

TEST(ApiName, EveryRowDoesTheOperatorsWork) {
  if (!has_torch()) GTEST_SKIP() << "no torch at " << python();
  std::string program =
      "import sys\nimport torch\ndevice = sys.argv[1]\nfailed = []\n"
      "if device == 'vcuda':\n    import dsafuzz_vcuda\n"
      "def flat(r):\n    r = r if isinstance(r, (tuple, list)) else (r,)\n"
      "    return [t.to_dense().cpu() if t is not None and t.layout != torch.strided else t if t is None else t.cpu() "
      "for t in r]\n"
      "def same(a, b):\n    a, b = flat(a), flat(b)\n    k = min(len(a), len(b))\n"
      "    return k > 0 and all((p is None and q is None) or (p.dtype == q.dtype and torch.equal(p, q)) "
      "for p, q in zip(a[:k], b[:k]))\n";
  for (const ApiName& row : api_names()) {
    const std::string name(row.op);
    SCOPED_TRACE(name);
    const auto example = kExamples.find(name);
    ASSERT_NE(example, kExamples.end()) << "give it an example";
    const std::string yaml = kTensorsForCalls;
    const bool nothing = name == "_assert_async";
    const Case c = case_of(yaml + "  - " + (nothing ? "" : "out = ") + "aten::" + name + example->second + "\n");
    ASSERT_FALSE(c.steps.empty());
    const PythonProgram lines = python_program(c);
    ASSERT_EQ(lines.steps.size(), 1u);
    EXPECT_THAT(lines.steps[0], ::testing::Not(HasSubstr("torch.ops."))) << "the row does not apply to its example";
    const PythonProgram by_name = python_program(c, Unused::bound, Calls::by_name);
    ASSERT_THAT(by_name.steps[0], HasSubstr("torch.ops."));
    const std::size_t from = nothing ? 0 : std::string("out = ").size();
    const std::string make = "tensors_" + std::to_string(&row - api_names().data());
    program += "def " + make + "():\n";
    for (const std::string& line : lines.tensors) program += "    " + line + "\n";
    program += "    torch.manual_seed(1)\n    return dict(locals())\n";
    program += "try:\n    globals().update(" + make + "())\n    a = " + lines.steps[0].substr(from) +
               "\n    globals().update(" + make + "())\n    b = " + by_name.steps[0].substr(from) + "\n" +
               (nothing ? "" : "    if not same(a, b): failed.append(('" + name + "', a, b))\n") +
               "except Exception as e:\n    failed.append(('" + name + "', repr(e)))\n";
  }
  program += "print(failed)\nassert not failed\n";
  const std::string path = write("calls.py", program);
  Ran ran = run(python() + " " + path + " cpu");
  EXPECT_EQ(ran.code, 0) << ran.output;
  const std::string library = DSAFUZZ_VCUDA;
  if (!std::filesystem::exists(library)) return;
  ran = run("env DSAFUZZ_VCUDA_LIBRARY=" + library + " PYTHONPATH=" + DSAFUZZ_SOURCE_DIR + "/kernels/python " +
            python() + " " + path + " vcuda");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

}  // namespace
}  // namespace dsafuzz
