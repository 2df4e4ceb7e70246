// A stand-in of pal_statistics: nothing is registered, nothing is published.
#pragma once
#include <cxxabi.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rclcpp/rclcpp.hpp>

namespace pal_statistics
{
using IdType = unsigned int;

struct RegistrationsRAII
{
  bool enableAll() { return true; }
  bool disableAll() { return true; }
};

class StatisticsRegistry
{
public:
  template <typename T>
  IdType registerVariable(
    const std::string &, const T *, RegistrationsRAII * = nullptr, bool = true)
  {
    return 0;
  }
  template <typename F>
  IdType registerFunction(const std::string &, F &&, RegistrationsRAII * = nullptr, bool = true)
  {
    return 0;
  }
};

template <typename T>
IdType customRegister(
  StatisticsRegistry &, const std::string &, const T *, RegistrationsRAII * = nullptr, bool = true)
{
  return 0;
}
}  // namespace pal_statistics
