"""What pytest finds before the first test is no burden to the tests."""

from __future__ import annotations

import gc


def test_found_tests_are_not_searched_for_garbage(request):
    """Each worker has millions of objects of them, and hundreds of tests search for garbage."""
    assert gc.is_tracked(request.node)
    assert not any(thing is request.node for thing in gc.get_objects())
