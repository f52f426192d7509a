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
CREATE TABLE "script_imports" (
	"workspace_id" text NOT NULL,
	"importer_kind" text NOT NULL,
	"importer_path" text NOT NULL,
	"imported_path" text NOT NULL,
	CONSTRAINT "script_imports_workspace_id_importer_kind_importer_path_imported_path_pk" PRIMARY KEY("workspace_id","importer_kind","importer_path","imported_path")
);
--> statement-breakpoint
CREATE TABLE "leaders" (
	"name" text PRIMARY KEY NOT NULL,
	"server" text NOT NULL,
	"held_until" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
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
DROP INDEX "jobs_by_workspace";--> statement-breakpoint
DROP INDEX "jobs_by_path";--> statement-breakpoint
ALTER TABLE "app_versions" ADD COLUMN "bundle" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "raw_app" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "flow_versions" ADD COLUMN "imports" text;--> statement-breakpoint
ALTER TABLE "folders" ADD COLUMN "display_name" text;--> statement-breakpoint
ALTER TABLE "folders" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "folders" ADD COLUMN "owners_implied" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "http_triggers" ADD COLUMN "retry" text;--> statement-breakpoint
ALTER TABLE "http_triggers" ADD COLUMN "placed_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "http_triggers" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "schedules" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "imports" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "codebase" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "bundle" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "draft_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "websocket_triggers" ADD COLUMN "extra" text;--> statement-breakpoint
ALTER TABLE "workspace_members" ADD COLUMN "unasked" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "losses" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "begun" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "script_imports_by_imported" ON "script_imports" USING btree ("workspace_id","imported_path");--> statement-breakpoint
CREATE INDEX "jobs_by_creation" ON "jobs" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_held" ON "jobs" USING btree ("workspace_id") WHERE state = 'held';--> statement-breakpoint
CREATE INDEX "jobs_by_path_and_creation" ON "jobs" USING btree ("workspace_id","script_path","created_at","id");