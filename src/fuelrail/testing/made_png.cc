#include "fuelrail/testing/made_png.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>

#include "fuelrail/base/crc32.h"
#include "fuelrail/decode/png/png_chunks.h"

namespace fuelrail::testing {
namespace {

using Data = std::vector<std::byte>;

constexpr int kKinds[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                             {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};

void add_be32(Data& to, uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::byte>(value >> shift));
}

void add_text(Data& to, std::string_view text) {
  const Bytes bytes = as_bytes(text);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

Data bytes_of(std::initializer_list<int> values) {
  Data data;
  for (const int value : values) data.push_back(static_cast<std::byte>(value));
  return data;
}

Data random_bytes(size_t count, std::mt19937_64& random) {
  Data data(count);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  return data;
}

// The filter's byte and the filtered row (PNG, third edition, section 9.2).
Data filtered(int filter, const Data& row, const Data& above, size_t pixel) {
  const auto at = [](const Data& from, size_t i) { return std::to_integer<int>(from[i]); };
  Data to = bytes_of({filter});
  if (filter == 0) {
    to.insert(to.end(), row.begin(), row.end());
    return to;
  }
  for (size_t i = 0; i < row.size(); ++i) {
    const int a = i >= pixel ? at(row, i - pixel) : 0;
    const int b = at(above, i);
    const int c = i >= pixel ? at(above, i - pixel) : 0;
    const int predicted[] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
    to.push_back(static_cast<std::byte>(at(row, i) - predicted[filter]));
  }
  return to;
}

int64_t pixel_bits(const MadePng& made) {
  return int64_t{png::samples_of(static_cast<png::ColourType>(made.type))} * made.bits;
}

// Some indices are above a short palette.
Data row_of(const MadePng& made, int colours, int64_t y, std::mt19937_64& random) {
  Data row(static_cast<size_t>((made.size.width * pixel_bits(made) + 7) / 8));
  for (size_t i = 0; i < row.size(); ++i) {
    const auto x = static_cast<int64_t>(i);
    const int64_t value =
        made.flat ? (y / 8 + x / 16) % 7 : 3 * x + 5 * y + static_cast<int64_t>(random() % 9);
    const bool is_index = made.type == 3 && made.bits == 8;
    row[i] = static_cast<std::byte>(is_index ? value % (colours + 3) : value);
  }
  return row;
}

Data filtered_rows(const MadePng& made, const std::vector<Data>& rows, std::mt19937_64& random) {
  Data all;
  Data above(rows.front().size());
  for (const Data& row : rows) {
    const int filter = made.filter.value_or(static_cast<int>(random() % 5));
    const auto pixel = static_cast<size_t>((pixel_bits(made) + 7) / 8);
    const Data next = filtered(filter, row, above, pixel);
    all.insert(all.end(), next.begin(), next.end());
    above = row;
  }
  return all;
}

// The transparent colour is that of a pixel. Its upper bytes do not count if samples have 8 bits.
Data transparency_of(const MadePng& made, int colours, const Data& row, std::mt19937_64& random) {
  if (made.type == 0) return bytes_of({0, 1});
  if (made.type == 3) {
    return random_bytes(static_cast<size_t>(std::max(1, colours / 2)), random);
  }
  Data key = random_bytes(6, random);
  const size_t sample = static_cast<size_t>(made.bits) / 8;
  for (size_t k = 0; k < 3; ++k) {
    std::copy_n(&row[k * sample], sample, &key[2 * k + 2 - sample]);
  }
  return key;
}

}  // namespace

std::vector<std::byte> make_png(const MadePng& made) {
  std::mt19937_64 random(made.seed);
  const int colours = made.colours > 0 ? made.colours : 1 << std::min(made.bits, 8);
  Data header;
  add_be32(header, static_cast<uint64_t>(made.size.width));
  add_be32(header, static_cast<uint64_t>(made.size.height));
  const Data rest = bytes_of({made.bits, made.type, 0, 0, 0});
  header.insert(header.end(), rest.begin(), rest.end());
  std::vector<PngChunk> chunks{{"IHDR", header}};
  if (made.type == 3) {
    chunks.push_back({"PLTE", random_bytes(static_cast<size_t>(3 * colours), random)});
  }
  std::vector<Data> rows;
  for (int64_t y = 0; y < made.size.height; ++y) rows.push_back(row_of(made, colours, y, random));
  if (made.transparent && made.type < 4) {
    chunks.push_back({"tRNS", transparency_of(made, colours, rows[rows.size() / 2], random)});
  }
  const Data data = zlib_stream(filtered_rows(made, rows, random), made.level);
  const size_t step = made.chunk_bytes > 0 ? made.chunk_bytes : data.size();
  for (size_t at = 0; at < data.size(); at += step) {
    const Bytes part = Bytes(data).subspan(at, std::min(step, data.size() - at));
    chunks.push_back({"IDAT", {part.begin(), part.end()}});
  }
  chunks.push_back({"IEND", {}});
  return png_of(chunks);
}

std::vector<MadePng> each_kind_of_png() {
  std::vector<MadePng> all;
  for (const auto& [type, bits] : kKinds) {
    all.push_back({.type = type, .bits = bits});
    if (type < 4) all.push_back({.type = type, .bits = bits, .transparent = true});
  }
  return all;
}

MadePng random_png(std::mt19937_64& random, int64_t most_side) {
  const auto below = [&](int64_t end) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
  };
  const auto& [type, bits] = kKinds[below(std::size(kKinds))];
  MadePng made{.size = {1 + below(most_side), 1 + below(most_side)}, .type = type, .bits = bits};
  if (below(3) == 0) made.filter = static_cast<int>(below(5));
  made.level = static_cast<int>(below(10));
  if (below(3) == 0) made.chunk_bytes = 1 + static_cast<size_t>(below(100));
  if (type == 3 && below(2) == 0) made.colours = 1 + static_cast<int>(below(1 << bits));
  made.transparent = below(2) == 0;
  made.flat = below(4) == 0;
  made.seed = random();
  return made;
}

std::string describe(const MadePng& made) {
  return fmt::format(
      "{} x {}, type {}, {} bits, filter {}, level {}, chunks of {}, {} colours, tRNS {}, flat {}, "
      "seed {}",
      made.size.height, made.size.width, made.type, made.bits, made.filter.value_or(-1), made.level,
      made.chunk_bytes, made.colours, made.transparent, made.flat, made.seed);
}

int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int from_a = std::abs(p - a), from_b = std::abs(p - b), from_c = std::abs(p - c);
  if (from_a <= from_b && from_a <= from_c) return a;
  return from_b <= from_c ? b : c;
}

