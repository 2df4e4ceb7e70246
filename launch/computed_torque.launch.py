"""Start the computed-torque node.

    ros2 launch ne_dynamics computed_torque.launch.py model:=/path/to/arm.urdf

The node starts from the parameter file of the driver. A parameter file that is given comes after
it, and an argument that is given after both. Without a model, in any of these places, the node
waits for the topic `robot_description`.

annotator:=true starts the node `annotator` beside it, with the same model, payload and topics
`annotate` and `annotated`: trajectories of others get efforts. doc/joint_trajectory_controller.md
says more.

leader:=true makes the arm the leader of a teleoperation: leader_arm.params.yaml comes after the
file of the driver then. doc/leader_arms.md says more.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, List  # noqa: UP035

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.parameter_descriptions import ParameterValue

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.annotator.settings import ANNOTATOR_PARAMETERS
from ne_dynamics.ros.launching.launch_arguments import (
    USE_SIM_TIME,
    WITH_ANNOTATOR,
    check_argument,
    check_file,
    check_leader,
    check_log_level,
)
from ne_dynamics.ros.launching.launch_files import (
    ANNOTATOR,
    LEADER,
    LOG_LEVEL,
    MODE,
    NODE,
    check_leader_arguments,
    config_file,
    declare,
    full_name,
    value_of,
)
from ne_dynamics.ros.settings.drivers import DRIVERS, driver_file, find_changes, find_driver
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS as NODE_PARAMETERS

# Launch argument -> (parameter, type): passed on only when given.
PARAMETERS = {
    'model': ('model_file', str),
    'tip_link': ('tip_link', str),
    'joints': ('joints', List[str]),  # noqa: UP006 - launch_ros does not take list[str]
    'mode': ('mode', str),
    'use_imu': ('imu.enabled', bool),
    'state_timeout': ('state_timeout', float),
    'autostart': ('autostart', bool),
    'use_sim_time': ('use_sim_time', bool),
}

# Launch argument -> topic, where neither the argument nor the driver says otherwise.
TOPICS = {
    'joint_states': 'joint_states',
    'joint_trajectory': 'joint_trajectory',
    'wrench': 'wrench',
    'imu': 'imu',
    'robot_description': 'robot_description',
    'annotate': 'computed_torque/annotate',
    'effort_commands': 'effort_controller/commands',
    'annotated': 'computed_torque/annotated',
}
OF_THE_ANNOTATOR = ('annotate', 'annotated')
OF_BOTH = ('joint_states', 'imu', 'robot_description')


DEFAULTS = config_file('computed_torque.params.yaml')

ARGUMENTS = {
    'model': ('', 'URDF or DH file of the robot; empty: as the parameter file says'),
    'driver': (
        'generic',
        'What drives the robot: which parameters and topics it needs. One of '
        + ', '.join(DRIVERS),
    ),
    'params_file': (
        DEFAULTS,
        'Parameters of the node; they win over those of the driver. The default, which has all '
        'of them, counts with the driver generic only',
    ),
    'namespace': ('', 'Namespace of the node and its topics'),
    'tip_link': ('', 'Last link of the arm (URDF); empty: as the parameter file says'),
    'sensor_link': (
        '',
        "Last link on the arm's side of a wrist sensor, whose wrench then is used; empty: as the "
        'parameter file says',
    ),
    'joints': (
        '',
        'Order of the command, as in [joint_1, joint_2]; empty: as the parameter file says',
    ),
    'use_imu': (
        '',
        'Take gravity and motion of the base from an IMU (true or false); empty: as the '
        'parameter file says',
    ),
    'mode': MODE,
    'leader': LEADER,
    'state_timeout': (
        '',
        'Time without joint states that is taken for a fault [s]; empty: as the parameter file '
        'says',
    ),
    'autostart': (
        '',
        'Configure and activate the node (true or false); empty: as the parameter file says',
    ),
    'use_sim_time': (
        '',
        'Take the time from /clock (true or false); empty: as the parameter file says',
    ),
    'annotator': (
        'false',
        'Start the node annotator too, which fills trajectories of others with efforts (true or '
        'false)',
    ),
    'controller': (
        '',
        "Controller that the annotator's action hands goals to; empty: as the parameter file says",
    ),
    'log_level': LOG_LEVEL,
}


def check_arguments(context: LaunchContext) -> None:
    """Refuse an argument that cannot be, by its name."""
    for argument, (parameter, _) in PARAMETERS.items():
        spec = NODE_PARAMETERS.by_name.get(parameter, USE_SIM_TIME)
        check_argument(argument, value_of(context, argument), spec)
    check_argument('annotator', value_of(context, 'annotator'), WITH_ANNOTATOR)
    check_log_level(value_of(context, 'log_level'))


def annotator(
    context: LaunchContext, values: dict[str, Any], given: dict[str, Any], topics: dict[str, str]
) -> list[LaunchDescriptionEntity]:
    """Return the node `annotator`, where it is asked for, with what files and arguments say."""
    if not yaml.safe_load(value_of(context, 'annotator')):
        if value_of(context, 'controller'):
            raise ParameterError('controller: expected with annotator:=true, got it alone')
        return []
    parameters = {
        name: value
        for name, value in values.items()
        # An empty list has no type, and says what is so anyway.
        if name in ANNOTATOR_PARAMETERS.by_name and value not in ([], None)
    }
    parameters |= {
        name: value
        for name, value in given.items()
        if name in ANNOTATOR_PARAMETERS.by_name or name == 'use_sim_time'
    }
    if value_of(context, 'controller'):
        parameters['controller'] = ParameterValue(
            LaunchConfiguration('controller'), value_type=str
        )
    return [
        Node(
            package='ne_dynamics',
            executable=ANNOTATOR,
            name=ANNOTATOR,
            namespace=LaunchConfiguration('namespace'),
            parameters=[parameters],
            remappings=[
                *((f'~/{topic}', topics[topic]) for topic in OF_THE_ANNOTATOR),
                *((topic, topics[topic]) for topic in OF_BOTH),
            ],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='both',
        )
    ]


def computed_torque_node(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the node with the parameters that were given."""
    driver = value_of(context, 'driver')
    topics = {**TOPICS, **find_driver(driver)}
    topics = {argument: value_of(context, argument) or topics[argument] for argument in TOPICS}
    check_arguments(context)
    given = {
        parameter: ParameterValue(LaunchConfiguration(argument), value_type=value_type)
        for argument, (parameter, value_type) in PARAMETERS.items()
        if value_of(context, argument)
    }
    if value_of(context, 'sensor_link'):
        given['wrench.enabled'] = True
        given['wrench.sensor_link'] = ParameterValue(
            LaunchConfiguration('sensor_link'), value_type=str
        )
    files = [config_file(driver_file(driver))]
    named = full_name(context, NODE)
    known = read_parameters(Path(files[0].perform(context)), named)
    leads = check_leader_arguments(context)
    if leads:
        files.append(config_file('leader_arm.params.yaml'))
    remarks = []
    # The file with the defaults sets every parameter: nothing of another driver would be left.
    # Nor may it come before the driver's. Where files name the node in different ways, it is the
    # first of its way that counts for the order.
    params_file = value_of(context, 'params_file')
    values = read_parameters(Path(params_file), named)
    check_file(params_file, values, NODE_PARAMETERS)
    is_given = params_file != DEFAULTS.perform(context)
    if leads and is_given:
        check_leader(values.get('mode', ''), f'{params_file}: mode')
    if is_given or (driver == 'generic' and not leads):
        owners = {'driver': f'driver {driver}', 'leader': 'leader:=true'}
        for file, (whose, owner) in zip(files, owners.items()):  # noqa: B905 - not all lead
            before = read_parameters(Path(file.perform(context)), named)
            changes = find_changes(before, values, whose)
            if changes:
                text = f'{params_file} changes what {owner} sets: {", ".join(changes)}'
                remarks.append(LogInfo(msg=text))
        files.append(params_file)
        known |= values
        with suppress(ParameterError):
            known |= read_parameters(Path(params_file), full_name(context, ANNOTATOR))
    return [
        *remarks,
        *annotator(context, known, given, topics),
        LifecycleNode(
            package='ne_dynamics',
            executable='computed_torque',
            name=NODE,
            namespace=LaunchConfiguration('namespace'),
            parameters=[*files, given],
            remappings=[
                (topic, topics[argument])
                for argument, topic in TOPICS.items()
                if argument not in OF_THE_ANNOTATOR
            ],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='both',
        ),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the node."""
    topics = {
        argument: ('', f'Topic to use as {topic}; empty: as the driver has it')
        for argument, topic in TOPICS.items()
    }
    return LaunchDescription(
        [*declare({**ARGUMENTS, **topics}), OpaqueFunction(function=computed_torque_node)]
    )
