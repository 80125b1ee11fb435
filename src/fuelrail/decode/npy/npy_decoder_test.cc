#include "fuelrail/decode/npy/npy_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"
#include "fuelrail/decode/npy/npy_header.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using testing::CropJob;
using testing::golden_image;
using ::testing::HasSubstr;
using testing::ValueJob;
using namespace std::string_literals;

// A file of version 1.0 with this dict and these elements.
std::string npy(const std::string& dict, const std::string& elements = "") {
  std::string length(2, '\0');
  store_le(reinterpret_cast<std::byte*>(length.data()), static_cast<uint16_t>(dict.size()));
  return "\x93NUMPY\1\0"s + length + dict + elements;
}

std::string dict_of(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string image_of(const std::string& descr, const std::string& shape, size_t bytes = 0) {
  std::string elements;
  for (size_t i = 0; i < bytes; ++i) elements += static_cast<char>(i * 37);
  return npy(dict_of(descr, shape), elements);
}

template <typename Expected>
std::string npy_refusal(const std::string& encoded) {
  return testing::refusal_of<Expected>([&] { probe(as_bytes(encoded)); });
}

template <typename T>
std::vector<T> values_in(const std::string& encoded, Box box) {
  const std::vector<char> bytes(encoded.begin(), encoded.end());  // for sanitizers: no slack
  const Bytes view = as_bytes({bytes.data(), bytes.size()});
  ValueJob job(view, probe(view), box);
  job.decode_with(*make_npy_decoder());
  EXPECT_EQ(job.error(), "");
  const std::string packed = job.packed();
  std::vector<T> values;
  for (size_t at = 0; at < packed.size(); at += sizeof(T)) {
    values.push_back(load_le<T>(reinterpret_cast<const std::byte*>(packed.data() + at)));
  }
  return values;
}

template <typename T>
std::string elements(const std::vector<T>& values) {
  std::vector<std::byte> bytes;
  for (const T value : values) append_le(bytes, value);
  return std::string(as_text(bytes));
}

TEST(NpyDecoder, the_sample_of_the_page_is_read) {
  std::vector<std::byte> encoded;
  for (const std::string& line : format_page_block("npy.md", "npy")) {
    append_bytes(encoded, bytes_of_hex(line.substr(0, line.find("  "))));
  }
  const NpyHeader header = parse_npy_header(encoded);
  EXPECT_EQ(header.size, (Size{2, 3}));
  EXPECT_EQ(header.data_at, 128u);
  EXPECT_EQ(values_in<uint8_t>(std::string(as_text(encoded)), {0, 0, 2, 3}),
            (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
}

TEST(NpyDecoder, elements_of_every_type_are_values) {
  const Box last{1, 1, 1, 2};
  const std::string shape = "(2, 3)";
  EXPECT_EQ(values_in<uint16_t>(
                npy(dict_of("<u2", shape), elements<uint16_t>({0, 1, 2, 3, 65535, 256})), last),
            (std::vector<uint16_t>{65535, 256}));
  EXPECT_EQ(values_in<int32_t>(
                npy(dict_of("<i4", shape), elements<int32_t>({0, 1, 2, 3, -1, 1 << 24})), last),
            (std::vector<int32_t>{-1, 1 << 24}));
  EXPECT_EQ(values_in<float>(
                npy(dict_of("<f4", shape), elements<float>({0, 1, 2, 3, 0.1f, -1e30f})), last),
            (std::vector<float>{0.1f, -1e30f}));
  EXPECT_EQ(values_in<float>(
                npy(dict_of("<f2", shape), elements<uint16_t>({0, 1, 2, 3, 0x3555, 0xfbff})), last),
            (std::vector<float>{from_half(0x3555), -65504}));
}

TEST(NpyDecoder, maps_may_have_several_channels) {
  const std::string encoded = npy(dict_of("<f4", "(1, 2, 3)"), elements<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values_in<float>(encoded, {0, 1, 1, 1}), (std::vector<float>{4, 5, 6}));
  const std::string flow = npy(dict_of("<f4", "(1, 2, 2)"), elements<float>({1, 2, 3, 4}));
  EXPECT_EQ(values_in<float>(flow, {0, 1, 1, 1}), (std::vector<float>{3, 4}));
  EXPECT_FALSE(probe(as_bytes(flow)).alpha);
}

TEST(NpyDecoder, the_header_tells_the_type_of_the_values) {
  const auto info_of = [](const std::string& descr, const std::string& shape) {
    return probe(as_bytes(image_of(descr, shape)));
  };
  EXPECT_EQ(info_of("|u1", "(4, 5)").values, DType::kUint8);
  EXPECT_EQ(info_of("|u1", "(4, 5, 3)").values, std::nullopt);
  EXPECT_EQ(info_of("<u2", "(4, 5)").values, DType::kUint16);
  EXPECT_EQ(info_of("<i4", "(4, 5, 1)").values, DType::kInt32);
  EXPECT_EQ(info_of("<f2", "(4, 5, 4)").values, DType::kFloat32);
  EXPECT_EQ(info_of("<f2", "(4, 5)").bits, 16);
  EXPECT_TRUE(info_of("|u1", "(4, 5, 4)").alpha);
}

TEST(NpyDecoder, only_uint8_has_pixels) {
  const std::string encoded = image_of("<u2", "(4, 5)", 40);
  CropJob job(as_bytes(encoded), probe(as_bytes(encoded)), {0, 0, 4, 5});
  job.decode_with(*make_npy_decoder());
  EXPECT_TRUE(job.failed_with<UnsupportedError>());
  EXPECT_THAT(job.error(), HasSubstr("expected uint8, found uint16. Declare the field as a mask"));
}

TEST(NpyDecoder, the_dict_may_be_written_in_other_ways) {
  for (const char* dict :
       {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }",
        "{'shape':(2,3),'fortran_order':False,'descr':'|u1'}\n\n",
        "  {\"descr\" : \"<u1\" , \"shape\" : ( 2 , 3 , ) , 'fortran_order' : False}  ",
        "{'descr': '>u1', 'fortran_order': False, 'shape': (2, 3, 1)}"}) {
    EXPECT_EQ(probe(as_bytes(npy(dict))).stored, (Size{2, 3})) << dict;
  }
}

TEST(NpyDecoder, damaged_dicts_are_refused_with_their_place) {
  const std::pair<const char*, const char*> kDamaged[] = {
      {"", "at byte 10 of the image: expected '{', found its end"},
      {"('descr': '|u1')", "at byte 10"},
      {"{'descr' '|u1'}", "at byte 19 of the image: expected ':', found ''|u1'}'"},
      {"{'descr': '|u1' 'shape': (2, 3)}", "expected '}'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)", "expected '}', found its end"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)} x", "the end of the header"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}{", "the end of the header"},
      {"{'descr': '|u1', 'descr': '|u1'}", "the keys 'descr', 'fortran_order' and 'shape' once"},
      {"{'descr': '|u1', 'more': 1}", "the keys 'descr', 'fortran_order' and 'shape' once"},
      {"{'descr': '|u1', 'shape': (2, 3)}", "is incomplete"},
      {"{'descr': '|u\\x31'}", "expected a string"},
      {"{'descr': '|u1\"}", "expected a string"},
      {"{'descr': '|u1", "expected a string"},
      {"{'descr': 1}", "expected '\"'"},
      {"{'shape': (2, -3)}", "expected a whole number from 0 to 2147483647, found '-3)}'"},
      {"{'shape': (2, 2147483648)}", "expected a whole number"},
      {"{'shape': (2, 3 4)}", "expected ')'"},
      {"{'shape': (,)}", "expected a whole number"},
      {"{'shape': 2}", "expected '('"},
      {"{'fortran_order': 0}", "expected 'False'"},
      {"{'fortran_order': __import__('os')}", "expected 'False'"},
      {"{'descr': \x01\xff}", "found '??}'"},
  };
  for (const auto& [dict, message] : kDamaged) {
    EXPECT_THAT(npy_refusal<DecodeError>(npy(dict)), HasSubstr(message)) << dict;
  }
}

