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
CREATE INDEX `capture_configs_by_ping` ON `capture_configs` (`last_client_ping`);--> statement-breakpoint
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
CREATE INDEX `captures_by_runnable` ON `captures` (`workspace_id`,`path`,`is_flow`,`id`);--> statement-breakpoint
CREATE INDEX `captures_by_time` ON `captures` (`created_at`);