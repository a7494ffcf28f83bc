#pragma once
// One small history in each format, with most of what the format can say.
#include <cstdint>
#include <string>
#include <vector>

#include "formats/formats.h"

namespace isoscope {

// Numbers as the binary formats have them.
inline std::string big_endian(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}
inline std::string little_endian(std::uint64_t number) {
  const std::string bytes = big_endian(number);
  return {bytes.rbegin(), bytes.rend()};
}

inline std::string bincode_event(bool write, std::uint64_t variable, std::uint64_t value,
                                 bool success) {
  return std::string(1, write ? '\1' : '\0') + little_endian(variable) + little_endian(value) +
         std::string(1, success ? '\1' : '\0');
}

// Two sessions: a transaction with a failed write, and one that failed.
inline std::string bincode_example() {
  std::string bytes;
  for (std::uint64_t number : {1, 2, 2, 1, 3}) bytes += little_endian(number);
  for (const char* text : {"a test", "2019", ""})
    bytes += little_endian(std::string(text).size()) + text;
  bytes += little_endian(2);
  bytes += little_endian(1) + little_endian(3) + bincode_event(true, 0, 1, true) +
           bincode_event(true, 1, 2, false) + bincode_event(false, 1, 0, true) + '\1';
  bytes += little_endian(1) + little_endian(2) + bincode_event(false, 0, 1, true) +
           bincode_event(false, 1, 9, false) + '\0';
  return bytes;
}

// One log: a fence, then a transaction that reads the initial state and its own write.
inline std::string cobra_example() {
  std::string bytes = "S" + big_endian(5) + "W" + big_endian(0x23332333) + big_endian(1) +
                      big_endian(0) + "C" + big_endian(5);
  bytes += "S" + big_endian(6) + "R" + big_endian(0xbebeebee) + big_endian(0xbebeebee) +
           big_endian(40) + big_endian(0) + "W" + big_endian(100) + big_endian(40) +
           big_endian(77) + "C" + big_endian(6);
  bytes += "S" + big_endian(7) + "R" + big_endian(6) + big_endian(100) + big_endian(40) +
           big_endian(77) + "C" + big_endian(7);
  return bytes;
}

inline std::string example_of(Format format) {
  switch (format) {
    case Format::Hist:
      return "# expect  cc: consistent   pc: violated\n"
             "init x=0 \"cart 7\"=\"full\\n\"\n"
             "s1: [w(x,1) d(y)]  t9=[r(stock[1,-2],nil) w(x,-3)]!\n"
             "s2: [r(x,@T1) r(y,@T1)]@cc@vis  [w(x,\"7\")]?@update-ser\n";
    case Format::Jsonl:
      return R"({"format":"isoscope-history/1","init":[["x",5],[7,"a"]]})"
             "\n"
             R"({"session":"s1","id":"T1","status":"committed","ops":[["r","x",5],["w","x",1],["d","z"]]})"
             "\n"
             R"({"session":"s2","id":"T2","status":"aborted","ops":[["r","x",{"from":"T1"}],["r","z",null]],"level":"SI"})"
             "\n"
             R"({"session":"s2","id":"b","status":"unknown","ops":[["a",8,1],["r",8,[1]],["w","é","\u00e9\n"]],"sql":"SELECT","at":12})"
             "\n";
    case Format::Plume:
      return "w(1,5,0,0)\nr(1,5,1,1)\nw(1,18446744073709551615,0,0)\nw(2,6,1,-1)\nr(2,0,1,7)\n"
             "r(1,18446744073709551615,2,0)\n";
    case Format::AwditTest: return "w 0 1\nr 1 0\n-----\nw 0 2\n=====\nr 0 2\n\n";
    case Format::Dbcop:
      return R"({"params":{"id":1,"n":[1,{"m":"]"}]},"info":"x","data":[
[{"events":[{"Write":{"variable":0,"version":1}},["r",1,0]],"committed":true}],
[{"committed":false,"events":[{"Read":{"version":null,"variable":0}},["w",0,2]]}]]})"
             "\n";
    case Format::DbcopBincode: return bincode_example();
    case Format::Elle:
      return "; an example\n"
             "{:index 0, :type :invoke, :process 0, :f :txn, :value [[:append :x 1] [:r :y nil]]}\n"
             "{:index 1, :type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :y []]]}\n"
             "{:type :info, :process :nemesis, :f :kill, :value {:n1 #{1 2}}}\n"
             "#jepsen.history.Op{:type :invoke :process 1 :value [[:append :x 2]\n"
             "  [:w \"a\\u0041b\" 3]]} ; on two lines\n"
             "{:type :info, :process 1, :value [[:append :x 2] [:w \"a\\u0041b\" 3]], :error \\c}\n"
             "{:type :ok :process 2 :f :txn :value [[:r :x [1 2]]] :time 1.5}\n";
    case Format::Cobra: return cobra_example();
    case Format::IsoPredict:
      return "WRITE KEY[x] Txn(1, 0)\nREAD KEY[x] Txn(2, 0) From(1, 0)\n"
             "INSERT[7] to Set[cart] Txn(2, 0)\nREAD KEY[y[1]] Txn(1, 1) From(0, 0)\n"
             "CONTAINS[7] in Set[cart] From(2, 0) Txn(1, 1)\nDELETE[7] from Set[cart] Txn(1, 1)\n";
  }
  return {};
}

inline std::string elle_json_example() {
  return R"([{"index":0,"type":"invoke","process":0,"value":[["append",1,1],["r",2,null]]},
{"index":1,"type":"ok","process":0,"value":[["append",1,1],["r",2,[3]]]},
{"index":2,"type":"fail","process":1,"f":"txn","time":1.5e3,"error":true,"value":[["append",2,3]]}])";
}

}  // namespace isoscope
