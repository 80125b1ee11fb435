#include "fuelrail/encode/baseline_jpeg.h"

// Each of these headers needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <new>
#include <span>

namespace fuelrail {
namespace {

// libjpeg reports errors by longjmp, so code that runs inside `guarded` keeps its state here and
// has no local objects with destructors.
struct Session {
  explicit Session(Bytes bytes) : encoded(bytes) {
    from.err = to.err = back.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr codec) { fail(codec); };
    errors.emit_message = [](j_common_ptr codec, int level) {
      if (level < 0) fail(codec);  // a warning
    };
    from.client_data = to.client_data = back.client_data = this;
  }
  ~Session() {
    jpeg_destroy_decompress(&back);
    jpeg_destroy_compress(&to);
    jpeg_destroy_decompress(&from);
    std::free(memory);
  }
  Session& operator=(Session&&) = delete;

  [[noreturn]] static void fail(j_common_ptr codec) {
    std::longjmp(static_cast<Session*>(codec->client_data)->escape, 1);
  }

  // The part of `memory` that is written.
  Bytes result() const {
    return {reinterpret_cast<const std::byte*>(memory), capacity - target.free_in_buffer};
  }

  Bytes encoded;
  jpeg_error_mgr errors{};
  std::jmp_buf escape;
  jpeg_decompress_struct from{};
  jpeg_compress_struct to{};
  jpeg_decompress_struct back{};             // reads the result
  jvirt_barray_ptr* coefficients = nullptr;  // of `from`
  bool is_same = false;  // the result has these coefficients and their quantisers
  jpeg_destination_mgr target{};
  JOCTET* memory = nullptr;  // of the result
  size_t capacity = 0;
};

// Runs `step`. Returns: false if libjpeg failed or warned. Errors: std::bad_alloc. The only
// function that calls setjmp.
bool guarded(Session& session, void (*step)(Session&)) {
  if (setjmp(session.escape) == 0) {
    step(session);
    return true;
  }
  if (session.errors.msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
  return false;
}

void open(jpeg_decompress_struct& codec, Bytes encoded) {
  jpeg_create_decompress(&codec);    // clears all but err and client_data
  codec.mem->max_memory_to_use = 0;  // no limit, whatever JPEGMEM is set to
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(encoded.data()),
               static_cast<unsigned long>(encoded.size()));
}

void read_header(Session& session) {
  jpeg_decompress_struct& from = session.from;
  open(from, session.encoded);
  jpeg_save_markers(&from, JPEG_COM, 0xFFFF);
  for (int i = 0; i < 16; ++i) jpeg_save_markers(&from, JPEG_APP0 + i, 0xFFFF);
  jpeg_read_header(&from, TRUE);
}

// --- The destination: memory that grows ---

// Doubles the memory, all of which is in use.
boolean grow(j_compress_ptr codec) {
  auto& session = *static_cast<Session*>(codec->client_data);
  const size_t used = session.capacity;
  const size_t capacity = std::max<size_t>(2 * used, session.encoded.size() + 4096);
  auto* const memory = static_cast<JOCTET*>(std::realloc(session.memory, capacity));
  if (memory == nullptr) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
  session.memory = memory;
  session.capacity = capacity;
  session.target.next_output_byte = memory + used;
  session.target.free_in_buffer = capacity - used;
  return TRUE;
}

// --- Steps that call libjpeg ---

// Whether 8 bits are enough for the quantisers, as baseline requires. Requires: all scans are read.
bool has_small_quantizers(const jpeg_decompress_struct& from) {
  const std::span components(from.comp_info, static_cast<size_t>(from.num_components));
  return std::ranges::all_of(components, [](const jpeg_component_info& component) {
    const JQUANT_TBL* const table = component.quant_table;
    return table != nullptr && std::ranges::max(table->quantval) <= 255;
  });
}

void recode(Session& session) {
  jpeg_decompress_struct& from = session.from;
  jpeg_compress_struct& to = session.to;
  session.coefficients = jpeg_read_coefficients(&from);
  if (!has_small_quantizers(from)) Session::fail(reinterpret_cast<j_common_ptr>(&from));
  jpeg_create_compress(&to);
  to.mem->max_memory_to_use = 0;
  session.target.init_destination = [](j_compress_ptr codec) { grow(codec); };
  session.target.empty_output_buffer = grow;
  session.target.term_destination = [](j_compress_ptr) {};
  to.dest = &session.target;
  jpeg_copy_critical_parameters(&from, &to);
  to.optimize_coding = TRUE;
  to.write_JFIF_header = FALSE;  // these are among the copied segments
  to.write_Adobe_marker = FALSE;
  jpeg_write_coefficients(&to, session.coefficients);
  for (const jpeg_marker_struct* segment = from.marker_list; segment != nullptr;
       segment = segment->next) {
    jpeg_write_marker(&to, segment->marker, segment->data, segment->data_length);
  }
  jpeg_finish_compress(&to);
}

// Row `y` of a component's blocks, without those that only fill up an MCU.
std::span<const JCOEF> row_of(jpeg_decompress_struct& codec, jvirt_barray_ptr coefficients,
                              const jpeg_component_info& component, JDIMENSION y) {
  const JBLOCKROW row = codec.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&codec),
                                                      coefficients, y, 1, FALSE)[0];
  return {row[0], size_t{component.width_in_blocks} * DCTSIZE2};
}

void compare(Session& session) {
  jpeg_decompress_struct& from = session.from;
  jpeg_decompress_struct& back = session.back;
  open(back, session.result());
  jpeg_read_header(&back, TRUE);
  jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(&back);
  if (back.num_components != from.num_components) return;
  for (int i = 0; i < from.num_components; ++i) {
    const jpeg_component_info& a = from.comp_info[i];
    const jpeg_component_info& b = back.comp_info[i];
    if (a.height_in_blocks != b.height_in_blocks) return;
    if (!std::ranges::equal(a.quant_table->quantval, b.quant_table->quantval)) return;
    for (JDIMENSION y = 0; y < a.height_in_blocks; ++y) {
      if (!std::ranges::equal(row_of(from, session.coefficients[i], a, y),
                              row_of(back, coefficients[i], b, y))) {
        return;
      }
    }
  }
  session.is_same = true;
}

}  // namespace

bool is_progressive_jpeg(Bytes bytes) {
  Session session(bytes);
  if (!guarded(session, read_header)) return false;
  const jpeg_decompress_struct& header = session.from;
  return header.progressive_mode && !header.arith_code && header.data_precision == 8;
}

bool recode_as_baseline(Bytes progressive, std::vector<std::byte>& out) {
  Session session(progressive);
  if (!guarded(session, read_header) || !guarded(session, recode)) return false;
  if (session.from.src->bytes_in_buffer > 0) return false;  // after the end marker
  if (!guarded(session, compare) || !session.is_same) return false;
  out.assign(session.result().begin(), session.result().end());
  return true;
}

}  // namespace fuelrail
