"""What can be asked of a robot: the one table of functions.

A row says what a function is called, what it takes (with units), what it returns, how it is
traced, whether it needs a tip, up to which size it is written out, how larger robots are served,
and which method of :class:`~ne_dynamics.dynamics.Dynamics` it answers for. A new quantity is one
row here and one method there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from ne_dynamics.algorithms.mechanism_body import PARAMETERS_PER_BODY
from ne_dynamics.codegen.traces.trace import Trace, direct
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument of a function.

    Attributes
    ----------
    name : str
        Name of the argument of the method.
    unit : str
        Unit, and where it matters frame and sign.
    size : int or callable, optional
        Number of scalars, or what returns it for a robot; None for one each joint.
    stem : str
        Name in the generated text; '' for the same.
    serves_all : bool
        Whether a single one may go with a batch of the others.
    is_nonnegative : bool
        Whether a method refuses numbers below zero. The text, which checks nothing, takes their
        magnitude.
    """

    name: str
    unit: str
    size: int | Callable[[Robot], int] | None = None
    stem: str = ''
    serves_all: bool = False
    is_nonnegative: bool = False

    def count(self, robot: Robot) -> int:
        """Return the number of scalars for a robot."""
        if callable(self.size):
            return self.size(robot)
        return robot.n if self.size is None else self.size


_OF_ITS_NAME = '...'


@dataclass(frozen=True, eq=False)
class Function:
    """A row of the table.

    Attributes
    ----------
    name : str
        Name in the generated text and in :meth:`Dynamics.source`.
    meaning : str
        What it computes, in a line, for whoever reads the generated text; with axes and signs.
    arguments : tuple of Argument
    returns : str
        Unit of the result.
    shape : callable
        Returns the shape of one sample's result for a robot.
    trace : Trace
    method : str
        Method for which this row answers, by default that of its name; '' for a row that other
        rows use.
    optional : tuple of str
        Arguments that a call may leave out; zeros are used.
    needs_tip : bool
        Whether there is no answer for a robot without a tip, unless a link is named.
    largest : int, optional
        Coordinates up to which the function is written out; None for all. Larger robots are
        served from other rows, see :data:`ne_dynamics.codegen.assembly.ASSEMBLIES`.
    largest_compiled : int, optional
        The same for machine code, where that is worth longer equations than Python is.
    by_name : tuple of str
        Last arguments, which the method takes by name only.
    is_stacked : bool
        Whether the first axis of the result stands before that of the samples, so that the
        result of a batch unpacks as that of one sample does.
    is_scalar : bool
        Whether machine code computes one sample at a time, in batches too: it is compiled in less
        than half the time, for what control loops call.
    """

    name: str
    meaning: str
    arguments: tuple[Argument, ...]
    returns: str
    shape: Callable[[Robot], tuple[int, ...]]
    trace: Trace
    method: str = _OF_ITS_NAME
    optional: tuple[str, ...] = ()
    needs_tip: bool = False
    largest: int | None = None
    largest_compiled: int = 0
    by_name: tuple[str, ...] = ()
    is_stacked: bool = False
    is_scalar: bool = False

    def __post_init__(self) -> None:
        if self.method == _OF_ITS_NAME:
            object.__setattr__(self, 'method', self.name)

    def is_written_out(self, robot: Robot, is_compiled: bool = False) -> bool:
        """Return whether there is a program of this function for a robot of this size."""
        most = self.largest_compiled if is_compiled else 0
        return self.largest is None or robot.n <= max(most, self.largest)

    def inputs(self, robot: Robot) -> tuple[tuple[str, int], ...]:
        """Return the name in the text and the number of scalars of each argument."""
        return tuple(
            (argument.stem or argument.name, argument.count(robot)) for argument in self.arguments
        )


