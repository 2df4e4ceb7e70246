"""Loads and drive gains, from rows that are shared by all joints."""
