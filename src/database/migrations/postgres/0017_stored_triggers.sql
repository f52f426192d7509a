CREATE TABLE "stored_triggers" (
	"workspace_id" text NOT NULL,
	"path" text NOT NULL,
	"kind" text NOT NULL,
	"script_path" text NOT NULL,
	"is_flow" boolean NOT NULL,
	"enabled" boolean NOT NULL,
	"value" text NOT NULL,
	"edited_by" text NOT NULL,
	"edited_at" timestamp(3) with time zone NOT NULL,
	"email" text NOT NULL,
	"extra_perms" text NOT NULL,
	CONSTRAINT "stored_triggers_workspace_id_path_kind_pk" PRIMARY KEY("workspace_id","path","kind")
);
