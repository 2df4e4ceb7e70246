// Controllers that are stepped by virtual time, with interfaces of their own, without a controller
// manager. Times are nanoseconds, arrays have a value for each joint.

#pragma once

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rcl/time.h>

#include <hardware_interface/handle.hpp>
#include <hardware_interface/loaned_command_interface.hpp>
#include <hardware_interface/loaned_state_interface.hpp>
#include <joint_trajectory_controller/joint_trajectory_controller.hpp>

constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

using Commands = std::vector<hardware_interface::CommandInterface::SharedPtr>;

// The interface "joint/kind", of type double.
template <typename Interface>
std::shared_ptr<Interface> make_interface(const std::string & name)
{
  const auto cut = name.rfind('/');
  hardware_interface::InterfaceInfo info;
  info.name = name.substr(cut + 1);
  info.data_type = "double";
  return std::make_shared<Interface>(
    hardware_interface::InterfaceDescription(name.substr(0, cut), info));
}

template <typename Base>
class Stepped : public Base
{
public:
  bool begin(
    const std::string & name, const char * urdf, const char * parameter_file, unsigned rate)
  {
    controller_interface::ControllerInterfaceParams given;
    given.controller_name = name;
    given.robot_description = urdf;
    given.update_rate = given.controller_manager_update_rate = rate;
    given.node_options = this->define_custom_node_options();
    given.node_options.arguments({"--ros-args", "--params-file", parameter_file});
    return this->init(given) == controller_interface::return_type::OK;
  }

  void set_time(int64_t time)
  {
    auto clock = this->get_node()->get_clock()->get_clock_handle();
    bool is_virtual = false;
    (void)rcl_is_enabled_ros_time_override(clock, &is_virtual);
    if (!is_virtual) (void)rcl_enable_ros_time_override(clock);
    (void)rcl_set_ros_time_override(clock, time);
  }

  bool set_up(const Commands & offered = {})
  {
    if (this->configure().label() != "inactive") return false;
    std::vector<hardware_interface::LoanedCommandInterface> lent_commands;
    std::vector<hardware_interface::LoanedStateInterface> lent_states;
    for (const auto & name : this->command_interface_configuration().names) {
      auto command = make_interface<hardware_interface::CommandInterface>(name);
      for (const auto & one : offered)
        if (one->get_name() == name) command = one;
      commands_.push_back(command);
      lent_commands.emplace_back(command, nullptr);
    }
    for (const auto & name : this->state_interface_configuration().names) {
      states_.push_back(make_interface<hardware_interface::StateInterface>(name));
      lent_states.emplace_back(states_.back(), nullptr);
    }
    this->assign_interfaces(std::move(lent_commands), std::move(lent_states));
    return true;
  }

  bool activate() { return this->get_node()->activate().label() == "active"; }

  // The joints of each kind are in the order of the values.
  void set_state(const double * position, const double * velocity, const double * effort = nullptr)
  {
    std::map<std::string, const double *> next = {
      {"position", position}, {"velocity", velocity}, {"effort", effort}};
    for (const auto & one : states_) (void)one->set_value(*next[one->get_interface_name()]++);
  }

protected:
  Commands commands_;
  std::vector<std::shared_ptr<hardware_interface::StateInterface>> states_;
};

class Jtc : public Stepped<joint_trajectory_controller::JointTrajectoryController>
{
public:
  // Takes a serialized JointTrajectory; returns whether it is accepted.
  bool receive(const unsigned char * data, size_t size)
  {
    rclcpp::SerializedMessage bytes(size);
    std::memcpy(bytes.get_rcl_serialized_message().buffer, data, size);
    bytes.get_rcl_serialized_message().buffer_length = size;
    auto message = std::make_shared<trajectory_msgs::msg::JointTrajectory>();
    rclcpp::Serialization<trajectory_msgs::msg::JointTrajectory>().deserialize_message(
      &bytes, message.get());
    const bool is_accepted = validate_trajectory_msg(*message);
    topic_callback(message);
    return is_accepted;
  }

  // A row for each kind of command.
  void get_commands(double * rows) const
  {
    const auto kinds = commands_.size() / dof_;
    for (size_t i = 0; i < commands_.size(); ++i)
      rows[(i % kinds) * dof_ + i / kinds] = commands_[i]->get_optional().value_or(NONE);
  }

  // Rows: position, velocity, acceleration and effort that are desired now, and in the next cycle;
  // the errors of position and velocity.
  void get_report(double * rows) const
  {
    for (const auto * state : {&state_desired_, &command_next_})
      for (const auto * values :
           {&state->positions, &state->velocities, &state->accelerations, &state->effort})
        rows = put(rows, *values);
    put(put(rows, state_error_.positions), state_error_.velocities);
  }

  bool is_holding() const { return rt_is_holding_; }

private:
  double * put(double * row, const std::vector<double> & values) const
  {
    for (size_t i = 0; i < dof_; ++i) row[i] = i < values.size() ? values[i] : NONE;
    return row + dof_;
  }
};
