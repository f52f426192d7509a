ALTER TABLE `http_triggers` ADD `placed_at` integer;--> statement-breakpoint
ALTER TABLE `workspace_members` ADD `unasked` integer DEFAULT false NOT NULL;