"""One exception tree: catch :class:`NeDynamicsError` to catch everything this package raises."""


class NeDynamicsError(Exception):
    """Base of every exception that this package raises on purpose."""


class ModelError(NeDynamicsError, ValueError):
    """A robot description (URDF, DH file or :class:`~ne_dynamics.model.robot.Robot`) is wrong.

    The message names the element (joint, link, key), what was found and what was expected.
    """


class InputError(NeDynamicsError, ValueError):
    """An array or number handed to a function has a wrong shape, type or value."""


class TrajectoryError(NeDynamicsError, ValueError):
    """A desired trajectory cannot be followed as given."""


class WrenchError(NeDynamicsError, ValueError):
    """A wrench reading cannot be used: no frame, unknown frame, not finite."""


class ImuError(NeDynamicsError, ValueError):
    """A reading of the base's IMU cannot be used: no frame, unknown frame, not finite."""


class ParameterError(NeDynamicsError, ValueError):
    """A parameter value is outside what the parameter table allows."""


class BackendError(NeDynamicsError, RuntimeError):
    """A computation backend was asked for that is unknown or cannot run here."""


class MissingDependencyError(NeDynamicsError, ImportError):
    """An optional dependency is missing; the message names the extra that brings it."""
