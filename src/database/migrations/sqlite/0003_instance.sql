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
CREATE INDEX `critical_alerts_by_key` ON `critical_alerts` (`key`,`acknowledged`);--> statement-breakpoint
CREATE INDEX `critical_alerts_untold` ON `critical_alerts` (`next_try_at`) WHERE next_try_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `app_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text NOT NULL,
	`app_id` integer NOT NULL,
	`value` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`deployment_msg` text
);
--> statement-breakpoint
CREATE INDEX `app_versions_by_app` ON `app_versions` (`app_id`,`id`);--> statement-breakpoint
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
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_by_path` ON `apps` (`workspace_id`,`path`);--> statement-breakpoint
CREATE UNIQUE INDEX `apps_by_custom_path` ON `apps` (`custom_path`);--> statement-breakpoint
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
	`deleted` integer DEFAULT false NOT NULL,
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
CREATE INDEX `group_members_by_email` ON `group_members` (`workspace_id`,`email`);--> statement-breakpoint
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
CREATE INDEX `instance_group_members_by_email` ON `instance_group_members` (`email`);--> statement-breakpoint
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
CREATE INDEX `handler_calls_due` ON `handler_calls` (`next_at`);--> statement-breakpoint
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
	`extra_perms` text NOT NULL,
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
CREATE INDEX `inputs_by_runnable` ON `inputs` (`workspace_id`,`runnable_id`,`created_at`);--> statement-breakpoint
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
CREATE INDEX `oauth_accounts_by_workspace` ON `oauth_accounts` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `oauth_logins` (
	`client` text NOT NULL,
	`subject` text NOT NULL,
	`email` text NOT NULL,
	PRIMARY KEY(`client`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `oauth_logins_by_email` ON `oauth_logins` (`email`);--> statement-breakpoint
CREATE TABLE `oauth_used_states` (
	`state` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `oauth_used_states_by_expiry` ON `oauth_used_states` (`expires_at`);--> statement-breakpoint
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
	`next_at` integer,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
CREATE INDEX `schedules_due` ON `schedules` (`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
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
CREATE INDEX `token_notices_by_next` ON `token_notices` (`next_at`);--> statement-breakpoint
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
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`endpoint_id`,`next_at`,`event_seq`) WHERE state = 'pending';--> statement-breakpoint
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
CREATE INDEX `webhook_endpoints_by_workspace` ON `webhook_endpoints` (`workspace_id`);--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL
);
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
	`last_server_ping` integer,
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
CREATE INDEX `workers_last_ping` ON `workers` (`last_ping`);--> statement-breakpoint
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
CREATE INDEX `workspace_settings_by_domain` ON `workspace_settings` (`auto_invite_domain`);--> statement-breakpoint
CREATE TABLE `workspace_usage` (
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`month` text NOT NULL,
	`jobs` integer NOT NULL,
	`executions` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `month`, `email`)
);
--> statement-breakpoint
CREATE INDEX `workspace_usage_by_email` ON `workspace_usage` (`email`,`month`);--> statement-breakpoint
ALTER TABLE `scripts` ADD `memory_mb` integer;--> statement-breakpoint
CREATE INDEX `scripts_by_workspace` ON `scripts` (`workspace_id`,`seq`);--> statement-breakpoint
CREATE INDEX `scripts_shared` ON `scripts` (`workspace_id`,`seq`) WHERE extra_perms <> '{}';--> statement-breakpoint
ALTER TABLE `tokens` ADD `notified_at` integer;--> statement-breakpoint
CREATE INDEX `tokens_by_expiration` ON `tokens` (`expiration`);--> statement-breakpoint
ALTER TABLE `users` ADD `tutorial_progress` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `workspaces` ADD `storage_folder` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `request_id` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `isolation` text;--> statement-breakpoint
CREATE INDEX `workspace_members_by_email` ON `workspace_members` (`email`);