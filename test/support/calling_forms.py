"""One quantity in every form of call: sample by sample, as a batch, into arrays of the caller."""

import numpy as np


def call_in_every_form(method, *batches, axis=0):
    """Return the results of a method for the rows of its arguments, one for each form of call.

    Each form is called twice: on the backend 'compiled' the second call takes another way.

    Parameters
    ----------
    method : callable
    *batches : array, shape (N, ...), or None
        Arguments by place, one row a sample; None for one that is left out.
    axis : int
        Where the rows of a batch are in the result.

    Returns
    -------
    dict of str to array
    """
    rows = len(batches[0])
    forms = {}
    for turn in ('first call', 'second call'):
        forms[f'batch, {turn}'] = batch = np.asarray(method(*batches))
        singles = [
            method(*[None if values is None else values[row] for values in batches])
            for row in range(rows)
        ]
        forms[f'single, {turn}'] = np.stack(singles, axis=axis)
        out = np.full(batch.shape, np.nan)
        assert method(*batches, out=out) is out
        forms[f'batch with out, {turn}'] = out
        single_out = np.full(np.shape(singles[0]), np.nan)
        first = [None if values is None else values[0] for values in batches]
        assert method(*first, out=single_out) is single_out
        np.testing.assert_array_equal(single_out, singles[0])
    return forms


def under_wrenches(method, links, first=3):
    """Return a method that takes wrenches on links by place, behind its first arguments.

    Parameters
    ----------
    method : callable
    links : iterable of str
    first : int
        Number of arguments before the wrenches.
    """
    names = list(links)

    def call(*given, out=None):
        on_links = dict(zip(names, given[first:], strict=True))
        return method(*given[:first], external_wrenches=on_links, out=out)

    return call
