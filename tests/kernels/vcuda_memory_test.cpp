// Allocation, and every kind of bad access: what is reported, in compute-sanitizer's words, and what stays unseen.
#include "tests/kernels/test_kernels.h"
#include "tests/kernels/vcuda_fixture.h"

namespace {

using namespace test_kernels;
using testing::HasSubstr;
using vcuda::Error;

class MemoryTest : public VcudaTest {
 protected:
  // Runs one bad launch on a fresh context and returns its report.
  std::string report(const std::function<void()>& launch, Error wanted) {
    const std::string text = printed_by(launch);
    EXPECT_EQ(vcuda::synchronize(), wanted);
    return text;
  }
};

TEST_F(MemoryTest, FullReportOfAWriteOneElementPastTheEnd) {
  int* const p = device_array<int>(4);
  empty({});
  const std::string text = report([&] { store(p + 4); }, Error::illegal_address);
  EXPECT_EQ(text,
            "========= Invalid __global__ write of size 4 bytes\n"
            "=========     at store_kernel\n"
            "=========     by thread (0,0,0) in block (0,0,0)\n"
            "=========     Address " +
                hex(p + 4) +
                " is out of bounds\n"
                "=========     and is 1 bytes after the nearest allocation at " +
                hex(p) +
                " of size 16 bytes\n"
                "=========     Allocation 1 was made after launch 0\n"
                "=========\n");
}

TEST_F(MemoryTest, Distances) {
  const struct {
    const char* name;
    std::ptrdiff_t index;
    const char* wanted;
  } rows[] = {
      {"one before", -1, "and is 4 bytes before the nearest allocation at "},
      {"first", 0, ""},
      {"last", 3, ""},
      {"one past", 4, "and is 1 bytes after the nearest allocation at "},
      {"two past", 5, "and is 5 bytes after the nearest allocation at "},
      {"far past", 1 << 20, "and is 4194289 bytes after the nearest allocation at "},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    vcuda::reset_contexts();
    int* const p = device_array<int>(4);
    const bool bad = row.wanted[0] != '\0';
    const std::string text = report([&] { store(p + row.index); }, bad ? Error::illegal_address : Error::none);
    if (bad) {
      EXPECT_THAT(text, HasSubstr(row.wanted + hex(p) + " of size 16 bytes\n"));
    } else {
      EXPECT_EQ(text, "");
      EXPECT_EQ(p[row.index], 7);
    }
    EXPECT_EQ(vcuda::deallocate(p), bad ? Error::illegal_address : Error::none);
  }
}

TEST_F(MemoryTest, SizesAreExactToTheByte) {
  for (const std::size_t bytes : {1u, 7u, 8u, 9u, 255u, 256u, 257u, 511u, 512u, 513u, 4095u}) {
    SCOPED_TRACE(bytes);
    vcuda::reset_contexts();
    char* const p = device_array<char>(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 512, 0u);
    store_byte(p + bytes - 1);
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    EXPECT_THAT(report([&] { store_byte(p + bytes); }, Error::illegal_address), HasSubstr("and is 1 bytes after"));
  }
}

TEST_F(MemoryTest, PartialGranuleOfAWiderAccess) {
  // 12 bytes: the second 8-byte load reaches 4 bytes past the end.
  auto* const p = reinterpret_cast<std::int64_t*>(device_array<int>(3));
  std::int64_t* const out = device_array<std::int64_t>(1);
  load_long(p, out);
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  const std::string text = report([&] { load_long(p + 1, out); }, Error::illegal_address);
  EXPECT_THAT(text, HasSubstr("Invalid __global__ read of size 8 bytes\n"));
  EXPECT_THAT(text, HasSubstr("and is inside the nearest allocation at " + hex(p) + " of size 12 bytes\n"));
}

TEST_F(MemoryTest, RedZonesSeparateNeighbours) {
  char* const a = device_array<char>(512);
  char* const b = device_array<char>(512);
  EXPECT_GE(b - (a + 512), 256);
  for (char* bad : {a + 512, a + 767, b - 1}) {
    const std::string text = report([&] { store_byte(bad); }, Error::illegal_address);
    EXPECT_THAT(text, HasSubstr("of size 512 bytes\n"));
    vcuda::reset_contexts();
    // The addresses of before are still owned by a and b, so the new allocations lie elsewhere.
    EXPECT_EQ(vcuda::deallocate(a), Error::none);
    EXPECT_EQ(vcuda::deallocate(b), Error::none);
    ASSERT_EQ(device_array<char>(512), a);
    ASSERT_EQ(device_array<char>(512), b);
  }
}

TEST_F(MemoryTest, StructsAndAtomics) {
  Wide* const from = device_array<Wide>(1);
  auto* const small = reinterpret_cast<Wide*>(device_array<std::int64_t>(4));
  from->words[4] = 42;
  Wide* const to = device_array<Wide>(1);
  copy_struct(from, to);
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  EXPECT_EQ(to->words[4], 42);
  EXPECT_THAT(report([&] { copy_struct(from, small); }, Error::illegal_address),
              HasSubstr("Invalid __global__ write of size "));
  vcuda::reset_contexts();
  EXPECT_THAT(report([] { add_to(nullptr); }, Error::illegal_address),
              testing::AllOf(HasSubstr("Invalid __global__ atomic of size 4 bytes\n"),
                             HasSubstr("Address 0x0 is out of bounds\n")));
}

TEST_F(MemoryTest, Misaligned) {
  char* const p = device_array<char>(64);
  const std::string text = report([&] { store(reinterpret_cast<int*>(p + 2)); }, Error::misaligned_address);
  EXPECT_THAT(text, HasSubstr("Address " + hex(p + 2) + " is misaligned\n"));
  EXPECT_STREQ(vcuda::error_text(vcuda::synchronize()), "misaligned address");
}

TEST_F(MemoryTest, HostMemoryIsIllegalInAKernel) {
  const std::vector<int> heap(4);
  int* const out = device_array<int>(1);
  EXPECT_THAT(report([&] { read_host_argument(heap.data(), out); }, Error::illegal_address),
              HasSubstr("Invalid __global__ read of size 4 bytes\n"));
}

TEST_F(MemoryTest, LocalsConstantsAndArgumentsAreFine) {
  int* const in = to_device<int>({5});
  use_locals_and_constants(in, in);
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  EXPECT_EQ(*in, 32 + 1 + 32);
}

TEST_F(MemoryTest, OtherDevicesMemoryIsIllegal) {
  int* const p = device_array<int>(1);
  ASSERT_EQ(vcuda::set_device(1), Error::none);
  const std::string text = report([&] { store(p); }, Error::illegal_address);
  EXPECT_THAT(text, HasSubstr("It is memory of device 0, and the access was made by device 1\n"));
  EXPECT_THAT(text, HasSubstr("and is inside the nearest allocation at " + hex(p)));
}

TEST_F(MemoryTest, UseAfterFree) {
  int* const p = device_array<int>(4);
  empty({});
  EXPECT_EQ(vcuda::deallocate(p), Error::none);
  EXPECT_TRUE(vcuda::find_allocation(p + 3).freed);
  const std::string text = report([&] { store(p + 3); }, Error::illegal_address);
  EXPECT_THAT(text, HasSubstr("Access to " + hex(p + 3) + " is potentially made after memory is freed\n"));
  EXPECT_THAT(text, HasSubstr("and is inside the nearest allocation at " + hex(p) + " of size 16 bytes\n"));
  EXPECT_THAT(text, HasSubstr("Allocation 1 was made after launch 0 and freed after launch 1\n"));
}

TEST_F(MemoryTest, BadFrees) {
  int* const p = device_array<int>(4);
  EXPECT_EQ(vcuda::deallocate(nullptr), Error::none);
  EXPECT_EQ(vcuda::deallocate(p), Error::none);
  EXPECT_EQ(printed_by([&] { EXPECT_EQ(vcuda::deallocate(p), Error::invalid_value); }),
            "========= Malloc/Free error encountered : Double free\n"
            "=========     Address " +
                hex(p) + "\n=========     and is inside the nearest allocation at " + hex(p) +
                " of size 16 bytes\n"
                "=========     Allocation 1 was made after launch 0 and freed after launch 0\n=========\n");
  int host = 0;
  for (void* bad : {static_cast<void*>(&host), static_cast<void*>(device_array<int>(4) + 1)}) {
    EXPECT_THAT(printed_by([&] { EXPECT_EQ(vcuda::deallocate(bad), Error::invalid_value); }),
                HasSubstr("Invalid pointer to free\n"));
  }
  EXPECT_EQ(vcuda::synchronize(), Error::none) << "not sticky";
}

TEST_F(MemoryTest, QuarantineDelaysReuse) {
  constexpr std::size_t kBytes = 1 << 20;
  void* const first = device_array<char>(kBytes);
  EXPECT_EQ(vcuda::deallocate(first), Error::none);
  // 16 MiB of later frees push it out; a block takes a little more than its megabyte.
  int rounds = 0;
  for (void* p = nullptr; p != first && rounds < 100; ++rounds) {
    ASSERT_EQ(vcuda::allocate(&p, kBytes), Error::none);
    ASSERT_EQ(vcuda::deallocate(p), Error::none);
  }
  EXPECT_GE(rounds, 14);
  EXPECT_LE(rounds, 18);
}

TEST_F(MemoryTest, CachingReusesAtOnceAndHidesFaults) {
  vcuda::options().caching = true;
  int* const p = device_array<int>(4);
  store(p + 4);  // inside the rounded 512 bytes
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  EXPECT_EQ(vcuda::deallocate(p), Error::none);
  store(p);  // after free, but the cache keeps it
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  EXPECT_EQ(device_array<int>(100), p);
  EXPECT_EQ(vcuda::deallocate(p), Error::none);
  vcuda::empty_cache();
  EXPECT_THAT(report([&] { store(p); }, Error::illegal_address), HasSubstr("made after memory is freed"));
}

TEST_F(MemoryTest, OutOfMemory) {
  vcuda::options().memory_bytes = 1 << 20;
  void* p = nullptr;
  EXPECT_EQ(vcuda::allocate(&p, (1 << 20) + 1), Error::out_of_memory);
  EXPECT_EQ(vcuda::allocate(&p, SIZE_MAX), Error::out_of_memory);
  EXPECT_EQ(p, nullptr);
  ASSERT_EQ(vcuda::allocate(&p, 1 << 20), Error::none);
  void* q = nullptr;
  EXPECT_EQ(vcuda::allocate(&q, 1), Error::out_of_memory);
  EXPECT_EQ(vcuda::deallocate(p), Error::none);
  EXPECT_EQ(vcuda::allocate(&q, 1), Error::none) << "not sticky, and quarantine does not count";
  EXPECT_EQ(vcuda::allocate(&p, 0), Error::none);
  EXPECT_EQ(p, nullptr);
}

TEST_F(MemoryTest, AddressSpaceDoesNotRunOut) {
  // Sizes that never fit a block freed before: only joining neighbours gives the space back.
  for (std::size_t megabytes = 100; megabytes < 300; ++megabytes) {
    void* p = nullptr;
    ASSERT_EQ(vcuda::allocate(&p, megabytes << 20), Error::none) << megabytes;
    ASSERT_EQ(vcuda::deallocate(p), Error::none);
  }
}

TEST_F(MemoryTest, ResetForgetsMemoryAndIgnoresItsPointers) {
  int* const old = to_device<int>({1, 2, 3});
  vcuda::reset_contexts();
  EXPECT_EQ(vcuda::find_allocation(old).base, nullptr);
  EXPECT_EQ(vcuda::memory_stats(0).live_allocations, 0u);
  int* const fresh = device_array<int>(3);
  EXPECT_NE(fresh, old);
  EXPECT_EQ(printed_by([&] { EXPECT_EQ(vcuda::deallocate(old), Error::none); }), "");
  EXPECT_EQ(vcuda::find_allocation(fresh).bytes, 12u) << "the new owner keeps it";
  EXPECT_THAT(peek(fresh, 3), testing::ElementsAre(0, 0, 0));
  vcuda::reset_contexts();
  EXPECT_THAT(peek(old, 3), testing::ElementsAre(0, 0, 0)) << "memory is as in a new process";
}

TEST_F(MemoryTest, CopiesAreChecked) {
  int host[4] = {1, 2, 3, 4};
  int* const p = device_array<int>(4);
  int* const q = device_array<int>(4);
  EXPECT_EQ(vcuda::copy(p, host, sizeof host), Error::none);
  EXPECT_EQ(vcuda::copy(q, p, sizeof host), Error::none);
  EXPECT_EQ(vcuda::fill(p, 0xff, 8), Error::none);
  EXPECT_THAT(peek(p, 4), testing::ElementsAre(-1, -1, 3, 4));
  EXPECT_THAT(peek(q, 4), testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(vcuda::copy(nullptr, nullptr, 0), Error::none);
  const std::string text =
      printed_by([&] { EXPECT_EQ(vcuda::copy(host, q + 1, sizeof host), Error::illegal_address); });
  EXPECT_THAT(text, HasSubstr("Invalid __global__ read of size 16 bytes\n=========     at cudaMemcpy\n"));
  EXPECT_EQ(vcuda::check_launch(), Error::illegal_address);
}

TEST_F(MemoryTest, Statistics) {
  void* const a = device_array<char>(100);
  void* const b = device_array<char>(50);
  vcuda::deallocate(a);
  const vcuda::MemoryStats stats = vcuda::memory_stats(0);
  EXPECT_EQ(stats.live_bytes, 50u);
  EXPECT_EQ(stats.peak_bytes, 150u);
  EXPECT_EQ(stats.live_allocations, 1u);
  EXPECT_EQ(stats.total_allocations, 2u);
  EXPECT_EQ(vcuda::find_allocation(static_cast<char*>(b) + 49).base, b);
  EXPECT_EQ(vcuda::find_allocation(static_cast<char*>(b) + 50).base, nullptr);
  EXPECT_TRUE(vcuda::is_device_pointer(b));
  int host = 0;
  EXPECT_FALSE(vcuda::is_device_pointer(&host));
}

}  // namespace
