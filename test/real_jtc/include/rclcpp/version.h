// The version of rclcpp that README.md names.
#pragma once
#define RCLCPP_VERSION_MAJOR 28
#define RCLCPP_VERSION_MINOR 1
#define RCLCPP_VERSION_PATCH 6
#define RCLCPP_VERSION_STR "28.1.6"
#define RCLCPP_VERSION_GTE(major, minor, patch) \
  (28 > (major) || (28 == (major) && (1 > (minor) || (1 == (minor) && 6 >= (patch)))))
