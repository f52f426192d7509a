CREATE TABLE "resumable_operations" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"details" text NOT NULL,
	"server" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "resumable_operations_subject_unique" UNIQUE("subject")
);
--> statement-breakpoint
DROP INDEX "jobs_by_workspace";--> statement-breakpoint
DROP INDEX "jobs_by_path";--> statement-breakpoint
CREATE INDEX "jobs_by_creation" ON "jobs" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_held" ON "jobs" USING btree ("workspace_id") WHERE state = 'held';--> statement-breakpoint
CREATE INDEX "jobs_by_path_and_creation" ON "jobs" USING btree ("workspace_id","script_path","created_at","id");