ALTER TABLE "jobs" ADD COLUMN "losses" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "begun" boolean DEFAULT false NOT NULL;