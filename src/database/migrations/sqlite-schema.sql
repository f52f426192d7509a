CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`timestamp` integer NOT NULL,
	`username` text NOT NULL,
	`email` text NOT NULL,
	`operation` text NOT NULL,
	`action_kind` text NOT NULL,
	`resource` text,
	`parameters` text
, `repeats` text);
--> statement-breakpoint
CREATE INDEX `audit_by_workspace` ON `audit_log` (`workspace_id`,`id`);
--> statement-breakpoint
CREATE TABLE `scripts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`hash` text NOT NULL,
	`path` text NOT NULL,
	`parent_hashes` text NOT NULL,
	`summary` text NOT NULL,
	`description` text NOT NULL,
	`content` text NOT NULL,
	`schema` text NOT NULL,
	`parameters` text NOT NULL,
	`language` text NOT NULL,
	`kind` text NOT NULL,
	`is_template` integer NOT NULL,
	`lock` text,
	`lock_error_logs` text,
	`ready` integer NOT NULL,
	`tag` text,
	`envs` text NOT NULL,
	`concurrent_limit` integer,
	`concurrency_time_window_s` integer,
	`concurrency_key` text,
	`cache_ttl` integer,
	`timeout` integer,
	`priority` integer,
	`delete_after_use` integer NOT NULL,
	`dedicated_worker` integer NOT NULL,
	`restart_unless_cancelled` integer NOT NULL,
	`visible_to_runner_only` integer NOT NULL,
	`ws_error_handler_muted` integer NOT NULL,
	`isolation` text NOT NULL,
	`no_main_func` integer NOT NULL,
	`has_preprocessor` integer NOT NULL,
	`on_behalf_of_email` text,
	`deployment_message` text,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`archived` integer NOT NULL,
	`deleted` integer NOT NULL,
	`extra_perms` text NOT NULL
, `preprocessor_parameters` text, `signature` text, `memory_mb` integer, `imports` text, `codebase` text, `bundle` text, `extra` text, `draft_only` integer DEFAULT false NOT NULL, `validate` integer DEFAULT false NOT NULL);
--> statement-breakpoint
CREATE UNIQUE INDEX `scripts_by_hash` ON `scripts` (`workspace_id`,`hash`);
--> statement-breakpoint
CREATE INDEX `scripts_by_path` ON `scripts` (`workspace_id`,`path`,`seq`);
--> statement-breakpoint
CREATE TABLE `tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`prefix` text NOT NULL,
	`email` text NOT NULL,
	`label` text,
	`expiration` integer,
	`scopes` text,
	`workspace_id` text,
	`kind` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL
