#include "http/graph/draw.h"

#include <cairo.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <set>

#include "http/graph/legend.h"
#include "tests/support/fake_watch.h"

namespace hg::http::graph {
namespace {

/// A decoded PNG.
class Picture {
 public:
  explicit Picture(const std::string& png) {
    Source source{png};
    surface_.reset(cairo_image_surface_create_from_png_stream(Source::Read, &source));
    REQUIRE(cairo_surface_status(surface_.get()) == CAIRO_STATUS_SUCCESS);
  }
  [[nodiscard]] int width() const { return cairo_image_surface_get_width(surface_.get()); }
  [[nodiscard]] int height() const { return cairo_image_surface_get_height(surface_.get()); }

  /// Returns the color of a pixel as 0xRRGGBB.
  [[nodiscard]] uint32_t At(int x, int y) const {
    uint32_t pixel = 0;
    const int stride = cairo_image_surface_get_stride(surface_.get());
    std::memcpy(&pixel,
                cairo_image_surface_get_data(surface_.get()) + ptrdiff_t{y} * stride + x * 4, 4);
    return pixel & 0xFFFFFF;
  }
  /// Returns the number of pixels with that color in a part of the picture.
  [[nodiscard]] int Count(Color color, int left, int top, int right, int bottom) const {
    const uint32_t wanted = uint32_t{color.red} << 16 | uint32_t{color.green} << 8 | color.blue;
    int n = 0;
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) n += At(x, y) == wanted ? 1 : 0;
    return n;
  }
  [[nodiscard]] int Count(Color color) const { return Count(color, 0, 0, width(), height()); }

 private:
  struct Source {
    const std::string& bytes;
    size_t at = 0;
    static cairo_status_t Read(void* self, unsigned char* to, unsigned int count) {
      auto* source = static_cast<Source*>(self);
      if (source->at + count > source->bytes.size()) return CAIRO_STATUS_READ_ERROR;
      std::memcpy(to, source->bytes.data() + source->at, count);
      source->at += count;
      return CAIRO_STATUS_SUCCESS;
    }
  };
  struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  };
  std::unique_ptr<cairo_surface_t, Destroy> surface_;
};

constexpr int64_t kBegin = 1700000000000;
constexpr Color kWhite{255, 255, 255};

Plot OfLines(size_t lines, size_t points = 50) {
  Plot plot;
  plot.begin_ms = kBegin;
  plot.end_ms = kBegin + 3600000;
  plot.style.width = 400;
  plot.style.height = 300;
  for (size_t i = 0; i < lines; ++i) {
    Line& line = plot.lines.emplace_back();
    line.title = "m{host=" + std::to_string(i) + "}";
    for (size_t k = 0; k < points; ++k)
      line.points.push_back({kBegin + static_cast<int64_t>(3600000 * k / points),
                             static_cast<double>(i) * 10 + static_cast<double>(k % 5)});
  }
  return plot;
}

Picture Drawn(const Plot& plot) {
  const auto png = DrawPng(plot, RequestContext::Unlimited());
  REQUIRE_MESSAGE(png.ok(), png.status().message());
  return Picture(*png);
}

/// Returns the number of pixels without the color of the background, where the labels of an axis
/// are.
int Ink(const Picture& picture, int left, int top, int right, int bottom) {
  return (right - left) * (bottom - top) - picture.Count(kWhite, left, top, right, bottom);
}

