// Stand-in of rclcpp for the tests: what a controller that `ne_dynamics controller` writes calls.

#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace rcl_interfaces::msg
{
struct SetParametersResult
{
  bool successful = false;
  std::string reason;
};
}  // namespace rcl_interfaces::msg

namespace rclcpp
{
using ParameterValue = std::variant<bool, double, std::string, std::vector<double>>;

class Parameter
{
public:
  Parameter(std::string name, ParameterValue value) : name_(std::move(name)), value_(value) {}
  const std::string & get_name() const { return name_; }
  const ParameterValue & get_parameter_value() const { return value_; }
  bool as_bool() const { return std::get<bool>(value_); }
  double as_double() const { return std::get<double>(value_); }
  const std::string & as_string() const { return std::get<std::string>(value_); }
  const std::vector<double> & as_double_array() const
  {
    return std::get<std::vector<double>>(value_);
  }

private:
  std::string name_;
  ParameterValue value_;
};

class Time
{
};

class Duration
{
public:
  explicit Duration(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }

private:
  double seconds_;
};

class TimerBase
{
public:
  using SharedPtr = std::shared_ptr<TimerBase>;
  explicit TimerBase(std::function<void()> callback) : callback(std::move(callback)) {}
  std::function<void()> callback;
};

struct Logger
{
  std::string * text;
};

namespace node_interfaces
{
struct OnSetParametersCallbackHandle
{
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> callback;
};

struct PostSetParametersCallbackHandle
{
  using SharedPtr = std::shared_ptr<PostSetParametersCallbackHandle>;
  std::function<void(const std::vector<Parameter> &)> callback;
};
}  // namespace node_interfaces
}  // namespace rclcpp

#define RCLCPP_LOG(logger, ...)                              \
  do {                                                       \
    char line[512];                                          \
    std::snprintf(line, sizeof line, __VA_ARGS__);           \
    *(logger).text += std::string(line) + "\n";              \
  } while (false)
#define RCLCPP_WARN(logger, ...) RCLCPP_LOG(logger, __VA_ARGS__)
#define RCLCPP_ERROR(logger, ...) RCLCPP_LOG(logger, __VA_ARGS__)