, `notified_at` integer);
--> statement-breakpoint
CREATE INDEX `tokens_by_email` ON `tokens` (`email`);
--> statement-breakpoint
CREATE TABLE `users` (
	`email` text PRIMARY KEY NOT NULL,
	`password_hash` text,
	`login_type` text NOT NULL,
	`super_admin` integer NOT NULL,
	`devops` integer DEFAULT false NOT NULL,
	`verified` integer NOT NULL,
	`name` text,
	`company` text,
	`username` text,
	`first_time_user` integer NOT NULL,
	`created_at` integer NOT NULL
, `tutorial_progress` integer DEFAULT 0 NOT NULL);
--> statement-breakpoint
CREATE TABLE `variables` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`is_secret` integer NOT NULL,
	`description` text NOT NULL,
	`account` integer,
	`is_oauth` integer NOT NULL,
	`expires_at` integer,
	`extra_perms` text NOT NULL, `extra` text,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE TABLE `workspace_members` (
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`username` text NOT NULL,
	`is_admin` integer NOT NULL,
	`operator` integer NOT NULL,
	`disabled` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL, `unasked` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`workspace_id`, `email`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workspace_members_by_username` ON `workspace_members` (`workspace_id`,`username`);
--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`owner` text NOT NULL,
	`archived` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`wrapped_key` text NOT NULL
, `large_file_storage` text, `storage_folder` text, `previous_wrapped_key` text);
--> statement-breakpoint
CREATE TABLE `job_logs` (
	`job_id` text NOT NULL,
	`seq` integer NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`job_id`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `job_streams` (
	`job_id` text NOT NULL,
	`seq` integer NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`job_id`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`status` text,
	`created_by` text NOT NULL,
	`permissioned_as` text NOT NULL,
	`email` text NOT NULL,
	`created_at` integer NOT NULL,
	`scheduled_for` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	`duration_ms` integer,
	`script_path` text,
	`script_hash` text,
	`language` text,
	`tag` text NOT NULL,
	`priority` integer DEFAULT 0 NOT NULL,
	`timeout_s` integer,
	`args` text NOT NULL,
	`result` text,
	`raw_code` text,
	`raw_lock` text,
	`preprocessor_input` text,
	`preprocessed` integer,
	`parent_job` text,
	`root_job` text,
	`visible_to_owner` integer DEFAULT true NOT NULL,
	`trigger_kind` text,
	`cancel_requested` integer DEFAULT false NOT NULL,
	`canceled_by` text,
	`canceled_reason` text,
	`worker` text,
	`last_ping` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`mem_peak_kb` integer,
	`labels` text,
	`deleted` integer DEFAULT false NOT NULL
, `started_by` text, `schedule_path` text, `concurrency_key` text, `concurrent_limit` integer, `concurrency_time_window_s` integer, `concurrency_blocked` integer DEFAULT false NOT NULL, `cache_ttl` integer, `delete_after_use` integer DEFAULT false NOT NULL, `progress` integer, `flow_step_id` text, `flow_index` integer, `flow_version` integer, `raw_flow` text, `flow_body` text, `request_id` text, `isolation` text, `losses` integer DEFAULT 0 NOT NULL, `begun` integer DEFAULT false NOT NULL, `raw_modules` text);
--> statement-breakpoint
CREATE INDEX `jobs_queued` ON `jobs` (priority DESC,`scheduled_for`,`id`) WHERE state = 'queued';
--> statement-breakpoint
CREATE INDEX `jobs_running` ON `jobs` (`worker`) WHERE state = 'running';
--> statement-breakpoint
CREATE TABLE `resource_types` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`schema` text,
	`description` text NOT NULL,
	`format_extension` text,
	`is_fileset` integer NOT NULL,
	`created_by` text NOT NULL,
	`edited_at` integer NOT NULL, `extra` text,
	PRIMARY KEY(`workspace_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `resources` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`description` text NOT NULL,
	`resource_type` text NOT NULL,
	`account` integer,
	`is_oauth` integer NOT NULL,
	`extra_perms` text NOT NULL,
	`created_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`job_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`created_at`);
