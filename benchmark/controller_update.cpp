// One `update` of a controller beside one `pinocchio::rnea`, in turns: controller_update.py.
//   controller_update URDF ROUNDS [LOCKED_JOINT...]
// Prints the medians [ns] of both, and the largest difference of the efforts.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/model.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include "controller_interface/chainable_controller_interface.hpp"

using Controller = controller_interface::ChainableControllerInterface;
using Clock = std::chrono::steady_clock;

std::unique_ptr<Controller> make_controller();

namespace
{
constexpr int CALLS = 2000;

template <typename Call>
double measure(const Call & call)
{
  const auto begin = Clock::now();
  for (int i = 0; i < CALLS; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / CALLS;
}

double median(std::vector<double> values)
{
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Controller::Interfaces make(const std::vector<std::string> & names)
{
  Controller::Interfaces made;
  for (const auto & name : names)
    made.push_back(std::make_shared<hardware_interface::CommandInterface>(name, ""));
  return made;
}
}  // namespace

int main(int count, char ** words)
{
  pinocchio::Model model;
  pinocchio::urdf::buildModel(words[1], model);
  std::vector<pinocchio::JointIndex> locked;
  for (int i = 3; i < count; ++i) locked.push_back(model.getJointId(words[i]));
  if (!locked.empty()) {
    Eigen::VectorXd at = pinocchio::neutral(model);
    for (const auto joint : locked) at[model.joints[joint].idx_q()] = 0.03;
    model = pinocchio::buildReducedModel(model, locked, at);
  }
  model.gravity.linear() = Eigen::Vector3d(0.0, 0.0, -9.80665);
  pinocchio::Data data(model);
  const int n = model.nv;

  const auto controller = make_controller();
  // The reference may be anywhere, and no command fades: the law alone is compared.
  controller->init(
    "controller", 1000,
    {{"transition_time", 0.0},
     {"jump_velocity", std::vector<double>{0.0}},
     {"reference_timeout", 1e6},
     {"terms.friction", false},
     {"effort_limits", std::vector<double>{1e6}},
     {"state_effort", std::string("ignore")}});
  if (controller->on_configure({}) != controller_interface::CallbackReturn::SUCCESS) return 1;
  const auto references = controller->export_reference_interfaces();
  const auto commands = make(controller->command_interface_configuration().names);
  const auto states = make(controller->state_interface_configuration().names);
  controller->assign_interfaces(commands, states);
  for (const auto & one : states) (void)one->set_value(0.0);
  controller->set_chained_mode(true);
  controller->on_activate({});
  for (const auto & one : references) (void)one->set_value(0.0);
  const rclcpp::Duration period(1e-3);
  controller->update({}, period);

  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(-1.0, 1.0);
  const int rounds = std::atoi(words[2]);
  std::vector<double> ours, theirs, ratios;
  double difference = 0.0;
  for (int round = 0; round < rounds; ++round) {
    Eigen::VectorXd q(n), qd(n), qdd(n);
    for (int i = 0; i < n; ++i) {
      q[i] = draw(random);
      qd[i] = draw(random);
      qdd[i] = draw(random);
      // Without an error the law is the inverse dynamics.
      for (const auto * all : {&states, &references}) {
        (void)(*all)[i]->set_value(q[i]);
        (void)(*all)[n + i]->set_value(qd[i]);
      }
      (void)references[2 * n + i]->set_value(qdd[i]);
    }
    const auto update = [&] { controller->update({}, period); };
    const auto rnea = [&] { pinocchio::rnea(model, data, q, qd, qdd); };
    const bool is_first = round % 2 == 0;
    double first = is_first ? measure(update) : measure(rnea);
    double second = is_first ? measure(rnea) : measure(update);
    if (!is_first) std::swap(first, second);
    ours.push_back(first);
    theirs.push_back(second);
    ratios.push_back(first / second);
    update();
    for (int i = 0; i < n; ++i)
      difference =
        std::max(difference, std::abs(commands[i]->get_optional().value() - data.tau[i]));
  }
  std::printf(
    "%.1f %.1f %.4f %.3g\n", median(ours), median(theirs), median(ratios), difference);
}
