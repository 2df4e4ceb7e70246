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
    """Dynamics of one robot: efforts, matrices, accelerations, poses and their derivatives.

    "Effort" is a torque [N m] at a revolute joint and a force [N] at a prismatic one, positive
    along the joint's positive direction. n is the number of joints (:attr:`joint_names`).

    Methods take one sample of shape (n,) or a batch of shape (N, n), and return one result or N.
    The keyword `out` is a C-contiguous float64 array of the result's shape that does not overlap
    the arguments; the result is written to it and returned. Its content is undefined after an
    error.

    Parameters
    ----------
    robot : Robot
        From :func:`~ne_dynamics.load_urdf` or :func:`~ne_dynamics.load_dh`.
    gravity : array-like, shape (3,)
        Acceleration of gravity in the base link's axes [m/s^2]; points downwards.
    backend : str
        'python' (no compiler), 'compiled' (also called 'numba'), or 'auto': 'compiled' if an
        installed compiler passes a test, else 'python'. A compiler that fails it causes a warning.
    tolerance : float
        Constants of the model (sines, cosines, lengths, moments) are replaced by an exact 0 or 1
        if that changes no joint's effort by more than about this part of its largest effort. A
        URDF that writes 1.5707963 for a quarter turn needs 1e-7; 0 keeps all constants.
        :meth:`rounding_bound` returns the largest change of each effort.
    threads : int
        Largest number of threads for a batch on the backend 'compiled'; 0 for one per core. Small
        batches, for which one thread was faster at first use, run on one.

    Raises
    ------
    InputError
        When `gravity`, `tolerance` or `threads` is invalid.
    BackendError
        When the backend is unknown, or its package is missing or too old.
    ModelError
        When the robot has no joint.

    Notes
    -----
    At its first use each function is traced for this robot into straight-line code
    (:meth:`source`). The backend 'python' runs it on floats for one sample and on arrays for a
    batch; 'compiled' compiles it with LLVM (the package llvmlite) and keeps the machine code in
    the user's cache folder. From the second call on, most methods check their arguments in
    machine code too; in the others, Python checks them, which takes about ten microseconds.
    :meth:`friction_torque` is computed by Python alone.
    """

    _nominal: Dynamics | None

    def without_friction(self) -> Dynamics:
        """Return the :class:`Dynamics` of the robot without friction, created at first use."""
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
        """Return dynamics with other inertial parameters, friction or rotor inertias.

        No new code is generated: all dynamics that this method returns share one program per
        function, which takes these numbers as arguments and is compiled at its first use. A call
        takes longer than with constants in the code; see ``benchmark/README.md``. Numbers of 1e6
        and more [SI] are computed without the compiler.

        Parameters
        ----------
        inertial : array-like, shape (10 b,), optional
            Inertial parameters of the b bodies, as :meth:`inertial_parameters` returns them. They
            need not be physically consistent, but a first moment needs a mass unless `physical` is
            False.
        viscous_friction : array-like, shape (n,), optional
            [N m s/rad or N s/m]
        coulomb_friction : array-like, shape (n,), optional
            [N m or N]
        rotor_inertia : array-like, shape (n,), optional
            Inertia of the motor's rotor before the gear, as in :class:`Joint` [kg m^2].
        physical : bool
            False accepts base parameters: bodies that rotate may have a first moment and no mass.

        Returns
        -------
        Dynamics
            An object of the same class; arguments that are omitted keep their values. Its
            :attr:`robot` has the new numbers: the first link of each body carries the inertia of
            the whole body if `inertial` is given. For a first moment without mass, :attr:`robot`
            has 1 kg more at the origin of that body and 1 kg less at the same point of its
            parent, which changes no effort.

        Raises
        ------
        InputError
            On wrong shapes, numbers that are not finite, and a `physical` that is not a bool.
        ModelError
            On values that a joint refuses, such as negative friction, and on a first moment
            without a mass (with `physical` False only of bodies that translate).
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
