"""Tests that `make test` leaves out, or runs some cases of; `make test-long` runs the rest.

Their cases are many of a kind: robots, seeds, faults; or they tell over DDS what shorter tests
tell in one process. Of those named here `make test` runs as many as are written behind the name,
spread over all of them. The others bear the marker `long`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

KEPT: Mapping[str, Mapping[str, int]] = {
    'algorithms/test_mechanism.py': {
        'test_long_chains_agree_and_their_operations_grow_with_their_length': 0,
        'test_poses_are_right_however_close_to_parallel_axes_are': 4,
        'test_the_effect_of_a_loose_tolerance_is_within_its_bound': 2,
        'test_torques_agree_with_a_textbook_recursion': 4,
        'test_torques_are_right_however_close_to_parallel_axes_are': 4,
    },
    'algorithms/test_quarter_turns.py': {
        'test_a_split_rotation_is_the_rotation_whatever_rounding_left_in_it': 4,
        'test_chains_of_quarter_turns_agree_with_the_textbook': 1,
    },
    'algorithms/test_regressor.py': {
        'test_both_forms_agree': 4,
        'test_times_the_parameters_it_is_the_effort': 4,
    },
    'algorithms/test_sensitivity.py': {'test_derivatives_are_those_of_the_recursion': 3},
    'algorithms/test_tolerance.py': {
        'test_known_robots_take_no_more_operations_than_before': 2,
        'test_no_joint_feels_the_default_tolerance': 3,
        'test_what_a_tolerance_changes_is_within_its_bound': 3,
    },
    'benchmark/test_bench_command.py': {
        'test_checkouts_are_compared': 0,
        'test_loaded_hop_runs': 0,
        'test_part_runs': 1,
        'test_regressor_part_runs': 0,
        'test_sweep_part_runs': 0,
    },
    'benchmark/test_bench_competitors.py': {'test_contenders_compute_the_same': 6},
    'bring_up/test_setup.py': {'test_colcon_builds_it': 2},
    'cli/test_cli_equations.py': {
        'test_all_functions_are_written_as_one_module': 1,
    },
    'cli/test_cli_reproduce.py': {
        'test_forms_that_disagree_end_with_an_error': 1,
        'test_simulations_draw_and_print_json': 1,
    },
    'cli/test_default_names.py': {
        'test_a_name_that_is_taken_gets_a_number': 1,
    },
    'cli/test_demo.py': {
        'test_a_missing_dependency_is_named_with_the_extra_that_brings_it': 1,
        'test_an_interrupted_demo_leaves_no_process_behind': 1,
        'test_the_demo_prints_tables_and_writes_plots': 0,
        'test_what_cannot_be_run_ends_with_code_1_and_a_reason': 2,
    },
    'cli/test_demo_documents.py': {
        'test_a_base_that_is_tilted_or_rocks': 0,
        'test_a_model_that_is_wrong': 0,
        'test_a_tool_that_is_picked_up': 0,
        'test_motors_that_are_too_weak': 0,
        'test_positions_alone': 0,
        'test_the_document_has_the_errors_of_the_demo': 0,
    },
    'cli/test_demo_scenarios.py': {
        'test_when_sensors_are_lost_the_watchdog_keeps_the_arm_and_hold_keeps_the_tool': 0,
    },
    'cli/test_full_disk.py': {
        'test_an_export_is_whole_or_as_it_was': 1,
        'test_standard_output_that_is_full_is_one_line': 2,
    },
    'cli/test_gains.py': {
        'test_what_cannot_be_used_is_one_line': 4,
    },
    'cli/test_hostile_names.py': {
        'test_annotated_file_has_the_same_names': 6,
        'test_identified_urdf_has_the_same_names': 1,
        'test_reports_on_dh_files_are_safe_to_print': 1,
    },
    'cli/test_identify.py': {
        'test_a_failure_on_the_way_writes_nothing': 1,
    },
    'cli/test_identify_extras.py': {
        'test_evaluate_says_of_the_files_what_identify_reported': 1,
        'test_files_of_a_recorded_bag_are_what_was_reported': 0,
    },
    'cli/test_identify_faults.py': {
        'test_changes_by_hand': 1,
        'test_gripper_that_does_not_move_is_locked': 1,
        'test_what_cuts_a_log_or_lifts_its_efforts_writes_nothing': 1,
    },
    'cli/test_identify_long.py': {
        'test_nothing_is_left_when_a_signal_comes': 1,
    },
    'cli/test_identify_payload.py': {
        'test_refusals': 2,
        'test_the_load_of_a_log': 1,
    },
    'cli/test_identify_report.py': {
        'test_the_model_stands_when_the_report_fails': 0,
    },
    'cli/test_whatis.py': {
        'test_no_profile_is_written_that_no_parameter_makes_right': 0,
    },
    'codegen/test_array_api.py': {
        'test_every_function_equals_its_method': 24,
        'test_the_text_is_straight_lines_that_write_into_nothing': 1,
    },
    'codegen/test_base_parameters.py': {
        'test_base_parameters_are_taken_where_it_is_said_that_they_are_no_bodies': 1
    },
    'codegen/test_batch_code.py': {'test_rows_of_every_width_are_turned_and_turned_back': 14},
    'codegen/test_c_project.py': {
        'test_functions_that_a_robot_lacks_are_left_out': 1,
        'test_the_library_builds_without_a_warning_and_its_test_passes': 1,
        'test_the_object_has_no_data_and_calls_nothing_but_functions_of_numbers': 1,
    },
    'codegen/test_code_lifetime.py': {
        'test_a_pool_of_processes_computes_a_method': 1,
        'test_a_sweep_of_robots_keeps_neither_maps_nor_memory': 0,
        'test_a_thread_with_a_small_stack_computes_everything': 0,
    },
    'codegen/test_compiled.py': {
        'test_arguments_can_be_given_by_name_and_place': 6,
        'test_backends_agree_on_every_function_single_and_batch': 8,
        'test_no_function_takes_a_number_that_is_not_finite': 8,
        'test_results_are_fresh_arrays_of_the_caller': 10,
    },
    'codegen/test_control_law.py': {
        'test_a_firmware_gets_the_efforts_of_the_node': 1,
        'test_diagonal_gains_and_their_matrices_give_one_law': 2,
        'test_the_general_law_is_what_it_says': 3,
        'test_the_library_gives_no_result_of_what_is_no_number': 1,
    },
    'codegen/test_friction.py': {
        'test_derivatives_are_finite_differences': 2,
        'test_efforts_are_those_without_friction_and_the_formula': 4,
        'test_forward_dynamics_are_the_inverse_with_every_term_on': 1,
    },
    'codegen/test_friction_under_wrenches.py': {
        'test_a_wrench_at_the_tip_can_be_given_either_way': 1,
        'test_accelerations_and_efforts_are_inverse_under_wrenches': 1,
        'test_the_friction_is_that_of_the_whole_load': 1,
    },
    'codegen/test_object_loader.py': {'test_every_function_of_the_table_is_linked': 0},
    'codegen/test_regressor_gradient.py': {'test_it_is_the_gradient_of_a_weighted_sum': 2},
    'codegen/test_result_arrays.py': {'test_the_result_is_written_into_out': 8},
    'codegen/test_rounding_note.py': {
        'test_an_export_says_it_of_each_function': 1,
        'test_no_printed_function_changes_by_more_than_its_header_says': 1,
    },
    'codegen/test_source.py': {
        'test_names_in_the_header_cannot_leave_their_comment': 10,
        'test_no_name_of_a_model_file_reaches_the_assembly': 2,
        'test_no_name_of_a_model_file_reaches_what_is_executed': 1,
    },
    'codegen/test_without_entry.py': {
        'test_a_module_without_entry_refers_to_nothing_outside': 5,
        'test_every_function_is_computed': 1,
    },
    'commission/test_commission_arms.py': {
        'test_an_arm_with_hidden_errors_follows_as_one_that_is_known': 0,
        'test_two_runs_record_the_same': 0,
        'test_what_an_arm_hides_is_found_and_it_follows_better': 0,
    },
    'commission/test_commission_faults.py': {
        'test_a_run_that_is_killed_leaves_no_process_and_the_arm_under_brakes': 0
    },
    'commission/test_commission_findings.py': {
        'test_a_seed_is_a_number_on_the_page': 2,
        'test_nothing': 1,
        'test_run_and_profile_never_contradict_each_other': 1,
        'test_torques_with_much_noise': 1,
    },
    'commission/test_commission_in_process.py': {
        'test_a_hard_stop_ends_the_run_by_name': 0,
        'test_an_arm_with_hidden_errors_follows_as_one_that_is_known': 1,
        'test_play_of_its_gears_is_told_by_the_first_fit': 0,
    },
    'commission/test_commission_static_friction.py': {
        'test_a_joint_that_swings_by_too_much_static_friction_is_calmed': 0
    },
    'control/test_damped_faults.py': {'test_two_publishers_in_turns_do_not_throw_the_arm': 4},
    'control/test_effort_steps.py': {'test_healthy_drivers_are_not_blamed': 3},
    'control/test_feasibility.py': {'test_a_loop_with_a_velocity_filter_grows_as_it_is_said': 8},
    'control/test_late_plans.py': {'test_a_stream_is_checked_by_what_is_followed': 1},
    'control/test_laws.py': {'test_annotation_and_law_feed_the_same_forward': 12},
    'control/test_nothing_steps.py': {'test_the_same_settings_again_make_no_difference': 4},
    'control/test_observer.py': {'test_what_the_model_is_told_of_is_no_disturbance': 6},
    'control/test_payload_estimate.py': {
        'test_a_model_that_is_wrong_makes_the_load_known_the_less': 2,
        'test_a_wrist_sensor_tells_the_load': 1,
        'test_links_that_are_wrong_each_in_its_own_way_are_counted': 2,
        'test_the_uncertainty_is_honest': 2,
    },
    'control/test_position_stream.py': {
        'test_arrival_matters_little_where_they_bear_none': 1,
        'test_short_chunks_have_the_efforts_of_the_true_motion': 1,
    },
    'control/test_weight_check.py': {
        'test_a_mirrored_weight_is_found_where_it_is_felt': 3,
        'test_a_sound_arm_is_never_called_mirrored': 3,
    },
    'controller/test_controller_behaviour.py': {
        'test_a_million_updates_allocate_nothing_and_call_nothing_of_the_system': 1
    },
    'controller/test_controller_law.py': {
        'test_the_controller_commands_what_the_node_commands': 1
    },
    'controller/test_controller_package.py': {
        'test_a_package_may_have_any_name': 1,
        'test_cmake_builds_the_library_and_the_test_of_the_equations': 0,
    },
    'driver/test_changed_meanwhile.py': {
        'test_a_change_is_named_and_nothing_is_repaired': 2,
        'test_what_a_tilted_arm_reports_is_no_current': 1,
    },
    'driver/test_driver_contradictions.py': {
        'test_an_echo_is_found_however_late': 2,
    },
    'driver/test_driver_description.py': {
        'test_the_meaning_of_efforts_is_found': 1,
        'test_the_meaning_of_efforts_is_found_on_other_arms': 1,
    },
    'driver/test_driver_signals.py': {
        'test_delay_and_jitter_of_efforts': 3,
    },
    'driver/test_log_diagnosis.py': {
        'test_a_fold_of_a_recorded_ur10e_has_no_turns': 1,
        'test_correct_logs_have_no_fault': 1,
        'test_faults_planted_in_recorded_logs_are_found': 1,
        'test_friction_that_turns_round_gradually_is_no_fault': 1,
        'test_joints_of_which_the_model_expects_nothing_have_no_vote': 1,
        'test_planted_faults_are_found_and_repaired': 2,
        'test_recorded_ur10e_is_right': 1,
        'test_two_faults_are_both_found': 1,
    },
    'driver/test_log_hypotheses.py': {
        'test_a_base_that_is_tilted_by_fifteen_degrees_is_named': 1,
        'test_a_description_of_another_robot_is_named': 1,
        'test_a_zero_that_is_off_by_twenty_degrees_is_named': 1,
        'test_an_arm_that_hangs_from_the_ceiling_is_named': 1,
        'test_efforts_in_newton_millimetres_are_one_finding': 1,
        'test_efforts_of_one_sign_by_themselves_are_no_fault': 1,
        'test_good_logs_of_six_arms_raise_no_alarm': 4,
        'test_gravity_that_a_driver_takes_out_is_named': 2,
        'test_one_joint_of_several_in_degrees_is_named': 1,
        'test_the_gear_of_an_encoder_is_named': 1,
        'test_what_nothing_explains_says_what_was_tried_and_repairs_nothing': 1,
    },
    'driver/test_other_causes.py': {
        'test_a_load_nearly_as_heavy_as_its_arm_is_named': 1,
        'test_an_elbow_reported_against_the_horizon_is_not_repaired': 2,
    },
    'faults/test_fault_processes.py': {
        'test_the_node_is_killed_under_way': 0,
        'test_the_robot_is_killed_and_started_again': 0,
    },
    'fuzz/test_fuzz.py': {
        'test_it_finds_bad_commands': 1,
        'test_it_finds_exceptions': 1,
        'test_messages_of_all_kinds': 2,
    },
    'fuzz/test_fuzz_annotator.py': {'test_trajectories_of_all_kinds': 1},
    'fuzz/test_fuzz_core.py': {'test_a_parameter_is_refused_or_of_its_kind': 12},
    'gains/test_gain_falling.py': {
        'test_no_arm_falls_with_gains_by_the_factor_that_is_printed': 0
    },
    'golden/test_identification_net.py': {
        'test_a_driver_is_described_as_it_was': 0,
        'test_a_load_is_the_one_that_was_found': 0,
        'test_a_log_gives_the_model_that_it_gave': 1,
        'test_planted_faults_are_found_as_they_were': 0,
    },
    'golden/test_interfaces_net.py': {'test_equations_take_as_many_operations_as_before': 2},
    'identification/test_base_estimate.py': {
        'test_intervals_of_each_base_parameter_hold_the_truth': 0
    },
    'identification/test_coupled_drives.py': {
        'test_a_log_shows_the_ratio_of_a_drive': 1,
        'test_a_log_shows_which_joints_share_a_drive': 0,
        'test_an_arm_without_one_gets_none': 1,
    },
    'identification/test_drive_gains.py': {
        'test_logs_that_do_not_show_the_load_are_refused': 1,
        'test_one_log_of_an_arm_farther_off_than_believed': 1,
        'test_two_logs_and_a_mass_tell_the_gains': 2,
    },
    'identification/test_identify.py': {'test_other_arms_and_motions': 1},
    'identification/test_identify_drives.py': {
        'test_another_displacement_is_better_than_none': 1,
        'test_friction_of_another_kind_is_chosen_where_it_is_there': 1,
    },
    'identification/test_identify_real_logs.py': {
        'test_a_fit_with_much_freedom_converges': 1,
        'test_panda_is_predicted_by_the_default': 0,
        'test_ur10e_keeps_its_masses_and_predicts_another_motion': 0,
    },
    'identification/test_payload_fit.py': {
        'test_one_log_counts_what_may_be_wrong_with_the_arm': 1,
        'test_two_logs_tell_all_ten_parameters': 1,
    },
    'identification/test_recorded_load.py': {
        'test_gains_of_a_ur10e_are_the_same_by_two_motions': 0,
        'test_the_load_of_a_ur10e': 1,
    },
    'logs/test_executors.py': {
        'test_a_scheduler_that_does_not_answer': 1,
        'test_a_worker_of_another_version_is_refused': 0,
        'test_a_worker_that_is_killed_changes_nothing': 0,
        'test_the_command_on_a_cluster_says_what_it_says_here': 0,
    },
    'logs/test_layouts_of_csv.py': {
        'test_columns_are_named_by_hand': 1,
        'test_messages_that_were_printed': 1,
    },
    'logs/test_long_logs.py': {'test_memory_does_not_grow_with_the_log': 0},
    'motion/test_annotation.py': {
        'test_friction_with_hysteresis_follows_the_path': 4,
        'test_linear_interpolation_stays_within_the_tolerance': 4,
        'test_three_arms_stay_within_the_tolerance_by_pinocchio': 4,
    },
    'motion/test_check.py': {
        'test_no_sample_lies_outside_the_bounds': 8,
        'test_the_extremes_are_those_of_dense_samples': 8,
    },
    'motion/test_position_spline.py': {
        'test_streamed_chunks_have_the_efforts_of_the_true_motion': 5
    },
    'motion/test_retiming.py': {'test_the_motion_between_the_points_is_within_the_limits': 3},
    'motion/test_time_optimal.py': {'test_no_limit_is_left_and_one_is_always_met': 2},
    'oracles/test_inverse_kinematics.py': {
        'test_poses_of_example_robots_are_met': 4,
        'test_poses_of_random_arms_are_met': 4,
    },
    'oracles/test_link_frames.py': {'test_rates_of_jacobians_of_trees': 6},
    'oracles/test_loads.py': {'test_dynamics_with_loads': 12},
    'oracles/test_pinocchio_dh.py': {'test_random_chains': 6},
    'oracles/test_pinocchio_random_trees.py': {
        'test_chain_with_the_rest_locked': 4,
        'test_inverse_dynamics_and_gravity': 10,
        'test_mass_matrix_coriolis_and_forward_dynamics': 5,
        'test_regressor': 4,
    },
    'oracles/test_pinocchio_robots.py': {
        'test_coriolis_matrix_is_the_christoffel_one': 4,
        'test_forward_dynamics': 8,
        'test_forward_kinematics_of_named_links': 4,
        'test_inverse_dynamics': 8,
        'test_jacobian': 6,
        'test_quantity': 12,
        'test_regressor': 4,
    },
    'oracles/test_run_time_parameters.py': {
        'test_every_method_is_that_of_the_changed_robot': 2,
        'test_zeros_in_the_model_are_not_built_in': 1,
    },
    'oracles/test_toppra.py': {'test_a_path_takes_as_long_as_toppra_says': 1},
    'oracles/test_toppra_turns.py': {'test_tight_turns_take_as_long_as_toppra_says': 4},
    'papers/test_fitted_arm.py': {'test_fitted_frames_are_the_same_robot': 8},
    'papers/test_forms_on_models.py': {
        'test_a_robot_at_rest_is_compared_by_the_scale_of_its_efforts': 2
    },
    'papers/test_formulation_agreement.py': {
        'test_a_moving_base_equals_production_and_pinocchio': 2,
        'test_craig_equals_the_production_recursion': 3,
        'test_general_formulations_equal_the_production_recursion': 3,
        'test_sasaki_equals_the_production_recursion': 3,
    },
    'papers/test_formulations_document.py': {
        'test_counts_are_up_to_date': 0,
        'test_disagreements_are_up_to_date': 0,
        'test_simulations_are_up_to_date': 1,
    },
    'ros/test_command_message.py': {'test_an_array_has_all_interfaces': 2},
    'ros/test_follow_joint_trajectory.py': {'test_what_ends_the_motion_aborts_the_goal': 3},
    'ros/test_jtc_parity.py': {
        'test_points_without_positions': 2,
        'test_the_motion_is_given_up_for_the_same': 4,
        'test_the_motion_is_the_same': 6,
        'test_what_both_refuse': 8,
    },
    'ros/test_moveit.py': {
        'test_a_plan_is_executed': 1,
        'test_a_plan_that_starts_beside_the_arm_is_executed': 0,
    },
    'ros/test_network_namespaces.py': {'test_the_network_is_cut_and_joined_again': 0},
    'ros/test_node_observer.py': {
        'test_a_contact_is_over_when_nobody_looks_any_more': 1,
        'test_a_push_ends_the_motion': 1,
    },
    'ros/test_node_payload.py': {'test_the_load_by_the_wrist_sensor': 0},
    'ros/test_node_process.py': {
        'test_a_signal_ends_it_with_the_arm_held': 1,
        'test_signals_that_keep_coming_are_ignored_once_it_stops': 1,
    },
    'ros/test_node_watchdog.py': {
        'test_an_arm_that_is_lowered_sinks_on_when_the_simulation_is_set_back': 1
    },
    'ros/test_speed_scaling.py': {
        'test_a_factor_that_cannot_be_counts_for_nothing': 2,
        'test_half_the_speed_is_the_path_of_jtc': 2,
    },
    'simulation/test_closed_loop.py': {
        'test_computed_torque_tracks_twenty_times_better_than_pd_of_the_same_bandwidth': 0
    },
    'simulation/test_damped_arms.py': {
        'test_a_motor_at_its_limit_throws_no_other_joint': 1,
        'test_a_state_that_is_not_believed_is_damped_too': 1,
        'test_braking_throws_no_joint_that_stands': 1,
        'test_encoders_that_freeze_together_are_none_of_them_believed': 1,
    },
    'simulation/test_deactivated_arm.py': {'test_an_arm_that_moves_is_braked_first': 1},
    'simulation/test_drive_loop.py': {'test_the_effort_is_what_makes_them_precise': 1},
    'simulation/test_fault_damping.py': {
        'test_a_frozen_encoder_lets_no_joint_get_faster': 1,
        'test_an_arm_that_shakes_beyond_its_limits_calms_down': 1,
        'test_no_joint_gets_faster': 2,
    },
    'simulation/test_firmware_law.py': {'test_a_firmware_moves_the_arm_as_the_controller_does': 1},
    'simulation/test_gain_proof.py': {
        'test_arms_settle_and_beyond_the_margin_they_do_not': 1,
        'test_errors_of_a_motion_are_those_that_were_predicted': 0,
    },
    'simulation/test_hysteresis_loop.py': {'test_the_path_is_worth_most_of_the_error': 1},
    'simulation/test_leader_arm.py': {
        'test_a_hand_moves_it_and_released_it_stays': 1,
        'test_a_model_with_too_much_friction_does_not_run_away': 1,
        'test_deactivated_while_nobody_sees_it_it_is_not_thrown': 1,
        'test_masses_that_are_wrong_by_a_tenth_do_not_let_it_run_away': 1,
        'test_with_friction_it_stays_where_it_was_left': 1,
    },
    'simulation/test_motion_faults.py': {
        'test_a_frozen_encoder_under_way': 2,
        'test_a_model_that_is_wrong_is_no_fault': 2,
        'test_an_arm_without_velocities_follows_by_computed_torque': 1,
        'test_good_motion_is_left_alone': 2,
    },
    'simulation/test_mujoco_model.py': {'test_on_a_moving_base_the_arm_moves_as_in_pinocchio': 2},
    'simulation/test_observer_loop.py': {
        'test_a_push_is_seen_soon': 1,
        'test_elastic_joints_do_not_swing': 0,
        'test_fast_motions_are_no_contact': 1,
        'test_it_is_never_worse': 1,
        'test_stiction_makes_no_joint_hunt': 0,
    },
    'simulation/test_pacing_changes_loop.py': {
        'test_a_limit_that_is_lowered_slows_the_rest_of_the_path': 0,
        'test_a_motion_replaced_while_scaled_goes_on_in_position_and_velocity': 1,
        'test_a_motion_that_is_given_up_stops_on_its_path': 1,
        'test_a_path_waits_for_a_joint_that_is_held': 1,
        'test_a_payload_that_is_set_slows_the_rest_of_the_path': 0,
        'test_a_scaled_motion_stays_on_its_path': 0,
        'test_what_comes_while_paused_moves_nothing_until_resumed': 0,
    },
    'simulation/test_pacing_loop.py': {'test_weak_motors_cost_time_and_no_path': 1},
    'simulation/test_payload_loop.py': {
        'test_a_slow_motion_tells_by_efforts': 0,
        'test_an_arm_on_a_tilted_base': 0,
        'test_one_pose_is_not_enough': 1,
        'test_the_wrist_sensor_tells': 1,
    },
    'simulation/test_pushed_arm.py': {
        'test_a_rate_limit_that_is_refused_lets_the_arm_swing': 1,
        'test_a_rate_limit_that_lets_the_arm_swing_after_a_moderate_push_is_refused': 1,
        'test_a_rate_limit_that_lets_the_arm_swing_is_warned_of': 1,
        'test_whatever_is_accepted_without_a_remark_comes_to_rest': 3,
    },
    'simulation/test_slow_states.py': {'test_an_arm_that_stands_at_last_is_held': 1},
    'simulation/test_state_effort_loop.py': {
        'test_what_is_meant_makes_no_step': 4,
        'test_whatever_is_set_the_step_is_bounded': 4,
    },
    'simulation/test_state_loss.py': {
        'test_an_arm_with_gears_stands': 2,
        'test_the_commands_go_on_without_a_step': 1,
        'test_velocities_that_are_differences_of_coarse_positions_do_not_matter_with_gears': 1,
    },
    'simulation/test_sticking_joints.py': {
        'test_an_encoder_that_freezes_at_rest_is_found_when_it_matters': 1,
        'test_an_encoder_that_freezes_in_motion_is_found_within_50_ms': 3,
        'test_friction_that_nobody_knows_is_no_frozen_encoder': 2,
        'test_no_friction_is_taken_for_a_frozen_encoder': 2,
    },
    'simulation/test_streams.py': {
        'test_a_lost_chunk_leaves_the_arm_on_its_way': 0,
        'test_streamed_positions_have_a_feed_forward': 0,
    },
    'simulation/test_two_publishers.py': {
        'test_an_arm_that_is_left_under_way_is_braked': 1,
        'test_one_that_is_near_at_some_joints_shakes_none': 1,
        'test_one_that_repeats_a_state_with_its_stamp_throws_it_not': 1,
        'test_one_that_shows_a_pose_near_the_way_of_the_arm_throws_it_not': 1,
    },
    'simulation/test_wild_wrench.py': {
        'test_a_force_that_no_motor_can_hold_is_not_compensated': 1
    },
    'simulation/test_wrench_loop.py': {
        'test_gain_or_feedthrough_make_a_tool_that_nobody_knows_calm': 1,
        'test_the_heaviest_tool_is_that_of_the_lag_of_the_reading': 0,
        'test_what_the_gain_leaves_out_of_a_known_tool_the_model_puts_in': 1,
        'test_with_a_little_less_gain_any_tool_is_calm': 0,
    },
    'simulation/test_wrench_sign_loop.py': {'test_a_contact_is_no_wrong_sign': 1},
    'simulation/test_wrench_without_readings.py': {
        'test_readings_that_begin_stop_and_return_leave_the_arm_where_it_is': 1,
        'test_where_model_and_reading_differ_one_takes_over_from_the_other_without_a_step': 1,
        'test_without_any_reading_the_tool_of_the_model_is_carried': 2,
    },
    'site/test_tutorials.py': {'test_the_tutorial_of_a_log': 0},
    'test_arguments.py': {'test_a_number_that_is_not_finite_is_named_for_every_size': 2},
    'test_document_numbers.py': {
        'test_an_arm_sags_as_the_table_says': 2,
        'test_gains_of_an_arm_with_rotors_are_as_large_as_is_said': 0,
        'test_gains_of_the_drives_of_a_recorded_arm_are_those_of_the_table': 0,
        'test_the_c_library_is_as_large_as_is_said': 0,
        'test_the_load_of_a_recorded_arm_is_as_heavy_as_is_said': 0,
    },
}


GOLDEN = 0.6180339887498949


def holds_nothing_for(markexpr: str, file: str) -> bool:
    """Return whether a file holds no test of those that are asked for by their marker.

    Parameters
    ----------
    markexpr : str
        What was given to pytest as `-m`.
    file : str
        Below `test`.
    """
    return markexpr == 'long' and file not in KEPT


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


def chosen_part(cases: Sequence[Case], part: str) -> Sequence[Case]:
    """Return a part of long tests, every n-th of them, so that n parts are all.

    Parameters
    ----------
    cases : sequence of Case
    part : str
        `K/N`, K from 1 to N; '' for all.
    """
    if not part:
        return cases
    number, _, count = part.partition('/')
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f'NE_DYNAMICS_LONG_PART: expected K/N, K from 1 to N, got {part!r}')
    return cases[int(number) - 1 :: int(count)]
