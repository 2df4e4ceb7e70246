# ROS 2 with this package built by colcon, MuJoCo and the compiler. Not run: there was no container
# engine to run it with.
#
#   docker build --build-arg ROS_DISTRO=jazzy --tag ne_dynamics .
#   docker run --rm --interactive --tty ne_dynamics            # the simulation
#   docker run --rm --interactive --tty --network host ne_dynamics \
#     ros2 launch ne_dynamics computed_torque.launch.py        # the node for an arm on this network
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}-ros-base

SHELL ["/bin/bash", "-c"]
WORKDIR /workspace
COPY . src/ne_dynamics

RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-venv \
    && rosdep update \
    && rosdep install --from-paths src --ignore-src --default-yes \
    && rm -rf /var/lib/apt/lists/*

# Built with the Python of the environment, which is written into the executables: doc/installation.md.
RUN python3 -m venv --system-site-packages venv \
    && touch venv/COLCON_IGNORE \
    && venv/bin/pip install --no-cache-dir mujoco 'llvmlite>=0.45'
RUN source "/opt/ros/${ROS_DISTRO}/setup.bash" \
    && source venv/bin/activate \
    && python -m colcon build --packages-select ne_dynamics

ENTRYPOINT ["/bin/bash", "-c", "source /workspace/install/setup.bash && exec \"$@\"", "--"]
CMD ["ros2", "launch", "ne_dynamics", "simulation.launch.py"]
