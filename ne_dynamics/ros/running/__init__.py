"""Executor, signals, services that take time, command line."""
