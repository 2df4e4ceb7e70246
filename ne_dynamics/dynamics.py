"""What users call: the dynamics of one robot."""

from __future__ import annotations

import inspect
import math
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE
from ne_dynamics.algorithms.newton_euler import friction_efforts
from ne_dynamics.algorithms.rounding import LoadSizes, torque_bound
from ne_dynamics.arguments import (
    Given,
    check_result,
    check_rows,
    check_vector,
    match_samples,
    read_array,
    read_rows,
    require_finite,
)
from ne_dynamics.codegen.array_function import make_array_function
from ne_dynamics.codegen.c_project import check_prefix, make_prefix, write_c_project
from ne_dynamics.codegen.compiler import toolchain
from ne_dynamics.codegen.description import MARK, describe_count, describe_function
from ne_dynamics.codegen.entry_call import Owner
from ne_dynamics.codegen.evaluator import Evaluator
from ne_dynamics.codegen.functions import (
    CONTROL_EFFORT,
    DISTURBANCE_RESIDUALS,
    FRICTION_HYSTERESIS,
    FUNCTIONS,
    REGRESSOR_GRADIENT,
    Function,
    argument_places,
    choose_function,
    functions_for,
)
from ne_dynamics.codegen.given_parameters import JOINT_PARAMETERS, GivenParameters
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.programs import list_functions, make_overflow_error
from ne_dynamics.codegen.rounding_note import describe_rounding
from ne_dynamics.codegen.source import LANGUAGES, python_module, standalone_source
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.thread_pool import count_cores
from ne_dynamics.errors import BackendError, InputError, ModelError
from ne_dynamics.model.robot import FloatArray, Robot

BACKENDS = ('auto', 'python', 'compiled', 'numba')

_ALIASES = {'numba': 'compiled'}

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
"""Acceleration of gravity in base axes [m/s^2], z up."""


