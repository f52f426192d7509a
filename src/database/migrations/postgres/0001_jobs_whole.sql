CREATE TABLE "resource_types" (
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"schema" text,
	"description" text NOT NULL,
	"format_extension" text,
	"is_fileset" boolean NOT NULL,
	"created_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "resource_types_workspace_id_name_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "resources" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"value" text NOT NULL,
	"description" text NOT NULL,
	"resource_type" text NOT NULL,
	"account" bigint,
	"is_oauth" boolean NOT NULL,
	"extra_perms" text NOT NULL,
	"created_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "resources_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"workspace_id" text NOT NULL,
	"email" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"job_id" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_workspace_id_email_key_pk" PRIMARY KEY("workspace_id","email","key")
);
--> statement-breakpoint
CREATE TABLE "job_cache" (
	"key" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"result" text NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "preprocessor_parameters" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "signature" text;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "large_file_storage" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "started_by" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "schedule_path" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "concurrency_key" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "concurrent_limit" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "concurrency_time_window_s" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "concurrency_blocked" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "cache_ttl" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "delete_after_use" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "progress" bigint;--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "job_cache_by_expiry" ON "job_cache" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "jobs_completed" ON "jobs" USING btree ("completed_at") WHERE state = 'completed';--> statement-breakpoint
CREATE INDEX "jobs_by_path" ON "jobs" USING btree ("workspace_id","script_path","id");--> statement-breakpoint
CREATE INDEX "jobs_by_parent" ON "jobs" USING btree ("parent_job") WHERE parent_job IS NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_by_concurrency" ON "jobs" USING btree ("workspace_id","concurrency_key","started_at") WHERE concurrency_key IS NOT NULL;