// Files of any origin: each bad one gives one clear problem that names the place, in bounded time; none crashes.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "repro/case_text.h"
#include "repro/scenario.h"

namespace dsafuzz {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string with_tensor(const std::string& tensor) {
  return "case: t\nseed: 0\ntensors:\n  x: " + tensor + "\nsteps:\n  - aten::relu(x)\n";
}
std::string with_step(const std::string& step) { return "case: t\nseed: 0\nsteps:\n  - " + step + "\n"; }

TEST(HostileCase, GivesOneClearProblem) {
  struct Row {
    const char* name;
    std::string text;
    const char* says;  // part of the problem's text
  };
  const std::string tensor = "{shape: [1], dtype: float32, fill: 0}";
  const Row rows[] = {
      {"empty", "", "is empty"},
      {"blank", "\n\n  \n", "is empty"},
      {"comment only", "# nothing\n", "is empty"},
      {"a word", "hello", "a case is 'hello'"},
      {"a list", "- 1\n- 2\n", "a case is a list"},
      {"not YAML", "case: [1, 2\nsteps: }", "is not YAML"},
      {"tabs", "case:\n\t- x", "is not YAML"},
      {"alias bomb", "a: &a [x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n", "anchors"},
      {"alias", "case: *name\n", "anchor"},
      {"merge key", "a: &a {x: 1}\nb: {<<: *a}\n", "anchors"},
      {"tag", "case: !!python/object/apply:os.system [ls]\n", "tags are not allowed"},
      {"two documents", "case: t\n---\ncase: u\n", "second document"},
      {"deep flow", "case: " + repeated("[", 100'000) + repeated("]", 100'000), "nested too deeply"},
      {"deep maps", "case: " + repeated("{a: ", 30) + "1" + repeated("}", 30), "nested too deeply"},
      {"deep blocks",
       [] {
         std::string out;
         for (int i = 0; i < 60; ++i) out += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
         return out;
       }(),
       "nested too deeply"},
      {"huge", std::string(5u << 20, ' '), "is larger than"},
      {"many values", "case: [" + repeated("1,", 400'000) + "1]", "too many values"},
      {"not UTF-8", "case: caf\xe9\n", "byte 0xe9 is not text"},
      {"overlong UTF-8", "case: \xc0\xaf\n", "byte 0xc0 is not text"},
      {"NUL byte", std::string("case: a\0b\n", 10), "byte 0x00 is not text"},
      {"escape sequence", "case: \x1b[31mred\n", "byte 0x1b is not text"},
      {"UTF-16",
       std::string("\xff\xfe"
                   "c\0a\0",
                   6),
       "byte 0xff is not text"},
      {"unknown key", "case: t\nseeds: 1\nsteps: []\n", "has no 'seeds'"},
      {"key twice", "case: t\nseed: 1\nseed: 2\n", "'seed' is given twice"},
      {"no steps", "case: t\nseed: 0\n", "no steps"},
      {"steps as a word", "case: t\nsteps: relu\n", "steps is 'relu'"},
      {"step as a mapping", "case: t\nsteps:\n  - {loss: aten::relu(x)}\n", "is a YAML mapping"},
      {"step with colons", "case: t\nsteps:\n  - y = aten::f(x, dim: 1)\n", "mapping"},
      {"step cut short", with_step("y = aten::relu("), "expected a value"},
      {"shell in an operator", with_step("y = system(x)"), "is not an operator"},
      {"other namespace", with_step("y = prim::Print(x)"), "is not an operator"},
      {"path in a module", with_step("y = module:../../etc/passwd(x)"), "does not name a module file"},
      {"absolute module", with_step("y = module:/tmp/x.pt(x)"), "does not name a module file"},
      {"hidden module", with_step("y = module:.x.pt(x)"), "does not name a module file"},
      {"path as a case name", "case: ../../x\nsteps:\n  - aten::relu(x)\n", "is not a scenario name"},
      {"blank in a case name", "case: 'a b'\nsteps:\n  - aten::relu(x)\n", "is not a scenario name"},
      {"long case name", "case: " + std::string(65, 'a') + "\nsteps:\n  - aten::relu(x)\n", "is not a scenario name"},
      {"code in a tensor name", "case: t\ntensors:\n  'x; rm -rf': " + tensor + "\nsteps:\n  - aten::relu(x)\n",
       "is not a tensor name"},
      {"quote in a tensor name", "case: t\ntensors:\n  'x\"': " + tensor + "\nsteps:\n  - aten::relu(x)\n",
       "is not a tensor name"},
      {"seed is a word", "case: t\nseed: abc\nsteps: []\n", "the seed is 'abc'"},
      {"seed is negative", "case: t\nseed: -1\nsteps: []\n", "the seed is '-1'"},
      {"seed beyond 63 bits", "case: t\nseed: 18446744073709551615\nsteps: []\n", "the seed is"},
      {"seed is a list", "case: t\nseed: [1]\nsteps: []\n", "the seed is a list"},
      {"unknown precision", "case: t\nprecision: float8\nsteps: []\n", "is not a precision"},
      {"unknown dtype", with_tensor("{shape: [1], dtype: float31, fill: 0}"), "is not a dtype"},
      {"no shape", with_tensor("{dtype: float32}"), "has no shape"},
      {"unknown variable", with_tensor("{shape: [batch], dtype: float32, fill: 0}"), "no shape variable 'batch'"},
      {"negative size", with_tensor("{shape: [-5], dtype: float32, fill: 0}"), "axis of size -5"},
      {"huge size", with_tensor("{shape: [99999999999], dtype: float32, fill: 0}"), "more than"},
      {"a short list over a huge tensor", with_tensor("{shape: [99, 9999999], dtype: int64, fill: [1, 2]}"),
       "repeats a list"},
      {"overflowing size", with_tensor("{shape: [9999999999, 9999999999], dtype: float32, fill: 0}"), "more than"},
      {"size beyond 64 bits", with_tensor("{shape: [99999999999999999999], dtype: float32, fill: 0}"),
       "too large for a size"},
      {"nine axes", with_tensor("{shape: [1,1,1,1,1,1,1,1,1], dtype: float32, fill: 0}"), "has 9 axes"},
      {"empty literal", with_tensor("{shape: [1], dtype: float32, fill: []}"), "empty list"},
      {"a word as fill", with_tensor("{shape: [1], dtype: float32, fill: zeros}"), "is not a fill"},
      {"fraction in integers", with_tensor("{shape: [1], dtype: int64, fill: 1.5}"), "holds fractional values"},
      {"number beyond 64 bits", with_tensor("{shape: [1], dtype: int64, fill: 9223372036854775808}"), "is not a fill"},
      {"set beyond any tensor", with_tensor("{shape: [1], dtype: int64, fill: 0, set: {99999999999: 1}}"),
       "an element's index"},
      {"set is a list", with_tensor("{shape: [1], dtype: int64, fill: 0, set: [1]}"), "set is a list"},
      {"layout unknown", with_tensor("{shape: [1], dtype: int64, fill: 0, layout: sparse}"), "is not a layout"},
      {"device 99", with_tensor("{shape: [1], dtype: int64, fill: 0, device: 99}"), "the device is '99'"},
  };
  static_assert(std::size(rows) >= 40);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto begin = std::chrono::steady_clock::now();
    const auto c = parse_case(row.text, "bad.yaml");
    // A generous bound: it catches quadratic readers, not slow machines.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    ASSERT_FALSE(c);
    const std::string text = c.error().text();
    EXPECT_NE(text.find(row.says), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("bad.yaml")) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_LT(text.size(), 1500u);
    EXPECT_EQ(c.error().exit_code(), 2);
  }
}

TEST(HostileScenario, GivesOneClearProblem) {
  const std::string head = "scenario: t\nclaim: c\n";
  const std::string tail = "steps:\n  - y = aten::relu(x)\n";
  const std::string x = "tensors:\n  x: {shape: [1], dtype: float32, fill: 0}\n";
  struct Row {
    const char* name;
    std::string text;
    const char* says;
  };
  const Row rows[] = {
      {"no claim", "scenario: t\n" + x + tail, "no 'claim'"},
      {"default outside its range", head + "shapes: {a: {default: 5, range: [0, 4]}}\n" + x + tail,
       "outside its range"},
      {"range upside down", head + "shapes: {a: {default: 5, range: [9, 4]}}\n" + x + tail, "the greatest size"},
      {"range of one", head + "shapes: {a: {default: 5, range: [9]}}\n" + x + tail, "two ends"},
      {"varies the unknown", head + x + tail + "vary: [z]\n", "'z' is nothing that may vary"},
      {"varies an argument that no step writes", head + x + tail + "vary: [y.dim]\n",
       "'y.dim' is nothing that may vary"},
      {"layer_norm over a product", head + x + "model:\n  - layer_norm: {width: 2 * 3}\nsteps:\n  - y = model(x)\n",
       "layer_norm's width"},
      {"varies a fixed shape", head + "shapes: {a: 1}\n" + x + tail + "vary: [a]\n", "has no range"},
      {"varies a dtype without choices", head + x + tail + "vary: [x.dtype]\n", "has no dtypes"},
      {"legal with one end", head + "tensors:\n  x: {shape: [1], dtype: int64, fill: 0, legal: {from: 0}}\n" + tail,
       "need both ends"},
      {"legal as text", head + "tensors:\n  x: {shape: [1], dtype: int64, fill: 0, legal: '[0, 1)'}\n" + tail, "legal"},
      {"unknown layer", head + x + "model:\n  - transformer: {}\nsteps:\n  - y = model(x)\n", "is not a layer"},
      {"layer without its size", head + x + "model:\n  - linear: {in: 3}\nsteps:\n  - y = model(x)\n", "needs 'out'"},
      {"layer with a foreign option",
       head + x + "model:\n  - linear: {in: 3, out: 2, kernel: 3}\nsteps:\n  - y = model(x)\n", "has no 'kernel'"},
      {"model never called", head + x + "model:\n  - relu\n" + tail, "never called"},
      {"model called without one", head + x + "steps:\n  - y = model(x)\n", "there is no model"},
      {"unknown operator", head + x + "steps:\n  - y = frobnicate(x)\n", "is not an operator"},
      {"unknown verdict", head + x + tail + "expect: {verdict: explosion}\n", "is not a verdict"},
      {"a twin that expects a bug", head + x + tail + "explore: legal\nexpect: {verdict: crash}\n",
       "explores legal values only"},
      {"minimal of the unknown", head + x + tail + "expect: {verdict: crash, minimal: {z: 1}}\n",
       "neither a shape nor a tensor"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto s = parse_scenario(row.text, "bad.yaml");
    ASSERT_FALSE(s);
    EXPECT_NE(s.error().text().find(row.says), std::string::npos) << s.error().text();
    EXPECT_TRUE(s.error().where.starts_with("bad.yaml:")) << s.error().text();
  }
}

TEST(HostileFile, IsNotRead) {
  for (const char* path : {"/nonexistent/case.yaml", "/", "/dev/zero", "/dev/tty"}) {
    const auto c = load_case(path);
    ASSERT_FALSE(c) << path;
    EXPECT_TRUE(c.error().text().starts_with(path)) << c.error().text();
  }
}

}  // namespace
}  // namespace dsafuzz
