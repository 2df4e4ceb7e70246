// A C interface to joint_trajectory_controller that steps it by virtual time, for
// test/support/real_jtc.py. Times are nanoseconds, arrays have a value for each joint.

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rcl/time.h>

#include <hardware_interface/handle.hpp>
#include <hardware_interface/loaned_command_interface.hpp>
#include <hardware_interface/loaned_state_interface.hpp>
#include <joint_trajectory_controller/joint_trajectory_controller.hpp>

namespace
{
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

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

class Stepped : public joint_trajectory_controller::JointTrajectoryController
{
public:
  using JointTrajectoryController::topic_callback;
  using JointTrajectoryController::validate_trajectory_msg;

  void set_time(int64_t time)
  {
    auto clock = get_node()->get_clock()->get_clock_handle();
    bool is_virtual = false;
    (void)rcl_is_enabled_ros_time_override(clock, &is_virtual);
    if (!is_virtual) (void)rcl_enable_ros_time_override(clock);
    (void)rcl_set_ros_time_override(clock, time);
  }

  void connect()
  {
    std::vector<hardware_interface::LoanedCommandInterface> lent_commands;
    std::vector<hardware_interface::LoanedStateInterface> lent_states;
    for (const auto & name : command_interface_configuration().names) {
      commands_.push_back(make_interface<hardware_interface::CommandInterface>(name));
      lent_commands.emplace_back(commands_.back(), nullptr);
    }
    for (const auto & name : state_interface_configuration().names) {
      states_.push_back(make_interface<hardware_interface::StateInterface>(name));
      lent_states.emplace_back(states_.back(), nullptr);
    }
    assign_interfaces(std::move(lent_commands), std::move(lent_states));
  }

  // Interfaces are listed joint by joint.
  void set_state(const double * position, const double * velocity)
  {
    const auto & kinds = params_.state_interfaces;
    for (size_t i = 0; i < states_.size(); ++i) {
      const auto joint = i / kinds.size();
      const bool is_position = kinds[i % kinds.size()] == "position";
      (void)states_[i]->set_value(is_position ? position[joint] : velocity[joint]);
    }
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

  std::vector<std::shared_ptr<hardware_interface::CommandInterface>> commands_;
  std::vector<std::shared_ptr<hardware_interface::StateInterface>> states_;
};

Stepped * stepped(void * handle) { return static_cast<Stepped *>(handle); }
}  // namespace

extern "C" {

void rig_init()
{
  if (!rclcpp::ok()) rclcpp::init(0, nullptr);
}

// Returns NULL when the controller does not initialise.
void * rig_new(const char * urdf, const char * parameter_file, unsigned rate, const char * name)
{
  auto controller = std::make_unique<Stepped>();
  controller_interface::ControllerInterfaceParams given;
  given.controller_name = name;
  given.robot_description = urdf;
  given.update_rate = given.controller_manager_update_rate = rate;
  given.node_options = controller->define_custom_node_options();
  given.node_options.arguments({"--ros-args", "--params-file", parameter_file});
  const bool is_made = controller->init(given) == controller_interface::return_type::OK;
  return is_made ? controller.release() : nullptr;
}

// Returns 0, 1 when the controller does not configure, 2 when it does not activate.
int rig_start(void * handle, int64_t time, const double * position, const double * velocity)
{
  auto controller = stepped(handle);
  controller->set_time(time);
  if (controller->configure().label() != "inactive") return 1;
  controller->connect();
  controller->set_state(position, velocity);
  return controller->get_node()->activate().label() == "active" ? 0 : 2;
}

// Takes a serialized JointTrajectory; returns 1 when it is accepted.
int rig_send(void * handle, int64_t time, const unsigned char * data, size_t size)
{
  auto controller = stepped(handle);
  controller->set_time(time);
  rclcpp::SerializedMessage bytes(size);
  std::memcpy(bytes.get_rcl_serialized_message().buffer, data, size);
  bytes.get_rcl_serialized_message().buffer_length = size;
  auto message = std::make_shared<trajectory_msgs::msg::JointTrajectory>();
  rclcpp::Serialization<trajectory_msgs::msg::JointTrajectory>().deserialize_message(
    &bytes, message.get());
  const bool is_accepted = controller->validate_trajectory_msg(*message);
  controller->topic_callback(message);
  return is_accepted;
}

// Returns 1 while the controller holds a position of its own.
int rig_update(
  void * handle, int64_t time, int64_t period, const double * position, const double * velocity,
  double * command, double * report)
{
  auto controller = stepped(handle);
  controller->set_time(time);
  controller->set_state(position, velocity);
  controller->update(rclcpp::Time(time, RCL_ROS_TIME), rclcpp::Duration::from_nanoseconds(period));
  controller->get_commands(command);
  controller->get_report(report);
  return controller->is_holding();
}

void rig_delete(void * handle) { delete stepped(handle); }

}  // extern "C"
