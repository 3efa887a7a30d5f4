// The error-parity matrix: what each device says of every input in the catalogue and of its variants. Cases run in
// parallel, in workers that live on; an answer that is not the catalogue's is asked for again in a fresh process.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/matrix_rows.h"
#include "repro/executor.h"
#include "repro/finding.h"

namespace dsafuzz {

struct MatrixCell {
  std::string device;  // "cpu", "vcuda", "cuda:0"
  Signature signature;
  std::string site;   // "Loss.cu:250" where an assert line was printed
  std::string error;  // first line of what the program was told; empty if it returned
};

enum class Agreement : std::uint8_t {
  catalogue_differs,   // an answer that contradicts the catalogue
  acceptance_differs,  // one device takes the input and another does not
  manner_differs,      // all refuse it, in different ways: an error here, a dead context there
  agrees,
  not_run,  // the catalogue has no case for it; its exception says why
};
std::string_view to_text(Agreement);

struct MatrixRow {
  CatalogueRow catalogue;
  Variant variant;
  Case the_case;
  std::vector<MatrixCell> cells;          // in the order of MatrixOptions::devices
  std::optional<bool> matches_catalogue;  // nullopt: the catalogue does not say (a variant that no device asserts on)
  Agreement agreement = Agreement::agrees;

  std::string id() const;  // "U13", "U13/float16"
};

struct MatrixOptions {
  std::string catalogue;               // folder: device_asserts.tsv and cases/ID.yaml
  std::vector<std::string> operators;  // rows whose id is one of these or whose operators contain one; empty: all
  std::vector<Device> devices;
  RunSettings settings;  // but for the device
  bool variants = true;
  std::size_t jobs = 1;
  std::function<Result<std::unique_ptr<Executor>>(const RunSettings&)> start_workers;
  std::function<void(std::size_t done, std::size_t all)> progress;  // called from several threads, one at a time
};

// Sorted: disagreements first, then by id. A row without a case has no cells. Problem: no catalogue, no row chosen, a
// case that cannot be read, no worker.
Result<std::vector<MatrixRow>> run_matrix(const MatrixOptions& options);

std::string matrix_text(const std::vector<MatrixRow>& rows);
std::string matrix_json(const std::vector<MatrixRow>& rows);
// One self-contained page with a filter; every text in it is escaped.
std::string matrix_html(const std::vector<MatrixRow>& rows);

}  // namespace dsafuzz
