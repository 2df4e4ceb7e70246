#!/bin/bash
# Compile joint_trajectory_controller for Python: build.sh SOURCES OUT; see README.md.
# What is there is not made again; afterwards OUT/lib is the folder for NE_DYNAMICS_JTC.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
venv=$out/venv
export AMENT_PREFIX_PATH=$out/ws:$venv CMAKE_PREFIX_PATH=$out/ws:$venv PATH=$venv/bin:$PATH
export PYTHONPATH=

# ---- the wheels: headers, libraries and generators of messages

if [[ ! -f $out/installed ]]; then
  "${PYTHON:-python3}" -m venv "$venv"
  packages=(rcl-action rcl-lifecycle action-msgs unique-identifier-msgs std-msgs sensor-msgs
    trajectory-msgs geometry-msgs lifecycle-msgs builtin-interfaces rcl-interfaces rosgraph-msgs
    ament-cmake ament-cmake-core ament-package ament-cmake-include-directories python-cmake-module
    ament-cmake-ros ament-cmake-gmock ament-cmake-gtest ament-cmake-pytest
    rosidl-default-generators rosidl-core-generators)
  "$venv/bin/pip" install -q ros-jazzy-rclpy==7.1.6 ros-jazzy-rmw-fastrtps-cpp==8.4.3 \
    "${packages[@]/#/ros-jazzy-}" \
    empy==3.3.4 numpy catkin_pkg jinja2 typeguard pyyaml lark
  # Paths of the machine on which the wheels were made.
  python=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  numpy=$("$venv/bin/python" -c 'import numpy; print(numpy.get_include())')
  tinyxml2=$(gcc -print-file-name=libtinyxml2.so)
  find "$venv/share" -name '*.cmake' -exec sed -i \
    -e "s#/opt/python/[^ ;\"]*/numpy/_core/include#$numpy#g" \
    -e "s#/opt/python/[^ ;\"]*/include/python3\.[0-9]*#$python#g" \
    -e "s#/usr/lib64/libtinyxml2.so#$tinyxml2#g" {} +
  gcc -shared -x c /dev/null -o "$venv/lib/liblttng-ust.so"
  touch "$out/installed"
fi

# ---- message packages that are no wheels: for C++ alone, and of control_msgs what JTC uses

# make_messages NAME FOLDER "DEPENDENCIES" FILE...
make_messages() {
  local name=$1 folder=$2 dependencies=$3 work=$out/messages/$1
  shift 3
  [[ -d $out/ws/share/$name ]] && return
  mkdir -p "$work"
  (cd "$folder" && cp --parents package.xml "$@" "$work")
  local generators=(rosidl_generator_{type_description,c,cpp}
    rosidl_typesupport_{fastrtps_cpp,introspection_cpp,cpp})
  {
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(%s C CXX)\n' "$name"
    printf 'set(CMAKE_CXX_STANDARD 17)\nadd_compile_options(-O0 -w)\n'
    printf 'find_package(%s REQUIRED)\n' \
      ament_cmake rosidl_cmake "${generators[@]}" $dependencies
    printf 'rosidl_generate_interfaces(%s %s DEPENDENCIES %s)\nament_package()\n' \
      "$name" "$*" "$dependencies"
  } >"$work/CMakeLists.txt"
  cmake -S "$work" -B "$work/build" -DCMAKE_INSTALL_PREFIX="$out/ws" \
    -DPython3_EXECUTABLE="$venv/bin/python" -DCMAKE_INSTALL_RPATH="$out/ws/lib;$venv/lib" \
    -DCMAKE_LIBRARY_PATH="$venv/lib" -DCMAKE_SHARED_LINKER_FLAGS="-L$venv/lib"
  cmake --build "$work/build" -j "${JOBS:-2}" --target install
}

statistics=$sources/rcl_interfaces/statistics_msgs
make_messages statistics_msgs "$statistics" builtin_interfaces \
  $(cd "$statistics" && ls msg/*.msg)
make_messages control_msgs "$sources/control_msgs/control_msgs" \
  'action_msgs builtin_interfaces geometry_msgs sensor_msgs std_msgs trajectory_msgs' \
  msg/{DynamicJointState,InterfaceValue,JointComponentTolerance,JointTolerance}.msg \
  msg/{JointTrajectoryControllerState,PidState,SpeedScalingFactor}.msg \
  action/FollowJointTrajectory.action srv/QueryTrajectoryState.srv

# ---- JTC and what is below it

if [[ ! -d $out/generated ]]; then
  "$venv/bin/python" "$here/generate.py" "$sources" "$out/generating"
  mv "$out/generating" "$out/generated"
fi
cmake -S "$here" -B "$out/build" -DSOURCES="$sources" -DOUT="$out" -DCMAKE_LIBRARY_PATH="$venv/lib"
cmake --build "$out/build" -j "${JOBS:-2}"
echo "NE_DYNAMICS_JTC=$out/lib"
