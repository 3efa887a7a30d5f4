// A case that looked bad during the search, and why. It is on disk before anything examines it, and stays there until
// it has become a finding or was set aside: nothing met is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "repro/finding.h"

namespace dsafuzz {

struct Candidate {
  enum class Kind : std::uint8_t {
    failed,       // a run ended in a finding's verdict
    suspect,      // the device accepted an illegal value: what does the CPU say?
    interrupted,  // it was running when its engine was killed; the signature is not known
    slip,         // another bug, met while reducing one
  };
  Kind kind = Kind::failed;
  Signature signature;  // as met; of a suspect: silent, with the tensor and class of value as condition
  Case the_case;
  Outcome outcome;             // of interrupted and slip only the device, where it is known
  std::uint64_t engine = 0;    // which engine of its scenario met it, and at which execution: candidates are examined
  std::uint64_t sequence = 0;  // in this order, so that the same search gives the same findings

  std::string stored_as;  // its folder's name once it is in the store; empty before

  std::string name() const;  // "device_assert-1f2e3d4c5b6a7988-0123456789abcdef": signature and case, or stored_as
  friend bool operator==(const Candidate&, const Candidate&) = default;
};
std::string_view to_text(Candidate::Kind);
std::optional<Candidate::Kind> parse_candidate_kind(std::string_view);

// Before: lower scenario name, then kind of origin, engine, sequence, name. Total over different names.
bool examined_before(const Candidate& a, const Candidate& b);

// All but the case and the outcome's log, as JSON, and back; the case and log are files of their own.
std::string to_json(const Candidate& candidate);
Result<Candidate> parse_candidate(std::string_view json, const std::string& file);

}  // namespace dsafuzz
