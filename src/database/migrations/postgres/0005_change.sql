CREATE TABLE "script_imports" (
	"workspace_id" text NOT NULL,
	"importer_kind" text NOT NULL,
	"importer_path" text NOT NULL,
	"imported_path" text NOT NULL,
	CONSTRAINT "script_imports_workspace_id_importer_kind_importer_path_imported_path_pk" PRIMARY KEY("workspace_id","importer_kind","importer_path","imported_path")
);
--> statement-breakpoint
ALTER TABLE "flow_versions" ADD COLUMN "imports" text;--> statement-breakpoint
ALTER TABLE "scripts" ADD COLUMN "imports" text;--> statement-breakpoint
CREATE INDEX "script_imports_by_imported" ON "script_imports" USING btree ("workspace_id","imported_path");