--> statement-breakpoint
CREATE TABLE `job_cache` (
	`key` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`result` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `job_cache_by_expiry` ON `job_cache` (`expires_at`);
--> statement-breakpoint
CREATE INDEX `jobs_completed` ON `jobs` (`completed_at`) WHERE state = 'completed';
--> statement-breakpoint
CREATE INDEX `jobs_by_parent` ON `jobs` (`parent_job`) WHERE parent_job IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `jobs_by_concurrency` ON `jobs` (`workspace_id`,`concurrency_key`,`started_at`) WHERE concurrency_key IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `drafts` (
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `kind`, `path`)
);
--> statement-breakpoint
CREATE TABLE `flow_frames` (
	`job_id` text PRIMARY KEY NOT NULL,
	`root_job` text NOT NULL,
	`state` text NOT NULL,
	`version` integer NOT NULL,
	`wake_at` integer
);
--> statement-breakpoint
CREATE INDEX `flow_frames_by_root` ON `flow_frames` (`root_job`);
--> statement-breakpoint
CREATE INDEX `flow_frames_wake` ON `flow_frames` (`wake_at`) WHERE wake_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `flow_items` (
	`job_id` text NOT NULL,
	`module_id` text NOT NULL,
	`items` text NOT NULL,
	PRIMARY KEY(`job_id`, `module_id`)
);
--> statement-breakpoint
CREATE TABLE `flow_resumes` (
	`job_id` text NOT NULL,
	`resume_id` integer NOT NULL,
	`frame_id` text NOT NULL,
	`value` text,
	`approver` text,
	`approved` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`job_id`, `resume_id`)
);
--> statement-breakpoint
CREATE INDEX `flow_resumes_by_frame` ON `flow_resumes` (`frame_id`);
--> statement-breakpoint
CREATE TABLE `flow_user_states` (
	`job_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text,
	PRIMARY KEY(`job_id`, `key`)
);
--> statement-breakpoint
CREATE TABLE `flow_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`schema` text,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`deployment_msg` text,
	`ready` integer NOT NULL,
	`lock_error_logs` text,
	`lock_job` text
, `imports` text);
--> statement-breakpoint
CREATE INDEX `flow_versions_by_path` ON `flow_versions` (`workspace_id`,`path`,`id`);
--> statement-breakpoint
CREATE TABLE `flows` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`version` integer NOT NULL,
	`ready_version` integer,
	`summary` text NOT NULL,
	`description` text NOT NULL,
	`tag` text,
	`priority` integer,
	`timeout` integer,
	`ws_error_handler_muted` integer NOT NULL,
	`dedicated_worker` integer NOT NULL,
	`visible_to_runner_only` integer NOT NULL,
	`on_behalf_of_email` text,
	`draft_only` integer NOT NULL,
	`archived` integer NOT NULL,
	`edited_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`extra_perms` text NOT NULL, `extra` text,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE TABLE `critical_alerts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`alert_type` text NOT NULL,
	`kind` text NOT NULL,
	`message` text NOT NULL,
	`workspace_id` text,
	`key` text NOT NULL,
	`count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_raised_at` integer NOT NULL,
	`acknowledged` integer NOT NULL,
	`next_try_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`told` text,
	`send_failures` text
);
--> statement-breakpoint
CREATE INDEX `critical_alerts_by_key` ON `critical_alerts` (`key`,`acknowledged`);
--> statement-breakpoint
CREATE INDEX `critical_alerts_untold` ON `critical_alerts` (`next_try_at`) WHERE next_try_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `app_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`app_id` integer NOT NULL,
	`value` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`deployment_msg` text
, `bundle` text);
--> statement-breakpoint
CREATE INDEX `app_versions_by_app` ON `app_versions` (`app_id`,`id`);
--> statement-breakpoint
CREATE TABLE `apps` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`version` integer NOT NULL,
	`summary` text NOT NULL,
	`policy` text NOT NULL,
	`custom_path` text,
	`draft_only` integer NOT NULL,
	`extra_perms` text NOT NULL
