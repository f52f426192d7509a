CREATE TABLE `leaders` (
	`name` text PRIMARY KEY NOT NULL,
	`server` text NOT NULL,
	`held_until` integer NOT NULL
);
