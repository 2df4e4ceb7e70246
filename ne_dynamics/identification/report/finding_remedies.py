"""What to do about a finding of an identification."""

from __future__ import annotations

REMEDIES = {
    'effort-zero': 'record what the motors applied: the driver fills the field with zeros',
    'effort-saturated': 'record a motion with smaller accelerations; the samples at the limit are '
    'left out of the fit',
    'no-excitation': 'record a motion: all joints at once, for 20 s or longer',
    'joint-still': 'move this joint too when its friction or the links behind it matter',
    'acceleration-noisy': 'move faster, or lower --cutoff',
    'wrong-sign': '--sign JOINT, or look at the direction of the axis in the model',
    'velocity-disagrees': 'look at units, signs and filters of the driver; the velocity of the '
    'log is not used, its positions are',
    'excitation-poor': 'record anew, over different heights and with both directions of every '
    'joint; links that are not determined keep the given values',
    'not-better': 'do not use the identified values of this joint; record longer, or look for '
    'what the model lacks (a load, a cable, a spring, warm and cold friction)',
    'mass-implausible': 'do not read it as a mass: look for a load that the model lacks, or a '
    'wrong mass in the model',
    'body-without-mass': 'give the link a mass to start from, a rough one',
    'given-inertia-impossible': "mend the link's <inertial>: `ne_dynamics check` says what is "
    'wrong with it',
}
"""By code of the finding."""