std::vector<PngChunk> chunks_of(Bytes png) {
  std::vector<PngChunk> pieces;
  png::Chunks chunks(png);
  while (const auto chunk = chunks.next()) {
    pieces.push_back({std::string(chunk->type), {chunk->payload.begin(), chunk->payload.end()}});
  }
  return pieces;
}

std::vector<std::byte> png_of(const std::vector<PngChunk>& chunks) {
  Data png = bytes_of({0x89, 'P', 'N', 'G', 13, 10, 26, 10});
  for (const PngChunk& chunk : chunks) {
    add_be32(png, chunk.payload.size());
    const size_t begin = png.size();
    add_text(png, chunk.type);
    png.insert(png.end(), chunk.payload.begin(), chunk.payload.end());
    add_be32(png, crc32(Bytes(png).subspan(begin)));
  }
  return png;
}

std::vector<std::byte> zlib_stream(Bytes data, int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  Data to(libdeflate_zlib_compress_bound(compressor.get(), data.size()));
  to.resize(
      libdeflate_zlib_compress(compressor.get(), data.data(), data.size(), to.data(), to.size()));
  return to;
}

std::vector<std::byte> zlib_data(Bytes compressed, size_t bytes) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  Data to(bytes);
  if (libdeflate_zlib_decompress(decompressor.get(), compressed.data(), compressed.size(),
                                 to.data(), bytes, nullptr) != LIBDEFLATE_SUCCESS) {
    throw std::runtime_error("not a zlib stream of so many bytes");
  }
  return to;
}

}  // namespace fuelrail::testing
