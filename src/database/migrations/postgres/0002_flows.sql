CREATE TABLE "drafts" (
	"workspace_id" text NOT NULL,
	"kind" text NOT NULL,
	"path" text NOT NULL,
	"value" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "drafts_workspace_id_kind_path_pk" PRIMARY KEY("workspace_id","kind","path")
);
--> statement-breakpoint
CREATE TABLE "flow_frames" (
	"job_id" text PRIMARY KEY NOT NULL,
	"root_job" text NOT NULL,
	"state" text NOT NULL,
	"version" bigint NOT NULL,
	"wake_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "flow_items" (
	"job_id" text NOT NULL,
	"module_id" text NOT NULL,
	"items" text NOT NULL,
	CONSTRAINT "flow_items_job_id_module_id_pk" PRIMARY KEY("job_id","module_id")
);
--> statement-breakpoint
CREATE TABLE "flow_resumes" (
	"job_id" text NOT NULL,
	"resume_id" bigint NOT NULL,
	"frame_id" text NOT NULL,
	"value" text,
	"approver" text,
	"approved" boolean NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "flow_resumes_job_id_resume_id_pk" PRIMARY KEY("job_id","resume_id")
);
--> statement-breakpoint
CREATE TABLE "flow_user_states" (
	"job_id" text NOT NULL,
	"key" text NOT NULL,
	"value" text,
	CONSTRAINT "flow_user_states_job_id_key_pk" PRIMARY KEY("job_id","key")
);
--> statement-breakpoint
CREATE TABLE "flow_versions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "flow_versions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"value" text NOT NULL,
	"schema" text,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"deployment_msg" text,
	"ready" boolean NOT NULL,
	"lock_error_logs" text,
	"lock_job" text
);
--> statement-breakpoint
CREATE TABLE "flows" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"version" bigint NOT NULL,
	"ready_version" bigint,
	"summary" text NOT NULL,
	"description" text NOT NULL,
	"tag" text,
	"priority" bigint,
	"timeout" bigint,
	"ws_error_handler_muted" boolean NOT NULL,
	"dedicated_worker" boolean NOT NULL,
	"visible_to_runner_only" boolean NOT NULL,
	"on_behalf_of_email" text,
	"draft_only" boolean NOT NULL,
	"archived" boolean NOT NULL,
	"edited_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"extra_perms" text NOT NULL,
	CONSTRAINT "flows_workspace_id_path_pk" PRIMARY KEY("workspace_id","path")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "flow_step_id" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "flow_index" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "flow_version" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "raw_flow" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "flow_body" text;--> statement-breakpoint
CREATE INDEX "flow_frames_by_root" ON "flow_frames" USING btree ("root_job");--> statement-breakpoint
CREATE INDEX "flow_frames_wake" ON "flow_frames" USING btree ("wake_at") WHERE wake_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "flow_resumes_by_frame" ON "flow_resumes" USING btree ("frame_id");--> statement-breakpoint
CREATE INDEX "flow_versions_by_path" ON "flow_versions" USING btree ("workspace_id","path","id");