CREATE TABLE `resource_types` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`schema` text,
	`description` text NOT NULL,
	`format_extension` text,
	`is_fileset` integer NOT NULL,
	`created_by` text NOT NULL,
	`edited_at` integer NOT NULL,
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
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `job_cache` (
	`key` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`result` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `job_cache_by_expiry` ON `job_cache` (`expires_at`);--> statement-breakpoint
ALTER TABLE `scripts` ADD `preprocessor_parameters` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `signature` text;--> statement-breakpoint
ALTER TABLE `workspaces` ADD `large_file_storage` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `started_by` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `schedule_path` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `concurrency_key` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `concurrent_limit` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `concurrency_time_window_s` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `concurrency_blocked` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `cache_ttl` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `delete_after_use` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `progress` integer;--> statement-breakpoint
CREATE INDEX `jobs_completed` ON `jobs` (`completed_at`) WHERE state = 'completed';--> statement-breakpoint
CREATE INDEX `jobs_by_path` ON `jobs` (`workspace_id`,`script_path`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_parent` ON `jobs` (`parent_job`) WHERE parent_job IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_by_concurrency` ON `jobs` (`workspace_id`,`concurrency_key`,`started_at`) WHERE concurrency_key IS NOT NULL;