Q = Argument('q', 'rad or m')
QD = Argument('qd', 'rad/s or m/s')
QDD = Argument('qdd', 'rad/s^2 or m/s^2')
TAU = Argument('tau', 'N m or N')
WRENCH = Argument(
    'wrench',
    'force [N], moment [N m] of the last link on the environment, at the origin of the tip frame, '
    'in tip axes',
    size=6,
    serves_all=True,
)
BASE_MOTION = Argument(
    'base_motion',
    'angular velocity [rad/s], angular acceleration [rad/s^2], linear acceleration [m/s^2] '
    'without gravity, of the base frame, in its axes',
    size=9,
    stem='base',
    serves_all=True,
)
Q_RATE = Argument('q_rate', 'direction in which q changes')
QD_RATE = Argument('qd_rate', 'direction in which qd changes')
QDD_RATE = Argument('qdd_rate', 'direction in which qdd changes')
PAYLOAD = Argument(
    'payload',
    'mass [kg], first moment [kg m], Ixx Ixy Iyy Ixz Iyz Izz [kg m^2] about the origin of the tip '
    'frame, in tip axes',
    size=10,
    serves_all=True,
)

EXTERNAL_WRENCHES = Argument(
    'external_wrenches',
    'force [N], moment [N m] of the environment on each body, at the origin of its frame, in its '
    'axes',
    size=lambda robot: TWIST * len(robot.bodies),
    stem='external',
    serves_all=True,
)

Q_DESIRED = Argument('q_desired', 'rad or m')
QD_DESIRED = Argument('qd_desired', 'rad/s or m/s')
QDD_DESIRED = Argument('qdd_desired', 'rad/s^2 or m/s^2')
KP = Argument('kp', '1/s^2: acceleration per position error', serves_all=True)
KV = Argument('kv', '1/s: acceleration per velocity error', serves_all=True)
EFFORT_KP = Argument('kp', 'N m/rad or N/m: effort per position error', serves_all=True)
EFFORT_KV = Argument('kv', 'N m s/rad or N s/m: effort per velocity error', serves_all=True)
EFFORT_LIMITS = Argument(
    'effort_limits', 'N m or N: magnitude that no effort exceeds', serves_all=True
)
SMOOTHING_VELOCITY = Argument(
    'smoothing_velocity',
    'rad/s or m/s: width of the change of sign of friction around rest where the model gives '
    'none; 0 for a step',
    size=1,
    serves_all=True,
    is_nonnegative=True,
)


_EFFORT = 'N m or N'
_MASS = 'kg m^2, kg m or kg'


def _each_joint(robot: Robot) -> tuple[int, ...]:
    return (robot.n,)


def _square(robot: Robot) -> tuple[int, ...]:
    return (robot.n, robot.n)


def _three_squares(robot: Robot) -> tuple[int, ...]:
    return (3, robot.n, robot.n)


def _regressor_shape(robot: Robot) -> tuple[int, ...]:
    return robot.n, PARAMETERS_PER_BODY * len(robot.bodies)


def _parameter_shape(robot: Robot) -> tuple[int, ...]:
    return (PARAMETERS_PER_BODY * len(robot.bodies),)


def _each_link(robot: Robot) -> tuple[int, ...]:
    return len(robot.links), TWIST


WEIGHTED_BY_MASS = (
    'center_of_mass',
    'center_of_mass_jacobian',
    'centroidal_momentum',
    'centroidal_momentum_matrix',
    'centroidal_momentum_rate',
)
"""Rows that have no answer when nothing that moves has a mass."""

REGRESSOR_GRADIENT = 'regressor_gradient'
"""Row of the gradient of a weighted sum of the regressor's entries."""

CONTROL_EFFORT = 'control_effort'
"""Row and method of the general control law."""

DISTURBANCE_RESIDUALS = 'disturbance_residuals'
"""Row and method of the momentum observer."""

FRICTION_HYSTERESIS = 'friction_hysteresis'
"""Row and method of what the path of the joints adds to their friction."""

BARE_RECURSION = 'bare_recursion'
"""Row of the recursion without gravity, friction and rotor inertia."""

INVERSE_DYNAMICS_RATE = 'inverse_dynamics_rate'
"""Row of the derivative of the inverse dynamics along one direction."""

