"""Tests that `make test` leaves out, or runs some cases of; `make test-long` runs the rest.

Their cases are many of a kind: robots, seeds, faults. Of those named here `make test` runs as many
as are written behind the name, spread over all of them. The others bear the marker `long`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

KEPT: Mapping[str, Mapping[str, int]] = {
    'algorithms/test_mechanism.py': {
        'test_long_chains_agree_and_their_operations_grow_with_their_length': 0,
        'test_the_effect_of_a_loose_tolerance_is_within_its_bound': 4,
        'test_torques_are_right_however_close_to_parallel_axes_are': 14,
    },
    'algorithms/test_tolerance.py': {'test_what_a_tolerance_changes_is_within_its_bound': 5},
    'bench/test_bench_command.py': {
        'test_part_runs': 1,
        'test_regressor_part_runs': 0,
        'test_sweep_part_runs': 0,
    },
    'cli/test_hostile_names.py': {
        'test_identified_urdf_has_the_same_names': 6,
        'test_reports_on_dh_files_are_safe_to_print': 10,
    },
    'codegen/test_c_project.py': {
        'test_the_library_builds_without_a_warning_and_its_test_passes': 1,
        'test_the_test_fails_when_the_equations_are_those_of_another_robot': 0,
    },
    'codegen/test_cache.py': {'test_a_damaged_file_is_replaced': 4},
    'codegen/test_code_lifetime.py': {
        'test_a_method_can_be_pickled_before_and_after_calls': 9,
        'test_a_pool_of_processes_computes_a_method': 2,
        'test_a_sweep_of_robots_keeps_neither_maps_nor_memory': 0,
        'test_code_in_a_cycle_of_garbage_is_unloaded_whole': 0,
    },
    'codegen/test_compiled.py': {
        'test_backends_agree_on_every_function_single_and_batch': 38,
    },
    'codegen/test_control_law.py': {
        'test_a_firmware_gets_the_efforts_of_the_node': 2,
        'test_diagonal_gains_and_their_matrices_give_one_law': 8,
        'test_the_general_law_is_what_it_says': 4,
    },
    'codegen/test_friction.py': {
        'test_efforts_are_those_without_friction_and_the_formula': 6,
        'test_forward_dynamics_are_the_inverse_with_every_term_on': 2,
    },
    'codegen/test_source.py': {
        'test_no_name_of_a_model_file_reaches_what_is_executed': 5,
        'test_text_of_random_robots_keeps_to_the_alphabet': 2,
    },
    'codegen/test_without_entry.py': {
        'test_a_module_without_entry_refers_to_nothing_outside': 10,
        'test_every_function_is_computed': 2,
    },
    'commission/test_commission_arms.py': {
        'test_an_arm_with_hidden_errors_follows_as_one_that_is_known': 0,
        'test_what_an_arm_hides_is_found_and_it_follows_better': 0,
    },
    'control/test_position_stream.py': {
        'test_short_chunks_have_the_efforts_of_the_true_motion': 4,
    },
    'identification/test_log_diagnosis.py': {
        'test_faults_planted_in_recorded_logs_are_found': 4,
        'test_planted_faults_are_found_and_repaired': 9,
    },
    'oracles/test_derivatives.py': {
        'test_a_singular_mass_matrix_is_refused': 4,
        'test_forward_dynamics_against_differences': 8,
        'test_forward_dynamics_of_trees_against_pinocchio': 6,
        'test_inverse_dynamics_against_differences': 8,
        'test_inverse_dynamics_of_trees_against_pinocchio': 6,
        'test_robots_against_pinocchio': 5,
        'test_the_slope_of_a_sign_is_zero_at_rest_too': 2,
        'test_velocity_slopes_are_coriolis_terms': 6,
    },
    'oracles/test_energy.py': {
        'test_energy_and_momentum_are_forms_of_the_mass_matrix': 5,
        'test_trees_agree_with_pinocchio': 5,
    },
    'oracles/test_link_frames.py': {
        'test_poses_of_all_links_of_trees': 10,
        'test_rates_of_jacobians_of_trees': 16,
        'test_robots': 6,
    },
    'oracles/test_loads.py': {
        'test_forward_dynamics_with_loads': 28,
        'test_wrenches_on_any_link': 12,
    },
    'oracles/test_pinocchio_dh.py': {'test_random_chains': 10},
    'oracles/test_pinocchio_moving_base.py': {'test_random_trees_on_a_moving_base': 10},
    'oracles/test_pinocchio_random_trees.py': {
        'test_chain_with_the_rest_locked': 10,
        'test_inverse_dynamics_and_gravity': 50,
        'test_kinematics': 12,
        'test_mass_matrix_coriolis_and_forward_dynamics': 12,
        'test_regressor': 12,
    },
    'oracles/test_run_time_parameters.py': {
        'test_every_method_is_that_of_the_changed_robot': 3,
        'test_large_numbers': 6,
        'test_robots_of_the_package': 1,
    },
    'oracles/test_toppra.py': {'test_a_path_takes_as_long_as_toppra_says': 2},
    'papers/test_formulation_agreement.py': {
        'test_a_moving_base_equals_production_and_pinocchio': 3,
        'test_craig_equals_the_production_recursion': 3,
        'test_general_formulations_equal_the_production_recursion': 3,
        'test_sasaki_equals_the_production_recursion': 3,
    },
    'papers/test_formulations_document.py': {
        'test_counts_are_up_to_date': 0,
        'test_disagreements_are_up_to_date': 0,
        'test_simulations_are_up_to_date': 0,
    },
    'simulation/test_observer_loop.py': {
        'test_a_push_is_seen_soon': 4,
        'test_elastic_joints_do_not_swing': 2,
        'test_it_is_never_worse': 6,
    },
    'simulation/test_pacing_changes_loop.py': {
        'test_a_motion_that_is_given_up_stops_on_its_path': 8,
        'test_a_path_waits_for_a_joint_that_is_held': 2,
        'test_a_scaled_motion_stays_on_its_path': 3,
        'test_what_the_model_does_not_know_costs_time_first': 2,
    },
    'simulation/test_pacing_loop.py': {'test_weak_motors_cost_time_and_no_path': 8},
    'simulation/test_payload_loop.py': {
        'test_a_slow_motion_tells_by_efforts': 2,
        'test_the_wrist_sensor_tells': 2,
    },
    'simulation/test_state_loss.py': {'test_an_arm_without_friction_is_slower_and_nearer': 1},
    'simulation/test_wrench_loop.py': {
        'test_a_sensor_that_reads_too_much_is_worse_than_one_that_reads_too_little': 0,
        'test_the_heaviest_tool_is_that_of_the_lag_of_the_reading': 2,
        'test_what_the_gain_leaves_out_of_a_known_tool_the_model_puts_in': 2,
    },
}


GOLDEN = 0.6180339887498949


class Case(Protocol):
    """What is needed of `pytest.Function`."""

    name: str


def left_out(cases: Iterable[tuple[str, Case]]) -> Iterator[Case]:
    """Yield the cases that are left to `make test-long`.

    Parameters
    ----------
    cases : iterable of (str, Case)
        File below `test`, and the case, in the order in which pytest finds them.
    """
    of_a_test: dict[tuple[str, str], list[Case]] = {}
    for file, case in cases:
        test = case.name.partition('[')[0]
        if test in KEPT.get(file, {}):
            of_a_test.setdefault((file, test), []).append(case)
    for (file, test), found in of_a_test.items():
        # By the golden ratio: spread over all of them, and in step with no parameter.
        order = sorted(range(len(found)), key=lambda place: place * GOLDEN % 1.0)
        for place in sorted(order[KEPT[file][test] :]):
            yield found[place]
