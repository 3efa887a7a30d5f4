#include "repro/reduce.h"

#include <numeric>

#include "repro/reduce_passes.h"
#include "repro/reduce_values.h"
#include "repro/simpler.h"

namespace dsafuzz {
namespace {

constexpr double kRarely = 0.3;  // below this share of runs, only coarse passes are worth their executions

void run_passes(ReduceSearch& search, bool coarse_only) {
  for (const Pass& pass : passes()) {
    if (pass.coarse || !coarse_only) pass.run(search);
  }
}

// What one walk over the closed list of single edits of the best case found.
struct Sweep {
  std::vector<PassCount> certificate;
  std::string accepted_by;  // the pass whose edit showed the bug and has become the best; empty: none
  bool finished = false;    // all were tried and refused
};

Sweep sweep(ReduceSearch& search) {
  Sweep out;
  const Case base = search.best();
  const std::vector<ResultTensor> recorded = search.trial().results;
  for (const Pass& pass : passes()) {
    const std::vector<Case> edits = pass.edits(base, recorded);
    if (edits.empty()) continue;
    search.reset_rejected();
    const bool accepted = search.offer_first(edits);
    out.certificate.push_back({pass.name, search.rejected()});
    if (accepted) out.accepted_by = pass.name;
    if (accepted || search.stopped()) return out;
  }
  out.finished = true;
  return out;
}

}  // namespace

TryCases one_by_one(TryCase try_case) {
  return [try_case = std::move(try_case)](std::span<const Case> cases) {
    std::vector<Trial> out;
    for (const Case& c : cases) out.push_back(try_case(c));
    return out;
  };
}

int Reduction::edits_rejected() const {
  return std::accumulate(certificate.begin(), certificate.end(), 0,
                         [](int sum, const PassCount& pass) { return sum + pass.edits; });
}

Result<Reduction> reduce(const Case& start, const Signature& wanted, const TryCases& try_cases,
                         const ReduceLimits& limits) {
  ReduceSearch search(wanted, try_cases, limits);
  if (auto begun = search.begin(start); !begun) return std::unexpected(begun.error());
  Reduction out;
  const bool rarely = search.share_shown() < kRarely;
  for (bool again = true; again && !search.stopped();) {
    Case before;
    do {
      before = search.best();
      run_passes(search, rarely);
    } while (search.best() != before && !search.stopped());
    if (search.stopped() || rarely) break;
    Sweep swept = sweep(search);
    again = !swept.accepted_by.empty();
    out.one_minimal = swept.finished;
    if (swept.finished) out.certificate = std::move(swept.certificate);
  }
  reword_fills(search);

  // Contents written out for the passes may have made a case that could not be reduced longer than it was.
  out.minimal = simpler(search.best(), start) ? search.best() : start;
  out.executions = search.executions();
  out.cached = search.cached();
  out.start_shown = search.start_shown();
  out.start_runs = search.start_runs();
  out.runs_for_no = search.runs_for_no();
  out.slips = search.slips();
  return out;
}

Result<Verification> verify_minimal(const Case& c, const Signature& wanted, const TryCases& try_cases,
                                    const ReduceLimits& limits) {
  ReduceSearch search(wanted, try_cases, limits);
  if (auto begun = search.begin(c); !begun) return std::unexpected(begun.error());
  Verification out;
  // The edits take hold of single values; what the case says in other words is the same case.
  write_out_fills(search);
  Sweep swept = sweep(search);
  out.one_minimal = swept.finished;
  out.certificate = std::move(swept.certificate);
  out.pass = swept.accepted_by;
  if (!swept.accepted_by.empty()) out.smaller = search.best();
  out.executions = search.executions();
  return out;
}

}  // namespace dsafuzz
