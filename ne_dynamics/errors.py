"""One exception tree: catch :class:`NeDynamicsError` to catch everything this package raises."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXIT_ERROR, EXIT_INTERRUPTED = 1, 130
"""Exit codes of all programs; the second is 128 and the number of SIGINT, as shells have it."""


class NeDynamicsError(Exception):
    """Base class of every exception that this package raises on purpose.

    Parameters
    ----------
    *arguments
        The message.
    field : str
        Name of the invalid field of the input, if there is one.
    """

    def __init__(self, *arguments: object, field: str = '') -> None:
        super().__init__(*arguments)
        self.field = field

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process makes the same one, whatever a class asks for to make it."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[NeDynamicsError], arguments: tuple[object, ...], attributes: dict[str, Any]
) -> NeDynamicsError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


class ModelError(NeDynamicsError, ValueError):
    """A robot description (URDF, DH file or :class:`~ne_dynamics.model.robot.Robot`) is wrong.

    The message names the element (joint, link, key), what was found and what was expected.
    """


class InputError(NeDynamicsError, ValueError):
    """An argument (array or number) has a wrong shape, type or value."""


class TrajectoryError(NeDynamicsError, ValueError):
    """A desired trajectory cannot be followed as given."""


class WrenchError(NeDynamicsError, ValueError):
    """A wrench reading cannot be used: no frame, unknown frame, not finite."""


class ImuError(NeDynamicsError, ValueError):
    """A reading of the base's IMU cannot be used: no frame, unknown frame, not finite."""


class PayloadError(NeDynamicsError, ValueError):
    """A payload cannot be identified from the measurements; the message says why."""


class IdentificationError(NeDynamicsError, ArithmeticError):
    """A fit did not converge to its minimum; there is no result."""


class ExcitationError(NeDynamicsError, ArithmeticError):
    """No motion was found that satisfies the constraints; the message names those violated."""


class ParameterError(NeDynamicsError, ValueError):
    """A parameter value is outside what the parameter table allows."""


class CommandLineError(NeDynamicsError, ValueError):
    """ROS cannot start with the arguments, parameter files or environment that were given."""


class BackendError(NeDynamicsError, RuntimeError):
    """The requested computation backend is unknown or cannot run here."""


class MissingDependencyError(NeDynamicsError, ImportError):
    """An optional dependency is missing; the message names the extra that installs it."""


EXTRAS = {
    'bag': {'rosbags': 'rosbags'},
    'cluster': {'distributed': 'Dask'},
    'excite': {'scipy': 'SciPy', 'coal': 'coal'},
    'plot': {'matplotlib': 'matplotlib'},
    'report': {'jinja2': 'Jinja2', 'matplotlib': 'matplotlib'},
    'ros': {'rclpy': 'ROS 2 for Python'},
    'sim': {'mujoco': 'MuJoCo'},
    'xacro': {'xacro': 'xacro'},
}
"""What each extra of this package brings: modules, and what they are called."""


def require_extras(what: str, extras: Iterable[str]) -> None:
    """Refuse a work of which a package is missing, and name all that are.

    Parameters
    ----------
    what : str
        What needs them.
    extras : iterable of str

    Raises
    ------
    MissingDependencyError
    """
    missing: dict[str, list[str]] = {}
    for extra in extras:
        for module, name in EXTRAS[extra].items():
            if importlib.util.find_spec(module) is None:
                missing.setdefault(extra, []).append(name)
    if missing:
        names = dict.fromkeys(name for found in missing.values() for name in found)
        raise MissingDependencyError(
            f'{what} needs {", ".join(names)}: {_describe_install(missing)}'
        )


def _describe_install(extras: Iterable[str]) -> str:
    also = 'source a ROS 2 installation, or ' if 'ros' in extras else ''
    return f'{also}pip install "ne_dynamics[{",".join(extras)}]"'


@contextmanager
def optional_dependency(sentence: str, extra: str) -> Iterator[None]:
    """Say how to get a package where it cannot be imported in this context.

    Parameters
    ----------
    sentence : str
        What needs which package, e.g. 'the plots need matplotlib'.
    extra : str
        Of this package, by which pip installs the other one.

    Raises
    ------
    MissingDependencyError
    """
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f'{sentence}: {_describe_install([extra])} ({error})'
        ) from error


class InverseKinematicsError(NeDynamicsError, ValueError):
    """No joint positions were found at which a link has the requested pose.

    Parameters
    ----------
    message : str
    position : array, shape (n,)
        Joint positions within the limits whose pose is nearest [rad or m].
    position_error : float
        Distance between the link's origin there and the requested one [m].
    orientation_error : float
        Angle between the link's axes there and the requested ones [rad].
    """

    def __init__(
        self,
        message: str,
        position: NDArray[np.float64],
        position_error: float,
        orientation_error: float,
    ) -> None:
        super().__init__(message)
        self.position = position
        self.position_error = position_error
        self.orientation_error = orientation_error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            str(self),
            self.position,
            self.position_error,
            self.orientation_error,
        )