REGRESSOR_FACTORS = 'regressor_factors'
"""Row of :func:`~ne_dynamics.algorithms.regressor.regressor_factors`, body by body."""

TWIST = 6
"""Scalars of a twist or a wrench."""

FACTORS_PER_BODY = TWIST + TWIST * PARAMETERS_PER_BODY
"""Scalars of a twist and ten wrenches."""

_COMPUTED_TORQUE = (
    'efforts of computed torque, limited: inverse dynamics of qdd_desired + kp e + kv de/dt at q, '
    'qd, friction at qd_desired; e = q_desired - q, to the nearest turn where a joint has no end'
)
_FEEDFORWARD_PD = (
    'efforts of feed-forward with PD, limited: inverse dynamics of the desired motion + kp e + '
    'kv de/dt; e = q_desired - q, to the nearest turn where a joint has no end'
)
_CENTROIDAL = (
    'linear momentum of all moving links, then angular momentum about their centre of mass, in '
    'base axes'
)
_MOMENTUM = 'kg m/s, then kg m^2/s'
_CONTROL_EFFORT = 'efforts of a control law, then its position errors'
_DESIRED = (Q, QD, Q_DESIRED, QD_DESIRED, QDD_DESIRED)
_COMPUTED_TORQUE_ARGUMENTS = (*_DESIRED, KP, KV, EFFORT_LIMITS, SMOOTHING_VELOCITY)
_FEEDFORWARD_PD_ARGUMENTS = (*_DESIRED, EFFORT_KP, EFFORT_KV, EFFORT_LIMITS, SMOOTHING_VELOCITY)
_CONTROL_EFFORT_ARGUMENTS = (
    Q,
    QD,
    Q_DESIRED,
    QD_DESIRED,
    Argument('q_model', 'rad or m: where links and rotors count'),
    Argument('qd_model', 'rad/s or m/s: at which they count'),
    QDD,
    Argument('friction_qd', 'rad/s or m/s: for which friction counts'),
    KP,
    KV,
    replace(EFFORT_KP, name='effort_kp'),
    replace(EFFORT_KV, name='effort_kv'),
    SMOOTHING_VELOCITY,
)


def _in_full(plain: Function, start: str) -> Function:
    """Return a row, whose meaning begins anew, with every load; what a call leaves out is zero."""
    loads = WRENCH, BASE_MOTION, PAYLOAD
    names = tuple(load.name for load in loads)
    return replace(
        plain,
        name=f'{plain.name}_in_full',
        meaning=f'{start} with wrench, moving base and payload',
        arguments=(*plain.arguments, *loads),
        trace=replace(plain.trace, words=names),
        optional=names,
    )


def _with_external_wrenches(full: Function) -> Function:
    """Return the row of :func:`_in_full` with wrenches on all bodies besides.

    A method takes them by the names of links, so that the row is none that answers for it.
    """
    names = *full.optional, EXTERNAL_WRENCHES.name
    return replace(
        full,
        name=f'{full.name.removesuffix("_in_full")}_with_external_wrenches',
        meaning=f'{full.meaning}, and wrenches on all bodies',
        arguments=(*full.arguments, EXTERNAL_WRENCHES),
        trace=replace(full.trace, words=names),
        method='',
        optional=names,
    )


def _under_all_loads(plain: Function, start: str) -> tuple[Function, ...]:
    """Return what :func:`_under_loads` does, and :func:`_with_external_wrenches`."""
    rows = _under_loads(plain, start)
    return *rows, _with_external_wrenches(rows[-1])


def _under_loads(plain: Function, start: str) -> tuple[Function, ...]:
    """Return a row, the same with a wrench at the tip, and :func:`_in_full`."""
    with_wrench = replace(
        plain,
        name=f'{plain.name}_with_wrench',
        meaning=f'{start} while the tip exerts a wrench',
        arguments=(*plain.arguments, WRENCH),
        trace=replace(plain.trace, words=(WRENCH.name,)),
        needs_tip=True,
    )
    return plain, with_wrench, _in_full(plain, start)


