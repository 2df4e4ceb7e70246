"""All gains of a design, tried in MuJoCo, and beyond their margins to see the loop swing."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.gains import GainDesign
from ne_dynamics.progress_bar import count_done
from ne_dynamics.simulation.gain_proof import Proof, prove_gains


def prove_design(
    design: GainDesign, dynamics: Dynamics, count: int, *, beyond: float = 1.5, few: int = 1
) -> list[Proof]:
    """Simulate the gains of each mode on random arms, and larger ones.

    Parameters
    ----------
    design : GainDesign
    dynamics : Dynamics
        Of the model that the design was made for.
    count : int
        Number of arms for each mode.
    beyond : float
        The larger gains are larger by this and the gain margin ...
    few : int
        ... and are tried on so many arms, those with the least gain margin.
    """
    proofs = []
    total = len(design.modes) * (count + few)
    with count_done('trying in MuJoCo', total, 'trial') as progress:
        for mode in design.modes:
            proofs.append(prove_gains(design, dynamics, mode, count, progress=progress))
            factor = beyond * float(design.of(mode).choice.margins.gain.min())
            proofs.append(
                prove_gains(design, dynamics, mode, few, factor=factor, progress=progress)
            )
    return proofs


def is_proven(proofs: Sequence[Proof]) -> bool:
    """Return whether every arm with the gains themselves has settled."""
    return all(
        proof.count('settled') == len(proof.trials) for proof in proofs if proof.factor == 1.0
    )


def describe_proofs(proofs: Sequence[Proof]) -> list[str]:
    """Return what came of trials in lines; of none, none."""
    lines = ['', 'tried in MuJoCo on random arms in random poses'] if proofs else []
    for proof in proofs:
        gains = 'the gains' if proof.factor == 1.0 else f'{proof.factor:.3g} times the gains'
        text = (
            f'  {proof.mode.value}, {gains}: {proof.count("settled")} of {len(proof.trials)} '
            f'settled, {proof.count("swings")} swing, {proof.count("diverged")} diverged'
        )
        if proof.factor == 1.0 and proof.count('settled'):
            text += (
                f'; of what was predicted at the most, error at rest {proof.settled_share:.2f}, '
                f'overshoot {proof.overshoot_share:.2f}'
            )
        lines.append(text)
    return lines
