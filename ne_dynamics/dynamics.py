"""What users call: the dynamics of one robot."""

from __future__ import annotations

import importlib.util
import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms import terms
from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.rounding import torque_bound
from ne_dynamics.codegen.cache import ObjectCache
from ne_dynamics.codegen.kernel import PythonKernel
from ne_dynamics.codegen.programs import LARGEST, ProgramSet
from ne_dynamics.codegen.source import LANGUAGES, Program, standalone_source
from ne_dynamics.errors import BackendError, InputError, ModelError
from ne_dynamics.model.robot import FloatArray, Robot

BACKENDS = ('auto', 'python', 'numba')

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
"""Acceleration of gravity in base axes [m/s^2], z up."""

LONG_COMPILATION = 4000
"""Operations from which a compilation is announced on stderr when that is a terminal."""

UNITS = {
    'q': 'rad or m',
    'qd': 'rad/s or m/s',
    'qdd': 'rad/s^2 or m/s^2',
    'tau': 'N m or N',
    'wrench': 'force [N], moment [N m] of the last link on the environment, in tip axes',
    'base': 'angular velocity [rad/s], angular acceleration [rad/s^2], linear [m/s^2]',
    'payload': 'mass [kg], first moment [kg m], xx xy yy xz yz zz [kg m^2] about the tip',
}
"""Units of the arguments of the generated functions, for their header."""

_INVERSE_DYNAMICS = (
    'inverse_dynamics',
    'inverse_dynamics_with_wrench',
    'inverse_dynamics_in_full',
)

_ENTRIES = {
    'inverse_dynamics': _INVERSE_DYNAMICS,
    'inverse_dynamics_with_wrench': _INVERSE_DYNAMICS,
    'inverse_dynamics_in_full': _INVERSE_DYNAMICS,
    'forward_dynamics': ('forward_dynamics', 'forward_dynamics_with_wrench'),
    'forward_dynamics_with_wrench': ('forward_dynamics', 'forward_dynamics_with_wrench'),
    'gravity_torque': ('gravity_torque',),
    'mass_matrix': ('mass_matrix',),
    'coriolis_matrix': ('coriolis_matrix',),
    'forward_kinematics': ('forward_kinematics',),
    'jacobian': ('jacobian',),
    'regressor': ('regressor',),
}
"""Which compiled functions answer calls of a method directly: the first is tried first."""


def _chosen_backend(backend: str) -> str:
    if backend not in BACKENDS:
        raise BackendError(f'backend: expected one of {", ".join(BACKENDS)}, got {backend!r}')
    if backend == 'python':
        return backend
    has_compiler = _is_installed('llvmlite')
    if backend == 'auto':
        return 'numba' if has_compiler else 'python'
    if not has_compiler:
        raise BackendError(
            "backend 'numba': expected the package numba to be installed "
            '(pip install "ne_dynamics[fast]"); backend=\'python\' needs no extra package'
        )
    return backend


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


