ALTER TABLE `jobs` ADD `losses` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `begun` integer DEFAULT false NOT NULL;