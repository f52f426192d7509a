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