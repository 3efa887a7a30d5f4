// What nvidia-smi says when it fails is told apart, in other words and languages too; so are allocator settings that
// PyTorch refuses.
#include "repro/smi_failure.h"

#include <gtest/gtest.h>

#include <string>

#include "repro/allocator_setting.h"

namespace dsafuzz {
namespace {

TEST(SmiFailureTest, TellsFailuresApart) {
  struct Row {
    const char *text, *kind, *message;
  };
  for (const Row& row : {
           Row{"", "", ""},
           Row{"\n \n", "", ""},
           Row{"Timestamp : x\nDriver Version : 570.1\n", "", ""},
           Row{"GPU 0: NVIDIA L4 (UUID: GPU-1)\n", "", ""},
           Row{"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133\n",
               "mismatch", "Failed to initialize NVML: Driver/library version mismatch"},
           Row{"Failed to initialize NVML: RM has detected an NVML/RM version mismatch.\n", "mismatch",
               "Failed to initialize NVML: RM has detected an NVML/RM version mismatch."},
           Row{"Failed to initialize NVML: Driver Not Loaded\n", "no_driver",
               "Failed to initialize NVML: Driver Not Loaded"},
           Row{"Failed to initialize NVML: Not Found\n", "other", "Failed to initialize NVML: Not Found"},
           Row{"Unable to determine the device handle for GPU0000:0F:00.0: Unknown Error\nNo devices were found\n",
               "gpu_lost", "Unable to determine the device handle for GPU0000:0F:00.0: Unknown Error"},
           // A sensor may fail alone; a GPU of which hardly anything can be read is lost.
           Row{"| NVIDIA-SMI 570.1   Driver Version: 570.1 |\n|ERR!   35C    P8    15W /  350W | 4MiB /  24576MiB |\n",
               "sensors", "|ERR!   35C    P8    15W /  350W | 4MiB /  24576MiB |"},
           Row{"| NVIDIA-SMI 570.1   Driver Version: 570.1 |\n|ERR!  ERR! ERR!  N/A / ERR! | 4MiB / 24576MiB |\n",
               "gpu_lost", "|ERR!  ERR! ERR!  N/A / ERR! | 4MiB / 24576MiB |"},
           Row{"Driver Version : 570.1\nGPU 00000000:01:00.0\n    Fan Speed : Unknown Error\n", "sensors",
               "Fan Speed : Unknown Error"},
           Row{"Driver Version : 570.1\nGPU 00000000:01:00.0\n    Fan Speed : Unknown Error\n    State : Unknown "
               "Error\n"
               "    Bus : GPU is lost\n    Uuid : Unknown Error\n",
               "gpu_lost", "Bus : GPU is lost"},
           Row{"/bin/sh: 1: nvidia-smi: not found\n", "not_found", "/bin/sh: 1: nvidia-smi: not found"},
           Row{"zsh: command not found: nvidia-smi\n", "not_found", "zsh: command not found: nvidia-smi"},
           Row{"bash: nvidia-smi : commande introuvable\n", "not_found", "bash: nvidia-smi : commande introuvable"},
           Row{"bash: nvidia-smi: Kommando nicht gefunden.\n", "not_found",
               "bash: nvidia-smi: Kommando nicht gefunden."},
           Row{"bash: /usr/bin/nvidia-smi: Permission denied\n", "unreadable",
               "bash: /usr/bin/nvidia-smi: Permission denied"},
           Row{"Segmentation fault (core dumped)\n", "unreadable", "Segmentation fault (core dumped)"},
       }) {
    SCOPED_TRACE(row.text);
    const SmiFailure failure = smi_failure(row.text);
    EXPECT_EQ(failure.kind, row.kind);
    EXPECT_EQ(failure.message, row.message);
  }
}

TEST(AllocatorSettingTest, FindsWhatPyTorchRefuses) {
  struct Row {
    const char *setting, *bad;
  };
  for (const Row& row : {
           Row{"", ""},
           Row{"expandable_segments:True,max_split_size_mb:128", ""},
           Row{"garbage_collection_threshold:0.8, backend:cudaMallocAsync", ""},
           Row{"roundup_power2_divisions:[256:1,512:2,>:4],some_new_option:7", ""},
           Row{"expandable_segments:true", "expandable_segments:true"},
           Row{"backend:native,expandable_segments:1", "expandable_segments:1"},
           Row{"max_split_size_mb:20", "max_split_size_mb:20"},
           Row{"max_split_size_mb:128MB", "max_split_size_mb:128MB"},
           Row{"garbage_collection_threshold:80", "garbage_collection_threshold:80"},
           Row{"garbage_collection_threshold:0.0", "garbage_collection_threshold:0.0"},
           Row{"backend:cudaMalloc", "backend:cudaMalloc"},
       }) {
    SCOPED_TRACE(row.setting);
    EXPECT_EQ(bad_allocator_option(row.setting), row.bad);
  }
}

}  // namespace
}  // namespace dsafuzz