_CONTROL_EFFORT_ROW = Function(
    CONTROL_EFFORT,
    _CONTROL_EFFORT,
    _CONTROL_EFFORT_ARGUMENTS,
    'N m or N, then position errors [rad or m]',
    lambda robot: (2, robot.n),
    Trace('control', 'control_effort'),
    is_stacked=True,
    is_scalar=True,
)

_RESIDUALS = "a momentum observer's two residuals after a state"

_RESIDUALS_ROW = Function(
    DISTURBANCE_RESIDUALS,
    _RESIDUALS,
    (
        Q,
        QD,
        Argument('qd_before', 'rad/s or m/s: of the state before'),
        Argument('friction_qd', 'rad/s or m/s: for which friction but the viscous one counts'),
        replace(TAU, name='effort'),
        Argument('slow', 'N m or N: residual of the state before'),
        Argument('fast', 'N m or N: likewise'),
        Argument(
            'step',
            'one by the time since the state before [1/s]; how long before q the middle of it was '
            '[s]; share by which slow follows, and fast; whether velocities and friction count '
            '(1) or not (0); smoothing velocity [rad/s or m/s]',
            size=7,
            serves_all=True,
        ),
    ),
    _EFFORT,
    lambda robot: (2, robot.n),
    Trace('control', 'disturbance_residuals'),
    is_stacked=True,
    is_scalar=True,
)

_TIP_ORIGIN = "tip's origin"
_JACOBIANS = (
    ('', 'base', _TIP_ORIGIN, 'base axes', 'in base axes'),
    ('_in_tip_axes', 'tip', _TIP_ORIGIN, 'tip axes', 'in tip axes'),
    (
        '_at_base_origin',
        'world',
        'point of the tip at the base origin',
        'base axes',
        'at the base origin',
    ),
)
"""End of the name, word of the tracer, point, axes, and how the rate's meaning ends."""

_RATE_ROW = Function(
    INVERSE_DYNAMICS_RATE,
    'rate of the joint efforts along one direction',
    (Q, QD, QDD, Q_RATE, QD_RATE, QDD_RATE),
    _EFFORT,
    _each_joint,
    Trace('derivatives', 'inverse_dynamics_rate'),
    method='',
)

