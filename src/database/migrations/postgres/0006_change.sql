ALTER TABLE "http_triggers" ADD COLUMN "placed_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "workspace_members" ADD COLUMN "unasked" boolean DEFAULT false NOT NULL;