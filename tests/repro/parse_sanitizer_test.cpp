// Sanitizer reports: where an address lies, locations, and what is not a report.
#include "repro/parse_sanitizer.h"

#include <gtest/gtest.h>

#include "repro/parse_host_sanitizer.h"
#include "repro/sanitizer_location.h"

namespace dsafuzz {
namespace {

SanitizerReading read(std::string_view text) { return parse_sanitizer(read_log_text(text)); }

TEST(ParseSanitizer, WhereTheAddressLies) {
  struct Row {
    std::string_view address, fault, relation;
  };
  const Row rows[] = {
      {"Address 0x7f10 is out of bounds\n=========     and is 1 bytes after the nearest allocation at 0x7f00 of size "
       "16",
       "invalid_global_write", "after the allocation"},
      {"Address 0x7f10 is out of bounds\n=========     and is 8 bytes before the nearest allocation at 0x7f18 of size "
       "4",
       "invalid_global_write", "before the allocation"},
      {"Access to 0x7f10 is potentially made after memory is freed", "use_after_free", "in a freed allocation"},
      {"Access to 0x7f10 is potentially made before memory is allocated", "use_before_alloc", "before its allocation"},
      {"Address 0x7f11 is misaligned", "invalid_global_write", "misaligned"},
      {"Address 0x0 is out of bounds", "invalid_global_write", "at a null pointer"},
      // Beyond an allocation that happens to be freed is out of bounds, no use after free.
      {"Address 0x7f10 is out of bounds\n=========     and is 1 bytes after the nearest allocation at 0x7f00 of size "
       "16\n"
       "=========     Allocation 3 was made after launch 1 and freed after launch 2",
       "invalid_global_write", "after the allocation"},
      {"Address 0x7f10 is out of bounds", "invalid_global_write", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.address);
    const SanitizerReading reading = read(
        "========= Invalid __global__ write of size 4 bytes\n=========     at scale\n"
        "=========     by thread (1,0,0) in block (2,0,0)\n=========     " +
        std::string(row.address) + "\n=========\n");
    ASSERT_EQ(reading.records.size(), 1u);
    EXPECT_EQ(reading.records[0].fault, row.fault);
    EXPECT_EQ(reading.records[0].relation, row.relation);
    EXPECT_EQ(reading.records[0].kernel, "scale");
    EXPECT_EQ(reading.records[0].thread, (Triple{1, 0, 0}));
    EXPECT_EQ(reading.records[0].block, (Triple{2, 0, 0}));
  }
}

TEST(ParseSanitizer, DeviceLocations) {
  struct Row {
    std::string_view text, function, file;
    int line;
  };
  const Row rows[] = {
      {"", "", "", 0},
      {"f", "f", "", 0},
      {"0x79d8", "", "", 0},
      {"0x150 in f(int)", "f(int)", "", 0},
      {"0x150 in /x/a.cu:12:n::f(int)", "n::f(int)", "/x/a.cu", 12},
      {"f(int)+0x150", "f(int)", "", 0},
      {"f(int)+0x150 in a.cu:12", "f(int)", "a.cu", 12},
      {"f(int):0x150 in a.cu:12", "f(int)", "a.cu", 12},
      {"f(int) [0xb90]", "f(int)", "", 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const DeviceLocation location = parse_device_location(row.text);
    EXPECT_EQ(location.function, row.function);
    EXPECT_EQ(location.file, row.file);
    EXPECT_EQ(location.line, row.line);
  }
}

TEST(ParseSanitizer, NotAReport) {
  for (std::string_view text : {"", "=========", "==========================", "== x ==", "RESULTS\n=========\n"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(read(text).present);
  }
}

TEST(ParseSanitizer, SummaryNumbersMayHaveSeparators) {
  EXPECT_EQ(read("========= ERROR SUMMARY: 1,206 errors\n").total, 1206);
  EXPECT_EQ(read("========= ERROR SUMMARY: 203 errors were not printed. Use --print-limit\n").total, std::nullopt);
}

TEST(ParseHostSanitizer, FaultAccessAndFrames) {
  const auto report = parse_host_sanitizer(
      read_log_text("==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x4 bp 0x7 sp 0x7\n"
                    "READ of size 8 at 0x602 thread T0\n"
                    "    #0 0x55d0 in n::f(int) /src/a.cpp:12:3\n"
                    "    #1 0x55d1 in main (/bin/prog+0x12)\n\n"
                    "0x602 is located 0 bytes inside of 8-byte region\n"
                    "    #0 0x1 in free\n"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->fault, "heap-use-after-free");
  EXPECT_EQ(report->access, "READ of size 8");
  ASSERT_EQ(report->frames.size(), 2u);
  EXPECT_EQ(report->frames[0], (Frame{"n::f(int)", "/src/a.cpp", 12}));
}

}  // namespace
}  // namespace dsafuzz
