"""From a log of a moving robot to its model: read, filter, fit, judge, write back."""
