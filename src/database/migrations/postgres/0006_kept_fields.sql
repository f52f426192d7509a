ALTER TABLE "flows" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "resource_types" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "variables" ADD COLUMN "extra" text;