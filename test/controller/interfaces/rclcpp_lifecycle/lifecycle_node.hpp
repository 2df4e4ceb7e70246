// Stand-in of rclcpp_lifecycle for the tests.

#pragma once

#include "rclcpp/parameter.hpp"

namespace rclcpp_lifecycle
{
class State
{
};

namespace node_interfaces
{
struct LifecycleNodeInterface
{
  enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
};
}  // namespace node_interfaces

class LifecycleNode
{
public:
  LifecycleNode(std::string name, std::map<std::string, rclcpp::ParameterValue> overrides)
  : name_(std::move(name)), overrides_(std::move(overrides))
  {
  }

  const char * get_name() const { return name_.c_str(); }
  rclcpp::Logger get_logger() { return {&log}; }

  template <typename T>
  void declare_parameter(const std::string & name, const T & value)
  {
    const auto found = overrides_.find(name);
    rclcpp::ParameterValue given = found == overrides_.end() ? rclcpp::ParameterValue(value)
                                                             : found->second;
    if (!std::holds_alternative<T>(given)) throw std::runtime_error(name + ": wrong type");
    parameters_.insert_or_assign(name, given);
  }

  rclcpp::Parameter get_parameter(const std::string & name) const
  {
    return {name, parameters_.at(name)};
  }

  template <typename Callback>
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
    Callback && callback)
  {
    using Handle = rclcpp::node_interfaces::OnSetParametersCallbackHandle;
    auto handle = std::make_shared<Handle>(Handle{callback});
    on_set_ = handle;
    return handle;
  }

  template <typename Callback>
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr
  add_post_set_parameters_callback(Callback && callback)
  {
    using Handle = rclcpp::node_interfaces::PostSetParametersCallbackHandle;
    auto handle = std::make_shared<Handle>(Handle{callback});
    post_set_ = handle;
    return handle;
  }

  template <typename Callback>
  rclcpp::TimerBase::SharedPtr create_wall_timer(std::chrono::milliseconds, Callback && callback)
  {
    auto timer = std::make_shared<rclcpp::TimerBase>(callback);
    timer_ = timer;
    return timer;
  }

  // For the tests: what a user and the executor do.
  std::string set_parameters(const std::vector<rclcpp::Parameter> & given)
  {
    for (const auto & one : given)
      if (parameters_.at(one.get_name()).index() != one.get_parameter_value().index())
        return "wrong type";
    rcl_interfaces::msg::SetParametersResult result{true, ""};
    if (const auto handle = on_set_.lock()) result = handle->callback(given);
    if (is_overruled) result = {false, "overruled"};
    if (!result.successful) return result.reason;
    for (const auto & one : given) parameters_.at(one.get_name()) = one.get_parameter_value();
    if (const auto handle = post_set_.lock()) handle->callback(given);
    return "";
  }

  void fire_timer()
  {
    if (const auto timer = timer_.lock()) timer->callback();
  }

  std::string log;
  bool is_overruled = false;  // by another callback, which refuses what this one allows

private:
  std::string name_;
  std::map<std::string, rclcpp::ParameterValue> overrides_, parameters_;
  std::weak_ptr<rclcpp::node_interfaces::OnSetParametersCallbackHandle> on_set_;
  std::weak_ptr<rclcpp::node_interfaces::PostSetParametersCallbackHandle> post_set_;
  std::weak_ptr<rclcpp::TimerBase> timer_;
};
}  // namespace rclcpp_lifecycle
