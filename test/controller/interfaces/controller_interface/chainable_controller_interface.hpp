// Stand-in of controller_interface for the tests: the order of calls is that of ros2_control.

#pragma once

#include "hardware_interface/handle.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"

namespace controller_interface
{
using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

enum class return_type { OK, ERROR };

enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};

class ChainableControllerInterface
{
public:
  using Interfaces = std::vector<std::shared_ptr<hardware_interface::CommandInterface>>;

  virtual ~ChainableControllerInterface() = default;

  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_cleanup(const rclcpp_lifecycle::State &) = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;

  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() { return node_; }
  std::shared_ptr<const rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }
  unsigned get_update_rate() const { return rate_; }
  bool is_in_chained_mode() const { return is_chained_; }

  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period)
  {
    if (!is_chained_ && update_reference_from_subscribers(time, period) != return_type::OK)
      return return_type::ERROR;
    return update_and_write_commands(time, period);
  }

  // For the tests: what the controller manager does.
  CallbackReturn init(
    const std::string & name, unsigned rate,
    const std::map<std::string, rclcpp::ParameterValue> & overrides)
  {
    rate_ = rate;
    node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>(name, overrides);
    return on_init();
  }
  const Interfaces & export_reference_interfaces()
  {
    ordered_exported_reference_interfaces_ = on_export_reference_interfaces_list();
    return ordered_exported_reference_interfaces_;
  }
  void set_chained_mode(bool is_chained) { is_chained_ = is_chained; }
  void assign_interfaces(const Interfaces & commands, const Interfaces & states)
  {
    command_interfaces_ = {commands.begin(), commands.end()};
    state_interfaces_ = {states.begin(), states.end()};
  }

protected:
  virtual Interfaces on_export_reference_interfaces_list() = 0;
  virtual return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(
    const rclcpp::Time &, const rclcpp::Duration &) = 0;

  std::vector<hardware_interface::LoanedInterface> command_interfaces_, state_interfaces_;
  Interfaces ordered_exported_reference_interfaces_;

private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_;
  unsigned rate_ = 0;
  bool is_chained_ = false;
};
}  // namespace controller_interface
