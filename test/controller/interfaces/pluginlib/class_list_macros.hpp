// Stand-in of pluginlib for the tests: a program has one controller.

#pragma once

#include <memory>

#define PLUGINLIB_EXPORT_CLASS(Class, Base) \
  std::unique_ptr<Base> make_controller();  \
  std::unique_ptr<Base> make_controller() { return std::make_unique<Class>(); }
