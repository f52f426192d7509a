CREATE TABLE "capture_configs" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"is_flow" boolean NOT NULL,
	"trigger_kind" text NOT NULL,
	"trigger_config" text,
	"edited_by" text NOT NULL,
	"last_client_ping" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "capture_configs_workspace_id_path_is_flow_trigger_kind_pk" PRIMARY KEY("workspace_id","path","is_flow","trigger_kind")
);
--> statement-breakpoint
CREATE TABLE "captures" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "captures_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"is_flow" boolean NOT NULL,
	"trigger_kind" text NOT NULL,
	"main_args" text NOT NULL,
	"preprocessor_args" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "capture_configs_by_ping" ON "capture_configs" USING btree ("last_client_ping");--> statement-breakpoint
CREATE INDEX "captures_by_runnable" ON "captures" USING btree ("workspace_id","path","is_flow","id");--> statement-breakpoint
CREATE INDEX "captures_by_time" ON "captures" USING btree ("created_at");