CREATE TABLE `stored_triggers` (
	`workspace_id` text NOT NULL,
	`path` text NOT NULL,
	`kind` text NOT NULL,
	`script_path` text NOT NULL,
	`is_flow` integer NOT NULL,
	`enabled` integer NOT NULL,
	`value` text NOT NULL,
	`edited_by` text NOT NULL,
	`edited_at` integer NOT NULL,
	`email` text NOT NULL,
	`extra_perms` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `path`, `kind`)
);
