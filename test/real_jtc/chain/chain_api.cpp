// A C interface to a chain, joint_trajectory_controller before a controller that `ne_dynamics
// controller` wrote, for test/support/real_chain.py. Times are nanoseconds, arrays have a value for
// each joint.

#include "controller.hpp"
#include "stepped.hpp"

namespace
{
using controller_interface::return_type;

class Controller : public Stepped<CONTROLLER::Controller>
{
public:
  void get_commands(double * row) const
  {
    for (const auto & one : commands_) *row++ = one->get_optional().value_or(NONE);
  }
};

struct Chain
{
  Jtc jtc;
  Controller controller;
  Commands references;
};

Chain * chain(void * handle) { return static_cast<Chain *>(handle); }
}  // namespace

extern "C" {

void chain_init()
{
  if (!rclcpp::ok()) rclcpp::init(0, nullptr);
}

// Returns NULL when one of them does not initialise.
void * chain_new(const char * urdf, const char * parameter_file, unsigned rate, const char * name)
{
  auto made = std::make_unique<Chain>();
  const bool is_made =
    made->controller.begin(name, urdf, parameter_file, rate) &&
    made->jtc.begin("joint_trajectory_controller", urdf, parameter_file, rate);
  return is_made ? made.release() : nullptr;
}

// Returns 0, 1 when one of them does not configure, 2 when one does not activate.
int chain_start(
  void * handle, int64_t time, const double * position, const double * velocity,
  const double * effort)
{
  auto & [jtc, controller, references] = *chain(handle);
  jtc.set_time(time);
  controller.set_time(time);
  if (!controller.set_up()) return 1;
  references = controller.export_reference_interfaces();
  if (!jtc.set_up(references)) return 1;
  controller.set_state(position, velocity, effort);
  jtc.set_state(position, velocity);
  controller.set_chained_mode(true);
  return controller.activate() && jtc.activate() ? 0 : 2;
}

// Takes a serialized JointTrajectory; returns 1 when it is accepted.
int chain_send(void * handle, int64_t time, const unsigned char * data, size_t size)
{
  chain(handle)->jtc.set_time(time);
  return chain(handle)->jtc.receive(data, size);
}

// Returns 0, or 1 when the controller returns an error. `reference` has rows of positions,
// velocities and accelerations.
int chain_update(
  void * handle, int64_t time, int64_t period, const double * position, const double * velocity,
  const double * effort, double * command, double * reference)
{
  auto & [jtc, controller, references] = *chain(handle);
  jtc.set_time(time);
  controller.set_time(time);
  jtc.set_state(position, velocity);
  controller.set_state(position, velocity, effort);
  const rclcpp::Time now(time, RCL_ROS_TIME);
  const auto elapsed = rclcpp::Duration::from_nanoseconds(period);
  // As the controller manager has them: who commands references comes first.
  const bool is_led = jtc.update(now, elapsed) == return_type::OK;
  const bool is_done = controller.update(now, elapsed) == return_type::OK;
  controller.get_commands(command);
  for (const auto & one : references) *reference++ = one->get_optional().value_or(NONE);
  return is_led && is_done ? 0 : 1;
}

// Deactivates both, as the controller manager does after an error; returns the last command.
void chain_stop(void * handle, double * command)
{
  auto & [jtc, controller, references] = *chain(handle);
  jtc.get_node()->deactivate();
  controller.get_node()->deactivate();
  controller.get_commands(command);
}

void chain_delete(void * handle) { delete chain(handle); }

}  // extern "C"
