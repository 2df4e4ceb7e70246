"""What can be asked of a robot: the one table of functions.

A row says what a function is called, what it takes (with units), what it returns, how it is
traced, whether it needs a tip, up to which size it is written out, how larger robots are served,
and which method of :class:`~ne_dynamics.dynamics.Dynamics` it answers for. A new quantity is one
row here and one method there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from ne_dynamics.algorithms import forward, kinematics, newton_euler, regressor, terms
from ne_dynamics.codegen import assembly
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Symbol, derivatives
from ne_dynamics.model.robot import Link, Robot


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument of a function.

    Attributes
    ----------
    name : str
        Name of the argument of the method.
    unit : str
        Unit, and where it matters frame and sign.
    size : int, optional
        Number of scalars; None for one each joint.
    stem : str
        Name in the generated text; '' for the same.
    serves_all : bool
        Whether a single one may go with a batch of the others.
    """

    name: str
    unit: str
    size: int | None = None
    stem: str = ''
    serves_all: bool = False

    def count(self, robot: Robot) -> int:
        """Return the number of scalars for a robot."""
        return robot.n if self.size is None else self.size


Symbols = list[Symbol]
"""What a function is traced on: one symbol for each scalar of an argument."""

Body = Callable[..., object]
"""A function over generic scalars: a list of scalars each argument in, nested lists out."""


@dataclass(frozen=True, eq=False)
class Function:
    """A row of the table.

    Attributes
    ----------
    name : str
        Name in the generated text and in :meth:`Dynamics.source`.
    arguments : tuple of Argument
    returns : str
        Unit of the result.
    shape : callable
        Returns the shape of one sample's result for a robot.
    trace : callable
        Takes the subject and the link that is meant, returns the function over scalars.
    method : str
        Method for which this row answers; '' for a row that other rows use.
    optional : tuple of str
        Arguments that a call may leave out; zeros are used.
    needs_tip : bool
        Whether there is no answer for a robot without a tip, unless a link is named.
    largest : int, optional
        Coordinates up to which the function is written out; None for all.
    assemble : callable, optional
        Computes the function of larger robots from other rows; see
        :mod:`ne_dynamics.codegen.assembly`.
    """

    name: str
    arguments: tuple[Argument, ...]
    returns: str
    shape: Callable[[Robot], tuple[int, ...]]
    trace: Callable[[Subject, Link | None], Body]
    method: str = ''
    optional: tuple[str, ...] = ()
    needs_tip: bool = False
    largest: int | None = None
    assemble: assembly.Assembly | None = None

    def is_written_out(self, robot: Robot) -> bool:
        """Return whether there is a program of this function for a robot of this size."""
        return self.largest is None or robot.n <= self.largest

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
    'force [N], moment [N m] of the last link on the environment, in tip axes',
    size=6,
    serves_all=True,
)
BASE_MOTION = Argument(
    'base_motion',
    'angular velocity [rad/s], angular acceleration [rad/s^2], linear [m/s^2]',
    size=9,
    stem='base',
    serves_all=True,
)
PAYLOAD = Argument(
    'payload',
    'mass [kg], first moment [kg m], xx xy yy xz yz zz [kg m^2] about the tip',
    size=10,
    serves_all=True,
)

_EFFORT = 'N m or N'
_MASS = 'kg m^2, kg m or kg'


def _each_joint(robot: Robot) -> tuple[int, ...]:
    return (robot.n,)


def _square(robot: Robot) -> tuple[int, ...]:
    return (robot.n, robot.n)


def _trace_inverse_dynamics(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        return newton_euler.newton_euler(subject.mechanism, q, qd, qdd, gravity=subject.gravity)

    return function


def _trace_inverse_dynamics_with_wrench(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, qdd: Symbols, wrench: Symbols) -> object:
        return newton_euler.newton_euler(
            subject.mechanism, q, qd, qdd, gravity=subject.gravity, wrench=wrench, tip=link
        )

    return function


def _trace_inverse_dynamics_in_full(subject: Subject, link: Link | None) -> Body:
    """Trace everything at once; without a tip there is nothing to hold wrench and payload."""

    def function(
        q: Symbols, qd: Symbols, qdd: Symbols, wrench: Symbols, base: Symbols, payload: Symbols
    ) -> object:
        return newton_euler.newton_euler(
            subject.mechanism,
            q,
            qd,
            qdd,
            gravity=subject.gravity,
            base_motion=base,
            wrench=None if link is None else wrench,
            payload=None if link is None else payload,
            tip=link,
        )

    return function


def _trace_gravity_torque(subject: Subject, link: Link | None) -> Body:
    return lambda q: terms.gravity_torque(subject.mechanism, q, subject.gravity)


def _trace_mass_matrix(subject: Subject, link: Link | None) -> Body:
    return lambda q: terms.mass_matrix(subject.mechanism, q)


def _trace_coriolis_matrix(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols) -> object:
        # The velocity products are quadratic in qd: half their slope is the Christoffel form.
        slopes = derivatives(terms.velocity_torque(subject.mechanism, q, qd), list(qd))
        return [[0.5 * slope for slope in row] for row in slopes]

    return function


def _trace_forward_dynamics(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, tau: Symbols) -> object:
        return forward.forward_dynamics(subject.mechanism, q, qd, tau, gravity=subject.gravity)

    return function


def _trace_forward_dynamics_with_wrench(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, tau: Symbols, wrench: Symbols) -> object:
        return forward.forward_dynamics(
            subject.mechanism, q, qd, tau, gravity=subject.gravity, wrench=wrench, tip=link
        )

    return function


def _trace_forward_kinematics(subject: Subject, link: Link | None) -> Body:
    assert link is not None

    def function(q: Symbols) -> object:
        axes, origin = kinematics.link_pose(subject.mechanism, link, q)
        rows = [[axis[row] for axis in axes] + [origin[row]] for row in range(3)]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]

    return function


