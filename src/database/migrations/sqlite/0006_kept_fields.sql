ALTER TABLE `flows` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `resource_types` ADD `extra` text;--> statement-breakpoint
ALTER TABLE `variables` ADD `extra` text;