_ROWS = (
    *_under_all_loads(
        Function(
            'inverse_dynamics',
            'joint efforts that a motion takes, friction and rotor inertia included',
            (Q, QD, QDD),
            _EFFORT,
            _each_joint,
            Trace('recursion', 'inverse_dynamics'),
        ),
        'joint efforts that a motion takes',
    ),
    *_under_loads(
        Function(
            'computed_torque',
            _COMPUTED_TORQUE,
            _COMPUTED_TORQUE_ARGUMENTS,
            _EFFORT,
            _each_joint,
            Trace('control', 'computed_torque'),
        ),
        f'{_COMPUTED_TORQUE},',
    ),
    *_under_loads(
        Function(
            'feedforward_pd',
            _FEEDFORWARD_PD,
            _FEEDFORWARD_PD_ARGUMENTS,
            _EFFORT,
            _each_joint,
            Trace('control', 'feedforward_pd'),
        ),
        f'{_FEEDFORWARD_PD},',
    ),
    _CONTROL_EFFORT_ROW,
    _in_full(_CONTROL_EFFORT_ROW, f'{_CONTROL_EFFORT},'),
    _RESIDUALS_ROW,
    _in_full(_RESIDUALS_ROW, f'{_RESIDUALS},'),
    Function(
        FRICTION_HYSTERESIS,
        'states of the hysteresis of friction after a displacement, then the efforts that they '
        'add to what is computed without them',
        (
            Argument('hysteresis', '1: state before, between -1 and 1, 0 where nobody knows'),
            Argument('displacement', 'rad or m: in one direction'),
            Argument('friction_qd', 'rad/s or m/s: for which friction counts'),
            SMOOTHING_VELOCITY,
        ),
        '1, then N m or N',
        lambda robot: (2, robot.n),
        Trace('control', 'friction_hysteresis'),
        is_stacked=True,
        is_scalar=True,
    ),
    Function(
        'gravity_torque',
        'joint efforts that hold the robot at rest',
        (Q,),
        _EFFORT,
        _each_joint,
        direct('terms.gravity_torque', 'gravity'),
    ),
    Function(
        'gravity_torque_with_payload',
        'joint efforts that hold the robot at rest with a payload',
        (Q, PAYLOAD),
        _EFFORT,
        _each_joint,
        Trace('terms', 'gravity_torque_with_payload'),
        method='gravity_torque',
        needs_tip=True,
        by_name=('payload',),
    ),
    Function(
        'bias_torque',
        'C(q, qd) qd + g(q): Coriolis, centrifugal and gravity efforts without friction',
        (Q, QD),
        _EFFORT,
        _each_joint,
        direct('terms.bias_torque', 'gravity'),
    ),
    Function(
        'mass_matrix',
        'M(q) with rotor inertia, symmetric',
        (Q,),
        _MASS,
        _square,
        direct('terms.mass_matrix'),
        largest=20,
    ),
    Function(
        'mass_matrix_with_payload',
        'M(q) with rotor inertia and a payload, symmetric',
        (Q, PAYLOAD),
        _MASS,
        _square,
        Trace('terms', 'mass_matrix_with_payload'),
        method='mass_matrix',
        needs_tip=True,
        largest=20,
        by_name=('payload',),
    ),
    Function(
        'coriolis_matrix',
        'C(q, qd) in Christoffel form: dM/dt - 2 C is skew',
        (Q, QD),
        'kg m^2/s, kg m/s or kg/s',
        _square,
        Trace('terms', 'coriolis_matrix'),
        largest=10,
    ),
    *_under_all_loads(
        Function(
            'forward_dynamics',
            'joint accelerations that efforts give; not finite where M(q) is singular',
            (Q, QD, TAU),
            'rad/s^2 or m/s^2',
            _each_joint,
            Trace('terms', 'forward_dynamics'),
            largest=20,
        ),
        'joint accelerations that efforts give',
    ),
    *_under_all_loads(
        Function(
            'inverse_dynamics_derivatives',
            'derivatives of the efforts: entry (i, j) of each is effort i by number j',
            (Q, QD, QDD),
            'N m or N, each per unit of q, then of qd, then of qdd',
            _three_squares,
            Trace('derivatives', 'inverse_dynamics_derivatives'),
            largest=10,
            is_stacked=True,
        ),
        'derivatives of the efforts',
    ),
    *_under_all_loads(
        Function(
            'forward_dynamics_derivatives',
            'derivatives of the accelerations: entry (i, j) of each is acceleration i by number j',
            (Q, QD, TAU),
            'rad/s^2 or m/s^2, each per unit of q, then of qd, then of tau',
            _three_squares,
            Trace('derivatives', 'forward_dynamics_derivatives'),
            largest=10,
            is_stacked=True,
        ),
        'derivatives of the accelerations',
    ),
    Function(
        'kinetic_energy',
        'kinetic energy with rotor inertia',
        (Q, QD),
        'J',
        lambda robot: (),
        direct('energy.kinetic_energy'),
    ),
    Function(
        'potential_energy',
        'energy of all moving links in gravity, 0 when their centre of mass is level with the '
        'origin of the base frame',
        (Q,),
        'J',
        lambda robot: (),
        direct('energy.potential_energy', 'plain', 'gravity'),
    ),
    Function(
        'generalized_momentum',
        'M(q) qd with rotor inertia',
        (Q, QD),
        'kg m^2/s or kg m/s',
        _each_joint,
        direct('energy.generalized_momentum'),
    ),
    Function(
        'lagrangian_gradient',
        'dL/dq = C(q, qd)^T qd - g(q)',
        (Q, QD),
        _EFFORT,
        _each_joint,
        direct('energy.lagrangian_gradient', 'gravity'),
    ),
    Function(
        'center_of_mass',
        'centre of mass of all moving links in the base frame',
        (Q,),
        'm',
        lambda robot: (3,),
        direct('energy.center_of_mass', 'plain'),
    ),
    Function(
        'center_of_mass_jacobian',
        'velocity of the centre of mass of all moving links by qd, in base axes',
        (Q,),
        'm or 1',
        lambda robot: (3, robot.n),
        Trace('energy', 'center_of_mass_jacobian'),
    ),
    Function(
        'centroidal_momentum',
        _CENTROIDAL,
        (Q, QD),
        _MOMENTUM,
        lambda robot: (6,),
        direct('energy.centroidal_momentum', 'plain'),
    ),
    Function(
        'centroidal_momentum_matrix',
        f'{_CENTROIDAL}, by qd',
        (Q,),
        'kg m or kg, then kg m^2 or kg m',
        lambda robot: (6, robot.n),
        Trace('energy', 'centroidal_momentum_matrix'),
    ),
    Function(
        'centroidal_momentum_rate',
        f'time derivative of the {_CENTROIDAL}',
        (Q, QD, QDD),
        'N, then N m',
        lambda robot: (6,),
        Trace('energy', 'centroidal_momentum_rate'),
    ),
    *_under_all_loads(
        Function(
            'joint_wrenches',
            'force, then moment, onto each body through its joint, at the origin of its frame, '
            'in its axes',
            (Q, QD, QDD),
            'N, then N m',
            lambda robot: (len(robot.bodies), TWIST),
            Trace('recursion', 'joint_wrenches'),
        ),
        'force, then moment, onto each body through its joint',
    ),
    Function(
        'link_velocities',
        "velocity of each link's origin, then its angular velocity, in its own axes",
        (Q, QD),
        'm/s, then rad/s',
        _each_link,
        Trace('kinematics', 'link_velocities'),
    ),
    Function(
        'link_accelerations',
        'spatial acceleration of each link without gravity, linear, then angular, in its own axes',
        (Q, QD, QDD),
        'm/s^2, then rad/s^2',
        _each_link,
        Trace('kinematics', 'link_accelerations'),
    ),
    Function(
        'link_poses',
        'homogeneous matrix of each link in the base frame',
        (Q,),
        'm in the last column of each',
        lambda robot: (len(robot.links), 4, 4),
        Trace('kinematics', 'link_poses'),
    ),
    Function(
        'forward_kinematics',
        'homogeneous matrix of the tip in the base frame',
        (Q,),
        'm in the last column',
        lambda robot: (4, 4),
        Trace('kinematics', 'forward_kinematics'),
        needs_tip=True,
    ),
    *(
        Function(
            f'jacobian{suffix}',
            f'linear velocity of the {point}, then angular velocity, by qd, in {axes}',
            (Q,),
            'm or 1, then rad or rad/m',
            lambda robot: (6, robot.n),
            Trace('kinematics', 'jacobian', (word,)),
            needs_tip=True,
            method='' if suffix else 'jacobian',
        )
        for suffix, word, point, axes, _ in _JACOBIANS
    ),
    *(
        Function(
            f'jacobian_rate{suffix}',
            f'time derivative of the Jacobian {where}',
            (Q, QD),
            'm/s or 1/s, then rad/s or rad/(m s)',
            lambda robot: (6, robot.n),
            Trace('kinematics', 'jacobian_rate', (word,)),
            needs_tip=True,
            method='' if suffix else 'jacobian_rate',
        )
        for suffix, word, _, _, where in _JACOBIANS
    ),
    Function(
        'regressor',
        'efforts without friction and rotor inertia by the ten inertial parameters of '
        'each body: mass, first moment, Ixx Ixy Iyy Ixz Iyz Izz about its origin',
        (Q, QD, QDD),
        'effort per unit of the parameter',
        _regressor_shape,
        Trace('regressor', 'regressor'),
        largest=14,
        largest_compiled=24,
    ),
    Function(
        'kinetic_energy_regressor',
        'kinetic energy without rotor inertia by the ten inertial parameters of each body',
        (Q, QD),
        'J per unit of the parameter',
        _parameter_shape,
        direct('regressor.kinetic_energy_regressor', 'plain'),
    ),
    Function(
        'potential_energy_regressor',
        'potential energy by the ten inertial parameters of each body',
        (Q,),
        'J per unit of the parameter',
        _parameter_shape,
        direct('regressor.potential_energy_regressor', 'plain', 'gravity'),
    ),
    Function(
        REGRESSOR_GRADIENT,
        "gradient of a weighted sum of the regressor's entries by q, qd and qdd",
        (
            Q,
            QD,
            QDD,
            Argument(
                'weights',
                'of each entry of the regressor, row by row',
                size=lambda robot: robot.n * _regressor_shape(robot)[1],
            ),
        ),
        'per unit of q, then of qd, then of qdd',
        lambda robot: (3, robot.n),
        Trace('regressor', 'regressor_gradient'),
        method='',
        is_stacked=True,
    ),
    Function(
        BARE_RECURSION,
        'joint efforts without gravity, friction and rotor inertia',
        (Q, QD, QDD),
        _EFFORT,
        _each_joint,
        Trace('recursion', 'bare_recursion'),
        method='',
    ),
    _RATE_ROW,
    *_under_all_loads(_RATE_ROW, _RATE_ROW.meaning)[2:],
    Function(
        REGRESSOR_FACTORS,
        'twists and wrenches of which the regressor is made',
        (Q, QD, QDD),
        'twists of all bodies, then six rows of their ten wrenches',
        lambda robot: (len(robot.bodies) * FACTORS_PER_BODY,),
        Trace('regressor', 'regressor_factors'),
        method='',
    ),
)