TEST(NpyDecoder, other_arrays_are_refused_with_a_remedy) {
  const auto other = [](const std::string& dict) {
    return npy_refusal<UnsupportedError>(npy(dict));
  };
  EXPECT_THAT(other(dict_of("|O", "(2, 3)")),
              HasSubstr("Python objects, which are never unpickled"));
  EXPECT_THAT(other("{'descr': [('a', '<u1')], 'fortran_order': False, 'shape': (2, 3)}"),
              HasSubstr("elements of several fields"));
  EXPECT_THAT(other(dict_of(">u2", "(2, 3)")), HasSubstr("newbyteorder"));
  EXPECT_THAT(other(dict_of(">f4", "(2, 3)")), HasSubstr("big-endian elements"));
  for (const char* descr :
       {"<f8", "<i8", "|i1", "|b1", "<U5", "|S1", "<u1x", "=u2", "|u2", "u1", ""}) {
    EXPECT_THAT(other(dict_of(descr, "(2, 3)")), HasSubstr("found '"s + descr + "'")) << descr;
  }
  EXPECT_THAT(other("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}"),
              HasSubstr("numpy.ascontiguousarray"));
  for (const char* shape : {"()", "(2,)", "(2, 3, 3, 1)", "(1, 2, 3, 4, 5)"}) {
    EXPECT_THAT(other(dict_of("|u1", shape)), HasSubstr(" dimensions. Store other arrays"))
        << shape;
  }
  EXPECT_THAT(other(dict_of("|u1", "(2, 3, 2)")), HasSubstr("found (2, 3, 2)"));
  EXPECT_THAT(other(dict_of("<u2", "(2, 3, 3)")),
              HasSubstr("expected (height, width) or (height, width, 1) for uint16 and int32"));
}

