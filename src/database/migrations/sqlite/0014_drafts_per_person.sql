CREATE TABLE `user_drafts` (
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`path` text NOT NULL,
	`value` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `kind`, `path`, `created_by`)
);
--> statement-breakpoint
INSERT INTO user_drafts (workspace_id, kind, path, value, created_by, created_at) SELECT workspace_id, kind, path, value, created_by, created_at FROM drafts;
--> statement-breakpoint
-- The table stays, empty, for programs that run beside this one and know no other.
DELETE FROM drafts;
