CREATE TABLE `job_search` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`job_id` text NOT NULL,
	`words` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `job_search_by_job` ON `job_search` (`job_id`);--> statement-breakpoint
CREATE TABLE `job_search_progress` (
	`id` integer PRIMARY KEY NOT NULL,
	`completed_at` integer NOT NULL,
	`job_id` text NOT NULL,
	`oldest` integer
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `job_search_words` USING fts5(`words`, content='job_search', content_rowid='id', tokenize='ascii');
--> statement-breakpoint
CREATE TRIGGER `job_search_inserted` AFTER INSERT ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`rowid`, `words`) VALUES (new.`id`, new.`words`);
END;
--> statement-breakpoint
CREATE TRIGGER `job_search_deleted` AFTER DELETE ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`job_search_words`, `rowid`, `words`) VALUES ('delete', old.`id`, old.`words`);
END;
