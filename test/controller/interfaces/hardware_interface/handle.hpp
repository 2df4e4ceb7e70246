// Stand-in of hardware_interface for the tests.

#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace hardware_interface
{
class CommandInterface
{
public:
  using SharedPtr = std::shared_ptr<CommandInterface>;
  CommandInterface(const std::string & prefix, const std::string & name)
  : name_(prefix + "/" + name)
  {
  }
  const std::string & get_name() const { return name_; }

  // Like the real one while another thread holds its lock.
  [[nodiscard]] std::optional<double> get_optional() const
  {
    return is_locked ? std::nullopt : std::optional<double>(value_);
  }
  [[nodiscard]] bool set_value(double value)
  {
    if (!is_locked) value_ = value;
    return !is_locked;
  }

  bool is_locked = false;

private:
  std::string name_;
  double value_ = std::numeric_limits<double>::quiet_NaN();
};

// Of a name, "joint/kind".
class LoanedInterface
{
public:
  explicit LoanedInterface(std::shared_ptr<CommandInterface> handle) : handle_(std::move(handle)) {}
  [[nodiscard]] std::optional<double> get_optional() const { return handle_->get_optional(); }
  [[nodiscard]] bool set_value(double value) { return handle_->set_value(value); }

private:
  std::shared_ptr<CommandInterface> handle_;
};
}  // namespace hardware_interface
