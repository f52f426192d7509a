CREATE TABLE `resumable_operations` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`details` text NOT NULL,
	`server` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `resumable_operations_subject_unique` ON `resumable_operations` (`subject`);--> statement-breakpoint
CREATE TABLE `script_imports` (
	`workspace_id` text NOT NULL,
	`importer_kind` text NOT NULL,
	`importer_path` text NOT NULL,
	`imported_path` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `importer_kind`, `importer_path`, `imported_path`)
);
--> statement-breakpoint
CREATE INDEX `script_imports_by_imported` ON `script_imports` (`workspace_id`,`imported_path`);--> statement-breakpoint
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
DROP INDEX `jobs_by_workspace`;--> statement-breakpoint
DROP INDEX `jobs_by_path`;--> statement-breakpoint
ALTER TABLE `jobs` ADD `losses` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `begun` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_by_creation` ON `jobs` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_held` ON `jobs` (`workspace_id`) WHERE state = 'held';--> statement-breakpoint
CREATE INDEX `jobs_by_path_and_creation` ON `jobs` (`workspace_id`,`script_path`,`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `app_versions` ADD `bundle` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `raw_app` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `flow_versions` ADD `imports` text;--> statement-breakpoint
ALTER TABLE `folders` ADD `display_name` text;--> statement-breakpoint
ALTER TABLE `folders` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `folders` ADD `owners_implied` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `http_triggers` ADD `retry` text;--> statement-breakpoint
ALTER TABLE `http_triggers` ADD `placed_at` integer;--> statement-breakpoint
ALTER TABLE `http_triggers` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `schedules` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `imports` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `codebase` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `bundle` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `draft_only` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `websocket_triggers` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `workspace_members` ADD `unasked` integer DEFAULT false NOT NULL;