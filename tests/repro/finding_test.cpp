// Verdict names and signatures.
#include "repro/finding.h"

#include <gtest/gtest.h>

#include <set>

namespace dsafuzz {
namespace {

TEST(Finding, VerdictNamesAreInverses) {
  std::set<std::string_view> names;
  for (Verdict verdict : kVerdicts) {
    names.insert(to_text(verdict));
    EXPECT_EQ(parse_verdict(to_text(verdict)), verdict);
  }
  EXPECT_EQ(names.size(), kVerdicts.size());
  EXPECT_EQ(parse_verdict(""), std::nullopt);
  EXPECT_EQ(parse_verdict("Ok"), std::nullopt);
}

TEST(Finding, Bugs) {
  const std::set<Verdict> bugs{Verdict::device_assert, Verdict::memory_fault, Verdict::silent,
                               Verdict::wrong_result,  Verdict::hang,         Verdict::crash};
  for (Verdict verdict : kVerdicts) EXPECT_EQ(is_bug(verdict), bugs.contains(verdict)) << to_text(verdict);
}

TEST(Finding, SignatureText) {
  struct Row {
    Signature signature;
    std::string_view text;
  };
  const Row rows[] = {
      {{}, ""},
      {{Verdict::device_assert, "aten::nll_loss", "aten/src/ATen/native/cuda/Loss.cu",
        "nll_loss_forward_reduce_cuda_kernel_2d", "t >= 0 && t < n_classes"},
       "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"},
      {{Verdict::host_reject, "aten::nll_loss", "", "", "Target # is out of bounds."}, "`Target # is out of bounds.`"},
      {{Verdict::memory_fault, "", "", "scale", ""}, "scale"},
      {{Verdict::device_assert, "", "X.cu", "", "c"}, "X.cu `c`"},
  };
  for (const Row& row : rows) EXPECT_EQ(row.signature.text(), row.text);
}

TEST(Finding, FolderNameDependsOnEveryField) {
  const Signature base{Verdict::crash, "a", "b", "c", "d"};
  std::set<std::string> names{base.folder_name()};
  for (const Signature& other :
       {Signature{Verdict::hang, "a", "b", "c", "d"}, Signature{Verdict::crash, "x", "b", "c", "d"},
        Signature{Verdict::crash, "a", "x", "c", "d"}, Signature{Verdict::crash, "a", "b", "x", "d"},
        Signature{Verdict::crash, "a", "b", "c", "x"}, Signature{Verdict::crash, "ab", "", "c", "d"}}) {
    EXPECT_TRUE(names.insert(other.folder_name()).second);
    EXPECT_NE(other, base);
  }
  EXPECT_EQ(base.folder_name(), base.folder_name());
  const std::string name = base.folder_name();
  ASSERT_EQ(name.size(), std::string("crash-").size() + 16);
  EXPECT_TRUE(name.starts_with("crash-"));
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef", 6), std::string::npos);
}

}  // namespace
}  // namespace dsafuzz
