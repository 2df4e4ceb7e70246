"""Threads of the linear algebra while a motion is sought."""

import sys

import numpy as np
import pytest

from ne_dynamics.excitation.linear_algebra import one_thread


def count_threads(threadpoolctl):
    """Return the threads of each library of linear algebra."""
    found = threadpoolctl.threadpool_info()
    return [each['num_threads'] for each in found if each['user_api'] == 'blas']


def test_one_thread_within_and_as_many_as_before_after_it():
    """Also when what is within ends with an error."""
    threadpoolctl = pytest.importorskip('threadpoolctl', reason='threadpoolctl is missing')
    within = []

    @one_thread()
    def fail():
        np.linalg.eigh(np.eye(3))
        within.extend(count_threads(threadpoolctl))
        raise ZeroDivisionError

    with threadpoolctl.threadpool_limits(limits=2, user_api='blas'):
        before = count_threads(threadpoolctl)
        with pytest.raises(ZeroDivisionError):
            fail()
        assert count_threads(threadpoolctl) == before
    assert set(within) == {1}


def test_without_threadpoolctl_nothing_is_changed(monkeypatch):
    """A motion can be planned without it."""
    monkeypatch.setitem(sys.modules, 'threadpoolctl', None)
    with one_thread():
        assert np.linalg.det(np.eye(2)) == 1.0