INTERNAL = (
    CONTROL_EFFORT,
    f'{CONTROL_EFFORT}_in_full',
    DISTURBANCE_RESIDUALS,
    f'{DISTURBANCE_RESIDUALS}_in_full',
    REGRESSOR_GRADIENT,
    BARE_RECURSION,
    INVERSE_DYNAMICS_RATE,
    f'{INVERSE_DYNAMICS_RATE}_in_full',
    f'{INVERSE_DYNAMICS_RATE}_with_external_wrenches',
    REGRESSOR_FACTORS,
)
"""Rows of the general control law, of the observer and of the planner of motions, and those that
larger robots are assembled from: their text is not for reading."""

FUNCTIONS: Mapping[str, Function] = {row.name: row for row in _ROWS}
"""The rows by name."""


@cache
def functions_for(method: str) -> tuple[Function, ...]:
    """Return the rows that answer for a method, those with the fewest arguments first."""
    return tuple(row for row in _ROWS if row.method == method)


@cache
def method_arguments(method: str) -> tuple[Argument, ...]:
    """Return the arguments of a method, in order: those of its longest row."""
    return max((row.arguments for row in functions_for(method)), key=len, default=())


@cache
def names_only(method: str) -> tuple[str, ...]:
    """Return the arguments that a method takes by name only: its last ones."""
    return max((row.by_name for row in functions_for(method)), key=len, default=())


@cache
def argument_places(row: Function) -> tuple[int, ...]:
    """Return where each argument of a row stands among those of its method."""
    if not row.method:
        return tuple(range(len(row.arguments)))
    names = [argument.name for argument in method_arguments(row.method)]
    return tuple(names.index(argument.name) for argument in row.arguments)


@cache
def choose_function(method: str, given: tuple[bool, ...]) -> Function:
    """Return the row that answers a call: the first that takes all arguments that are given.

    Parameters
    ----------
    method : str
    given : tuple of bool
        Which of the method's arguments are not None.
    """
    names = {
        argument.name
        for argument, is_there in zip(method_arguments(method), given, strict=True)
        if is_there
    }
    rows = functions_for(method)
    for row in rows:
        if names <= {argument.name for argument in row.arguments}:
            return row
    return rows[-1]


def decisive_arguments(row: Function) -> tuple[str, ...]:
    """Return optional arguments of which one must be there, or another row answers."""
    others: set[str] = set()
    for other in functions_for(row.method):
        if other is row:
            break
        others |= {argument.name for argument in other.arguments}
    return tuple(name for name in row.optional if name not in others)
