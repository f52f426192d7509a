CREATE TABLE "workspace_dependencies" (
	"workspace_id" text NOT NULL,
	"language" text NOT NULL,
	"name" text NOT NULL,
	"content" text NOT NULL,
	"description" text,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "workspace_dependencies_workspace_id_language_name_pk" PRIMARY KEY("workspace_id","language","name")
);
--> statement-breakpoint
ALTER TABLE "app_versions" ADD COLUMN "bundle" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "raw_app" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "folders" ADD COLUMN "display_name" text;--> statement-breakpoint
ALTER TABLE "folders" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "folders" ADD COLUMN "owners_implied" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "http_triggers" ADD COLUMN "retry" text;--> statement-breakpoint
ALTER TABLE "http_triggers" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "schedules" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "codebase" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "bundle" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "websocket_triggers" ADD COLUMN "extra" text;