MOST_THREADS = 1024
"""Threads that can be asked for."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _measure_loads(
    wrench: ArrayLike | None, base_motion: ArrayLike | None, payload: ArrayLike | None
) -> LoadSizes:
    """Return the sizes of loads for which :meth:`Dynamics.rounding_bound` holds."""
    tip = check_vector(np.zeros(6) if wrench is None else wrench, 'wrench', 6).reshape(2, 3)
    base = check_vector(np.zeros(9) if base_motion is None else base_motion, 'base_motion', 9)
    load = check_vector(np.zeros(10) if payload is None else payload, 'payload', 10)
    xx, xy, yy, xz, yz, zz = load[4:]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with np.errstate(over='ignore', invalid='ignore'):
        force, moment, rate, turning, acceleration, first = (
            float(np.linalg.norm(each)) for each in (*tip, *base.reshape(3, 3), load[1:4])
        )
        # No principal moment exceeds the root of the sum of all squares.
        inertia = float(np.linalg.norm(tensor))
    mass = abs(float(load[0]))
    return LoadSizes(force, moment, rate, turning, acceleration, mass, first, inertia)


def _choose_backend(backend: str) -> str:
    if backend not in BACKENDS:
        raise BackendError(f'backend: expected one of {", ".join(BACKENDS)}, got {backend!r}')
    backend = _ALIASES.get(backend, backend)
    if backend == 'python':
        return backend
    try:
        tools = toolchain()
    except BackendError as error:
        if backend == 'compiled':
            raise
        if not isinstance(error.__cause__, ImportError):
            _warn_once(f"backend 'auto' runs Python, without a compiler: {error}")
        return 'python'
    if not tools.has_entry:
        _warn_once(
            "backend 'compiled': the layout of this interpreter's objects is not known, so a call "
            'of one sample takes about 10 us more'
        )
    return 'compiled'


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)


_warned: set[str] = set()


class Dynamics:
    """Dynamics of one robot: efforts, matrices, accelerations, poses.

    At first use each function is traced for this robot and becomes straight-line source
    (:meth:`source`). The backend 'python' runs that source on floats for one sample and on
    arrays for a batch; 'compiled' compiles the same equations with LLVM (the package llvmlite)
    for this processor, keeps the machine code in the user's cache folder, and from the second
    call on puts a compiled entry in the method's place, which checks its arguments itself. The
    machine code is unloaded when nobody refers to these dynamics or a method of them any more.

    No entry answers :meth:`kinetic_energy` and :meth:`potential_energy`, a named link, axes of
    the tip, wrenches on links, batches of derivatives, and what is assembled from other functions
    for many joints: there Python checks the arguments, which takes some ten microseconds, and
    machine code computes. :meth:`friction_torque` is computed by Python.

    Every method takes one sample of shape (n,) or a batch of shape (N, n), and returns the same.
    Each takes `out`, by name only: a float64 array of the result's shape, in C order and apart
    from the arguments, which is filled and returned. After an error its content is undefined.

    Parameters
    ----------
    robot : Robot
        From :func:`~ne_dynamics.load_urdf` or :func:`~ne_dynamics.load_dh`.
    gravity : array-like, shape (3,)
        Acceleration of gravity in the base link's axes [m/s^2].
    backend : str
        'python' (no compiler), 'compiled' (also called 'numba'), or 'auto': 'compiled' where a
        compiler is installed that works, which is tried; if one does not, a warning says so.
    tolerance : float
        Part of each joint's own effort that does not count: numbers of the model whose effect
        is smaller are treated as an exact 0 or 1, see
        :func:`~ne_dynamics.algorithms.mechanism.build_mechanism`. A URDF that says 1.5707963 for
        a quarter turn needs 1e-7; 0 keeps everything. :meth:`rounding_bound` tells what it
        changes.
    threads : int
        Threads that may share a batch on the backend 'compiled'; 0 for one a core. Batches for
        which one core is faster, as measured at first use, stay on one.

    Raises
    ------
    InputError
        When gravity, tolerance or threads are not as expected.
    BackendError
        When the backend is unknown, or its package is missing or too old.
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
        if not _is_number(tolerance) or not 0.0 <= tolerance < 1e-2:
            raise InputError(f'tolerance: expected 0 <= tolerance < 0.01, got {tolerance!r}')
        is_whole = isinstance(threads, (int, np.integer)) and not isinstance(threads, bool)
        if not is_whole or not 0 <= threads <= MOST_THREADS:
            raise InputError(
                f'threads: expected a whole number from 0 to {MOST_THREADS}, got {threads!r}'
            )
        x, y, z = (float(value) for value in check_vector(gravity, 'gravity', 3))
        for key in [key for key, value in self.__dict__.items() if _is_entry(value)]:
            del self.__dict__[key]  # of a robot before, when this is called again
        for key in _MADE_LATER:
            self.__dict__.pop(key, None)
        self._backend = _choose_backend(backend)
        self._subject = Subject(robot, (x, y, z), float(tolerance))
        _ = self._subject.mechanism  # errors of the model belong here
        cores = int(threads) or count_cores()
        self._evaluator = Evaluator(self._subject, self._backend == 'compiled', cores)
        self._with_entry: set[str] = set()
        self._nominal: Dynamics | None = None
        self._facade: weakref.ref[Dynamics] | None = None

    def __repr__(self) -> str:
        return f'<Dynamics of {self._structure.name!r}, {self.n} joints, backend {self.backend!r}>'

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by construction: machine code stays behind, a subclass does not."""
        shown = self._facade() if self._facade is not None else self
        if shown is not None and shown is not self:
            return shown.__reduce__()
        own, slots = self._own_state()
        state = (own, slots) if own or slots else None
        if self._nominal is not None:
            given = self._subject.given
            return _rebuild_with_parameters, (type(self), self._nominal, given), state
        arguments = (
            self.robot,
            self._subject.gravity,
            self.backend,
            self.tolerance,
            self.threads,
        )
        return _rebuild, (type(self), arguments), state

    def _own_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a subclass or a user added: attributes, and the values of slots."""
        own = {key: value for key, value in self.__dict__.items() if not _is_rebuilt(key, value)}
        slots = {
            name: getattr(self, name)
            for kind in type(self).__mro__
            for name in _list_slots(kind)
            if hasattr(self, name)
        }
        return own, slots

    # What the equations were made for: an assignment is an error, and other dynamics are made.

    @property
    def robot(self) -> Robot:
        """The robot; of :meth:`with_parameters`, made at first use."""
        return self._subject.robot

    @property
    def _structure(self) -> Robot:
        """A robot of these joints, links, frames and names, perhaps with other numbers."""
        return self._subject.structure

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self._subject.structure.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of every joint array."""
        return self._structure.joint_names

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of gravity in base axes [m/s^2], shape (3,), read-only."""
        gravity = np.array(self._subject.gravity)
        gravity.setflags(write=False)
        return gravity

    @property
    def backend(self) -> str:
        """'python' or 'compiled'."""
        return self._backend

    @property
    def has_entries(self) -> bool:
        """Whether machine code checks the arguments of calls, and Python does not."""
        return self._backend == 'compiled' and toolchain().has_entry

    @property
    def tolerance(self) -> float:
        """Part of each joint's own effort that does not count."""
        return self._subject.tolerance

    @property
    def threads(self) -> int:
        """Threads that may share a batch."""
        return self._evaluator.threads

    # ---- inverse dynamics and its terms

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
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
        external_wrenches : mapping of str to array-like, shape (6,) or (N, 6), optional
            By name of any link: force [N], then moment [N m], which the environment exerts on
            it, at the origin of its frame and in its axes. The sign is the opposite of `wrench`.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N], friction and rotor inertia included.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and numbers so large that the result
            overflows.
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
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        values = q, qd, qdd, wrench, base_motion, payload
        if external_wrenches is None:
            return self._answer('inverse_dynamics', values, out)
        efforts = self._compute_external_efforts(q, external_wrenches, out)
        result = self._answer('inverse_dynamics', values, out)
        with np.errstate(over='ignore'):
            result -= efforts - self._compute_friction_under(
                'inverse_dynamics', efforts, external_wrenches, q, qd, wrench, base_motion, payload
            )
        self._require_finite_sum('inverse_dynamics', result, external_wrenches)
        return result

    def _compute_external_efforts(
        self,
        q: ArrayLike,
        external_wrenches: Mapping[str, ArrayLike],
        out: FloatArray | None,
    ) -> FloatArray:
        """Return the efforts that wrenches on links exert on the joints."""
        if not isinstance(external_wrenches, Mapping):
            raise InputError(
                'external_wrenches: expected a mapping of names of links to wrenches, got '
                f'{type(external_wrenches).__name__}'
            )
        positions = check_rows(q, 'q', self.n)
        efforts = np.zeros_like(positions)
        for link, wrench in external_wrenches.items():
            name = f'external_wrenches[{link!r}]'
            self._structure.link(link)  # raises
            given = [Given('q', q, self.n), Given(name, wrench, 6, serves_all=True)]
            arrays, _ = match_samples(given)
            require_finite(given, arrays)
            if out is not None and np.may_share_memory(out, np.asarray(wrench)):
                raise InputError(
                    f'out: expected memory of its own, got an array that overlaps {name}'
                )
            jacobians = self.jacobian(positions, link, 'tip')
            with np.errstate(over='ignore', invalid='ignore'):
                efforts += np.einsum('ijk,ij->ik', jacobians, arrays[1])
        return efforts[0] if np.ndim(q) == 1 else efforts

    def _compute_friction_under(
        self,
        method: str,
        efforts: FloatArray,
        external_wrenches: Mapping[str, ArrayLike],
        q: ArrayLike,
        qd: ArrayLike,
        *loads: ArrayLike | None,
    ) -> FloatArray:
        """Return what wrenches on links add to the friction of joints that depends on the load.

        Parameters
        ----------
        method : str
            Who asks, for messages.
        efforts : array, shape (n,) or (N, n)
            What the wrenches exert on the joints [N m or N].
        external_wrenches, q, qd, *loads
            As the method takes them; `loads` are wrench, base motion and payload.
        """
        if not any(joint.friction.depends_on_load for joint in self._structure.joints):
            return np.zeros_like(efforts)
        rest = np.zeros(np.shape(q))
        load = self.without_friction().inverse_dynamics(q, qd, rest, *loads)
        with np.errstate(over='ignore'):
            total = load - efforts
        self._require_finite_sum(method, total, external_wrenches)
        with np.errstate(over='ignore', invalid='ignore'):
            return np.asarray(
                self.friction_torque(qd, load=total) - self.friction_torque(qd, load=load)
            )

    def _require_finite_sum(
        self, method: str, result: FloatArray, external_wrenches: Mapping[str, ArrayLike]
    ) -> None:
        """Raise an error when wrenches on links made a result overflow."""
        if not np.isfinite(result).all():
            names = [f'external_wrenches[{link!r}]' for link in external_wrenches]
            sizes = [np.asarray(wrench, dtype=float) for wrench in external_wrenches.values()]
            raise make_overflow_error(method, names, sizes)

    def _require_tip_for_load(self, wrench: ArrayLike | None, payload: ArrayLike | None) -> None:
        """Raise an error when a payload, or a wrench that is not zero, has no tip to act on."""
        if self._structure.tip_link is not None:
            return
        if payload is not None or (wrench is not None and check_rows(wrench, 'wrench', 6).any()):
            _ = self._structure.tip  # raises

    def gravity_torque(
        self, q: ArrayLike, *, payload: ArrayLike | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the efforts that hold the robot at rest, shape (n,) or (N, n) [N m or N].

        With a `payload` as :meth:`inverse_dynamics` takes it.
        """
        return self._answer('gravity_torque', (q, payload), out)

    def bias_torque(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``C(q, qd) qd + g(q)``, shape (n,) or (N, n) [N m or N].

        Coriolis, centrifugal and gravity efforts, without friction: Pinocchio's
        ``nonLinearEffects``.
        """
        return self._answer('bias_torque', (q, qd), out)

    def friction_torque(
        self,
        qd: ArrayLike,
        *,
        q: ArrayLike | None = None,
        load: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the efforts that overcome joint friction, shape (n,) or (N, n) [N m or N].

        The formula is that of :class:`~ne_dynamics.model.friction.FrictionModel`. What depends on
        the load is left out when neither `q` nor `load` is given.

        Parameters
        ----------
        qd : array-like, shape (n,) or (N, n)
            Joint velocities [rad/s or m/s].
        q : array-like, shape (n,) or (N, n), optional, by name
            Joint positions [rad or m]: the load is :meth:`bias_torque`, that of the robot alone
            on a base at rest.
        load : array-like, shape (n,) or (N, n), optional, by name
            The load, in place of `q` [N m or N]: for a payload, a wrench or a moving base the
            inverse dynamics of :meth:`without_friction` with ``qdd = 0``.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, a result that overflows, and `q` beside
            `load`.
        """
        if q is not None and load is not None:
            raise InputError('load: expected None with q, of which it follows, got both')
        given = [Given('qd', qd, self.n)]
        given += [
            Given(name, value, self.n)
            for name, value in (('q', q), ('load', load))
            if value is not None
        ]
        arrays, is_single = match_samples(given)
        require_finite(given, arrays)
        rates, loads = arrays[0], arrays[1] if len(arrays) > 1 else None
        mechanism = self._subject.mechanism
        if q is not None and loads is not None:
            depends = any(friction.depends_on_load for friction in mechanism.friction)
            loads = self.bias_torque(loads, rates) if depends else None
        if len(rates) == 1:  # floats are quicker than arrays of one number
            single = None if loads is None else loads[0].tolist()
            result = np.array([friction_efforts(mechanism, rates[0].tolist(), single)])
        else:
            columns = None if loads is None else list(loads.T)
            with np.errstate(over='ignore', invalid='ignore'):
                efforts = friction_efforts(mechanism, list(rates.T), columns)
            result = np.stack(cast('list[FloatArray]', efforts), axis=-1)
        if not np.isfinite(result).all():
            raise make_overflow_error('friction_torque', [each.name for each in given], arrays)
        result = result[0] if is_single else result
        if out is None:
            return result
        check_result(out, result.shape, arrays)[...] = result
        return out

    def without_friction(self) -> Dynamics:
        """Return plain :class:`Dynamics` of the robot without friction, made at first use."""
        found: Dynamics | None = self.__dict__.get('_frictionless')
        if found is None:
            if self._nominal is not None:
                # Other numbers of the same equations there, too.
                given = replace(self._subject.given, viscous_friction=None, coulomb_friction=None)
                free = self._nominal.without_friction()
                found = free._with_parameters(Dynamics, given)
            else:
                found = Dynamics(
                    self.robot.without_friction(),
                    self._subject.gravity,
                    self.backend,
                    self.tolerance,
                    self.threads,
                )
            found = self.__dict__.setdefault('_frictionless', found)
        return found

    def mass_matrix(
        self, q: ArrayLike, *, payload: ArrayLike | None = None, out: FloatArray | None = None
    ) -> FloatArray:
        """Return M(q) with rotor inertia, shape (n, n) or (N, n, n) [kg m^2, kg m, kg].

        With a `payload` as :meth:`inverse_dynamics` takes it.
        """
        return self._answer('mass_matrix', (q, payload), out)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return C(q, qd) in Christoffel form, shape (n, n) or (N, n, n).

        ``C @ qd`` are the Coriolis and centrifugal efforts and ``dM/dt - 2 C`` is skew.
        """
        return self._answer('coriolis_matrix', (q, qd), out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the accelerations that efforts give: the inverse of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
        wrench, base_motion, payload, external_wrenches : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            [rad/s^2 or m/s^2]

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        ModelError
            When the mass matrix is singular.
        """
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        if external_wrenches is not None:
            given = [Given(name, value, self.n) for name, value in (('q', q), ('tau', tau))]
            arrays, is_single = match_samples(given)
            require_finite(given, arrays)
            efforts = self._compute_external_efforts(q, external_wrenches, out)
            with np.errstate(over='ignore'):
                total = (arrays[1][0] if is_single else arrays[1]) + (
                    efforts
                    - self._compute_friction_under(
                        'forward_dynamics',
                        efforts,
                        external_wrenches,
                        q,
                        qd,
                        wrench,
                        base_motion,
                        payload,
                    )
                )
            self._require_finite_sum('forward_dynamics', total, external_wrenches)
            tau = total
        values = q, qd, tau, wrench, base_motion, payload
        return self._answer('forward_dynamics', values, out)

    # ---- control laws

    def computed_torque(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        q_desired: ArrayLike,
        qd_desired: ArrayLike,
        qdd_desired: ArrayLike,
        kp: ArrayLike,
        kv: ArrayLike,
        effort_limits: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the limited efforts of computed torque, gains diagonal.

        With e = q_desired - q, to the nearest turn where a joint is continuous, and
        e' = qd_desired - qd:

            RNE(q, qd, qdd_desired + kp e + kv e') + f(qd_desired)

        RNE are the efforts of links, rotors and loads; f is friction.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
            Measured joint positions [rad or m] and velocities [rad/s or m/s].
        q_desired, qd_desired, qdd_desired : array-like, shape (n,) or (N, n)
            Desired positions, velocities and accelerations [rad/s^2 or m/s^2].
        kp, kv : array-like, shape (n,) or (N, n)
            Accelerations per error [1/s^2, 1/s].
        effort_limits : array-like, shape (n,) or (N, n)
            Magnitudes that no effort exceeds [N m or N]; a large number for none.
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            Width of the change of sign of friction around rest where the model gives none
            [rad/s or m/s], at least 0; 0 for a step.
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (n,) or (N, n), optional
            For the result.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        One program with all of it, which ``ne_dynamics equations`` prints for a firmware; see
        :func:`ne_dynamics.algorithms.control_law.computed_torque`.
        """
        values = q, qd, q_desired, qd_desired, qdd_desired, kp, kv, effort_limits
        loads = wrench, base_motion, payload
        return self._answer_control('computed_torque', (*values, smoothing_velocity), loads, out)

    def feedforward_pd(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        q_desired: ArrayLike,
        qd_desired: ArrayLike,
        qdd_desired: ArrayLike,
        kp: ArrayLike,
        kv: ArrayLike,
        effort_limits: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the limited efforts of feed-forward with PD, gains diagonal.

        With the errors of :meth:`computed_torque`, ``RNE(q_desired, qd_desired, qdd_desired) +
        f(qd_desired) + kp e + kv e'``.

        Parameters
        ----------
        kp, kv : array-like, shape (n,) or (N, n)
            Efforts per error [N m/rad or N/m, N m s/rad or N s/m].
        q, qd, q_desired, qd_desired, qdd_desired, effort_limits, smoothing_velocity : array-like
            As for :meth:`computed_torque`.
        wrench, base_motion, payload, out : optional
            As for :meth:`computed_torque`.

        Returns
        -------
        array, shape (n,) or (N, n)
            Efforts [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = q, qd, q_desired, qd_desired, qdd_desired, kp, kv, effort_limits
        loads = wrench, base_motion, payload
        return self._answer_control('feedforward_pd', (*values, smoothing_velocity), loads, out)

    def control_effort(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        q_desired: ArrayLike,
        qd_desired: ArrayLike,
        q_model: ArrayLike,
        qd_model: ArrayLike,
        qdd: ArrayLike,
        friction_qd: ArrayLike,
        kp: ArrayLike,
        kv: ArrayLike,
        effort_kp: ArrayLike,
        effort_kv: ArrayLike,
        smoothing_velocity: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the efforts of a control law with diagonal gains, and its position errors.

        With e the position error (to the nearest turn where a joint is continuous) and e' the
        velocity error, desired less measured:

            RNE(q_model, qd_model, qdd + kp e + kv e') + f(friction_qd)
                + effort_kp e + effort_kv e'

        RNE are the efforts of links, rotors and loads, f is friction, whose load is that of the
        model's state. Computed torque has the measured state in the model and no effort gains,
        feed-forward with PD the desired one and effort gains alone; see
        :class:`ne_dynamics.control.laws.ControlLaw`, which calls this.

        Parameters
        ----------
        q, qd, q_desired, qd_desired : array-like, shape (n,) or (N, n)
            Measured and desired positions [rad or m] and velocities [rad/s or m/s].
        q_model, qd_model, qdd : array-like, shape (n,) or (N, n)
            For which links and rotors count.
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities for which friction counts.
        kp, kv : array-like, shape (n,) or (N, n)
            Accelerations per error [1/s^2, 1/s].
        effort_kp, effort_kv : array-like, shape (n,) or (N, n)
            Efforts per error [N m/rad or N/m, N m s/rad or N s/m].
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            Width of the change of sign of friction around rest where the model gives none
            [rad/s or m/s], at least 0; 0 for a step.
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (2, n) or (2, N, n), optional
            For the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            It unpacks as efforts [N m or N], not limited, and errors e [rad or m].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = (
            *(q, qd, q_desired, qd_desired, q_model, qd_model, qdd, friction_qd),
            *(kp, kv, effort_kp, effort_kv, smoothing_velocity),
        )
        loads = wrench, base_motion, payload
        return self._answer_control(CONTROL_EFFORT, values, loads, out)

    def disturbance_residuals(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qd_before: ArrayLike,
        friction_qd: ArrayLike,
        effort: ArrayLike,
        slow: ArrayLike,
        fast: ArrayLike,
        step: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the two residuals of a momentum observer after a state.

        Each follows, by its share, what the motion since the state before has taken beyond the
        command: with v the mean of the velocities, at q - lag v,

            RNE(q - lag v, v, (qd - qd_before) rate) + f(friction_qd)
                + viscous friction of v - friction_qd - effort

        See :class:`ne_dynamics.control.observer.MomentumObserver`, which calls this.

        Parameters
        ----------
        q, qd, qd_before : array-like, shape (n,) or (N, n)
            Position [rad or m] and velocity, and the velocity of the state before.
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities that friction but the viscous one counts for [rad/s or m/s].
        effort : array-like, shape (n,) or (N, n)
            Commanded between the two states [N m or N].
        slow, fast : array-like, shape (n,) or (N, n)
            Residuals of the state before [N m or N].
        step : array-like, shape (7,) or (N, 7)
            Rate, one by the time since the state before [1/s]; lag [s]; shares of slow and fast;
            whether Coriolis efforts count, and friction (1 or 0); width of the change of sign of
            friction around rest where the model gives none [rad/s or m/s].
        wrench, base_motion, payload : optional
            As for :meth:`inverse_dynamics`.
        out : array, shape (2, n) or (2, N, n), optional
            For the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            It unpacks as slow and fast [N m or N].

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.
        """
        values = q, qd, qd_before, friction_qd, effort, slow, fast, step
        loads = wrench, base_motion, payload
        return self._answer_control(DISTURBANCE_RESIDUALS, values, loads, out)

    def friction_hysteresis(
        self,
        hysteresis: ArrayLike,
        displacement: ArrayLike,
        friction_qd: ArrayLike,
        smoothing_velocity: ArrayLike = (0.0,),
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return how friction with hysteresis goes on, and what it adds to the other methods.

        What knows a position and a velocity, and not how the joint came there, takes half of the
        hysteresis in the direction of the velocity; see
        :class:`~ne_dynamics.model.friction.FrictionModel`. A loop that keeps the states of the
        hysteresis adds the rest::

            hysteresis, more = dynamics.friction_hysteresis(hysteresis, q - q_before, qd)
            tau = dynamics.inverse_dynamics(q, qd, qdd) + more

        Parameters
        ----------
        hysteresis : array-like, shape (n,) or (N, n)
            States before, between -1 and 1; 0 where nobody knows.
        displacement : array-like, shape (n,) or (N, n)
            By which the joints have moved since, in one direction each [rad or m].
        friction_qd : array-like, shape (n,) or (N, n)
            Velocities that the friction was computed for [rad/s or m/s].
        smoothing_velocity : array-like, shape (1,) or (N, 1)
            Width of the change of sign of friction around rest, as the friction was computed
            with, where the model gives none [rad/s or m/s], at least 0; 0 for a step.
        out : array, shape (2, n) or (2, N, n), optional
            For the result.

        Returns
        -------
        array, shape (2, n) or (2, N, n)
            It unpacks as the states after the displacement and the efforts to be added
            [N m or N]. Joints without hysteresis keep their states, and have 0.

        Raises
        ------
        InputError
            As from :meth:`inverse_dynamics`.
        """
        values = hysteresis, displacement, friction_qd, smoothing_velocity
        return self._answer(FRICTION_HYSTERESIS, values, out)

    # ---- derivatives

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
        out : array, shape (3, n, n) or (3, N, n, n), optional
            For the result.

        Returns
        -------
        array, shape (3, n, n) or (3, N, n, n)
            It unpacks as ``dtau_dq, dtau_dqd, dtau_dqdd``: entry (i, j) of each is the
            derivative of effort i by number j. The last is the mass matrix. Friction is
            included; the derivative of a sign is taken as zero.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        The traced recursion is differentiated, not approximated; see
        :func:`ne_dynamics.codegen.differentiation.differentiate`.
        """
        return self._answer('inverse_dynamics_derivatives', (q, qd, qdd), out)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
        out : array, shape (3, n, n) or (3, N, n, n), optional
            For the result.

        Returns
        -------
        array, shape (3, n, n) or (3, N, n, n)
            It unpacks as ``dqdd_dq, dqdd_dqd, dqdd_dtau``; the last is the inverse of the mass
            matrix. Friction is included; the derivative of a sign is taken as zero.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        ModelError
            When the mass matrix is singular.

        Notes
        -----
        ``dqdd/dx = -M^-1 dtau/dx`` at the acceleration that the efforts give.
        """
        return self._answer('forward_dynamics_derivatives', (q, qd, tau), out)

    # ---- energy and momentum

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray | float:
        """Return ``qd^T M(q) qd / 2`` with rotor inertia, a float or shape (N,) [J]."""
        result = self._answer('kinetic_energy', (q, qd), out)
        return result if out is not None or np.ndim(result) else float(result)

    def potential_energy(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray | float:
        """Return the energy of all moving links in gravity, a float or shape (N,) [J].

        It is zero when their common centre of mass is level with the origin of the base frame.
        """
        result = self._answer('potential_energy', (q,), out)
        return result if out is not None or np.ndim(result) else float(result)

    def generalized_momentum(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``M(q) qd`` with rotor inertia, shape (n,) or (N, n) [kg m^2/s or kg m/s]."""
        return self._answer('generalized_momentum', (q, qd), out)

    def lagrangian_gradient(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``dL/dq = C(q, qd)^T qd - g(q)``, shape (n,) or (N, n) [N m or N].

        With efforts tau and friction f the generalized momentum changes by
        ``dp/dt = tau - f + dL/dq``: what a momentum observer integrates (De Luca and Mattone
        2003). C is :meth:`coriolis_matrix`.
        """
        return self._answer('lagrangian_gradient', (q, qd), out)

    def center_of_mass(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the centre of mass of all moving links, shape (3,) or (N, 3) [m].

        In the base link's frame.

        Raises
        ------
        ModelError
            When nothing that moves has a mass.
        """
        return self._answer('center_of_mass', (q,), out)

    # ---- the regressor

    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the regressor of the inertial parameters, shape (n, 10 b) or (N, n, 10 b).

        ``regressor @ parameters`` is the inverse dynamics without friction and rotor inertia,
        with :meth:`inertial_parameters`, for b bodies.
        """
        return self._answer('regressor', (q, qd, qdd), out)

    def regressor_gradient(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        weights: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the gradient of a weighted sum of the entries of :meth:`regressor`.

        The adjoint of the regressor: what an objective that depends on it needs of it. With
        weights ``l_i p_j`` it is that of ``l @ tau`` with parameters p.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
        weights : array-like, shape (n, 10 b) or (N, n, 10 b)
            What each entry counts, for b bodies; they are taken as constant.
        out : array, shape (3, n) or (3, N, n), optional
            For the result.

        Returns
        -------
        array, shape (3, n) or (3, N, n)
            ``sum_ij weights_ij d regressor_ij`` by q, by qd and by qdd.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        The traced regressor is differentiated against the direction of its computation: some five
        times its operations, however many entries it has. See
        :func:`ne_dynamics.codegen.differentiation.pull_back`.
        """
        row = FUNCTIONS[REGRESSOR_GRADIENT]
        count = row.arguments[-1].count(self._structure)
        shape = self.n, count // self.n
        given = read_array(weights, 'weights')
        if given.ndim not in (2, 3) or given.shape[-2:] != shape:
            raise InputError(
                f'weights: expected shape {shape} or (N, {shape[0]}, {shape[1]}), got '
                f'{given.shape}'
            )
        samples = read_rows(q, 'q', self.n).shape[0]
        expected = shape if np.ndim(q) == 1 else (samples, *shape)
        if given.shape != expected:
            raise InputError(
                f'weights: expected shape {expected} to go with q of shape {np.shape(q)}, got '
                f'{given.shape}'
            )
        if not math.isfinite(np.vdot(given, given)) and not np.isfinite(given).all():
            index = tuple(int(place) for place in np.argwhere(~np.isfinite(given))[0])
            raise InputError(
                f'weights: expected finite numbers, got {given[index]} at index {index}'
            )
        flat = given.reshape(*given.shape[:-2], count)
        return self._answer(row.name, (q, qd, qdd, flat), out, row=row)

    def inertial_parameters(self) -> FloatArray:
        """Return the parameters that go with :meth:`regressor`, shape (10 b,).

        Per body mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] about
        the origin of the model's body frame, in its axes.
        """
        given = self._subject.given.inertial
        if given is not None:
            return given.copy()
        return np.concatenate([body.inertia.parameters for body in self._structure.bodies])

    def with_parameters(
        self,
        *,
        inertial: ArrayLike | None = None,
        viscous_friction: ArrayLike | None = None,
        coulomb_friction: ArrayLike | None = None,
        rotor_inertia: ArrayLike | None = None,
        physical: bool = True,
    ) -> Dynamics:
        """Return the dynamics with other inertias and friction; nothing is compiled anew.

        All dynamics that are made so share one program of each function, in which these numbers
        are arguments: it is compiled at the first use by any of them. A call takes longer than
        with numbers that are part of the equations; see ``benchmark/README.md``.

        Parameters
        ----------
        inertial : array-like, shape (10 b,), optional
            As :meth:`inertial_parameters` returns them, for b bodies. They need not be those of
            a real body, but without mass there is no first moment unless `physical` is False.
        viscous_friction : array-like, shape (n,), optional
            [N m s/rad or N s/m]
        coulomb_friction : array-like, shape (n,), optional
            [N m or N]
        rotor_inertia : array-like, shape (n,), optional
            Of the motor, before its gear [kg m^2]; of a prismatic joint as :class:`Joint` has it.
        physical : bool
            False takes base parameters as publications print them: first moments of bodies that
            turn, although their masses are zero.

        Returns
        -------
        Dynamics
            Of the same class. Its :attr:`robot` has the numbers: the first link of each body
            carries the inertia of the whole body where `inertial` is given. What is not given
            stays as it is. :meth:`source` writes them into the equations. A first moment
            without mass is nothing that a link of a robot can have: the :attr:`robot` of
            base parameters has a kilogram more at the origin of such a body, and less at that
            point of its parent, which changes no effort.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and a `physical` that is no bool.
        ModelError
            On numbers that a joint does not take, such as negative friction, and on a first
            moment without a mass: with `physical` False only of bodies that slide.

        Notes
        -----
        Numbers of 1e6 and more [SI] are computed without the compiler.
        """
        if not isinstance(physical, (bool, np.bool_)):
            raise InputError(f'physical: expected True or False, got {physical!r}')
        counts = dict.fromkeys(JOINT_PARAMETERS, self.n)
        values = {
            'inertial': inertial,
            'viscous_friction': viscous_friction,
            'coulomb_friction': coulomb_friction,
            'rotor_inertia': rotor_inertia,
        }
        checked = {
            key: check_vector(value, key, counts.get(key, 10 * len(self._structure.bodies)))
            for key, value in values.items()
            if value is not None
        }
        given = self._subject.given
        if inertial is not None:
            given = replace(given, is_physical=bool(physical))
        for key, numbers in checked.items():
            given = replace(given, **{key: numbers})  # type: ignore[arg-type]
        return self._with_parameters(type(self), given)

    def _with_parameters(self, kind: type[Dynamics], given: GivenParameters) -> Dynamics:
        """Return dynamics with other inertias and friction than the first ones have."""
        nominal = self._nominal or self
        shared = nominal.__dict__.get('_parametric')
        if shared is None:
            subject = nominal._subject.with_run_time_parameters()
            shared = Evaluator(subject, nominal.backend == 'compiled', nominal.threads)
            shared = nominal.__dict__.setdefault('_parametric', shared)
        subject = nominal._subject.with_parameters(given)
        result = object.__new__(kind)
        result.__dict__.update(
            _backend=nominal.backend,
            _subject=subject,
            _evaluator=shared.bind(subject),
            _with_entry=set(),
            _nominal=nominal,
            _facade=None,
        )
        own, slots = self._own_state()
        result.__dict__.update(own)
        for name, value in slots.items():
            setattr(result, name, value)
        return result

    def rounding_bound(
        self,
        qd: ArrayLike = 1.0,
        qdd: ArrayLike = 1.0,
        q: ArrayLike = np.pi,
        *,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
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
        wrench : array-like, shape (6,), optional
            As :meth:`inverse_dynamics` takes it: the bound is for forces and moments up to the
            lengths of these [N, N m].
        base_motion : array-like, shape (9,), optional
            Likewise [rad/s, rad/s^2, m/s^2].
        payload : array-like, shape (10,), optional
            Likewise, for masses, first moments and principal moments of inertia up to these
            [kg, kg m, kg m^2].

        Returns
        -------
        array, shape (n,)
            [N m or N]; zero when nothing was changed.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and sizes for which the bound overflows.
        ModelError
            When the robot has no tip for a wrench or a payload.
        """
        if wrench is not None or payload is not None:
            self._require_tip_for_load(wrench, payload)
        loads = _measure_loads(wrench, base_motion, payload)
        plain = self._subject.plain_mechanism
        sizes = []
        for name, value in (('q', q), ('qd', qd), ('qdd', qdd)):
            flat = np.full(self.n, value) if np.ndim(value) == 0 else value
            sizes.append(check_vector(flat, name, self.n).tolist())
        bound = np.array(
            torque_bound(
                self._subject.mechanism,
                plain,
                q=sizes[0],
                qd=sizes[1],
                qdd=sizes[2],
                gravity=self._subject.gravity,
                loads=loads,
                tip=None if self._structure.tip_link is None else self._structure.tip,
            )
        )
        if not np.isfinite(bound).all():
            names = ['q', 'qd', 'qdd', 'loads']
            arrays = [np.array(each) for each in (*sizes, loads)]
            raise make_overflow_error('rounding_bound', names, arrays)
        return bound

    # ---- kinematics

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in the order of :meth:`link_poses`."""
        return tuple(link.name for link in self._structure.links)

    def link_poses(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the poses of all links in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        out : array, shape (links, 4, 4) or (N, links, 4, 4), optional
            For the result.

        Returns
        -------
        array, shape (links, 4, 4) or (N, links, 4, 4)
            Homogeneous matrices, translations in metres, in the order of :attr:`link_names`.
        """
        return self._answer('link_poses', (q,), out)

    def forward_kinematics(
        self, q: ArrayLike, link: str | None = None, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the pose of the tip, or of a named link, in the base link's frame.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        link : str, optional
        out : array, shape (4, 4) or (N, 4, 4), optional
            For the result.

        Returns
        -------
        array, shape (4, 4) or (N, 4, 4)
            Homogeneous matrix, translation in metres.
        """
        return self._answer('forward_kinematics', (q,), out, link=link)

    def jacobian(
        self,
        q: ArrayLike,
        link: str | None = None,
        axes: str = 'base',
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the geometric Jacobian of the tip, or of a named link.

        Parameters
        ----------
        q : array-like, shape (n,) or (N, n)
        link : str, optional
        axes : str
            'base': velocities in the base link's axes. 'tip': in the axes of the tip (or link).
        out : array, shape (6, n) or (N, 6, n), optional
            For the result.

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            Rows 0-2: velocity of the frame's origin; rows 3-5: angular velocity. With
            ``axes='tip'``, ``jacobian.T @ wrench`` are the efforts of a wrench as
            :meth:`inverse_dynamics` takes it.
        """
        row = _choose_axes('jacobian', axes)
        return self._answer('jacobian', (q,), out, link=link, row=row)

    def jacobian_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str | None = None,
        axes: str = 'base',
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the time derivative of :meth:`jacobian` at the velocities qd.

        Parameters
        ----------
        q, qd : array-like, shape (n,) or (N, n)
        link, axes : str
            As for :meth:`jacobian`. In 'tip' axes it is the derivative of the numbers, so the
            axes' own rotation counts.
        out : array, shape (6, n) or (N, 6, n), optional
            For the result.

        Returns
        -------
        array, shape (6, n) or (N, 6, n)
            ``jacobian @ qdd + jacobian_rate @ qd`` is the derivative of the twist.
        """
        row = _choose_axes('jacobian_rate', axes)
        return self._answer('jacobian_rate', (q, qd), out, link=link, row=row)

    # ---- the generated equations

    def operation_counts(self) -> dict[str, tuple[int, int]]:
        """Return (multiplications, additions) of the generated source of each function.

        Divisions count as multiplications, differences as additions; changes of sign, sines and
        cosines are not counted. What :meth:`missing_functions` names is left out.
        """
        counts = {}
        for name in self._list_sources():
            count = self._folded_evaluator.interpret(name).program.count()
            counts[name] = (count.multiplications, count.additions)
        return counts

    def missing_functions(self) -> dict[str, str]:
        """Return the functions that this robot does not have, by name, with the reason.

        Where a joint moves neither mass nor rotor inertia there is no forward dynamics, and
        without any mass no centre of mass. The methods raise ModelError with the same reason.
        """
        return self._folded_evaluator.find_missing(list_functions(self._structure))

    def _list_sources(self) -> list[str]:
        missing = self.missing_functions()
        return [name for name in list_functions(self._structure) if name not in missing]

    def source(self, function: str = 'inverse_dynamics', language: str = 'python') -> str:
        """Return the generated equations of a function as text that runs on its own.

        Parameters
        ----------
        function : str
            One of the keys of :meth:`operation_counts`.
        language : str
            'python' (floats: what the backend 'python' executes), 'numpy' (arrays of shape
            (..., n)), 'array-api' (what :meth:`array_function` executes; the namespace comes
            first) or 'c' (C99).

        Returns
        -------
        str
            The same text for the same robot: it carries no date.

        Raises
        ------
        InputError
            When there is no such function or language.
        ModelError
            When this robot does not have it, see :meth:`missing_functions`.
        """
        self._require_function(function, 'function')
        if language not in LANGUAGES:
            raise InputError(f'language: expected one of {", ".join(LANGUAGES)}, got {language!r}')
        program = self._folded_evaluator.interpret(function).program
        return standalone_source(program, language, self._header(program))

    def array_function(self, name: str, xp: Any) -> Callable[..., Any]:
        """Return a function that computes with the arrays of another library.

        Parameters
        ----------
        name : str
            One of the keys of :meth:`operation_counts`.
        xp : namespace
            Of the Python array API standard: ``numpy``, ``jax.numpy``, ``torch``,
            ``array_api_strict``, or what the package array-api-compat makes of a library.

        Returns
        -------
        callable
            Takes arrays of shape ``(..., count)`` by place, in the order of its signature, all of
            them, and returns an array of shape ``(..., *shape)`` in the units of the method. The
            axes of the samples come first in every function; those of the arguments broadcast.
            dtype and device are those of the arguments, which are floating-point.

            What it does depends on shapes alone, so that it can be compiled, mapped and
            differentiated: ``jax.jit``, ``jax.vmap``, ``jax.grad``, ``torch.func``. The
            derivative of the sign in Coulomb friction is zero. Numbers are not looked at: what is
            not finite, or gives no finite result, goes through. It raises InputError when an
            argument is no array, or one that the namespace does not take, has another last axis
            or dtype, or does not broadcast. It can be pickled where `xp` can, or is a module.

        Raises
        ------
        InputError
            When there is no such function, or `xp` lacks what it takes.
        ModelError
            When this robot does not have it, see :meth:`missing_functions`.

        Notes
        -----
        JAX computes in single precision unless ``jax_enable_x64`` is set. One sample in single
        precision stays so with NumPy 2 or newer. Keep the function: each call makes another one,
        which ``jax.jit`` compiles anew. JAX 0.10 makes slow code of long functions for processors
        (CPUs): the environment's ``XLA_FLAGS=--xla_cpu_use_fusion_emitters=false`` avoids that.
        """
        self._require_function(name, 'name')
        program = self._folded_evaluator.interpret(name).program
        return make_array_function(program, FUNCTIONS[name], self._structure, xp)

    def _require_function(self, function: str, argument: str) -> None:
        names = list_functions(self._structure)
        if function not in names:
            raise InputError(f'{argument}: expected one of {", ".join(names)}, got {function!r}')

    @property
    def _folded_evaluator(self) -> Evaluator:
        """What has all numbers in the equations."""
        if self._nominal is None:
            return self._evaluator
        if '_folded' not in self.__dict__:
            self.__dict__['_folded'] = Evaluator(self._subject, False, 1)
        found: Evaluator = self.__dict__['_folded']
        return found

    def source_files(self, language: str = 'c', prefix: str | None = None) -> dict[str, str]:
        """Return the generated equations of all functions as files to build on.

        What :meth:`missing_functions` names is left out, and the header says so.

        Parameters
        ----------
        language : str
            'c': a C99 library with its header, CMake project and test. 'python' (floats), 'numpy'
            or 'array-api' (arrays of shape (..., n)): a module.
        prefix : str, optional
            First part of the names of the files, and of all names in the C library; default: made
            of the robot's name. Robots that are linked into one program need different ones.

        Returns
        -------
        dict of str to str
            Text by file name: plain ASCII, the same text for the same robot.

        Raises
        ------
        InputError
            When there is no such language, the prefix is no lower-case identifier, or a result
            overflows at a sample of the test.
        ModelError
            When the mass matrix is singular at a sample of the test.
        """
        if language not in LANGUAGES:
            raise InputError(f'language: expected one of {", ".join(LANGUAGES)}, got {language!r}')
        prefix = make_prefix(self._structure.name) if prefix is None else check_prefix(prefix)
        names = self._list_sources()
        notes = [*self._describe_settings(), *self._describe_missing()]
        evaluator = self._folded_evaluator
        if evaluator.is_compiled:
            # The samples of the test are computed as the C text computes them.
            evaluator = Evaluator(self._subject, False, 1)
        if language == 'c':
            return write_c_project(evaluator, names, prefix, notes)
        programs = [evaluator.interpret(name).program for name in names]
        header = [
            MARK,
            f'Equations of motion of {self._structure.name}. SI units.',
            self._describe_joints(),
            *notes,
        ]
        above = {
            program.name: describe_function(
                program, describe_rounding(self._subject, program.name)
            )
            for program in programs
        }
        text = python_module(programs, language, header, above)
        return {f'{prefix}_dynamics.py': text}

    def _header(self, program: Program) -> list[str]:
        gravity, tolerance = self._describe_settings()
        row = FUNCTIONS[program.name]
        units = '; '.join(
            f'{argument.stem or argument.name}: {argument.unit}' for argument in row.arguments
        )
        return [
            f'{program.name} of {self._structure.name}: {describe_count(program)}',
            row.meaning,
            self._describe_joints(),
            f'SI units. {units}; result: {row.returns}',
            gravity,
            f'{tolerance}; {describe_rounding(self._subject, program.name)}',
        ]

    def _describe_joints(self) -> str:
        joints = ', '.join(
            f'{index + 1} {joint.name} ({"m, N" if joint.type.is_prismatic else "rad, N m"})'
            for index, joint in enumerate(self._structure.joints)
        )
        return f'joints: {joints}'

    def _describe_settings(self) -> list[str]:
        return [
            f'gravity in base axes [m/s^2]: {", ".join(map(repr, self._subject.gravity))}',
            f'tolerance {self.tolerance:g}: {len(self._subject.mechanism.changes)} numbers taken '
            'as exact',
        ]

    def _describe_missing(self) -> list[str]:
        """Return a line for each reason why functions are left out."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.missing_functions().items():
            reasons.setdefault(reason, []).append(name)
        return [f'left out: {", ".join(names)}: {reason}' for reason, names in reasons.items()]

    # ---- how a call is made

    def _answer_control(
        self,
        method: str,
        values: tuple[ArrayLike, ...],
        loads: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None],
        out: FloatArray | None,
    ) -> FloatArray:
        """Answer for a control law; its loads are wrench, motion of the base and payload."""
        wrench, _, payload = loads
        if wrench is not None or payload is not None:
            self._require_tip_for_load(wrench, payload)
        return self._answer(method, (*values, *loads), out)

    def _answer(
        self,
        method: str,
        values: tuple[ArrayLike | None, ...],
        out: FloatArray | None,
        *,
        link: str | None = None,
        row: Function | None = None,
    ) -> FloatArray:
        """Check the arguments of a method, choose the function that answers, and compute it."""
        if link is not None and not isinstance(link, str):
            self._structure.link(link)  # raises
        if row is None:
            row = choose_function(method, tuple([value is not None for value in values]))
        given = []
        for place, argument in zip(argument_places(row), row.arguments, strict=True):
            value, count = values[place], argument.count(self._structure)
            if value is None and argument.name in row.optional:
                value = np.zeros(count)
            given.append(
                Given(argument.name, value, count, argument.serves_all, argument.is_nonnegative)  # type: ignore[arg-type]
            )
        arrays, is_single = match_samples(given)
        if row.needs_tip and link is None and self._structure.tip_link is None:
            require_finite(given, arrays)
            _ = self._structure.tip  # raises
        rows_out = None
        if out is not None:
            shape = row.shape(self._structure)
            rows = shape if is_single else _join_shape(arrays[0].shape[0], shape, row.is_stacked)
            rows_out = check_result(out, rows, arrays)
            rows_out = rows_out[np.newaxis] if is_single else rows_out
            if row.is_stacked and not is_single:
                rows_out = None  # its samples are apart
        result = self._evaluator.evaluate(
            row.name, arrays, lambda: require_finite(given, arrays), link, rows_out
        )
        if link is None and row.name not in self._with_entry:
            self._note_answer(row)
        if is_single:
            return result[0] if out is None else out
        if row.is_stacked:
            result = np.ascontiguousarray(np.moveaxis(result, 1, 0))
            if out is not None:
                out[...] = result
        return result if out is None else out

    def _note_answer(self, row: Function) -> None:
        """Install the entry of a row when machine code answers these dynamics for the first time.

        Whether these do counts, not whether the code is new: dynamics of other parameters share
        it, and have entries of their own, with their numbers.
        """
        evaluator = self._evaluator
        if not row.method or not evaluator.is_compiled or evaluator.loaded(row.name) is None:
            return
        self._with_entry.add(row.name)
        self._install_entries(row.method)

    def _install_entries(self, method: str) -> None:
        """Put the compiled functions in front of the method they answer for."""
        shown = self if self._facade is None else self._facade()
        if shown is None or getattr(type(self), method) is not getattr(Dynamics, method):
            return  # nobody would call it, or a subclass has its own
        rows = functions_for(method)
        if not rows[0].shape(self._structure):
            return  # an entry returns arrays
        if self._structure.tip_link is None:
            # Without a tip a wrench or a payload is an error, which the method raises.
            rows = rows[:1]
        stand_in = shown._make_stand_in()
        function = getattr(Dynamics, method)
        following: Callable[..., Any] = function.__get__(stand_in)
        for row in reversed(rows):
            kernel = self._evaluator.loaded(row.name)
            if kernel is not None and kernel.has_entry:
                parameters = self._evaluator.parameters
                owner = Owner(stand_in, following, kernel.most_rows, parameters)
                following = kernel.entry(owner, method, _builtin_doc(function))
        if _is_entry(following):
            shown.__dict__[method] = following

    def _make_stand_in(self) -> Dynamics:
        """Return the same dynamics without entries.

        An entry refers to it in place of these dynamics, which refer to the entry. So there is no
        reference cycle, and the machine code is unloaded as soon as its last user is gone.
        """
        stand_in = object.__new__(type(self))
        stand_in.__dict__.update(
            {key: self.__dict__[key] for key in _SETTINGS}, _facade=weakref.ref(self)
        )
        return stand_in


def _choose_axes(method: str, axes: str) -> Function:
    """Return the row of the table that answers in these axes."""
    if axes not in ('base', 'tip'):
        raise InputError(f"axes: expected 'base' or 'tip', got {axes!r}")
    return FUNCTIONS[method if axes == 'base' else f'{method}_in_tip_axes']


def _join_shape(samples: int, shape: tuple[int, ...], is_stacked: bool) -> tuple[int, ...]:
    """Return the shape of a batch's result."""
    return (shape[0], samples, *shape[1:]) if is_stacked else (samples, *shape)


_SETTINGS = (
    '_backend',
    '_subject',
    '_evaluator',
    '_with_entry',
    '_nominal',
)
"""Attributes that a stand-in shares; `_with_entry` are the rows whose entries were installed."""

_MADE_LATER = ('_parametric', '_folded', '_frictionless')
"""Attributes that are made when they are needed."""


def _is_rebuilt(key: str, value: object) -> bool:
    """Return whether an attribute comes back by construction."""
    return key in (*_SETTINGS, '_facade', *_MADE_LATER) or _is_entry(value)


def _is_entry(value: object) -> bool:
    return isinstance(getattr(value, '__self__', None), Owner)


def _list_slots(kind: type) -> list[str]:
    """Return the names of a class's own slots, as its instances have them."""
    slots = kind.__dict__.get('__slots__', ())
    names = [slots] if isinstance(slots, str) else list(slots)
    prefix = f'_{kind.__name__.lstrip("_")}'
    return [
        prefix + name if name.startswith('__') and not name.endswith('__') else name
        for name in names
        if name not in ('__dict__', '__weakref__')
    ]


def _rebuild(kind: type[Dynamics], arguments: tuple[Any, ...]) -> Dynamics:
    """Return dynamics of a class, whatever its own constructor takes."""
    dynamics = object.__new__(kind)
    Dynamics.__init__(dynamics, *arguments)
    return dynamics


def _rebuild_with_parameters(
    kind: type[Dynamics], nominal: Dynamics, given: GivenParameters
) -> Dynamics:
    """Return dynamics made by :meth:`Dynamics.with_parameters`."""
    return nominal._with_parameters(kind, given)


def _builtin_doc(method: Callable[..., Any]) -> str:
    """Return a docstring from which ``inspect.signature`` reads a builtin's arguments."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(method).parameters.items()
        if name != 'self'
    ]
    return f'{method.__name__}{inspect.Signature(parameters)}\n--\n\n{method.__doc__ or ""}'
