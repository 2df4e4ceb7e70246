# The wheels of ROS 2 as one library, `wheels`.

file(GLOB bundled_libraries ${OUT}/venv/lib/python3.*/site-packages/*.libs)
set(CMAKE_BUILD_RPATH "${OUT}/lib;${OUT}/ws/lib;${OUT}/venv/lib;${bundled_libraries}")
find_package(Threads REQUIRED)
find_package(Eigen3 REQUIRED)

# Headers and libraries of the wheels as they are: their CMake packages bring Python's side along.
add_library(wheels INTERFACE)
file(GLOB headers LIST_DIRECTORIES true ${OUT}/venv/include/* ${OUT}/ws/include/*)
target_include_directories(wheels SYSTEM INTERFACE
  ${headers} ${OUT}/generated ${CMAKE_CURRENT_LIST_DIR}/include ${EIGEN3_INCLUDE_DIRS})
target_link_directories(wheels INTERFACE ${OUT}/venv/lib ${OUT}/ws/lib)
# An inherited search path: the wheels' libraries do not find one another outside of Python.
target_link_options(wheels INTERFACE -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags)
foreach(package builtin_interfaces rcl_interfaces rosgraph_msgs statistics_msgs lifecycle_msgs
    action_msgs unique_identifier_msgs type_description_interfaces service_msgs std_msgs sensor_msgs
    trajectory_msgs geometry_msgs control_msgs)
  target_link_libraries(wheels INTERFACE
    ${package}__rosidl_typesupport_cpp ${package}__rosidl_generator_c)
endforeach()
# These are opened by name later on; whoever has opened them needs no LD_LIBRARY_PATH.
foreach(package control_msgs statistics_msgs)
  foreach(kind fastrtps_cpp introspection_cpp)
    target_link_options(wheels INTERFACE
      "LINKER:--push-state,--no-as-needed,-l${package}__rosidl_typesupport_${kind},--pop-state")
  endforeach()
endforeach()
target_link_libraries(wheels INTERFACE rcl rcl_action rcl_lifecycle rcl_logging_interface
  rcl_yaml_param_parser rcpputils rcutils rmw rosidl_dynamic_typesupport rosidl_runtime_c
  rosidl_typesupport_c rosidl_typesupport_cpp tracetools ament_index_cpp Threads::Threads dl)
