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
CREATE INDEX `webhook_deliveries_by_event` ON `webhook_deliveries` (`event_seq`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_pending` ON `webhook_deliveries` (`next_at`) WHERE state = 'pending';--> statement-breakpoint
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
CREATE INDEX `webhook_events_by_age` ON `webhook_events` (`created_at`);