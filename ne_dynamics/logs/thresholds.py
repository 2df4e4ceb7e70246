"""What reading, filtering and checking of logs take for large, likely or enough."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class LogThresholds:
    """How files are read, names matched and work handed out."""

    # Reading
    in_memory: int = threshold(
        256 << 20, 'bytes', 'Arrays that a store holds in memory; what comes after is mapped.'
    )
    rows_for_names: int = threshold(
        2000, '', 'Messages of a bag, or rows without a header, in which joint names are sought.'
    )
    block_size: int = threshold(8 << 20, 'bytes', 'Rows of a CSV file that are parsed at once.')
    longest_header: int = threshold(
        1 << 20,
        'bytes',
        'Comments and header must end within this; otherwise rows are not read in blocks.',
    )
    layouts: int = threshold(
        16,
        '',
        'Layouts of messages that are remembered and compared; as many publishers may alternate.',
    )
    messages_at_once: int = threshold(2048, '', 'Messages that are decoded at once.')

    # Messages
    shown_header: int = threshold(80, 'characters', 'Part of a header that an error shows.')
    shown_names: int = threshold(3, '', 'Names in a line of a finding, at most.')
    most_unused: int = threshold(8, '', 'Columns that are not used which are named.')

    # Names
    name_similarity: float = threshold(
        0.7, '', 'Similarity of two names from which one may be meant by the other.'
    )
    matched_joints: int = threshold(
        3, '', "Joints, or half of the model's, that a log must have before others are locked."
    )
    still_range: float = threshold(
        1e-3, 'rad or m', 'A joint whose positions stay within this does not move.'
    )

    # Work
    executor_timeout: float = threshold(
        8.0, 's', 'Longest wait for an answer of scheduler or workers.'
    )
    parts_ahead: int = threshold(
        8, '', 'Parts that are handed out before the first result is taken.'
    )


LOGS = LogThresholds()
"""Those that count."""


@dataclass(frozen=True)
class LogFilterThresholds:
    """How a log is cut into parts, filtered and resampled."""

    # Cut-off frequency
    highest_cutoff: float = threshold(10.0, 'Hz', 'Highest cut-off frequency that is chosen.')
    cutoff_by_rate: float = threshold(
        0.2, '', 'Largest cut-off frequency, by the rate of the log.'
    )
    motion_density: float = threshold(
        1e-3, '', 'A velocity below this part of its largest power density is no motion.'
    )
    cutoff_multiples: tuple[float, ...] = threshold(
        (3.0, 6.0),
        '',
        'Least and largest cut-off frequency, by the highest frequency of the motion.',
    )
    signal_to_noise: float = threshold(
        4.0, '', 'Power by that of the noise from which a band counts as signal.'
    )
    noise_band: float = threshold(
        0.5, '', 'Frequencies above this part of the highest one tell the noise.'
    )
    spectrum_bands: int = threshold(
        48, '', 'Bands of equal ratio over which a spectrum is averaged.'
    )
    spectrum_samples: int = threshold(64, '', 'Fewest samples of a spectrum.')
    least_pieces: float = threshold(
        2.0,
        '',
        'Longest piece by the shortest allowed, at least, at the chosen cut-off frequency.',
    )

    # Filter
    filter_order: int = threshold(
        4, '', 'Order of the Butterworth filter, which runs forwards and backwards.'
    )
    samples_per_period: float = threshold(
        4.0, '', 'Fewest samples of a log in a period of the cut-off frequency.'
    )
    window_margin: float = threshold(
        6.0, 'periods of the cut-off frequency', 'Overlap of the windows of a segment.'
    )
    end_margin: float = threshold(
        2.0, 'periods of the cut-off frequency', 'What is left out at either end.'
    )
    kept_samples_per_period: float = threshold(
        2.5, '', 'Samples that are kept in a period of the cut-off frequency.'
    )
    motion_band: float = threshold(
        2.0, '', 'Cut-off frequency of the motion that a model sees, by that of the efforts.'
    )
    dense_samples_per_period: float = threshold(
        24.0, '', 'Fewest samples in that period at which a model is evaluated.'
    )
    velocity_deviations: float = threshold(
        3.0, '', 'A velocity so many standard deviations off zero counts as motion.'
    )
    standing_share: float = threshold(
        0.02,
        '',
        'A velocity below this part of the largest stands: its Coulomb friction is unknown.',
    )
    still_velocity: float = threshold(
        1e-3, 'rad/s or m/s', 'A joint that is never faster does not move.'
    )
    saturation: float = threshold(
        0.995, '', 'Part of the effort limit from which an effort is taken to be cut off.'
    )

    # Parts of long logs
    part_samples: int = threshold(
        100_000, '', 'Samples of a part, about; a log of up to twice that is one part.'
    )
    transform_length: int = threshold(
        1 << 17,
        'samples',
        'A part with its surroundings: a length that suits the Fourier transform.',
    )
    transform_share: float = threshold(
        0.98, '', 'Part of that length that is used, because rates vary.'
    )
    looked_at_parts: int = threshold(
        8, '', 'Parts of a long log that tell rate, cut-off frequency and faults.'
    )
    look_length: float = threshold(0.1, '', 'Length of each of them, by that of a part.')
    samples_beside: int = threshold(
        64, '', 'Samples to either side that are looked at with a part.'
    )
    overlap: float = threshold(
        16.0,
        'periods of the cut-off frequency',
        'Filtered beside a part: the filter forgets all but 1e-9 of what came before.',
    )
    continuation: float = threshold(
        4.0,
        'periods of the cut-off frequency',
        'By this the filter continues a part at either end.',
    )
    shown_periods: float = threshold(
        32.0, 'periods of the cut-off frequency', 'Shorter parts are not shown by themselves.'
    )


FILTER = LogFilterThresholds()
"""Those that count."""


@dataclass(frozen=True)
class SampleThresholds:
    """What counts as a fault of samples."""

    # effort_faults
    moving_share: float = threshold(
        0.05, '', 'A joint moves from this part of its largest step between samples.'
    )
    effort_samples: int = threshold(20, '', 'Fewest samples of a fault of efforts.')
    dead_band_share: float = threshold(
        0.6, '', 'Part of the samples in motion whose efforts of 0 are a dead band.'
    )
    cut_share: float = threshold(
        0.02, '', 'Part of the samples in motion whose equal largest efforts are cut off.'
    )
    near_share: float = threshold(
        0.01, '', 'What is just below the largest effort: within this part of the range ...'
    )
    near_steps: float = threshold(1.5, '', '... or so many of its smallest steps.')
    crowding: float = threshold(
        5.0, '', 'Samples at the largest effort by those just below: a quantised sine has 2.4.'
    )
    at_limit: float = threshold(
        0.99, '', 'Part of the effort limit from which the motor, not the log, cuts off.'
    )
    effort_levels: int = threshold(
        20,
        '',
        'Fewest values of an effort that tell: coarse or constant ones crowd by themselves.',
    )
    longest_rest: float = threshold(
        0.5, 's', 'An effort that is equal for longer, while its joint moves, is stale.'
    )
    stale_travel: float = threshold(
        0.05, '', 'Part of its range that the joint must go meanwhile.'
    )
    steady_speed: float = threshold(
        0.02, '', 'Speed variation with which efforts may stay equal: vertical axes and slides.'
    )
    fresh_share: float = threshold(
        0.5, '', 'Part of the other samples that must have new efforts: coarse ones rest anyway.'
    )

    # position_jumps
    steps_around: int = threshold(4, '', 'Steps to either side that tell what is usual.')
    jump_deviations: float = threshold(
        15.0, '', 'Least jump, in standard deviations of steps from the usual.'
    )
    jump_steps: float = threshold(2.0, '', 'Least jump, in largest steps of the joint.')
    smallest_jump: float = threshold(5e-3, 'rad or m', 'Least jump.')
    lone_jump_steps: float = threshold(
        3.0, '', 'Least jump of the only joint that moves, in steps at full speed.'
    )
    jump_stays: float = threshold(0.7, '', 'Part of a jump that is still there a few steps later.')
    jump_moving_share: float = threshold(
        0.1, '', 'A joint is seen to move from this part of its largest step.'
    )
    most_jumps: int = threshold(5, '', 'Most jumps of a joint: more are no new zero.')
    steps_lost: float = threshold(
        8.0, '', 'Usual steps that all joints go at once where samples were lost.'
    )
    longest_step: float = threshold(
        3.0, 'median steps of time', 'Across a longer step nothing is told.'
    )

    # sample_faults
    unlikely_step: float = threshold(
        0.4, 's', 'A log with longer steps of time may be in another unit than seconds.'
    )
    fastest_joint: float = threshold(
        10.0, 'rad/s or m/s', 'Largest speed of a joint without a velocity limit.'
    )
    harmless_share: float = threshold(
        0.03, '', 'Part of the samples whose repetition does no harm: they are left out.'
    )
    crawling_speed: float = threshold(0.02, 'rad/s or m/s', 'A slower joint may seem to stand.')
    resolved_steps: float = threshold(
        3.0, '', 'A change of so many smallest steps is told apart between samples.'
    )
    spike_window: int = threshold(5, 'samples', 'Samples around one that say what it should be.')
    spike_deviations: float = threshold(
        12.0, '', 'Least spike, in standard deviations of the noise.'
    )
    spike_range: float = threshold(0.8, '', 'Least spike of an effort, by its range.')
    coarsest_step: float = threshold(
        0.02, '', 'Coarsest step between efforts, by their limit or by the largest effort.'
    )
    spike_steps: float = threshold(3.0, '', 'Least spike of a position, in steps at full speed.')
    spike_beside: float = threshold(
        0.5, '', 'Part of a spike by which the samples beside it may be off.'
    )
    spike_beside_ringing: float = threshold(0.3, '', 'The same where efforts may ring.')
    settling_time: float = threshold(0.5, 's', 'So long at either end, efforts may ring.')
    most_spikes: float = threshold(0.2, '', 'Part of the samples from which spikes are none.')

    # source_clock
    largest_gap: float = threshold(
        5.0, 'median steps of time', 'Shorter gaps are bridged by interpolation.'
    )
    clock_gaps: int = threshold(3, '', 'Fewest gaps in the stamps that tell a clock.')
    clock_gap: float = threshold(1.5, 'steps of the recorder', 'Shortest gap in the stamps.')
    one_step: float = threshold(
        1.5, '', 'Usual steps of the joints below which they have gone one, above two.'
    )
    gaps_crossed: float = threshold(0.75, '', 'Part of the gaps that must be crossed in one step.')
    uneven_steps: float = threshold(
        1.0,
        'steps of the recorder',
        'Largest error of a stamp: the sawtooth makes half a step, delays add.',
    )

    # stale_samples
    encoder_steps: float = threshold(
        2.0, '', 'Encoder steps between samples from which a joint moves.'
    )

    # usable_samples
    samples_behind: int = threshold(
        3, '', 'Fewest earlier samples in a row of a clock set back: fewer came late.'
    )
    clock_going_on: float = threshold(0.8, '', 'Part of their steps of time that go on.')


FAULTS = SampleThresholds()
"""Those that count."""
