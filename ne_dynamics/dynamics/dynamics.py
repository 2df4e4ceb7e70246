"""The class that users call, put together of its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import check_vector
from ne_dynamics.codegen.given_parameters import JOINT_PARAMETERS
from ne_dynamics.dynamics.control import ControlMethods
from ne_dynamics.dynamics.derivatives import DerivativeMethods
from ne_dynamics.dynamics.energy import EnergyMethods
from ne_dynamics.dynamics.export import ExportMethods
from ne_dynamics.dynamics.regressor import RegressorMethods
from ne_dynamics.dynamics.rounding import RoundingMethods
from ne_dynamics.dynamics.terms import TermMethods
from ne_dynamics.errors import InputError


class Dynamics(
    TermMethods,
    ControlMethods,
    DerivativeMethods,
    EnergyMethods,
    RegressorMethods,
    RoundingMethods,
    ExportMethods,
):
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

    _nominal: Dynamics | None

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


Dynamics._answered = Dynamics
