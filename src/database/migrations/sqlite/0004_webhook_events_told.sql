ALTER TABLE `webhook_events` ADD `told` text;--> statement-breakpoint
CREATE INDEX `webhook_events_new` ON `webhook_events` (`seq`) WHERE told IS NOT NULL;