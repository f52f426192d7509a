CREATE TABLE "worker_groups" (
	"name" text PRIMARY KEY NOT NULL,
	"config" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"name" text PRIMARY KEY NOT NULL,
	"instance" text NOT NULL,
	"ip" text NOT NULL,
	"worker_group" text NOT NULL,
	"version" text NOT NULL,
	"tags" text,
	"slots" bigint NOT NULL,
	"started_at" timestamp(3) with time zone NOT NULL,
	"last_ping" timestamp(3) with time zone NOT NULL,
	"jobs_executed" bigint NOT NULL,
	"last_job" text,
	"occupancy" text NOT NULL,
	"vcpus" double precision NOT NULL,
	"memory" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "workers_last_ping" ON "workers" USING btree ("last_ping");