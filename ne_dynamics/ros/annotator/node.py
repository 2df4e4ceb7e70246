"""The node `annotator`: trajectories of others, with the efforts that they take.

For arms whose joint_trajectory_controller stays: trajectories come on `~/annotate` and leave on
`~/annotated`; goals of the action `~/follow_joint_trajectory` are handed on to the controller. It
commands nothing itself, so it has no life cycle: it waits for a model, and works.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ne_dynamics.errors import (
    CommandLineError,
    NeDynamicsError,
    ParameterError,
    optional_dependency,
)
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.annotator.settings import ANNOTATOR_PARAMETERS, AnnotatorSettings
from ne_dynamics.ros.running.signals import StopRequest
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.ros.settings.robot_source import has_model_parameter, load_robot, require_short

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from rcl_interfaces.msg import SetParametersResult
    from rclpy.clock import Clock, ClockType
    from rclpy.exceptions import InvalidTopicNameException
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.parameter import Parameter
    from rclpy.validate_full_topic_name import validate_full_topic_name
    from std_msgs.msg import String

    from ne_dynamics.ros.annotator.goal_proxy import GoalProxy
    from ne_dynamics.ros.annotator.present import Present
    from ne_dynamics.ros.annotator.topics import AnnotationTopics
    from ne_dynamics.ros.latched import LATCHED
    from ne_dynamics.ros.messages.control_types import make_if_typed
    from ne_dynamics.ros.messages.joint_constraints import is_of_a_joint
    from ne_dynamics.ros.running.background import Background
    from ne_dynamics.ros.running.executable import run_node
    from ne_dynamics.ros.running.rclpy_guards import guard_clock, guard_services
    from ne_dynamics.ros.settings.declared_parameters import DeclaredParameters
    from ne_dynamics.ros.watching.reporter import Reporter

ANY_TIME = 'unconfigured'
"""There is no state in which the model may not change: nothing is commanded."""


def _checked(controller: str) -> str:
    """Return the name of a controller.

    Raises
    ------
    CommandLineError
        When no node can have it.
    """
    try:
        if controller:
            validate_full_topic_name(f'/{controller.removeprefix("/")}/action')
    except InvalidTopicNameException as error:
        reason = ' '.join(str(error).split())
        raise CommandLineError(f'controller: expected the name of a node: {reason}') from None
    return controller


def _is_of_the_controller(name: str) -> bool:
    """Return whether a parameter is the node `computed_torque`'s: one file may serve both."""
    return name in PARAMETERS.by_name or is_of_a_joint(name)


class AnnotatorNode(Node):
    """The node; see the module's docstring.

    Parameters
    ----------
    **node_arguments
        As for :class:`rclpy.node.Node`.

    Attributes
    ----------
    arm : AnnotatedArm or None
        None until there is a model.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('annotator', **node_arguments)
        reporter = self._reporter = Reporter(self.get_logger())
        guard_services(self, reporter)
        guard_clock(self, reporter)
        self._declared = DeclaredParameters(self, ANNOTATOR_PARAMETERS, _is_of_the_controller)
        self._declared.declare()
        self._description = ''
        self.arm: AnnotatedArm | None = None
        controller = _checked(self._declared.settings.controller)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix='annotate')
        self._background = Background(self, self._pool)
        self._present = Present(self, reporter, controller)
        tools = reporter, self._background, self._present
        AnnotationTopics(self, *tools)
        steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._proxy: GoalProxy | None = None
        if controller:
            self._proxy = make_if_typed(GoalProxy, self, controller, *tools, steady_clock)
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        if has_model_parameter(self._declared.settings):
            self._load_or_say_why()
        else:
            topic = self.resolve_topic_name('robot_description')
            self.get_logger().info(f'waiting for the robot: topic {topic!r}, or set model_file')

    def destroy_node(self) -> None:
        """Destroy everything; rclpy does not know of the action."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._proxy is not None:
            self._proxy.destroy()
            self._proxy = None
        super().destroy_node()

    # ---- the model

    def _load_or_say_why(self) -> None:
        try:
            self._adopt(self._load(self._description))
        except NeDynamicsError as error:
            self.get_logger().error(f'no model: {error}')

    def _load(self, description: str) -> AnnotatedArm:
        """Return the arm by the present settings; none by defaults in place of what was meant."""
        settings, faults = self._declared.settings, self._declared.faults
        if faults:
            raise ParameterError('; '.join(faults.values()))
        return AnnotatedArm.of(settings, load_robot(settings, description))

    def _adopt(self, arm: AnnotatedArm) -> None:
        is_new = self.arm is None or self.arm.arm is not arm.arm
        self.arm = arm
        self._present.configure(arm)
        if is_new:
            robot = arm.arm.robot
            names = ', '.join(robot.joint_names)
            self.get_logger().info(f'annotates for {robot.name!r}: joints {names}')

    def _on_description(self, message: String) -> None:
        text = message.data
        if text == self._description or has_model_parameter(self._declared.settings):
            return
        try:
            require_short(text)
            self._adopt(self._load(text))
        except NeDynamicsError as error:
            self._reporter.drop('robot_description', 'data', str(error))
            return
        self._description = text

    # ---- parameters

    def set_parameters(self, parameter_list: list[Parameter]) -> list[SetParametersResult]:
        """Set parameters one after the other, each checked by the table."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set all parameters or none: checked by the table, and against the robot."""
        is_whole = {one.name for one in parameter_list} >= self._declared.faults.keys()

        def prepare(settings: AnnotatorSettings) -> Callable[[], None]:
            arm = self.arm
            if is_whole and (has_model_parameter(settings) or self._description):
                is_same = settings.model() == self._declared.settings.model()
                if arm is not None and is_same:
                    arm = AnnotatedArm(arm.arm, settings).checked()
                else:
                    arm = AnnotatedArm.of(settings, load_robot(settings, self._description))
            return (lambda: None) if arm is None else partial(self._adopt, arm)

        return self._declared.change(parameter_list, ANY_TIME, prepare)


def _make_executor(node: AnnotatorNode) -> SingleThreadedExecutor:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    return executor


def _spin(node: AnnotatorNode, executor: SingleThreadedExecutor, stop: StopRequest) -> None:
    while not stop.is_set():
        executor.spin_once()


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM.

    Parameters and exit code are those of :func:`~ne_dynamics.ros.running.executable.run_node`.
    """
    text = 'Trajectories in, the same with efforts out.'
    return run_node(text, AnnotatorNode, _make_executor, _spin, args, 'annotator')


if __name__ == '__main__':
    sys.exit(main())
