"""Every parameter of the node `computed_torque`, declared once; needs no ROS to be read.

The node declares them from this table, checks every value by it, and the documentation's table
is made of it.
"""

from __future__ import annotations

from math import inf

from ne_dynamics.control.controller import LastCommand, OnStateLoss
from ne_dynamics.control.imu import ImuSource, OnImuTimeout
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.state_effort import StateEffort
from ne_dynamics.control.transition import LONGEST_TRANSITION, TRANSITION_TIME
from ne_dynamics.control.velocity_source import CUTOFF_FREQUENCY, VelocitySource
from ne_dynamics.control.wrench import Measures, OnTimeout
from ne_dynamics.dynamics import BACKENDS
from ne_dynamics.ros.parameter_table import Changes, ParameterSpec, ParameterTable

RELIABILITIES = ('best_effort', 'reliable', 'system_default')

INERTIA_ENTRIES = 6

LARGEST = 1e6
"""No mass, length or acceleration is as large as this; efforts overflow long after it."""

PARAMETERS = ParameterTable(
    # The model
    ParameterSpec(
        'model_file',
        'string',
        '',
        'URDF or DH file of the robot, told apart by content. Empty: `robot_description`.',
    ),
    ParameterSpec(
        'robot_description',
        'string',
        '',
        'URDF as text. Empty, with no `model_file` either: the topic `robot_description`.',
    ),
    ParameterSpec(
        'model_extras_file',
        'string',
        '',
        'YAML file with friction, rotor inertia and gear ratio of the joints, which a URDF has no '
        'place for. Empty: `<stem>.extras.yaml` beside `model_file` (URDF) where there is one; '
        '`none`: no such file.',
    ),
    ParameterSpec('base_link', 'string', '', 'First link of the arm (URDF). Empty: the root.'),
    ParameterSpec(
        'tip_link',
        'string',
        '',
        'Last link of the arm (URDF); joints that are not on the way to it are locked. Empty: '
        'all joints move.',
    ),
    ParameterSpec(
        'locked_joints.names', 'string[]', (), 'Joints that do not move (URDF); they are lumped.'
    ),
    ParameterSpec(
        'locked_joints.positions',
        'double[]',
        (),
        'Where they stand, in the order of `locked_joints.names`. Empty: all at 0.',
        unit='rad or m',
    ),
    ParameterSpec(
        'joints',
        'string[]',
        (),
        'Order of the command, and of all parameters with one value per joint: the same as the '
        "effort controller's `joints`. Empty: order of the model.",
    ),
    ParameterSpec(
        'gravity',
        'double[]',
        (0.0, 0.0, -9.80665),
        'Acceleration of free fall in the axes of the base link.',
        unit='m/s^2',
        minimum=-LARGEST,
        maximum=LARGEST,
        lengths=(3,),
    ),
    ParameterSpec('backend', 'string', 'auto', 'How the dynamics are computed.', choices=BACKENDS),
    # The law
    ParameterSpec(
        'mode',
        'string',
        Mode.COMPUTED_TORQUE.value,
        'Control law.',
        choices=tuple(mode.value for mode in Mode),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'computed_torque.kp',
        'double[]',
        (100.0,),
        'Position gain of computed_torque: one for all joints, one per joint, or the full matrix '
        'by rows.',
        unit='1/s^2',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'computed_torque.kv',
        'double[]',
        (20.0,),
        'Velocity gain of computed_torque; as kp.',
        unit='1/s',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'feedforward.robot_closes_loop',
        'bool',
        False,
        'The robot closes the loop on positions itself. Mode feedforward, which has no feedback, '
        'needs this: elsewhere the arm falls by what the model is wrong.',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'feedforward_pd.kp',
        'double[]',
        (0.0,),
        'Position gain of feedforward_pd; one, one per joint, or the full matrix by rows. What '
        'is right depends on the arm: there is no default that is safe for all.',
        unit='N m/rad',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'feedforward_pd.kv',
        'double[]',
        (0.0,),
        'Velocity gain of feedforward_pd; as kp.',
        unit='N m s/rad',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'terms.gravity',
        'bool',
        True,
        'Compensate gravity. Off for robots that do it themselves.',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'terms.coriolis',
        'bool',
        True,
        'Compensate Coriolis and centrifugal efforts.',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'terms.inertia',
        'bool',
        True,
        'Feed the desired acceleration forward through the mass matrix.',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'terms.friction',
        'bool',
        True,
        "Feed the model's joint friction at the desired velocity forward.",
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'friction.smoothing_velocity',
        'double',
        0.001,
        'Width of the change of sign of friction at rest, where the model gives none: noise of '
        'the desired velocity that is much smaller makes no steps. 0: a step.',
        unit='rad/s or m/s',
        minimum=0.0,
        maximum=LARGEST,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'effort_limits',
        'double[]',
        (),
        'Largest command, one for all joints or one per joint. Empty: the effort limits of the '
        'model. `.inf`: none.',
        unit='N m or N',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'effort_rate_limit',
        'double[]',
        (),
        'Fastest change of the command, one for all joints or one per joint: a hard limit inside '
        'the feedback loop, which swings for ever when it is too slow for the gains (the node '
        'warns). Empty or 0: none.',
        unit='N m/s or N/s',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'transition_time',
        'double',
        TRANSITION_TIME,
        'Time in which the command goes over without a step when its nature changes: the first '
        'one (from the efforts in the joint states, see `state_effort`), mode, gains, terms, '
        'load, a sensor that is lost or found, after a fault, the last one. 0: at once.',
        unit='s',
        minimum=0.0,
        maximum=LONGEST_TRANSITION,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'state_effort',
        'string',
        StateEffort.TORQUE.value,
        'What `effort` in the joint states is, where the first command begins: `torque`, of the '
        'motors, with gravity; `torque_without_gravity`, less what the robot compensates itself; '
        '`ignore`, no beginning. Where `terms.gravity` differs from it the model adds gravity or '
        'takes it out. Readings that the model does not bear out are not begun at, and `ignore` '
        'not at any: the command begins at the effort of the model.',
        choices=tuple(item.value for item in StateEffort),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'on_deactivate',
        'string',
        LastCommand.GRAVITY.value,
        'What is sent last when the node is deactivated or stopped: `gravity`, what holds the arm '
        'where it is; `zero`; `none`. Effort controllers keep the last command.',
        choices=tuple(item.value for item in LastCommand),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'state_timeout',
        'double',
        0.1,
        'Time without a usable joint state after which the arm is left as `on_state_loss` says. '
        'The motion is given up then.',
        unit='s',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'on_state_loss',
        'string',
        OnStateLoss.BRAKE.value,
        'What is sent then: `brake`, in 0.25 s at most what brings the arm to rest by the model, '
        'from where it should be by now, and then what holds it there against gravity; '
        '`gravity`, that alone, for the last pose. Only modes with feedback brake, and not where '
        'the last state is older than 0.5 s.',
        choices=tuple(item.value for item in OnStateLoss),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'jump_velocity',
        'double[]',
        (),
        'A joint that seems to move faster than this between two states has jumped: its states '
        'are not believed. One for all joints or one per joint; 0 or `.inf`: any speed. Empty: '
        "twice the model's velocity limit.",
        unit='rad/s or m/s',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'following_error.position',
        'double[]',
        (),
        'A joint farther from its desired position than this, or for 1 s farther than 0.4 of it, '
        'is a fault that latches. One for all joints or one per joint; 0 or `.inf`: off. Empty: '
        "the way at the model's velocity limit (3 rad/s or 1 m/s where it has none) in 0.4 s, in "
        'modes with feedback.',
        unit='rad or m',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'following_error.velocity',
        'double[]',
        (),
        'A joint whose velocity is off the desired one by more than this for 0.25 s, and not '
        'being braked, is one too, in modes with feedback; as before. Empty: twice the velocity '
        'limit.',
        unit='rad/s or m/s',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'following_error.frozen',
        'double[]',
        (),
        'A position that stays the same to the last bit, for 50 ms and 10 states, while the '
        'desired one goes on by more than this is one too, in modes with feedback; as before. '
        'Empty: the way at the velocity limit in 0.02 s.',
        unit='rad or m',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'stop.deceleration',
        'double[]',
        (),
        'A motion that is given up (`~/hold`, cancel, an empty trajectory, a goal that ends '
        'moving, an arm that is found in motion) is brought to rest along its way with no more '
        'than this, and with no more than 0.8 of the effort limits. One for all joints or one per '
        "joint; 0 or `.inf`: the usual. Empty: the model's deceleration limit (URDF 1.2), else "
        'the usual: the velocity limit in 0.1 s.',
        unit='rad/s^2 or m/s^2',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'saturation.timeout',
        'double',
        1.0,
        'A joint at its effort limit for longer, in the direction of its position error, is one '
        'too, in modes with feedback. 0 or `.inf`: off.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'velocity_check',
        'bool',
        True,
        'Measured velocities that are not those of the positions (zeros, the wrong sign, less '
        'than 0.3 or more than 3 times the motion) are a fault that latches, in modes that use '
        'them.',
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'velocity_source',
        'string',
        VelocitySource.MEASURED.value,
        'Where the velocities of the law are from: `measured`, the joint states; '
        '`differentiated`, the positions by a difference and a first-order low-pass filter, late '
        'by half a period and 1 / (2 pi f_c); `estimated`, the positions by an alpha-beta filter, '
        'late by 2 / (2 pi f_c). At 500 Hz and 30 Hz: 6.3 ms and 10.6 ms.',
        choices=tuple(item.value for item in VelocitySource),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'velocity_cutoff_frequency',
        'double',
        CUTOFF_FREQUENCY,
        'f_c of `velocity_source`.',
        unit='Hz',
        minimum=0.0,
        above_minimum=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'repeated_faults.window',
        'double',
        10.0,
        'A fault of one kind that comes for the third time within this latches. 0: never.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'allow_nonzero_velocity_at_trajectory_end',
        'bool',
        False,
        'Accept trajectories whose last point moves; from there the motion is brought to rest.',
        changes=Changes.ANY_TIME,
    ),
    # The wrist sensor
    ParameterSpec(
        'wrench.enabled', 'bool', False, 'Add the wrench of a wrist sensor to the dynamics.'
    ),
    ParameterSpec(
        'wrench.sensor_link',
        'string',
        '',
        "Last link on the arm's side of the sensor. Empty: the tip.",
    ),
    ParameterSpec(
        'wrench.includes_tool',
        'bool',
        True,
        'The reading contains what the model has beyond the sensor link: the model is cut there, '
        'so that the tool counts once. False: weight and inertia of the tool are taken out of '
        'the reading by whoever publishes it.',
    ),
    ParameterSpec(
        'wrench.measures',
        'string',
        Measures.ON_TOOL.value,
        'Sign: `on_tool`, what environment and tool exert on the arm (the habit in ROS: a tool '
        'reads as a force downwards), or `by_tool`, the opposite.',
        choices=tuple(item.value for item in Measures),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.timeout',
        'double',
        0.1,
        'Age from which a reading no longer counts.',
        unit='s',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.on_timeout',
        'string',
        OnTimeout.HOLD.value,
        'What counts then: `hold`, the last reading (a tool does not lose its weight), or `zero`, '
        'no reading: what the model knows of tool and payload, as before the first one.',
        choices=tuple(item.value for item in OnTimeout),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.cutoff_frequency',
        'double',
        0.0,
        'Cut-off of a first-order low-pass filter on the reading. 0: no filter.',
        unit='Hz',
        minimum=0.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.feedthrough',
        'double',
        0.0,
        'Share of what is faster than the cut-off that passes the filter all the same. 0: a '
        'plain low-pass filter.',
        minimum=0.0,
        maximum=1.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.gain',
        'double',
        1.0,
        'How much of the reading is compensated. What this leaves out of the tool and payload '
        'that are known beyond the sensor, the model puts in.',
        minimum=0.0,
        maximum=1.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.max_force',
        'double',
        inf,
        'Force beyond which a reading is scaled down. `.inf`: any.',
        unit='N',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.max_torque',
        'double',
        inf,
        'Moment about the sensor link beyond which a reading is scaled down. `.inf`: any.',
        unit='N m',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'wrench.largest_bias',
        'double',
        20.0,
        'Force of a bias beyond which ~/tare_wrench is refused: sign, sensor link or tool of the '
        'model may be wrong. `.inf`: any.',
        unit='N',
        minimum=0.0,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    # What the model does not have
    ParameterSpec(
        'payload.mass',
        'double',
        0.0,
        'Mass of a load that the model does not have.',
        unit='kg',
        minimum=0.0,
        maximum=LARGEST,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'payload.com',
        'double[]',
        (0.0, 0.0, 0.0),
        'Its centre of mass in the frame of `payload.link`.',
        unit='m',
        minimum=-LARGEST,
        maximum=LARGEST,
        lengths=(3,),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'payload.inertia',
        'double[]',
        (0.0,) * INERTIA_ENTRIES,
        'Its inertia about its centre of mass, in the axes of `payload.link`: xx, xy, xz, yy, yz, '
        'zz.',
        unit='kg m^2',
        minimum=-LARGEST,
        maximum=LARGEST,
        lengths=(INERTIA_ENTRIES,),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'payload.link',
        'string',
        '',
        'Link that carries it: the tip, or one that is rigidly attached to it. Empty: the tip.',
        changes=Changes.ANY_TIME,
    ),
    # The base
    ParameterSpec(
        'imu.enabled',
        'bool',
        False,
        'The base is tilted or moves: take the direction of gravity and the motion of the base '
        'from the topic `imu`.',
    ),
    ParameterSpec(
        'imu.source',
        'string',
        ImuSource.ACCELERATION.value,
        'What is taken from it beside the angular velocity: `acceleration`, the linear '
        'acceleration, which contains gravity; `orientation`, the direction of gravity alone.',
        choices=tuple(item.value for item in ImuSource),
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'imu.cutoff_frequency',
        'double',
        10.0,
        'Cut-off of a first-order low-pass filter on it. 0: no filter.',
        unit='Hz',
        minimum=0.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'imu.max_acceleration',
        'double',
        5.0,
        'Largest acceleration of the base, beside gravity, that is believed. `.inf`: any.',
        unit='m/s^2',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'imu.timeout',
        'double',
        0.5,
        'Age from which a reading no longer counts.',
        unit='s',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'imu.on_timeout',
        'string',
        OnImuTimeout.HOLD.value,
        'What counts then: `hold`, the last direction of gravity and a base at rest, or `level`, '
        'the parameter `gravity`.',
        choices=tuple(item.value for item in OnImuTimeout),
        changes=Changes.ANY_TIME,
    ),
    # For others
    ParameterSpec(
        'effort_tolerance',
        'double[]',
        (0.1,),
        'Trajectories annotated with efforts are dense enough for linear interpolation to be '
        'this near; one for all joints or one per joint.',
        unit='N m or N',
        minimum=0.0,
        above_minimum=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'constraints.trajectory',
        'double[]',
        (0.0,),
        'Largest position error while the goal of an action is followed, one for all joints or '
        'one per joint. 0: any. A goal may bring its own.',
        unit='rad or m',
        minimum=0.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'constraints.goal',
        'double[]',
        (0.0,),
        'Largest position error at its end; as before.',
        unit='rad or m',
        minimum=0.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'constraints.goal_time',
        'double',
        0.0,
        'Time after its end in which the goal must be reached. 0: any.',
        unit='s',
        minimum=0.0,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'constraints.stopped_velocity_tolerance',
        'double',
        0.01,
        'Largest speed at its end. 0: any.',
        unit='rad/s or m/s',
        minimum=0.0,
        changes=Changes.ANY_TIME,
    ),
    # The node
    ParameterSpec(
        'tracking_error.warn',
        'double[]',
        (0.05,),
        'Position error from which the diagnostics warn, one for all joints or one per joint. '
        '`.inf`: never.',
        unit='rad or m',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'tracking_error.error',
        'double[]',
        (0.2,),
        'Position error from which the diagnostics report an error; as before.',
        unit='rad or m',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
        changes=Changes.ANY_TIME,
    ),
    ParameterSpec(
        'joint_states_reliability',
        'string',
        'best_effort',
        'Reliability of the subscription to joint_states. `best_effort` receives from every '
        'publisher; `reliable` only from reliable ones, and loses nothing.',
        choices=RELIABILITIES,
    ),
    ParameterSpec(
        'autostart',
        'bool',
        True,
        'Configure and activate without being asked, as soon as there is a model.',
        changes=Changes.START,
    ),
)