class Dynamics:
    """Dynamics of one robot: efforts, matrices, accelerations, poses.

    At first use each function is traced for this robot and becomes straight-line source
    (:meth:`source`). The backend 'python' runs that source on floats for one sample and on
    arrays for a batch; 'numba' compiles the same equations with LLVM (the package llvmlite that
    Numba brings) for this processor, keeps the machine code in the user's cache folder, and
    from the second call on puts a compiled entry in the method's place, which checks its
    arguments itself.

    Every method takes one sample of shape (n,) or a batch of shape (N, n), and returns the same.

    Parameters
    ----------
    robot : Robot
        From :func:`~ne_dynamics.load_urdf` or :func:`~ne_dynamics.load_dh`.
    gravity : array-like, shape (3,)
        Acceleration of gravity in the base link's axes [m/s^2].
    backend : str
        'python' (no compiler), 'numba', or 'auto': 'numba' where it is installed.
    tolerance : float
        Geometry within this of an exact 0 or 1 (relative to the robot's size) is treated as
        exact, see :func:`~ne_dynamics.algorithms.mechanism.build_mechanism`; a URDF that says
        1.5707963 for a quarter turn needs 1e-7. :meth:`rounding_bound` tells what it changes.
    threads : int
        Threads that share a batch on the backend 'numba'; 0 for one a core.

    Raises
    ------
    InputError
        When gravity, tolerance or threads are not as expected.
    BackendError
        When the backend is unknown, or its package missing.
    ModelError
        When the robot has no joint.
    """

    def __init__(
        self,
        robot: Robot,
        gravity: ArrayLike = STANDARD_GRAVITY,
        backend: str = 'auto',
        tolerance: float = DEFAULT_TOLERANCE,
        threads: int = 1,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(
                f'robot: expected a Robot (see load_urdf, load_dh), got {type(robot).__name__}'
            )
        if robot.n == 0:
            raise ModelError(
                f'robot {robot.name!r}: expected at least one joint that moves, got none'
            )
        if not 0.0 <= float(tolerance) < 1e-2:
            raise InputError(f'tolerance: expected 0 <= tolerance < 0.01, got {tolerance}')
        if int(threads) < 0:
            raise InputError(f'threads: expected 0 or more, got {threads}')
        vector = _checked(gravity, 'gravity', 3)
        if vector.shape[0] != 1:
            raise InputError(f'gravity: expected shape (3,), got {np.shape(gravity)}')
        self.robot = robot
        self.n = robot.n
        self.joint_names = robot.joint_names
        self.backend = _chosen_backend(backend)
        self.tolerance = float(tolerance)
        self.threads = int(threads) or (os.cpu_count() or 1)
        x, y, z = (float(value) for value in vector[0])
        self._programs = ProgramSet(robot, (x, y, z), self.tolerance)
        self._interpreted: dict[tuple[str, str | None], PythonKernel] = {}
        self._compiled: dict[tuple[str, str | None], Any] = {}
        self._cache = ObjectCache()
        self._viscous = robot.limits('viscous_friction')
        self._coulomb = robot.limits('coulomb_friction')

    def __repr__(self) -> str:
        return f'<Dynamics of {self.robot.name!r}, {self.n} joints, backend {self.backend!r}>'

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by construction: machine code stays behind."""
        return Dynamics, (
            self.robot,
            self._programs.gravity,
            self.backend,
            self.tolerance,
            self.threads,
        )

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of gravity in base axes [m/s^2], shape (3,)."""
        return np.array(self._programs.gravity)

    # ---- inverse dynamics and its terms

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
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
        payload : array-like, shape (10,) or (N, 10), optional
            Load that is rigidly attached to the body of the tip link, beyond what the model
            has: mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] about
            the tip frame's origin, in its axes
            (:meth:`ne_dynamics.model.robot.Robot.payload_parameters`). Any numbers are taken;
            nothing is compiled for another load.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N], friction and rotor inertia included.

        Raises
        ------
        InputError
            On wrong shapes or numbers that are not finite.
        ModelError
            With a wrench or a payload, when the robot has no tip.

        Notes
        -----
        Three programs answer: plain, with a wrench, and in full (wrench, base motion and
        payload, zeros for what is missing) as soon as there is a base motion or a payload. The
        last is compiled at the first such call.

        Recursion of Luh, Walker and Paul (1980); see
        :func:`ne_dynamics.algorithms.newton_euler.newton_euler`.
        """
        n = self.n
        motion = (('q', q, n), ('qd', qd, n), ('qdd', qdd, n))
        if base_motion is not None or payload is not None:
            if self.robot.tip_link is None and _is_a_load(wrench, payload):
                _ = self.robot.tip  # raises
            return self._call(
                'inverse_dynamics_in_full',
                *motion,
                ('wrench', np.zeros(6) if wrench is None else wrench, 6),
                ('base_motion', np.zeros(9) if base_motion is None else base_motion, 9),
                ('payload', np.zeros(10) if payload is None else payload, 10),
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
        rates, single = _checked(qd, 'qd', self.n), np.ndim(qd) == 1
        result: FloatArray = self._viscous * rates + self._coulomb * np.sign(rates)
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
        state = (('q', q, n), ('qd', qd, n), ('tau', tau, n))
        if n > LARGEST['forward_dynamics']:
            return self._solved(q, qd, tau, wrench)
        if wrench is not None:
            return self._call('forward_dynamics_with_wrench', *state, ('wrench', wrench, 6))
        return self._call('forward_dynamics', *state)

    def _solved(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrench: ArrayLike | None
    ) -> FloatArray:
        bias = self.inverse_dynamics(q, qd, np.zeros_like(qd, dtype=float), wrench)
        efforts = _checked(tau, 'tau', self.n)
        rest = (efforts if bias.ndim == 2 else efforts[0]) - bias
        try:
            solution: FloatArray = np.linalg.solve(self.mass_matrix(q), rest[..., None])
            return solution[..., 0]
        except np.linalg.LinAlgError as error:
            raise ModelError(
                f'robot {self.robot.name!r}: the mass matrix is singular at q = {q!r}'
            ) from error

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
        return np.concatenate([body.inertia.parameters for body in self.robot.bodies])

    def rounding_bound(
        self, qd: ArrayLike = 1.0, qdd: ArrayLike = 1.0, q: ArrayLike = np.pi
    ) -> FloatArray:
        """Return the most by which `tolerance` changes each effort of the inverse dynamics.

        Small numbers of the model (sines of 1e-13, lengths of 1e-17) are treated as exact zeros
        and ones within the tolerance. This bounds the effect over all positions, for motions
        up to the given size; it is an upper bound and many times larger than what happens.

        Parameters
        ----------
        qd, qdd : array-like, scalar or shape (n,)
            Largest velocities [rad/s or m/s] and accelerations [rad/s^2 or m/s^2].
        q : array-like, scalar or shape (n,)
            Largest positions, which matter for prismatic joints [m].

        Returns
        -------
        array, shape (n,)
            [N m or N]; zero when nothing was changed.
        """
        plain = build_mechanism(self.robot, self.tolerance, regroup=False)
        sizes = []
        for name, value in (('q', q), ('qd', qd), ('qdd', qdd)):
            flat = np.broadcast_to(np.asarray(value, dtype=np.float64), (self.n,))
            sizes.append(_checked(flat, name, self.n)[0].tolist())
        return np.array(
            torque_bound(
                self._programs.mechanism,
                plain,
                q=sizes[0],
                qd=sizes[1],
                qdd=sizes[2],
                gravity=self._programs.gravity,
            )
        )

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
        """Return (multiplications, additions) of the generated source of each function.

        Divisions count as multiplications, differences as additions; changes of sign, sines and
        cosines are not counted.
        """
        counts = {}
        for name in self._programs.names():
            count = self._python(name).program.count()
            counts[name] = (count.multiplications, count.additions)
        return counts

    def source(self, function: str = 'inverse_dynamics', language: str = 'python') -> str:
        """Return the generated equations of a function as text that runs on its own.

        Parameters
        ----------
        function : str
            One of the keys of :meth:`operation_counts`.
        language : str
            'python' (floats: what the backend 'python' executes), 'numpy' (arrays of shape
            (..., n)) or 'c' (C99).

        Returns
        -------
        str
            The same text for the same robot: it carries no date.

        Raises
        ------
        InputError
            When there is no such function or language.
        """
        names = self._programs.names()
        if function not in names:
            raise InputError(f'function: expected one of {", ".join(names)}, got {function!r}')
        if language not in LANGUAGES:
            raise InputError(f'language: expected one of {", ".join(LANGUAGES)}, got {language!r}')
        program = self._python(function).program
        return standalone_source(program, language, self._header(program))

    def _header(self, program: Program) -> list[str]:
        count = program.count()
        units = ', '.join(f'{stem}: {UNITS[stem]}' for stem, _ in program.inputs if stem in UNITS)
        joints = ', '.join(
            f'{index + 1} {joint.name} ({"m, N" if joint.type.is_prismatic else "rad, N m"})'
            for index, joint in enumerate(self.robot.joints)
        )
        return [
            f'{program.name} of {self.robot.name}: {count.multiplications} multiplications, '
            f'{count.additions} additions, {count.functions} sines, cosines and signs',
            f'joints: {joints}',
            f'SI units. {units}',
            f'gravity in base axes [m/s^2]: {", ".join(map(repr, self._programs.gravity))}',
            f'tolerance {self.tolerance:g}: {len(self._programs.mechanism.changes)} numbers taken '
            f'as exact; an effort changes by at most {self.rounding_bound().max():.2g} N m or N '
            'at 1 rad/s and 1 rad/s^2 (m/s, m/s^2)',
        ]

    # ---- how a call is made

    def _call(
        self, name: str, *arguments: tuple[str, ArrayLike, int], link: str | None = None
    ) -> FloatArray:
        values, single = _inputs(*arguments)
        if self.n > LARGEST.get(name, self.n):
            _require_finite(arguments, values)
            result = self._strobed(name, values)
        else:
            result = self._evaluated(name, arguments, values, link)
        if name.startswith('forward_dynamics') and not np.isfinite(result).all():
            raise ModelError(
                f'robot {self.robot.name!r}: the mass matrix is singular at one of the positions'
            )
        return result[0] if single else result

    def _evaluated(
        self,
        name: str,
        arguments: tuple[tuple[str, ArrayLike, int], ...],
        values: list[FloatArray],
        link: str | None,
    ) -> FloatArray:
        if self.backend == 'numba':
            if (name, link) not in self._compiled:
                _require_finite(arguments, values)  # before anything is compiled for it
            rows: FloatArray | None = self._machine_code(name, link).batch(
                *values, threads=self.threads
            )
            if rows is not None:
                return rows
        # The machine code refuses what is not finite, and leaves huge angles to the libraries.
        _require_finite(arguments, values)
        kernel = self._python(name, link)
        if values[0].shape[0] != 1:
            return kernel.batch(*values)
        try:
            return kernel.single(*[value[0] for value in values])[np.newaxis]
        except ZeroDivisionError as error:
            raise ModelError(
                f'robot {self.robot.name!r}: the mass matrix is singular at q = '
                f'{values[0][0].tolist()}'
            ) from error

    def _python(self, name: str, link: str | None = None) -> PythonKernel:
        kernel = self._interpreted.get((name, link))
        if kernel is None:
            kernel = PythonKernel(self._programs.program(name, link))
            self._interpreted[name, link] = kernel
        return kernel

    def _machine_code(self, name: str, link: str | None = None) -> Any:
        compiled = self._compiled.get((name, link))
        if compiled is None:
            from ne_dynamics.codegen.compiled import CompiledKernel

            program = self._programs.program(name, link)
            count = program.count()
            large = count.multiplications + count.additions > LONG_COMPILATION
            compiled = CompiledKernel(program, self._cache, _announce if large else None)
            self._compiled[name, link] = compiled
            if link is None and name in _ENTRIES:
                self._install_entry(name)
        return compiled

    def _install_entry(self, name: str) -> None:
        """Put the compiled functions in front of the method they answer for."""
        names = _ENTRIES[name]
        if self.robot.tip_link is None:
            # Without a tip a wrench or a payload is an error, which the method raises.
            names = names[:1]
        if getattr(type(self), names[0]) is not getattr(Dynamics, names[0]):
            return  # a subclass has its own
        method = getattr(Dynamics, names[0])
        answer: Callable[..., Any] = method.__get__(self)
        for part in reversed(names):
            compiled = self._compiled.get((part, None))
            if compiled is not None:
                answer = compiled.entry(
                    names[0], answer, _builtin_doc(method), takes_batches=self.threads == 1
                )
        self.__dict__[names[0]] = answer

    def _recursion(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Evaluate the recursion without gravity, friction and rotor inertia on a batch."""
        return self._call('strobe', ('q', q, self.n), ('qd', qd, self.n), ('qdd', qdd, self.n))

    def _strobed(self, name: str, values: list[FloatArray]) -> FloatArray:
        """Compute a large robot's matrix by calls of the recursion, all columns at once.

        Unit accelerations give M; with the velocity products h(u) = B(u, u), B symmetric,
        column j of the Christoffel C is ``B(qd, e_j) = (h(qd + e_j) - h(qd - e_j)) / 4``.
        """
        n, samples = self.n, values[0].shape[0]
        if name == 'regressor':
            return self._strobed_regressor(values)
        q = np.repeat(values[0], n, axis=0)
        units = np.tile(np.eye(n), (samples, 1))
        zeros = np.zeros_like(q)
        if name == 'coriolis_matrix':
            qd = np.repeat(values[1], n, axis=0)
            plus = self._recursion(q, qd + units, zeros)
            minus = self._recursion(q, qd - units, zeros)
            return np.swapaxes((0.25 * (plus - minus)).reshape(samples, n, n), 1, 2)
        columns = self._recursion(q, zeros, units).reshape(samples, n, n)
        reflected = [joint.reflected_inertia for joint in self.robot.joints]
        result: FloatArray = 0.5 * (columns + np.swapaxes(columns, 1, 2)) + np.diag(reflected)
        return result

    def _strobed_regressor(self, values: list[FloatArray]) -> FloatArray:
        plain = build_mechanism(self.robot, self.tolerance, regroup=False)
        samples = values[0].shape[0]
        q, qd, qdd = (list(np.ascontiguousarray(value.T)) for value in values)
        rows = terms.regressor(plain, q, qd, qdd, self._programs.gravity)
        result = np.empty((samples, self.n, terms.PARAMETERS_PER_BODY * len(plain.bodies)))
        for row, entries in enumerate(rows):
            for column, entry in enumerate(entries):
                result[:, row, column] = entry
        return result


