DROP TRIGGER `job_search_inserted`;
--> statement-breakpoint
DROP TRIGGER `job_search_deleted`;
--> statement-breakpoint
DELETE FROM `job_search`;
--> statement-breakpoint
DELETE FROM `job_search_progress`;
--> statement-breakpoint
INSERT INTO `job_search_words` (`job_search_words`) VALUES ('delete-all');
--> statement-breakpoint
ALTER TABLE `job_search` ADD `workspace_id` text DEFAULT '' NOT NULL;
--> statement-breakpoint
ALTER TABLE `job_search_progress` ADD `last_job` text DEFAULT '' NOT NULL;
--> statement-breakpoint
CREATE INDEX `job_search_by_workspace` ON `job_search` (`workspace_id`,`id`);
--> statement-breakpoint
CREATE TRIGGER `job_search_inserted` AFTER INSERT ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`rowid`, `words`) VALUES (new.`id`, '§' || lower(hex(new.`workspace_id`)) || ' ' || new.`words`);
END;
--> statement-breakpoint
CREATE TRIGGER `job_search_deleted` AFTER DELETE ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`job_search_words`, `rowid`, `words`) VALUES ('delete', old.`id`, '§' || lower(hex(old.`workspace_id`)) || ' ' || old.`words`);
END;
--> statement-breakpoint
CREATE TRIGGER `job_search_moved` AFTER UPDATE OF `workspace_id` ON `job_search` BEGIN
	INSERT INTO `job_search_words` (`job_search_words`, `rowid`, `words`) VALUES ('delete', old.`id`, '§' || lower(hex(old.`workspace_id`)) || ' ' || old.`words`);
	INSERT INTO `job_search_words` (`rowid`, `words`) VALUES (new.`id`, '§' || lower(hex(new.`workspace_id`)) || ' ' || new.`words`);
END;