TEST(NpyDecoder, other_versions_are_refused) {
  for (const auto& [major, minor] : {std::pair{0, 0}, {1, 1}, {4, 0}, {255, 255}}) {
    std::string encoded = image_of("|u1", "(2, 3)", 6);
    encoded[6] = static_cast<char>(major);
    encoded[7] = static_cast<char>(minor);
    EXPECT_THAT(npy_refusal<UnsupportedError>(encoded),
                HasSubstr("found " + std::to_string(major) + "." + std::to_string(minor)));
  }
}

TEST(NpyDecoder, a_length_beyond_the_file_is_truncation) {
  std::string encoded = golden_image("rgb8_version2.npy").encoded;
  encoded[11] = '\x7f';  // of the dict: 2 GB
  EXPECT_THAT(npy_refusal<TruncatedError>(encoded), HasSubstr("ends inside its header"));
}

TEST(NpyDecoder, rows_below_the_box_may_be_missing) {
  const std::string encoded = image_of("<u2", "(4, 5)", 40);
  const std::string cut = encoded.substr(0, encoded.size() - 11);
  EXPECT_EQ(values_in<uint16_t>(cut, {0, 1, 2, 4}), values_in<uint16_t>(encoded, {0, 1, 2, 4}));
  ValueJob all(as_bytes(cut), probe(as_bytes(cut)), {0, 0, 4, 5});
  all.decode_with(*make_npy_decoder());
  EXPECT_TRUE(all.failed_with<TruncatedError>());
  EXPECT_THAT(all.error(), HasSubstr("expected at least 40 bytes of elements"));
}

TEST(NpyDecoder, sizes_are_limited_before_anything_is_allocated) {
  EXPECT_THAT(npy_refusal<DecodeError>(image_of("|u1", "(2147483647, 2147483647, 4)")),
              HasSubstr("declares too many pixels"));
  EXPECT_THAT(npy_refusal<DecodeError>(image_of("|u1", "(0, 5)")),
              HasSubstr("height or width of 0"));
  EXPECT_THAT(npy_refusal<DecodeError>(image_of("|u1", "(1, 65536)")), HasSubstr("too large"));
}

}  // namespace
}  // namespace fuelrail
