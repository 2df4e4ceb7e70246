"""How many threads the linear algebra uses while a motion is sought."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep NumPy's and SciPy's linear algebra in one thread, and give the others back at the end.

    The matrices have some thousand rows and less than a hundred columns: threads that wait for
    each other take several times the processor time, and no less of the clock's. Without
    threadpoolctl nothing is changed; then ``OPENBLAS_NUM_THREADS=1`` does the same.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1, user_api='blas'):
        yield
