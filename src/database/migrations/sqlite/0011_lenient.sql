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
ALTER TABLE `app_versions` ADD `bundle` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `raw_app` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `folders` ADD `display_name` text;--> statement-breakpoint
ALTER TABLE `folders` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `folders` ADD `owners_implied` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `http_triggers` ADD `retry` text;--> statement-breakpoint
ALTER TABLE `http_triggers` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `schedules` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `codebase` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `bundle` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `websocket_triggers` ADD `extra` text;