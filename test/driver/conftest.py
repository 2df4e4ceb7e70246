"""The log that several tests read."""

from log_fixtures import given, log, truth  # noqa: F401
