// Checks of what a LibTorch program hands to its operators, before a kernel on a GPU meets it: a label past the last
// class is then an exception that names the element, and not `device-side assert triggered` with a dead context.
//
//   #include <dsafuzz/guard.h>
//   at::Tensor loss = dsafuzz::guard::cross_entropy(logits, labels);   // checks, then computes
//
// Needs LibTorch and nothing else, C++17, any device. Values are reduced where they lie: one small reduction and one
// transfer of two numbers for each checked tensor, which waits for the device. Switch off (guard/switch.h) while a CUDA
// graph is captured, where nothing may wait.
//
// Everything here may be called from several threads. A check that fails throws ViolationError (guard/violation.h) and
// counts it (guard_counters.h).
#pragma once

#include <dsafuzz/guard/check_inputs.h>
#include <dsafuzz/guard/check_values.h>
#include <dsafuzz/guard/guarded_indexing.h>
#include <dsafuzz/guard/guarded_losses.h>
#include <dsafuzz/guard/legal.h>
#include <dsafuzz/guard/switch.h>
#include <dsafuzz/guard/violation.h>
#include <dsafuzz/guard_counters.h>
