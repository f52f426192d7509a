DELETE FROM "job_search";--> statement-breakpoint
DELETE FROM "job_search_progress";--> statement-breakpoint
ALTER TABLE "job_search" ALTER COLUMN "id" DROP IDENTITY;--> statement-breakpoint
ALTER TABLE "job_search" ADD COLUMN "workspace_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "job_search_progress" ADD COLUMN "last_job" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "job_search_by_workspace" ON "job_search" USING btree ("workspace_id","id");
