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
DROP INDEX `jobs_by_workspace`;--> statement-breakpoint
DROP INDEX `jobs_by_path`;--> statement-breakpoint
CREATE INDEX `jobs_by_creation` ON `jobs` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_held` ON `jobs` (`workspace_id`) WHERE state = 'held';--> statement-breakpoint
CREATE INDEX `jobs_by_path_and_creation` ON `jobs` (`workspace_id`,`script_path`,`created_at`,`id`);