, `raw_app` integer DEFAULT false NOT NULL);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_by_path` ON `apps` (`workspace_id`,`path`);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_by_custom_path` ON `apps` (`custom_path`);
--> statement-breakpoint
CREATE TABLE `raw_apps` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`version` integer NOT NULL,
	`summary` text NOT NULL,
	`value` text NOT NULL,
	`edited_at` integer NOT NULL,
	`extra_perms` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE TABLE `favorites` (
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`kind` text NOT NULL,
	`path` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `email`, `kind`, `path`)
);
--> statement-breakpoint
CREATE TABLE `folders` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`summary` text NOT NULL,
	`owners` text NOT NULL,
	`extra_perms` text NOT NULL,
	`created_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`deleted` integer DEFAULT false NOT NULL, `display_name` text, `extra` text, `owners_implied` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`workspace_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `group_members` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `name`, `email`)
);
--> statement-breakpoint
CREATE INDEX `group_members_by_email` ON `group_members` (`workspace_id`,`email`);
--> statement-breakpoint
CREATE TABLE `workspace_groups` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`summary` text NOT NULL,
	`extra_perms` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `instance_group_members` (
	`name` text NOT NULL,
	`email` text NOT NULL,
	PRIMARY KEY(`name`, `email`)
);
--> statement-breakpoint
CREATE INDEX `instance_group_members_by_email` ON `instance_group_members` (`email`);
--> statement-breakpoint
CREATE TABLE `instance_groups` (
	`name` text PRIMARY KEY NOT NULL,
	`summary` text NOT NULL,
	`id` text,
	`scim_display_name` text,
	`external_id` text
);
--> statement-breakpoint
CREATE TABLE `handler_calls` (
	`job_id` text NOT NULL,
	`occasion` text NOT NULL,
	`workspace_id` text NOT NULL,
	`schedule_path` text,
	`times` integer,
	`failed_job` text,
	`created_at` integer NOT NULL,
	`next_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	PRIMARY KEY(`job_id`, `occasion`)
);
--> statement-breakpoint
CREATE INDEX `handler_calls_due` ON `handler_calls` (`next_at`);
--> statement-breakpoint
CREATE TABLE `http_triggers` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`route_path` text NOT NULL,
	`workspaced_route` integer NOT NULL,
	`http_method` text NOT NULL,
	`script_path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`enabled` integer NOT NULL,
	`summary` text,
	`description` text,
	`request_type` text NOT NULL,
	`authentication_method` text NOT NULL,
	`authentication_resource_path` text,
	`signature` text,
	`raw_string` integer NOT NULL,
	`wrap_body` integer NOT NULL,
	`is_static_website` integer NOT NULL,
	`static_asset_config` text,
	`edited_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`email` text NOT NULL,
	`extra_perms` text NOT NULL, `retry` text, `placed_at` integer, `extra` text,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE TABLE `inputs` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`runnable_id` text NOT NULL,
	`runnable_type` text NOT NULL,
	`name` text NOT NULL,
	`args` text NOT NULL,
	`email` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`is_public` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `inputs_by_runnable` ON `inputs` (`workspace_id`,`runnable_id`,`created_at`);
--> statement-breakpoint
CREATE TABLE `license_renewals` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`attempted_at` integer NOT NULL,
	`result` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `oauth_accounts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`client` text NOT NULL,
	`owner` text NOT NULL,
	`refresh_token` text,
	`expires_at` integer NOT NULL,
	`lifetime_s` integer NOT NULL,
	`refresh_error` text,
	`failed_at` integer,
	`refused` integer DEFAULT false NOT NULL,
	`lease_holder` text,
	`lease_until` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `oauth_accounts_by_workspace` ON `oauth_accounts` (`workspace_id`,`id`);
--> statement-breakpoint
CREATE TABLE `oauth_logins` (
	`client` text NOT NULL,
	`subject` text NOT NULL,
	`email` text NOT NULL,
	PRIMARY KEY(`client`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `oauth_logins_by_email` ON `oauth_logins` (`email`);
--> statement-breakpoint
CREATE TABLE `oauth_used_states` (
	`state` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `oauth_used_states_by_expiry` ON `oauth_used_states` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `oidc_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`public_jwk` text NOT NULL,
	`sealed_key` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `schedules` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`schedule` text NOT NULL,
	`timezone` text NOT NULL,
	`script_path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`args` text NOT NULL,
	`enabled` integer NOT NULL,
	`summary` text,
	`description` text,
	`tag` text,
	`no_flow_overlap` integer NOT NULL,
	`paused_until` integer,
	`retry` text,
	`cron_version` text,
	`ws_error_handler_muted` integer NOT NULL,
	`on_failure` text,
	`on_failure_times` integer,
	`on_failure_exact` integer,
	`on_failure_extra_args` text,
	`on_recovery` text,
	`on_recovery_times` integer,
	`on_recovery_extra_args` text,
	`on_success` text,
	`on_success_extra_args` text,
	`edited_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`email` text NOT NULL,
	`extra_perms` text NOT NULL,
	`error` text,
	`failed_times` integer DEFAULT 0 NOT NULL,
	`failed_job` text,
	`recovered_times` integer DEFAULT 0 NOT NULL,
	`next_at` integer, `extra` text,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE INDEX `schedules_due` ON `schedules` (`next_at`) WHERE next_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `instance_settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`sealed` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `token_notices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`channel` text NOT NULL,
	`type` text NOT NULL,
	`email` text NOT NULL,
	`token_prefix` text NOT NULL,
	`label` text,
	`workspace_id` text,
	`expiration` integer NOT NULL,
	`created_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`next_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `token_notices_by_next` ON `token_notices` (`next_at`);
--> statement-breakpoint
CREATE TABLE `former_usernames` (
	`workspace_id` text NOT NULL,
	`username` text NOT NULL,
	`email` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `username`)
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`endpoint_id` text NOT NULL,
	`event_seq` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_at` integer NOT NULL,
	`status` integer,
	`error` text,
	`last_attempt_at` integer,
	PRIMARY KEY(`endpoint_id`, `event_seq`)
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`endpoint_id`,`next_at`,`event_seq`) WHERE state = 'pending';
--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`url` text NOT NULL,
	`description` text NOT NULL,
	`types` text,
	`is_workspace_webhook` integer NOT NULL,
	`enabled` integer NOT NULL,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_until` integer,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`failing_since` integer
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_workspace` ON `webhook_endpoints` (`workspace_id`);
--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL
, `told` text);
--> statement-breakpoint
CREATE TABLE `websocket_triggers` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`script_path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`url` text NOT NULL,
	`url_runnable_args` text,
	`enabled` integer NOT NULL,
	`summary` text,
	`filters` text NOT NULL,
	`initial_messages` text NOT NULL,
	`can_return_message` integer NOT NULL,
	`can_return_error_result` integer NOT NULL,
	`edited_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`email` text NOT NULL,
	`extra_perms` text NOT NULL,
	`error` text,
	`server_id` text,
	`last_server_ping` integer, `extra` text, `retry` text,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE TABLE `worker_groups` (
	`name` text PRIMARY KEY NOT NULL,
	`config` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `workers` (
	`name` text PRIMARY KEY NOT NULL,
	`instance` text NOT NULL,
	`ip` text NOT NULL,
	`worker_group` text NOT NULL,
	`version` text NOT NULL,
	`tags` text,
	`slots` integer NOT NULL,
	`started_at` integer NOT NULL,
	`last_ping` integer NOT NULL,
	`jobs_executed` integer NOT NULL,
	`last_job` text,
	`occupancy` text NOT NULL,
	`vcpus` real NOT NULL,
	`memory` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `workers_last_ping` ON `workers` (`last_ping`);
--> statement-breakpoint
CREATE TABLE `workspace_environment` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `workspace_invites` (
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`is_admin` integer NOT NULL,
	`operator` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email`)
);
--> statement-breakpoint
CREATE TABLE `workspace_settings` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`auto_invite_domain` text,
	`settings` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `workspace_settings_by_domain` ON `workspace_settings` (`auto_invite_domain`);
--> statement-breakpoint
CREATE TABLE `workspace_usage` (
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`month` text NOT NULL,
	`jobs` integer NOT NULL,
	`executions` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `month`, `email`)
);
--> statement-breakpoint
CREATE INDEX `workspace_usage_by_email` ON `workspace_usage` (`email`,`month`);
--> statement-breakpoint
CREATE INDEX `scripts_by_workspace` ON `scripts` (`workspace_id`,`seq`);
--> statement-breakpoint
CREATE INDEX `scripts_shared` ON `scripts` (`workspace_id`,`seq`) WHERE extra_perms <> '{}';
--> statement-breakpoint
CREATE INDEX `tokens_by_expiration` ON `tokens` (`expiration`);
--> statement-breakpoint
CREATE INDEX `workspace_members_by_email` ON `workspace_members` (`email`);
--> statement-breakpoint
CREATE INDEX `webhook_events_new` ON `webhook_events` (`seq`) WHERE told IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `resumable_operations` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`details` text NOT NULL,
	`server` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `resumable_operations_subject_unique` ON `resumable_operations` (`subject`);
--> statement-breakpoint
CREATE TABLE `script_imports` (
	`workspace_id` text NOT NULL,
	`importer_kind` text NOT NULL,
	`importer_path` text NOT NULL,
	`imported_path` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `importer_kind`, `importer_path`, `imported_path`)
);
--> statement-breakpoint
CREATE INDEX `script_imports_by_imported` ON `script_imports` (`workspace_id`,`imported_path`);
--> statement-breakpoint
CREATE TABLE `leaders` (
	`name` text PRIMARY KEY NOT NULL,
	`server` text NOT NULL,
	`held_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `workspace_dependencies` (
	`workspace_id` text NOT NULL,
	`language` text NOT NULL,
	`name` text NOT NULL,
	`content` text NOT NULL,
	`description` text,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `language`, `name`)
);
--> statement-breakpoint
CREATE INDEX `jobs_by_creation` ON `jobs` (`workspace_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `jobs_held` ON `jobs` (`workspace_id`) WHERE state = 'held';
--> statement-breakpoint
CREATE INDEX `jobs_by_path_and_creation` ON `jobs` (`workspace_id`,`script_path`,`created_at`,`id`);
--> statement-breakpoint
CREATE TABLE `capture_configs` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`trigger_kind` text NOT NULL,
	`trigger_config` text,
	`edited_by` text NOT NULL,
	`last_client_ping` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `path`, `is_flow`, `trigger_kind`)
);
--> statement-breakpoint
CREATE INDEX `capture_configs_by_ping` ON `capture_configs` (`last_client_ping`);
--> statement-breakpoint
CREATE TABLE `captures` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`trigger_kind` text NOT NULL,
	`main_args` text NOT NULL,
	`preprocessor_args` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `captures_by_runnable` ON `captures` (`workspace_id`,`path`,`is_flow`,`id`);
--> statement-breakpoint
CREATE INDEX `captures_by_time` ON `captures` (`created_at`);
--> statement-breakpoint
CREATE INDEX `jobs_planned` ON `jobs` (`workspace_id`,`schedule_path`) WHERE state = 'planned';
--> statement-breakpoint
CREATE TABLE `job_search` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`job_id` text NOT NULL,
	`words` text NOT NULL
, `workspace_id` text DEFAULT '' NOT NULL);
--> statement-breakpoint
CREATE UNIQUE INDEX `job_search_by_job` ON `job_search` (`job_id`);
--> statement-breakpoint
CREATE TABLE `job_search_progress` (
	`id` integer PRIMARY KEY NOT NULL,
	`completed_at` integer NOT NULL,
	`job_id` text NOT NULL,
	`oldest` integer
, `last_job` text DEFAULT '' NOT NULL);
--> statement-breakpoint
CREATE VIRTUAL TABLE `job_search_words` USING fts5(`words`, content='job_search', content_rowid='id', tokenize='ascii');
--> statement-breakpoint
CREATE INDEX `job_search_by_workspace` ON `job_search` (`workspace_id`,`id`);
--> statement-breakpoint
CREATE TRIGGER `job_search_inserted` AFTER INSERT ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`rowid`, `words`) VALUES (new.`id`, '§' || lower(hex(new.`workspace_id`)) || ' ' || new.`words`);
END;
--> statement-breakpoint
CREATE TRIGGER `job_search_deleted` AFTER DELETE ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`job_search_words`, `rowid`, `words`) VALUES ('delete', old.`id`, '§' || lower(hex(old.`workspace_id`)) || ' ' || old.`words`);
END;
--> statement-breakpoint
CREATE TRIGGER `job_search_moved` AFTER UPDATE OF `workspace_id` ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`job_search_words`, `rowid`, `words`) VALUES ('delete', old.`id`, '§' || lower(hex(old.`workspace_id`)) || ' ' || old.`words`);
	INSERT INTO `job_search_words` (`rowid`, `words`) VALUES (new.`id`, '§' || lower(hex(new.`workspace_id`)) || ' ' || new.`words`);
END;
--> statement-breakpoint
CREATE TABLE `user_drafts` (
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `kind`, `path`, `created_by`)
);
--> statement-breakpoint
CREATE INDEX `jobs_blocked` ON `jobs` (`workspace_id`,`concurrency_key`,priority DESC,`id`) WHERE state = 'queued' AND concurrency_blocked;
--> statement-breakpoint
CREATE TABLE `stored_triggers` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`kind` text NOT NULL,
	`script_path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`enabled` integer NOT NULL,
	`value` text NOT NULL,
	`edited_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`email` text NOT NULL,
	`extra_perms` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `path`, `kind`)
);
