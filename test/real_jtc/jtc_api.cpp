// A C interface to joint_trajectory_controller that steps it by virtual time, for
// test/support/real_jtc.py. Times are nanoseconds, arrays have a value for each joint.

#include "stepped.hpp"

namespace
{
Jtc * stepped(void * handle) { return static_cast<Jtc *>(handle); }
}  // namespace

extern "C" {

void rig_init()
{
  if (!rclcpp::ok()) rclcpp::init(0, nullptr);
}

// Returns NULL when the controller does not initialise.
void * rig_new(const char * urdf, const char * parameter_file, unsigned rate, const char * name)
{
  auto controller = std::make_unique<Jtc>();
  return controller->begin(name, urdf, parameter_file, rate) ? controller.release() : nullptr;
}

// Returns 0, 1 when the controller does not configure, 2 when it does not activate.
int rig_start(void * handle, int64_t time, const double * position, const double * velocity)
{
  auto controller = stepped(handle);
  controller->set_time(time);
  if (!controller->set_up()) return 1;
  controller->set_state(position, velocity);
  return controller->activate() ? 0 : 2;
}

// Takes a serialized JointTrajectory; returns 1 when it is accepted.
int rig_send(void * handle, int64_t time, const unsigned char * data, size_t size)
{
  auto controller = stepped(handle);
  controller->set_time(time);
  return controller->receive(data, size);
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
