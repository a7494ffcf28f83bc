#pragma once
// Certificates of `check` and `synth`: a text file with sections, for people and for programs.
//
//     isoscope certificate 1
//     %% answer 1             what is claimed, and by which kind of reason
//     %% level 1              the levels, as text
//     %% history 1 hist       the history that is spoken of
//     %% cnf 1                DIMACS; comments say what each variable means
//     %% reasons 1            why each clause is there; those that were added on the way apart
//     %% proof 1              DRAT: no assignment satisfies all clauses
//     %% end
//
// An answer that a graph decides has %% cycle instead of the last three: its edges, one a line. A
// file has one answer for each level, or for each scope that was searched. docs/certificates.md
// says how to check one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check/certificate.h"
#include "report/json.h"
#include "synth/synth.h"

namespace isoscope {

enum class CertificateKind : std::uint8_t {
  Sat,    // clauses and a DRAT proof
  Cycle,  // edges that every order would have to contain
  Read,   // a read that no level excuses
  None,   // `why` says why there is none, or why none is needed
};
std::string_view name_of(CertificateKind kind);  // sat, cycle, read, none

// What a report says of a certificate.
struct CertificateNote {
  CertificateKind kind = CertificateKind::None;
  std::string why = {};
  std::string file = {};
  std::size_t variables = 0;  // of Sat, of all scopes together
  std::size_t clauses = 0;    // all of them
  std::size_t added = 0;      // of those, on the way
  std::size_t proof_lines = 0;
};
// "certificate: 12 variables, 40 clauses (8 added on the way), 31 lines of DRAT, in ser.cert"
std::string certificate_line(const CertificateNote& note);
Json certificate_json(const CertificateNote& note);

class CertificateFile {
 public:
  explicit CertificateFile(std::string path) : path_(std::move(path)) {}

  // Of one history and level; `level` is what the user called it.
  CertificateNote add_check(const History& h, const Assignment& levels, const std::string& level,
                            const Verdict& verdict, Budget& budget);
  // Of a search; levels as they were asked for.
  CertificateNote add_synth(const SynthQuery& query, const SynthAnswer& answer);

  // An answer without a certificate: the file says why.
  CertificateNote add_none(std::string_view command, std::string why);
  std::string text() const;

 private:
  void open_section(const std::string& name);
  void add_level_texts(const std::vector<std::string>& texts);
  void add_proof(const ClauseLog& log, const std::string& proof, CertificateNote& note);
  void add_cycle(const History& h, const Violation& violation);

  std::string path_;
  std::string body_;
  std::size_t answers_ = 0;
};

}  // namespace isoscope
