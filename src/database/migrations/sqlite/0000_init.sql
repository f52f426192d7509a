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
);
--> statement-breakpoint
CREATE INDEX `audit_by_workspace` ON `audit_log` (`workspace_id`,`id`);--> statement-breakpoint
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
);
--> statement-breakpoint
CREATE UNIQUE INDEX `scripts_by_hash` ON `scripts` (`workspace_id`,`hash`);--> statement-breakpoint
CREATE INDEX `scripts_by_path` ON `scripts` (`workspace_id`,`path`,`seq`);--> statement-breakpoint
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
);
--> statement-breakpoint
CREATE INDEX `tokens_by_email` ON `tokens` (`email`);--> statement-breakpoint
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
);
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
	`extra_perms` text NOT NULL,
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
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workspace_members_by_username` ON `workspace_members` (`workspace_id`,`username`);--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`owner` text NOT NULL,
	`archived` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`wrapped_key` text NOT NULL
);
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
);
--> statement-breakpoint
CREATE INDEX `jobs_by_workspace` ON `jobs` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_queued` ON `jobs` (priority DESC,`scheduled_for`,`id`) WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX `jobs_running` ON `jobs` (`worker`) WHERE state = 'running';