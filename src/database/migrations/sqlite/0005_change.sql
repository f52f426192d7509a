CREATE TABLE `script_imports` (
	`workspace_id` text NOT NULL,
	`importer_kind` text NOT NULL,
	`importer_path` text NOT NULL,
	`imported_path` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `importer_kind`, `importer_path`, `imported_path`)
);
--> statement-breakpoint
CREATE INDEX `script_imports_by_imported` ON `script_imports` (`workspace_id`,`imported_path`);--> statement-breakpoint
ALTER TABLE `flow_versions` ADD `imports` text;--> statement-breakpoint
ALTER TABLE `scripts` ADD `imports` text;