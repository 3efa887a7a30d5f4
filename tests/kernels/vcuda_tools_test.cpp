// The tools: what each tells of, in compute-sanitizer's words, and what is in order and must not be told of.
#include "tests/kernels/test_kernels.h"
#include "tests/kernels/tool_kernels.h"
#include "tests/kernels/vcuda_fixture.h"

namespace {

using namespace tool_kernels;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using vcuda::Error;
using vcuda::Tool;

class ToolsTest : public VcudaTest {
 protected:
  void use(Tool tool) {
    vcuda::options().tool = tool;
    vcuda::reset_contexts();
  }
  void TearDown() override {
    vcuda::options().tool = Tool::memcheck;
    vcuda::set_place("");
    vcuda::reset_contexts();
  }
  // What a run tells of, on a fresh context.
  std::string report(Tool tool, const std::function<void()>& run, Error wanted) {
    use(tool);
    const std::string text = printed_by(run);
    EXPECT_EQ(vcuda::synchronize(), wanted) << text;
    return text;
  }
};

TEST_F(ToolsTest, ReadOfMemoryThatNothingWrote) {
  const std::string text = report(
      Tool::initcheck,
      [] {
        vcuda::set_place("tensor x");
        int* const x = device_array<int>(4);
        vcuda::set_place("sum");
        copy_one(x + 1, device_array<int>(1));
      },
      Error::launch_failure);
  EXPECT_THAT(text, StartsWith("========= Uninitialized __global__ memory read of size 4 bytes\n"
                               "=========     at copy_one_kernel\n"
                               "=========     by thread (0,0,0) in block (0,0,0)\n"
                               "=========     Address 0x"));
  EXPECT_THAT(text, AllOf(HasSubstr("and is inside the nearest allocation at 0x"), HasSubstr(" of size 16 bytes\n"),
                          HasSubstr("Allocation 1 was made after launch 0 (tensor x)\n")));
}

TEST_F(ToolsTest, WhatCountsAsWritten) {
  const struct {
    const char* name;
    std::function<void(int*)> prepare;  // four ints; the last one is read
    bool written;
  } rows[] = {
      {"nothing", [](int*) {}, false},
      {"a store to it", [](int* x) { write_one(x + 3, 1); }, true},
      {"a store beside it", [](int* x) { write_one(x + 2, 1); }, false},
      {"stores to all", [](int* x) { write_index(x, 4); }, true},
      {"a fill", [](int* x) { EXPECT_EQ(vcuda::fill(x, 0, 16), Error::none); }, true},
      {"a fill that ends before it", [](int* x) { EXPECT_EQ(vcuda::fill(x, 0, 12), Error::none); }, false},
      {"a fill that ends in it", [](int* x) { EXPECT_EQ(vcuda::fill(x, 0, 15), Error::none); }, false},
      {"a copy from the host",
       [](int* x) {
         const int host[4] = {1, 2, 3, 4};
         EXPECT_EQ(vcuda::copy(x, host, sizeof host), Error::none);
       },
       true},
      {"a copy of what was written",
       [](int* x) {
         int* const other = device_array<int>(8);
         write_index(other, 8);
         EXPECT_EQ(vcuda::copy(x, other + 1, 16), Error::none);
       },
       true},
      {"a copy of what was not",
       [](int* x) {
         int* const other = device_array<int>(8);
         write_index(other, 4);
         EXPECT_EQ(vcuda::copy(x, other + 1, 16), Error::none);
       },
       false},
      {"a byte copied at an odd place",
       [](int* x) {
         write_index(x, 3);
         for (int i = 0; i < 4; ++i) copy_byte(reinterpret_cast<char*>(x) + 3 + i, reinterpret_cast<char*>(x + 3) + i);
       },
       true},
      {"an earlier life of the memory", [](int*) {}, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    report(
        Tool::initcheck,
        [&] {
          int* const x = device_array<int>(4);
          row.prepare(x);
          copy_one(x + 3, device_array<int>(1));
        },
        row.written ? Error::none : Error::launch_failure);
  }
}

TEST_F(ToolsTest, MemoryThatIsReusedIsNewAgain) {
  use(Tool::initcheck);
  vcuda::options().caching = true;
  int* const x = device_array<int>(4);
  write_index(x, 4);
  EXPECT_EQ(vcuda::deallocate(x), Error::none);
  ASSERT_EQ(device_array<int>(4), x);
  EXPECT_THAT(printed_by([&] { copy_one(x, x + 1); }), StartsWith("========= Uninitialized __global__"));
}

TEST_F(ToolsTest, AnAtomicReadsToo) {
  EXPECT_THAT(report(
                  Tool::initcheck, [] { add_atomic(device_array<int>(1), 32, 32); }, Error::launch_failure),
              HasSubstr("Uninitialized __global__ memory read of size 4 bytes\n=========     at add_atomic_kernel\n"));
}

TEST_F(ToolsTest, InitcheckAlsoChecksMemory) {
  EXPECT_THAT(report(
                  Tool::initcheck, [] { write_one(device_array<int>(4) + 4, 1); }, Error::illegal_address),
              StartsWith("========= Invalid __global__ write of size 4 bytes\n"));
}

TEST_F(ToolsTest, FullReportOfARace) {
  int* x = nullptr;
  const std::string text = report(
      Tool::racecheck,
      [&] {
        x = to_device<int>({0});
        add_plain(x, 64, 32);
      },
      Error::launch_failure);
  EXPECT_EQ(text,
            "========= Error: Race reported between Write access at add_plain_kernel\n"
            "=========     and Read access at add_plain_kernel [1 hazard]\n"
            "=========     by thread (1,0,0) in block (0,0,0)\n"
            "=========     and thread (0,0,0) in block (0,0,0)\n"
            "=========     Address " +
                hex(x) +
                " in __global__ memory, 4 bytes\n"
                "=========     and is inside the nearest allocation at " +
                hex(x) +
                " of size 4 bytes\n"
                "=========     Allocation 1 was made after launch 0\n"
                "=========\n");
}

TEST_F(ToolsTest, WhatIsARace) {
  const struct {
    const char* name;
    std::function<void(int*)> run;  // 64 ints, written
    const char* wanted;             // the report's first line has this; empty: none
  } rows[] = {
      {"each its own element", [](int* x) { write_index(x, 64); }, ""},
      {"one thread only", [](int* x) { add_plain(x, 1, 1); }, ""},
      {"two threads add", [](int* x) { add_plain(x, 2, 2); }, "between Write access at add_plain_kernel"},
      {"two blocks add", [](int* x) { add_plain(x, 2, 1); }, "between Write access at add_plain_kernel"},
      {"atomics", [](int* x) { add_atomic(x, 64, 32); }, ""},
      {"an atomic and a load", [](int* x) { add_then_read(x, x + 1, 2); }, "between Read access at add_then_read_kernel"},
      {"the same value", [](int* x) { write_same(x, 7, 64, 32); }, ""},
      {"different values", [](int* x) { write_number(x, 64, 32); }, "between Write access at write_number_kernel"},
      {"different values, two threads", [](int* x) { write_number(x, 2, 1); }, "between Write access at write_number"},
      {"shared memory with a barrier", [](int* x) { reverse_in_shared(x, x + 32, true); }, ""},
      {"and without", [](int* x) { reverse_in_shared(x, x + 32, false); }, "between Read access at reverse_kernel"},
      {"a launch after another",
       [](int* x) {
         write_one(x, 1);
         add_plain(x, 1, 1);
       },
       ""},
      {"barriers between stores of one block", [](int* x) { barrier_in_loop(x, 32); }, ""},
      {"threads that may run as one up to a barrier",
       [](int* x) { test_kernels::sum_joined(x, 1, x + 32, {.block = {32}}); }, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const bool race = row.wanted[0] != '\0';
    const std::string text = report(
        Tool::racecheck, [&] { row.run(to_device<int>(std::vector<int>(64))); },
        race ? Error::launch_failure : Error::none);
    EXPECT_THAT(text, race ? HasSubstr(row.wanted) : HasSubstr(""));
    if (!race) EXPECT_EQ(text, "");
  }
}

TEST_F(ToolsTest, StreamsAreOrderedByEventsAndWaiting) {
  const struct {
    const char* name;
    std::function<void(vcuda::Stream, vcuda::Stream)> between;  // of the write in one and the read in the other
    bool race;
  } rows[] = {
      {"nothing", [](vcuda::Stream, vcuda::Stream) {}, true},
      {"an event", [](vcuda::Stream a, vcuda::Stream b) { vcuda::wait_event(b, vcuda::record_event(a)); }, false},
      {"an event of the wrong stream",
       [](vcuda::Stream, vcuda::Stream b) { vcuda::wait_event(b, vcuda::record_event(b)); }, true},
      {"an event that nobody waits for", [](vcuda::Stream a, vcuda::Stream) { vcuda::record_event(a); }, true},
      {"a third stream in between",
       [](vcuda::Stream a, vcuda::Stream b) {
         const vcuda::Stream c = vcuda::create_stream(0);
         vcuda::wait_event(c, vcuda::record_event(a));
         vcuda::wait_event(b, vcuda::record_event(c));
       },
       false},
      {"an event that never was", [](vcuda::Stream, vcuda::Stream b) { vcuda::wait_event(b, 99); }, true},
      {"the host waits", [](vcuda::Stream, vcuda::Stream) { EXPECT_EQ(vcuda::synchronize(), Error::none); }, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string text = report(
        Tool::racecheck,
        [&] {
          const vcuda::Stream a = vcuda::create_stream(0), b = vcuda::create_stream(0);
          int* const x = device_array<int>(2);
          write_one(x, 1, a);
          row.between(a, b);
          copy_one(x, x + 1, b);
        },
        row.race ? Error::launch_failure : Error::none);
    if (row.race) {
      EXPECT_THAT(text, AllOf(HasSubstr("between Write access at write_one_kernel\n"),
                              HasSubstr("and Read access at copy_one_kernel [1 hazard]\n"),
                              HasSubstr("in streams 16 and 32 without an event between them\n")));
    } else {
      EXPECT_EQ(text, "");
    }
  }
}

TEST_F(ToolsTest, MemoryThatIsReusedHasNoHistory) {
  use(Tool::racecheck);
  vcuda::options().caching = true;
  const vcuda::Stream a = vcuda::create_stream(0), b = vcuda::create_stream(0);
  int* const x = device_array<int>(2);
  write_one(x, 1, a);
  EXPECT_EQ(vcuda::deallocate(x), Error::none);
  ASSERT_EQ(device_array<int>(2), x);
  EXPECT_EQ(printed_by([&] { copy_one(x, x + 1, b); }), "");
}

TEST_F(ToolsTest, Barriers) {
  const struct {
    const char* name;
    std::function<void(int*)> run;
    Error wanted;
    const char* thread;  // of the report
  } rows[] = {
      {"all at one, again and again", [](int* x) { barrier_in_loop(x, 32); }, Error::none, ""},
      {"two barriers", [](int* x) { barrier_in_branch(x, 32); }, Error::launch_failure, "(16,0,0)"},
      {"one thread has no other half", [](int* x) { barrier_in_branch(x, 1); }, Error::none, ""},
      {"some have returned", [](int* x) { barrier_after_return(x, 32); }, Error::launch_failure, "(0,0,0)"},
      {"one has asserted", [](int* x) { barrier_after_assert(x, 32); }, Error::assert_triggered, ""},
      {"shared memory", [](int* x) { reverse_in_shared(x, x + 32, true); }, Error::none, ""},
      {"threads that may run as one", [](int* x) { test_kernels::sum_joined(x, 1, x + 32, {.block = {32}}); },
       Error::none, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string text = report(
        Tool::synccheck, [&] { row.run(to_device<int>(std::vector<int>(64))); }, row.wanted);
    if (row.wanted == Error::launch_failure) {
      EXPECT_THAT(text, AllOf(StartsWith("========= Barrier error detected. Divergent thread(s) in block\n"),
                              HasSubstr(std::string("by thread ") + row.thread + " in block (0,0,0)\n")));
    } else {
      EXPECT_THAT(text, testing::Not(HasSubstr("Barrier")));
    }
  }
}

TEST_F(ToolsTest, SharedArrays) {
  for (const int index : {0, 15, 16, 17, -1, -2, 1000}) {
    SCOPED_TRACE(index);
    const bool bad = index < 0 || index > 15;
    if (index == 1000) continue;  // may lie in another array: not promised
    const std::string text = report(
        Tool::memcheck, [&] { shared_at(index, device_array<int>(16)); }, bad ? Error::illegal_address : Error::none);
    if (!bad) continue;
    const std::string where = index > 15 ? std::to_string(4 * (index - 16) + 1) + " bytes after"
                                         : std::to_string(-4 * index) + " bytes before";
    EXPECT_THAT(text, AllOf(StartsWith("========= Invalid __shared__ write of size 4 bytes\n"
                                       "=========     at shared_at_kernel\n"
                                       "=========     by thread (0,0,0) in block (0,0,0)\n"),
                            HasSubstr("and is " + where + " the nearest allocation at 0x"),
                            HasSubstr(" of size 64 bytes\n"), HasSubstr("shared_at_kernel(int, int*)::row\n")));
  }
}

TEST_F(ToolsTest, LocalArrays) {
  for (const int index : {0, 7, 8, 9, -1}) {
    SCOPED_TRACE(index);
    const bool bad = index < 0 || index > 7;
    const std::string text = report(
        Tool::memcheck, [&] { local_at(index, device_array<int>(1)); }, bad ? Error::illegal_address : Error::none);
    if (!bad) continue;
    const std::string where =
        index > 7 ? std::to_string(4 * (index - 8) + 1) + " bytes after" : std::to_string(-4 * index) + " bytes before";
    EXPECT_THAT(text, AllOf(StartsWith("========= Invalid __local__ write of size 4 bytes\n"
                                       "=========     at local_at_kernel\n"),
                            HasSubstr("and is " + where + " the nearest allocation on the thread's stack\n")));
  }
}

// A thread that an assert ends leaves nothing behind that the next would stumble over.
TEST_F(ToolsTest, LocalArraysAfterAnAssert) {
  for (int i = 0; i < 2; ++i) {
    const std::string text = report(
        Tool::memcheck, [] { local_then_assert(device_array<int>(4)); }, Error::assert_triggered);
    EXPECT_THAT(text, testing::Not(HasSubstr("__local__")));
  }
  report(
      Tool::memcheck, [] { local_at(3, device_array<int>(1)); }, Error::none);
}

TEST_F(ToolsTest, WithoutAToolFaultsInsidePagesGoUnseen) {
  const std::string text = report(
      Tool::none,
      [] {
        int* const x = device_array<int>(4);
        write_one(x + 4, 1);
        EXPECT_EQ(vcuda::deallocate(x), Error::none);
        write_one(x, 1);
      },
      Error::none);
  EXPECT_EQ(text, "");
  EXPECT_EQ(report(
                Tool::none, [] { write_one(device_array<int>(4) + (1 << 20), 1); }, Error::illegal_address),
            "");
}

// A grid on all cores prints what it would on one: lines in the order of blocks and threads.
TEST_F(ToolsTest, AssertsOfALargeGridKeepTheirOrder) {
  constexpr unsigned kBlocks = 4096, kBlock = 64, kFrom = 4096 * 64 - 1000;
  const std::string text = report(
      Tool::memcheck, [] { assert_each(kBlocks, kBlock, kFrom); }, Error::assert_triggered);
  std::string wanted;
  for (unsigned i = kFrom; i < kBlocks * kBlock; ++i) {
    wanted += "/pytorch/aten/Test.cu:5: assert_each_kernel: block: [" + std::to_string(i / kBlock) +
              ",0,0], thread: [" + std::to_string(i % kBlock) + ",0,0] Assertion `below` failed.\n";
  }
  EXPECT_EQ(text, wanted);
}

TEST_F(ToolsTest, AFaultEndsALargeGrid) {
  constexpr unsigned kBlocks = 4096, kBlock = 64, kAt = 150'000;
  for (int i = 0; i < 3; ++i) {
    const std::string text = report(
        Tool::memcheck,
        [] {
          int* const good = device_array<int>(kBlocks * kBlock);
          fault_at(good, nullptr, kBlocks, kBlock, kAt);
        },
        Error::assert_triggered);
    // The asserts of threads before it, 0 to 140000, then the fault, and nothing after.
    std::size_t lines = 0;
    for (std::size_t at = text.find("not a multiple"); at != std::string::npos;
         at = text.find("not a multiple", at + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, 15u);
    EXPECT_THAT(text, HasSubstr("by thread (48,0,0) in block (2343,0,0)\n"));
    EXPECT_THAT(text, testing::EndsWith("=========\n"));
  }
}

TEST_F(ToolsTest, ALargeGridRunsEveryThread) {
  use(Tool::memcheck);
  constexpr unsigned kCount = 1 << 20;
  int* const x = device_array<int>(kCount);
  write_index(x, kCount);
  add_atomic(x, kCount, 256);
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  EXPECT_EQ(x[0], static_cast<int>(kCount)) << "every atomic counts";
  for (unsigned i = 1; i < kCount; ++i) ASSERT_EQ(x[i], static_cast<int>(i));
}

}  // namespace