TEST_CASE("an image has its size and the color of each line") {
  Plot plot = OfLines(3);
  plot.style.legend.shown = false;
  const Picture picture = Drawn(plot);
  CHECK(picture.width() == 400);
  CHECK(picture.height() == 300);
  for (size_t i = 0; i < 3; ++i) CHECK(picture.Count(LineColor(i)) > 20);
  CHECK(picture.Count(LineColor(3)) == 0);
  CHECK(picture.Count(kWhite) > 50'000);
}

TEST_CASE("both axes are labelled, and titles and labels are in their places") {
  Plot plot = OfLines(1);
  const Picture plain = Drawn(plot);
  CHECK(Ink(plain, 0, 100, 25, 250) > 20);    // values at the left
  CHECK(Ink(plain, 50, 285, 380, 300) > 50);  // times below
  CHECK(Ink(plain, 100, 0, 300, 9) == 0);
  plot.style.title = "A title";
  plot.style.left.label = "a label";
  const Picture labelled = Drawn(plot);
  CHECK(Ink(labelled, 100, 8, 300, 30) > 50);
  CHECK(Ink(labelled, 8, 100, 25, 250) > 20);
}

TEST_CASE("a second axis is drawn only if a line uses it") {
  Plot plot = OfLines(2);
  plot.style.right.label = "y2";
  CHECK(Ink(Drawn(plot), 392, 20, 400, 280) == 0);
  plot.lines[1].second_axis = true;
  CHECK(Ink(Drawn(plot), 360, 20, 380, 260) > 50);  // the numbers of the tick marks
}

TEST_CASE("a plot without points is an image too") {
  const Picture picture = Drawn(OfLines(0));
  CHECK(picture.width() == 400);
  CHECK(Ink(picture, 150, 120, 300, 160) > 20);  // "No data"
  Drawn(OfLines(1, 0));
  CHECK(Drawn(OfLines(1, 1)).Count(LineColor(0)) > 3);
}

TEST_CASE("a huge number of points and of lines is drawn") {
  CHECK(Drawn(OfLines(1, 1'000'000)).Count(LineColor(0)) > 100);
  Plot crowd = OfLines(500, 2);
  crowd.style.legend.outside = true;
  CHECK(Drawn(crowd).width() == 400);
  CHECK(DrawPng(OfLines(kLinesMax + 1, 1), RequestContext::Unlimited()).status().code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("drawing is charged to its request and ends when the request exceeds a limit") {
  const Plot plot = OfLines(500, 10'000);
  FakeWatch hasty;
  hasty.steps_max = 1'000'000;
  CHECK(DrawPng(plot, hasty).status().code() == StatusCode::kDeadlineExceeded);
  FakeWatch poor;
  poor.bytes_max = 100'000;
  CHECK(DrawPng(plot, poor).status().code() == StatusCode::kLimitExceeded);
}

/// Measures the longest processor time between two checks.
class SlowestWatch : public FakeWatch {
 public:
  Status Check() override {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const double seconds = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    if (last_) most_seconds = std::max(most_seconds, seconds - *last_);
    last_ = seconds;
    return FakeWatch::Check();
  }
  double most_seconds = 0;

 private:
  std::optional<double> last_;
};

TEST_CASE("drawing a line across millions of pixels checks often whether the request should end") {
  Plot plot = OfLines(1, 8000);
  plot.style.width = plot.style.height = 3160;
  for (size_t i = 0; i < plot.lines[0].points.size(); ++i)
    plot.lines[0].points[i].value =
        (i % 2 == 0 ? 1 : -1) * static_cast<double>(1000 + i * 7919 % 500);
  for (const LineForm form : {LineForm::kLines, LineForm::kSteps, LineForm::kBars}) {
    for (const Smoothing smoothing : {Smoothing::kNone, Smoothing::kCurve}) {
      plot.style.form = form;
      plot.style.smoothing = smoothing;
      SlowestWatch watch;
      CHECK(DrawPng(plot, watch).ok());
      CHECK(watch.most_seconds < 0.5);
    }
  }
}

/// Returns the sum of the three components of 0xRRGGBB.
uint32_t Brightness(uint32_t pixel) { return (pixel >> 16) + (pixel >> 8 & 0xFF) + (pixel & 0xFF); }

TEST_CASE("a line of many points has no gap") {
  constexpr int kLeft = 60, kRight = 380, kTop = 20, kBottom = 270;
  for (const LineForm form : {LineForm::kLines, LineForm::kSteps}) {
    for (const Smoothing smoothing : {Smoothing::kNone, Smoothing::kCurve}) {
      Plot plot = OfLines(1, 1600);
      plot.style.form = form;
      plot.style.smoothing = smoothing;
      plot.style.legend.shown = false;
      for (Point& point : plot.lines[0].points) point.value = 1.5;
      const Picture picture = Drawn(plot);
      int row = kTop;
      for (int y = kTop; y < kBottom; ++y)
        if (Brightness(picture.At(kLeft, y)) < Brightness(picture.At(kLeft, row))) row = y;
      for (int x = kLeft; x < kRight; ++x)
        CHECK(Brightness(picture.At(x, row)) < Brightness(picture.At(kLeft, row)) + 50);
    }
  }
}

TEST_CASE("hostile texts are drawn as text or question marks, or are cut") {
  for (const std::string& title :
       {std::string("`reboot` $(x) \"; system 'y'\n\r\t<script>"), std::string("\xff\xfe\xc0\x80"),
        std::string("cut \xe2\x82"), std::string(100'000, 'W'), std::string("\0x", 2),
        std::string("\xed\xa0\x80 \xf4\x90\x80\x80 \xef\xb7\x90 \xef\xbf\xbf \xe0\x80\x80"),
        std::string("žluťoučký 温度 🌡")}) {
    Plot plot = OfLines(2);
    plot.style.title = plot.style.left.label = plot.style.right.label = title;
    plot.lines[0].title = title;
    plot.lines[1].second_axis = true;
    for (bool outside : {false, true}) {
      plot.style.legend.outside = outside;
      CHECK(Drawn(plot).Count(LineColor(0)) > 10);
    }
  }
}

TEST_CASE("every form, smoothing, place of the key and extreme number can be drawn") {
  for (auto form : {LineForm::kLines, LineForm::kLinesAndPoints, LineForm::kPoints,
                    LineForm::kCircles, LineForm::kDots, LineForm::kSteps, LineForm::kBars}) {
    for (auto smoothing : {Smoothing::kNone, Smoothing::kCurve, Smoothing::kCumulative}) {
      Plot plot = OfLines(2);
      plot.style.form = form;
      plot.style.smoothing = smoothing;
      CHECK(Ink(Drawn(plot), 60, 60, 340, 240) > 100);
    }
  }
  for (auto across : {Place::kBegin, Place::kCenter, Place::kEnd}) {
    for (auto along : {Place::kBegin, Place::kCenter, Place::kEnd}) {
      for (bool horizontal : {false, true}) {
        Plot plot = OfLines(4);
        plot.style.legend = {true, true, true, horizontal, across, along};
        CHECK(Drawn(plot).Count(LineColor(3)) > 20);
      }
    }
  }
  Plot plot = OfLines(1);
  plot.lines[0].points = {{0, -1.7e308}, {kBegin, 1.7e308}, {kBegin + 1, 0}, {INT64_MAX / 4, 1}};
  Drawn(plot);
  plot.style.left.logarithmic = true;
  Drawn(plot);
}

TEST_CASE("the background has the requested color, or none") {
  Plot plot = OfLines(1);
  plot.style.background = Color{0x10, 0x20, 0x30};
  CHECK(Drawn(plot).At(1, 1) == 0x102030);
  plot.style.background = std::nullopt;
  CHECK(Drawn(plot).At(1, 1) == 0);
}

}  // namespace
}  // namespace hg::http::graph
