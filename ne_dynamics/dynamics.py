"""What users call: the dynamics of one robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms import forward, kinematics, newton_euler, terms
from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, Mechanism, build_mechanism
from ne_dynamics.codegen.kernel import PythonKernel
from ne_dynamics.codegen.source import Program, trace
from ne_dynamics.errors import BackendError, InputError, ModelError
from ne_dynamics.model.robot import FloatArray, Link, Robot

BACKENDS = ('auto', 'python')

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
"""Acceleration of gravity in base axes [m/s^2], z up."""

LARGEST_TRACED_SOLVE = 12
"""Joints up to which matrices are generated as source; beyond, they are strobed."""

_FUNCTIONS = (
    'inverse_dynamics',
    'inverse_dynamics_with_wrench',
    'inverse_dynamics_on_moving_base',
    'gravity_torque',
    'mass_matrix',
    'coriolis_matrix',
    'forward_dynamics',
    'forward_kinematics',
    'jacobian',
    'regressor',
)


class Dynamics:
    """Dynamics of one robot: efforts, matrices, accelerations, poses.

    At first use each function is traced for this robot and becomes straight-line source
    (:meth:`source`), which then runs on floats for one sample and on arrays for a batch. Every
    method takes one sample of shape (n,) or a batch of shape (N, n), and returns the same.

    Parameters
    ----------
    robot : Robot
        From :func:`~ne_dynamics.load_urdf` or :func:`~ne_dynamics.load_dh`.
    gravity : array-like, shape (3,)
        Acceleration of gravity in the base link's axes [m/s^2].
    backend : str
        'python' (no compiler) or 'auto'.
    tolerance : float
        Geometry within this of an exact 0 or 1 (relative to the robot's size) is treated as
        exact, see :func:`~ne_dynamics.algorithms.mechanism.build_mechanism`.

    Raises
    ------
    InputError
        When gravity or the tolerance is not finite numbers.
    BackendError
        When the backend is unknown.
    ModelError
        When the robot has no joint.
    """

    def __init__(
        self,
        robot: Robot,
        gravity: ArrayLike = STANDARD_GRAVITY,
        backend: str = 'auto',
        tolerance: float = DEFAULT_TOLERANCE,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(
                f'robot: expected a Robot (see load_urdf, load_dh), got {type(robot).__name__}'
            )
        if backend not in BACKENDS:
            raise BackendError(
                f'backend: expected one of {", ".join(BACKENDS)}, got {backend!r}'
            )
        if robot.n == 0:
            raise ModelError(
                f'robot {robot.name!r}: expected at least one joint that moves, got none'
            )
        if not 0.0 <= float(tolerance) < 1e-2:
            raise InputError(f'tolerance: expected 0 <= tolerance < 0.01, got {tolerance}')
        self.robot = robot
        self.n = robot.n
        self.joint_names = robot.joint_names
        self.backend = 'python'
        self.tolerance = float(tolerance)
        self._gravity = tuple(float(v) for v in _checked(gravity, 'gravity', 3)[0])
        self._mechanism = build_mechanism(robot, self.tolerance)
        self._kernels: dict[str, PythonKernel] = {}
        self._has_joint_friction = any(
            joint.viscous_friction or joint.coulomb_friction for joint in robot.joints
        )

    def __repr__(self) -> str:
        return f'<Dynamics of {self.robot.name!r}, {self.n} joints, backend {self.backend!r}>'

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of gravity in base axes [m/s^2], shape (3,)."""
        return np.array(self._gravity)

    # ---- inverse dynamics and its terms

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the joint efforts that a motion takes.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities and accelerations.
        wrench : array-like, shape (6,) or (N, 6), optional
            Force [N], then moment [N m], which the last link exerts on the environment, at the
            tip frame's origin and in its axes.
        base_motion : array-like, shape (9,) or (N, 9), optional
            Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration
            [m/s^2] (without gravity) of the base link's frame, in its axes.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N], friction and rotor inertia included.

        Raises
        ------
        InputError
            On wrong shapes or numbers that are not finite.
        ModelError
            With a wrench, when the robot has no tip.

        Notes
        -----
        Recursion of Luh, Walker and Paul (1980); see
        :func:`ne_dynamics.algorithms.newton_euler.newton_euler`.
        """
        n = self.n
        motion = (('q', q, n), ('qd', qd, n), ('qdd', qdd, n))
        if base_motion is not None:
            zeros = np.zeros(6) if wrench is None else wrench
            return self._call(
                'inverse_dynamics_on_moving_base',
                *motion,
                ('wrench', zeros, 6),
                ('base_motion', base_motion, 9),
            )
        if wrench is not None:
            return self._call('inverse_dynamics_with_wrench', *motion, ('wrench', wrench, 6))
        return self._call('inverse_dynamics', *motion)

    def gravity_torque(self, q: ArrayLike) -> FloatArray:
        """Return the efforts that hold the robot at rest, shape (n,) or (N, n) [N m or N]."""
        return self._call('gravity_torque', ('q', q, self.n))

    def friction_torque(self, qd: ArrayLike) -> FloatArray:
        """Return the efforts that overcome joint friction, shape (n,) or (N, n) [N m or N].

        Viscous friction times velocity plus Coulomb friction times its sign.
        """
        (rates,), single = _inputs(('qd', qd, self.n))
        viscous = self.robot.limits('viscous_friction')
        coulomb = self.robot.limits('coulomb_friction')
        result: FloatArray = viscous * rates + coulomb * np.sign(rates)
        return result[0] if single else result

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """Return M(q) with rotor inertia, shape (n, n) or (N, n, n) [kg m^2, kg m, kg]."""
        return self._call('mass_matrix', ('q', q, self.n))

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """Return C(q, qd) in Christoffel form, shape (n, n) or (N, n, n).

        ``C @ qd`` are the Coriolis and centrifugal efforts and ``dM/dt - 2 C`` is skew.
        """
        return self._call('coriolis_matrix', ('q', q, self.n), ('qd', qd, self.n))

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrench: ArrayLike | None = None
    ) -> FloatArray:
        """Return the accelerations that efforts give: the inverse of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
        wrench : array-like, shape (6,) or (N, 6), optional
            As for :meth:`inverse_dynamics`.

        Returns
        -------
        array, shape (n,) or (N, n)
            [rad/s^2 or m/s^2]

        Raises
        ------
        ModelError
            When the mass matrix is singular.
        """
        n = self.n
        bias = self.inverse_dynamics(q, qd, np.zeros(n), wrench)
        if wrench is None and n <= LARGEST_TRACED_SOLVE:
            return self._call('forward_dynamics', ('q', q, n), ('qd', qd, n), ('tau', tau, n))
        (_, efforts), single = _inputs(('q', q, n), ('tau', tau, n))
        rest = efforts - bias
        try:
            result = np.linalg.solve(self.mass_matrix(q), rest[..., None])[..., 0]
        except np.linalg.LinAlgError as error:
            raise ModelError(
                f'robot {self.robot.name!r}: the mass matrix is singular at q = {q}'
            ) from error
        return result[0] if single and result.ndim == 2 else result

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """Return the regressor of the inertial parameters, shape (n, 10 b) or (N, n, 10 b).

        ``regressor @ parameters`` is the inverse dynamics without friction and rotor inertia,
        with :meth:`inertial_parameters`, for b bodies.
        """
        n = self.n
        return self._call('regressor', ('q', q, n), ('qd', qd, n), ('qdd', qdd, n))

    def inertial_parameters(self) -> FloatArray:
        """Return the parameters that go with :meth:`regressor`, shape (10 b,).

        Per body mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] about
        the origin of the model's body frame, in its axes.
        """
        parts = []
        for body in self.robot.bodies:
            tensor = body.inertia.inertia_about_origin
            rows, columns = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
            parts.append(
                np.concatenate(
                    [[body.inertia.mass], body.inertia.first_moment, tensor[rows, columns]]
                )
            )
        return np.concatenate(parts)

    # ---- kinematics

    def forward_kinematics(self, q: ArrayLike, link: str | None = None) -> FloatArray:
        """Return the pose of the tip, or of a named link, in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        link : str, optional

        Returns
        -------
        array, shape (4, 4) or (N, 4, 4)
            Homogeneous matrix, translation in metres.
        """
        return self._call('forward_kinematics', ('q', q, self.n), link=link)

    def jacobian(self, q: ArrayLike, link: str | None = None, axes: str = 'base') -> FloatArray:
        """Return the geometric Jacobian of the tip, or of a named link.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        link : str, optional
        axes : str
            'base': velocities in the base link's axes. 'tip': in the axes of the tip (or link).

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            Rows 0-2: velocity of the frame's origin; rows 3-5: angular velocity. With
            ``axes='tip'``, ``jacobian.T @ wrench`` are the efforts of a wrench as
            :meth:`inverse_dynamics` takes it.
        """
        if axes not in ('base', 'tip'):
            raise InputError(f"axes: expected 'base' or 'tip', got {axes!r}")
        suffix = '' if axes == 'base' else '_in_tip_axes'
        return self._call('jacobian' + suffix, ('q', q, self.n), link=link)

    # ---- the generated equations

    def operation_counts(self) -> dict[str, tuple[int, int]]:
        """Return (multiplications, additions) of the generated source of each function."""
        counts = {}
        for name in self._available():
            count = self._kernel(name).program.count()
            counts[name] = (count.multiplications, count.additions)
        return counts

    def source(self, function: str = 'inverse_dynamics') -> str:
        """Return the generated equations of a function as Python text.

        Parameters
        ----------
        function : str
            One of the keys of :meth:`operation_counts`.

        Raises
        ------
        InputError
            When there is no such function.
        """
        if function not in self._available():
            raise InputError(
                f'function: expected one of {", ".join(self._available())}, got {function!r}'
            )
        return self._kernel(function).source

    def _available(self) -> tuple[str, ...]:
        """Return the functions that are generated as source for this robot."""
        names: Sequence[str] = _FUNCTIONS
        if self.robot.tip_link is None:
            needs_tip = ('inverse_dynamics_with_wrench', 'forward_kinematics', 'jacobian')
            names = [name for name in names if name not in needs_tip]
        if self.n > LARGEST_TRACED_SOLVE:
            too_large = ('coriolis_matrix', 'forward_dynamics', 'regressor')
            names = [name for name in names if name not in too_large]
        return tuple(names)

    # ---- how a call is made

    def _call(
        self, name: str, *arguments: tuple[str, ArrayLike, int], link: str | None = None
    ) -> FloatArray:
        values, single = _inputs(*arguments)
        if self.n > LARGEST_TRACED_SOLVE and name in ('coriolis_matrix', 'regressor'):
            return self._strobed(name, values, single)
        kernel = self._kernel(name, link)
        if single:
            return kernel.single(*[value[0] for value in values])
        return kernel.batch(*values)

    def _kernel(self, name: str, link: str | None = None) -> PythonKernel:
        key = name if link is None else f'{name} {link}'
        kernel = self._kernels.get(key)
        if kernel is None:
            program = self._program(name, link)
            count = program.count()
            header = (
                f'{count.multiplications} multiplications, {count.additions} additions, '
                f'{count.functions} sines, cosines and signs',
            )
            kernel = self._kernels[key] = PythonKernel(program, header)
        return kernel

    def _program(self, name: str, link_name: str | None) -> Program:
        n, mechanism, gravity = self.n, self._mechanism, self._gravity
        q, qd, qdd = ('q', n), ('qd', n), ('qdd', n)
        recursion = newton_euler.newton_euler
        if name == 'inverse_dynamics':
            return trace(
                name, (q, qd, qdd), (n,),
                lambda q, qd, qdd: recursion(mechanism, q, qd, qdd, gravity=gravity),
            )  # fmt: skip
        if name == 'inverse_dynamics_with_wrench':
            tip = self.robot.tip
            return trace(
                name, (q, qd, qdd, ('wrench', 6)), (n,),
                lambda q, qd, qdd, wrench: recursion(
                    mechanism, q, qd, qdd, gravity=gravity, wrench=wrench, tip=tip
                ),
            )  # fmt: skip
        if name == 'inverse_dynamics_on_moving_base':
            known_tip = None if self.robot.tip_link is None else self.robot.tip
            return trace(
                name, (q, qd, qdd, ('wrench', 6), ('base', 9)), (n,),
                lambda q, qd, qdd, wrench, base: recursion(
                    mechanism, q, qd, qdd, gravity=gravity, base_motion=base,
                    wrench=None if known_tip is None else wrench, tip=known_tip,
                ),
            )  # fmt: skip
        if name == 'gravity_torque':
            return trace(name, (q,), (n,), lambda q: terms.gravity_torque(mechanism, q, gravity))
        if name == 'mass_matrix':
            return trace(name, (q,), (n, n), lambda q: terms.mass_matrix(mechanism, q))
        if name == 'coriolis_matrix':
            return trace(name, (q, qd), (n, n), lambda q, qd: _coriolis(mechanism, q, qd))
        if name == 'forward_dynamics':
            return trace(
                name, (q, qd, ('tau', n)), (n,),
                lambda q, qd, tau: forward.forward_dynamics(
                    mechanism, q, qd, tau, gravity=gravity
                ),
            )  # fmt: skip
        if name == 'regressor':
            plain = build_mechanism(self.robot, self.tolerance, regroup=False)
            columns = terms.PARAMETERS_PER_BODY * len(plain.bodies)
            return trace(
                name, (q, qd, qdd), (n, columns),
                lambda q, qd, qdd: terms.regressor(plain, q, qd, qdd, gravity),
            )  # fmt: skip
        link = self.robot.tip if link_name is None else self.robot.link(link_name)
        return self._kinematic_program(name, link)

    def _kinematic_program(self, name: str, link: Link) -> Program:
        n, mechanism = self.n, self._mechanism
        if name == 'forward_kinematics':
            return trace(name, (('q', n),), (4, 4), lambda q: _pose_rows(mechanism, link, q))
        axes = 'tip' if name.endswith('_in_tip_axes') else 'base'
        return trace(
            name, (('q', n),), (6, n), lambda q: kinematics.jacobian(mechanism, link, q, axes)
        )

    def _strobed(self, name: str, values: list[FloatArray], single: bool) -> FloatArray:
        """Compute a large robot's matrix by calls of the recursion, all samples at once."""
        columns = [list(np.ascontiguousarray(value.T)) for value in values]
        rows: list[list[Any]]
        if name == 'coriolis_matrix':
            rows = terms.coriolis_matrix_by_strobing(self._mechanism, *columns)
        else:
            plain = build_mechanism(self.robot, self.tolerance, regroup=False)
            rows = terms.regressor(plain, *columns, self._gravity)
        samples = values[0].shape[0]
        result = np.empty((samples, len(rows), len(rows[0])))
        for row, entries in enumerate(rows):
            for column, entry in enumerate(entries):
                result[:, row, column] = entry
        return result[0] if single else result


