CREATE TABLE "leaders" (
	"name" text PRIMARY KEY NOT NULL,
	"server" text NOT NULL,
	"held_until" timestamp(3) with time zone NOT NULL
);
