// A loader's options, with members that tests can change.
#pragma once

#include <memory>
#include <optional>

#include "fuelrail/loader/loader.h"

namespace fuelrail {

struct LoaderJob {
  OrderOptions order{};
  std::optional<FedOrder> fed{};  // instead of `order`
  ErrorPolicy errors{};
  EngineOptions engine{};
  std::optional<double> stall_timeout{};
  ImageOptions images{};

  LoaderOptions loading() const {
    LoaderOptions options{
        .order = order, .errors = errors, .engine = engine, .stall_timeout = stall_timeout};
    if (fed) options.order = *fed;
    return options;
  }
  Loader loader(std::shared_ptr<const Container> container) const {
    return Loader(std::move(container), loading(), images);
  }
};

}  // namespace fuelrail