def _builtin_doc(method: Callable[..., Any]) -> str:
    """Return a docstring from which ``inspect.signature`` reads a builtin's arguments."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(method).parameters.items()
        if name != 'self'
    ]
    return f'{method.__name__}{inspect.Signature(parameters)}\n--\n\n{method.__doc__ or ""}'


def _announce(text: str) -> None:
    if sys.stderr.isatty():
        print(f'ne_dynamics: {text} ...', file=sys.stderr, flush=True)


def _is_a_load(wrench: ArrayLike | None, payload: ArrayLike | None) -> bool:
    """Tell whether there is something for a tip to carry: any payload, a wrench not zero."""
    if payload is not None:
        return True
    return wrench is not None and bool(_checked(wrench, 'wrench', 6).any())


def _rows(value: ArrayLike, name: str, count: int) -> FloatArray:
    """Return a (N, count) array of floats, or raise an error that names the argument."""
    if type(value) is np.ndarray and value.dtype is _FLOAT:
        array = value
    else:
        try:
            array = np.asarray(value)
        except ValueError as error:  # rows of different length
            raise InputError(f'{name}: expected an array of numbers, got {value!r}') from error
        if array.dtype.kind not in 'fiu':
            raise InputError(
                f'{name}: expected real numbers, got {array.dtype.name}: {np.array2string(array)}'
            )
        array = array.astype(np.float64, copy=False)
    if array.ndim not in (1, 2) or array.shape[-1] != count:
        raise InputError(f'{name}: expected shape ({count},) or (N, {count}), got {array.shape}')
    return array.reshape(-1, count)


_FLOAT = np.dtype(np.float64)

_ONE_FOR_ALL = ('wrench', 'base_motion', 'payload')
"""Arguments of which a single one may go with a batch."""


def _require_finite(
    arguments: Iterable[tuple[str, ArrayLike, int]], values: Iterable[FloatArray]
) -> None:
    """Raise an error that names the argument and the place of a number that is not finite."""
    for (name, value, _), array in zip(arguments, values, strict=True):
        # A sum is finite when its terms are; one that overflows is looked at entry by entry.
        if math.isfinite(array.sum()) or np.isfinite(array).all():
            continue
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        index = (column,) if np.ndim(value) == 1 else (row, column)
        raise InputError(
            f'{name}: expected finite numbers, got {array[row, column]} at index {index}'
        )


def _checked(value: ArrayLike, name: str, count: int) -> FloatArray:
    """Return a finite (N, count) array, or raise an error that names the argument."""
    array = _rows(value, name, count)
    _require_finite([(name, value, count)], [array])
    return array


def _inputs(*arguments: tuple[str, ArrayLike, int]) -> tuple[list[FloatArray], bool]:
    """Check shapes and bring arguments to one number of samples, set by the first.

    A single wrench, base motion or payload serves all samples of a batch; nothing else is
    repeated.
    """
    arrays = [_rows(value, name, count) for name, value, count in arguments]
    first, first_value, _ = arguments[0]
    single = np.ndim(first_value) == 1
    samples = arrays[0].shape[0]
    for index, (name, value, count) in enumerate(arguments):
        if np.ndim(value) == np.ndim(first_value) and arrays[index].shape[0] == samples:
            continue
        if np.ndim(value) == 1 and name in _ONE_FOR_ALL:
            arrays[index] = np.broadcast_to(arrays[index], (samples, count))
            continue
        expected = f'({count},)' if single else f'({samples}, {count})'
        raise InputError(
            f'{name}: expected shape {expected} to go with {first} of shape '
            f'{np.shape(first_value)}, got {np.shape(value)}'
        )
    return arrays, single