def _trace_jacobian(axes: str) -> Callable[[Subject, Link | None], Body]:
    def trace(subject: Subject, link: Link | None) -> Body:
        assert link is not None
        return lambda q: kinematics.jacobian(subject.mechanism, link, q, axes)

    return trace


def _trace_regressor(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        return regressor.regressor(subject.plain_mechanism, q, qd, qdd, subject.gravity)

    return function


def _regressor_shape(robot: Robot) -> tuple[int, ...]:
    return robot.n, regressor.PARAMETERS_PER_BODY * len(robot.bodies)


def _trace_regressor_factors(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        twists, wrenches = regressor.regressor_factors(
            subject.plain_mechanism, q, qd, qdd, subject.gravity
        )
        return [twists, [[body[row] for body in wrenches] for row in range(assembly.TWIST)]]

    return function


def _trace_bare_recursion(subject: Subject, link: Link | None) -> Body:
    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        return newton_euler.newton_euler(
            subject.mechanism, q, qd, qdd, gravity=(0.0, 0.0, 0.0), joint_effects=False
        )

    return function


_ROWS = (
    Function(
        'inverse_dynamics',
        (Q, QD, QDD),
        _EFFORT,
        _each_joint,
        _trace_inverse_dynamics,
        method='inverse_dynamics',
    ),
    Function(
        'inverse_dynamics_with_wrench',
        (Q, QD, QDD, WRENCH),
        _EFFORT,
        _each_joint,
        _trace_inverse_dynamics_with_wrench,
        method='inverse_dynamics',
        needs_tip=True,
    ),
    Function(
        'inverse_dynamics_in_full',
        (Q, QD, QDD, WRENCH, BASE_MOTION, PAYLOAD),
        _EFFORT,
        _each_joint,
        _trace_inverse_dynamics_in_full,
        method='inverse_dynamics',
        optional=('wrench', 'base_motion', 'payload'),
    ),
    Function(
        'gravity_torque',
        (Q,),
        _EFFORT,
        _each_joint,
        _trace_gravity_torque,
        method='gravity_torque',
    ),
    Function(
        'mass_matrix',
        (Q,),
        _MASS,
        _square,
        _trace_mass_matrix,
        method='mass_matrix',
        largest=20,
        assemble=assembly.assemble_mass_matrix,
    ),
    Function(
        'coriolis_matrix',
        (Q, QD),
        'kg m^2/s, kg m/s or kg/s',
        _square,
        _trace_coriolis_matrix,
        method='coriolis_matrix',
        largest=10,
        assemble=assembly.assemble_coriolis_matrix,
    ),
    Function(
        'forward_dynamics',
        (Q, QD, TAU),
        'rad/s^2 or m/s^2',
        _each_joint,
        _trace_forward_dynamics,
        method='forward_dynamics',
        largest=20,
        assemble=assembly.solve_forward_dynamics,
    ),
    Function(
        'forward_dynamics_with_wrench',
        (Q, QD, TAU, WRENCH),
        'rad/s^2 or m/s^2',
        _each_joint,
        _trace_forward_dynamics_with_wrench,
        method='forward_dynamics',
        needs_tip=True,
        largest=20,
        assemble=assembly.solve_forward_dynamics,
    ),
    Function(
        'forward_kinematics',
        (Q,),
        'm in the last column',
        lambda robot: (4, 4),
        _trace_forward_kinematics,
        method='forward_kinematics',
        needs_tip=True,
    ),
    Function(
        'jacobian',
        (Q,),
        'm or 1, then rad or rad/m',
        lambda robot: (6, robot.n),
        _trace_jacobian('base'),
        method='jacobian',
        needs_tip=True,
    ),
    Function(
        'jacobian_in_tip_axes',
        (Q,),
        'm or 1, then rad or rad/m',
        lambda robot: (6, robot.n),
        _trace_jacobian('tip'),
        needs_tip=True,
    ),
    Function(
        'regressor',
        (Q, QD, QDD),
        'effort per unit of the parameter',
        _regressor_shape,
        _trace_regressor,
        method='regressor',
        largest=10,
        assemble=assembly.multiply_regressor,
    ),
    Function(
        assembly.BARE_RECURSION,
        (Q, QD, QDD),
        _EFFORT,
        _each_joint,
        _trace_bare_recursion,
    ),
    Function(
        assembly.REGRESSOR_FACTORS,
        (Q, QD, QDD),
        'twists of all bodies, then six rows of their ten wrenches',
        lambda robot: (len(robot.bodies) * assembly.FACTORS_PER_BODY,),
        _trace_regressor_factors,
    ),
)

INTERNAL = (assembly.BARE_RECURSION, assembly.REGRESSOR_FACTORS)
"""Rows that larger robots are assembled from, and nobody asks for."""

FUNCTIONS: Mapping[str, Function] = {row.name: row for row in _ROWS}
"""The rows by name."""


@cache
def functions_for(method: str) -> tuple[Function, ...]:
    """Return the rows that answer for a method, those with the fewest arguments first."""
    return tuple(row for row in _ROWS if row.method == method)


@cache
def method_arguments(method: str) -> tuple[Argument, ...]:
    """Return the arguments of a method, in order: those of its longest row."""
    return max((row.arguments for row in functions_for(method)), key=len)


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