def _coriolis(mechanism: Mechanism, q: Sequence[Any], qd: Sequence[Any]) -> list[list[Any]]:
    """Return half the derivative of the velocity products: C in Christoffel form."""
    from ne_dynamics.codegen.symbols import derivatives

    slopes = derivatives(terms.velocity_torque(mechanism, q, qd), list(qd))
    return [[0.5 * slope for slope in row] for row in slopes]


def _pose_rows(mechanism: Mechanism, link: Link, q: Sequence[Any]) -> list[list[Any]]:
    axes, origin = kinematics.link_pose(mechanism, link, q)
    rows = [[axis[row] for axis in axes] + [origin[row]] for row in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def _checked(value: ArrayLike, name: str, count: int) -> FloatArray:
    """Return a finite (N, count) array, or raise an error that names the argument."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f'{name}: expected numbers, got {value!r}') from error
    if array.ndim not in (1, 2) or array.shape[-1] != count:
        raise InputError(
            f'{name}: expected shape ({count},) or (N, {count}), got {array.shape}'
        )
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f'{name}: expected finite numbers, got {array[index]} at index {index}')
    return array.reshape(-1, count)


def _inputs(*arguments: tuple[str, ArrayLike, int]) -> tuple[list[FloatArray], bool]:
    """Check arguments and bring them to one number of samples."""
    arrays = [_checked(value, name, count) for name, value, count in arguments]
    single = all(np.ndim(value) == 1 for _, value, _ in arguments)
    samples = {
        name: array.shape[0]
        for (name, value, _), array in zip(arguments, arrays, strict=True)
        if np.ndim(value) == 2
    }
    if len(set(samples.values())) > 1:
        raise InputError(
            'expected the same number of samples in each argument, got '
            + ', '.join(f'{name}: {count}' for name, count in samples.items())
        )
    if not single:
        count = next(iter(samples.values()))
        arrays = [
            array if array.shape[0] == count else np.broadcast_to(array, (count, array.shape[1]))
            for array in arrays
        ]
    return arrays, single


DynamicsFunction = Callable[..., FloatArray]
