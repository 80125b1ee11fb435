#include "fuelrail/pack/output/quality_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "fuelrail/base/hevc_library.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Report : public ::testing::Test {
 protected:
  Report() { begin(); }

  void begin() { report_.emplace(directory_ / "q.md"); }
  void add(const std::string& path, uint64_t bytes, double psnr, double ssim = 0.5) {
    report_->add(path, {.size = {.height = 30, .width = 40},
                        .source_bytes = 2 * bytes,
                        .bytes = bytes,
                        .quality = {.psnr = psnr, .ssim = ssim}});
  }
  void finish(const UnmeasuredImages& others) {
    report_->finish({.shorter_side = 256, .stills = {.hevc = {.crf = 22.5, .preset = "fast"}}},
                    others);
    report_.reset();
  }
  std::string written(const std::string& extension) const {
    return file_contents(directory_ / ("q" + extension));
  }
  static size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
    return found;
  }

  TemporaryDirectory directory_;
  std::optional<QualityReport> report_;
};

TEST_F(Report, has_quantiles_the_worst_images_and_all_images) {
  add("a/1.jpg", 1000, 40.126, 0.98);
  add("a/2, \"two\".jpg", 3000, 30, 0.9);
  add("a/x|y.jpg", 2000, 35, 0.95123456);
  finish({.all = 9, .unreadable = 1, .unchanged = 2, .earlier = 3});
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("q.csv", "q.md", "q.svg"));
  EXPECT_EQ(written(".csv"),
            "path,width,height,source_bytes,bytes,psnr,ssim\n"
            "a/1.jpg,40,30,2000,1000,40.1260,0.980000\n"
            "\"a/2, \"\"two\"\".jpg\",40,30,6000,3000,30.0000,0.900000\n"
            "a/x|y.jpg,40,30,4000,2000,35.0000,0.951235\n");
  const std::string text = written(".md");
  EXPECT_THAT(text, StartsWith("# Quality of H.265 stills\n\n"
                               "- images measured: 3 of 9\n"
                               "- images not measured, packed without encoding: 2\n"
                               "- images not measured, packed in an earlier run: 3\n"
                               "- images not measured, unreadable: 1\n"
                               "- settings: crf 22.5, preset fast, chroma 420, resize 256\n"
                               "- made and decoded with: " +
                               describe_hevc_library() +
                               "\n- bytes of the stills: 6000\n"
                               "- bytes of these images in the source: 12000 (stills: 50.0 % of "
                               "them)\n- by image: [table](<q.csv>)\n\n"
                               "| | min | 5 % | 25 % | median | 75 % | 95 % | max | mean |\n"));
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("| PSNR, dB | 30.00 | 30.00 | 30.00 | 35.00 | 40.13 | 40.13 | 40.13 | 35.04 |"),
          HasSubstr("| SSIM | 0.9000 | 0.9000 | 0.9000 | 0.9512 | 0.9800 | 0.9800 | 0.9800 |"),
          HasSubstr("| bytes | 1000 | 1000 | 1000 | 2000 | 3000 | 3000 | 3000 | 2000 |"),
          HasSubstr("](<q.svg>)"),
          EndsWith("|---:|---:|---:|---:|---|\n"
                   "| 30.00 | 0.9000 | 3000 | 40 x 30 | `a/2, \"two\".jpg` |\n"
                   "| 35.00 | 0.9512 | 2000 | 40 x 30 | `a/x\\|y.jpg` |\n"
                   "| 40.13 | 0.9800 | 1000 | 40 x 30 | `a/1.jpg` |\n")));
}

TEST_F(Report, lists_the_worst_images_in_the_order_of_the_source_where_they_are_equal) {
  for (int i = 0; i < 50; ++i) add(std::to_string(i) + ".jpg", 100, i < 10 ? 50 : 40 - i % 2);
  finish({.all = 50});
  const std::string text = written(".md");
  EXPECT_EQ(count(text, ".jpg`"), kWorstListed);
  EXPECT_LT(text.find("`11.jpg`"), text.find("`13.jpg`"));
  EXPECT_THAT(text, AllOf(HasSubstr("`49.jpg`"), Not(HasSubstr("`10.jpg`"))));
}

TEST_F(Report, quantiles_are_values_of_images) {
  for (int i = 1; i <= 140; ++i) add("x", static_cast<uint64_t>((i * 37) % 141), 40);
  finish({.all = 140});
  EXPECT_THAT(written(".md"), HasSubstr("| bytes | 1 | 7 | 35 | 70 | 105 | 133 | 140 | 70 |"));
}

TEST_F(Report, plots_bytes_and_psnr_between_round_numbers) {
  add("x", 1500, 31);
  add("y", 45000, 46);
  finish({.all = 2});
  const std::string plot = written(".svg");
  EXPECT_EQ(count(plot, "<circle"), 2u);
  EXPECT_THAT(plot, AllOf(StartsWith("<svg xmlns='http://www.w3.org/2000/svg'"),
                          HasSubstr("<text x='70.0' y='438.0' text-anchor='middle'>1 kB</text>"),
                          HasSubstr("<text x='715.0' y='438.0' text-anchor='middle'>50 kB</text>"),
                          HasSubstr(">30</text>"), HasSubstr(">46</text>"),
                          HasSubstr("2 H.265 stills<"), EndsWith("</svg>\n")));
}

TEST_F(Report, of_many_images_plots_some) {
  for (size_t i = 0; i <= 2 * kMostPlotted; ++i) add("x", 1000 + i, 40);
  finish({.all = 2 * kMostPlotted + 1});
  const std::string plot = written(".svg");
  EXPECT_EQ(count(plot, "<circle"), (2 * kMostPlotted + 1 + 2) / 3);
  EXPECT_THAT(plot, HasSubstr("8001 H.265 stills, of which one in 3 is shown"));
}

TEST_F(Report, of_no_image_has_no_tables) {
  finish({.all = 4, .earlier = 4});
  EXPECT_THAT(written(".md"),
              AllOf(HasSubstr("- images measured: 0 of 4\n"), Not(HasSubstr("| min |"))));
  EXPECT_THAT(written(".svg"), Not(HasSubstr("nan")));
}

TEST_F(Report, replaces_one_that_exists_only_when_it_is_finished) {
  add("first.jpg", 1000, 40);
  finish({.all = 1});
  begin();
  add("second.jpg", 1000, 40);
  EXPECT_THAT(written(".csv"), HasSubstr("first"));
  report_.reset();
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("q.csv", "q.md", "q.svg"));
  begin();
  add("third.jpg", 1000, 40);
  finish({.all = 1});
  EXPECT_THAT(written(".csv"), AllOf(HasSubstr("third"), Not(HasSubstr("first"))));
}

TEST_F(Report, in_a_folder_that_does_not_exist_is_refused_at_once) {
  EXPECT_THAT(testing::refusal_of<NotFoundError>([&] { QualityReport(directory_ / "no/q.md"); }),
              HasSubstr("the folder does not exist"));
}

}  // namespace
}  // namespace fuelrail::pack
