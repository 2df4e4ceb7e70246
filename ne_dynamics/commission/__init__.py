"""A guided run from a given model to an arm that follows its motions."""
