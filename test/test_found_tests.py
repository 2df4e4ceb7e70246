"""What pytest finds before the first test is no burden to the tests."""

import gc


def test_found_tests_are_not_searched_for_garbage(request):
    assert gc.is_tracked(request.node)
    assert not any(thing is request.node for thing in gc.get_objects())
