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
CREATE INDEX `flow_frames_by_root` ON `flow_frames` (`root_job`);--> statement-breakpoint
CREATE INDEX `flow_frames_wake` ON `flow_frames` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
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
CREATE INDEX `flow_resumes_by_frame` ON `flow_resumes` (`frame_id`);--> statement-breakpoint
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
);
--> statement-breakpoint
CREATE INDEX `flow_versions_by_path` ON `flow_versions` (`workspace_id`,`path`,`id`);--> statement-breakpoint
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
	`extra_perms` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `path`)
);
--> statement-breakpoint
ALTER TABLE `jobs` ADD `flow_step_id` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `flow_index` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `flow_version` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `raw_flow` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `flow_body` text;