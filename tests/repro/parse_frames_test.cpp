// Python and C++ stacks.
#include "repro/parse_frames.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

TEST(ParseFrames, CppFramesAsPrinted) {
  const FrameReading reading = parse_frames(read_log_text(
      "Exception raised from check at /p/c10/cuda/CUDAException.cpp:42 (most recent call first):\n"
      "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x9d (0x7fb0 in /v/lib/libc10.so)\n"
      "frame #1: <unknown function> + 0xc6e4 (0x7fb1 in /v/lib/libc10_cuda.so)\n"
      "frame #x: broken\n"
      "#7 at::native::item_cuda(at::Tensor const&) from /b/aten/src/X.cpp:31\n"
      "#8 start from ??:0\n"));
  ASSERT_EQ(reading.cpp.size(), 4u);
  EXPECT_EQ(reading.raised_from, "check");
  EXPECT_EQ(reading.cpp[0].symbol, "c10::Error::Error(c10::SourceLocation, std::string)");
  EXPECT_EQ(reading.cpp[0].library, "/v/lib/libc10.so");
  EXPECT_EQ(reading.cpp[1].symbol, "");
  EXPECT_EQ(reading.cpp[1].number, 1);
  EXPECT_EQ(reading.cpp[2].file, "aten/src/X.cpp");
  EXPECT_EQ(reading.cpp[2].line, 31);
  EXPECT_EQ(reading.cpp[3].file, "");
  EXPECT_EQ(reading.api_call, "item_cuda");
}

TEST(ParseFrames, OnlyTheFirstTracebackCounts) {
  const FrameReading reading = parse_frames(
      read_log_text("Traceback (most recent call last):\n"
                    "  File \"/u/a.py\", line 3, in <module>\n    f()\n"
                    "  File \"/v/lib/python3.11/site-packages/torch/x.py\", line 9, in g\n"
                    "RuntimeError: x\n\nDuring handling of the above exception, another exception occurred:\n\n"
                    "Traceback (most recent call last):\n"
                    "  File \"/u/b.py\", line 7, in h\n"
                    "ValueError: y\n"));
  EXPECT_EQ(reading.earliest_user, (Frame{"<module>", "/u/a.py", 3}));
  EXPECT_EQ(reading.nearest_user, (Frame{"<module>", "/u/a.py", 3}));
  EXPECT_EQ(reading.python.size(), 2u);
}

TEST(ParseFrames, UserFiles) {
  for (const char* path : {"a.py", "/home/u/a.py", "<stdin>", "<string>", "C:\\w\\a.py"}) {
    EXPECT_TRUE(is_user_file(path)) << path;
  }
  for (const char* path : {"/v/lib/python3.11/site-packages/torch/a.py", "C:\\v\\Lib\\site-packages\\a.py",
                           "/usr/lib/python3/dist-packages/a.py", "<frozen runpy>", "/usr/lib/python3.12/asyncio/a.py",
                           "/y/v/bin/torchrun"}) {
    EXPECT_FALSE(is_user_file(path)) << path;
  }
}

TEST(ParseFrames, DeepStacksAreBounded) {
  std::string text = "Traceback (most recent call last):\n";
  for (int i = 1; i <= 5000; ++i) text += "  File \"a.py\", line " + std::to_string(i) + ", in f\n";
  const FrameReading reading = parse_frames(read_log_text(text));
  EXPECT_EQ(reading.python.size(), kFrameLimit);
  EXPECT_EQ(reading.earliest_user->line, 1);
  EXPECT_EQ(reading.nearest_user->line, 5000);
}

}  // namespace
}  // namespace dsafuzz
