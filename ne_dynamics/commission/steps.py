"""The run as a row of steps: what is done is not done again, and nothing moves without consent.

Nothing here knows of ROS or of robots.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ne_dynamics.commission.arm.signal_masking import signals_masked
from ne_dynamics.commission.folder import COMPLETE, RUNNING, STOPPED, CommissionFolder
from ne_dynamics.errors import NeDynamicsError


@dataclass(frozen=True)
class Step:
    """One step of a run: what it does in one line, and how the arm will move; '' if it does not.

    The result is of numbers, texts, lists and mappings of them.
    """

    name: str
    title: str
    motion: str
    run: Callable[[], Mapping[str, Any]]


class Ending(str, enum.Enum):
    """How a run ended."""

    COMPLETE = 'complete'
    DECLINED = 'declined'
    FAILED = 'failed'
    INTERRUPTED = 'interrupted'


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run, and the step at which it ended; '' if all are done."""

    ending: Ending
    step: str = ''
    reason: str = ''


Consent = Callable[[Step], bool]
Announce = Callable[[Step, bool], None]


def perform(
    steps: Sequence[Step],
    folder: CommissionFolder,
    consent: Consent,
    announce: Announce,
    make_safe: Callable[[], None],
) -> Outcome:
    """Do the steps of a run that are not done yet.

    Consent is asked before every step with a motion. Each step is announced, and whether it was
    done before. When the run ends early the arm is made safe, with signals blocked, and not moved
    after that. Failures of steps, and Ctrl-C, are outcomes; an unexpected error of a step is
    raised.
    """
    step = steps[0]

    def stop(ending: Ending, reason: str) -> Outcome:
        with signals_masked():
            make_safe()
            try:
                folder.close(STOPPED, reason, step.name)
            except (NeDynamicsError, OSError) as error:
                # A full disk must not hide what came first.
                reason = f'{reason}; {error}'
        return Outcome(ending, step.name, reason)

    try:
        folder.close(RUNNING)
        for step in steps:
            is_done = folder.is_done(step.name)
            announce(step, is_done)
            if is_done:
                continue
            if step.motion and not consent(step):
                return stop(Ending.DECLINED, f'no consent to: {step.motion}')
            folder.finish(step.name, step.run())
        folder.close(COMPLETE)
    except KeyboardInterrupt:
        return stop(Ending.INTERRUPTED, 'interrupted')
    except NeDynamicsError as error:
        return stop(Ending.FAILED, str(error))
    except OSError as error:
        return stop(Ending.FAILED, f'{error.filename or step.name}: {error.strerror or error}')
    except Exception as error:
        # A fault of ours: its traceback is wanted, and the arm is to be safe all the same.
        stop(Ending.FAILED, f'{type(error).__name__}: {error}')
        raise
    return Outcome(Ending.COMPLETE)
