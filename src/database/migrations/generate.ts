/**
 * `bun run db:generate [name]`: generates one migration per dialect from all features' tables, the schema that they
 * make of an empty SQLite database, and the index that embeds them in the executable. Released migrations never change.
 */
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const name = process.argv[2] ?? "change";
const folder = "src/database/migrations";

for (const dialect of ["sqlite", "postgres"] as const) {
  const drizzleDialect = dialect === "postgres" ? "postgresql" : "sqlite";
  const run = Bun.spawnSync(
    [
      process.execPath,
      "x",
      "--bun",
      "drizzle-kit",
      "generate",
      `--dialect=${drizzleDialect}`,
      "--schema=src/**/*tables.ts",
      `--out=${folder}/${dialect}`,
      `--name=${name}`,
    ],
    {
      // DATABASE_URL selects the kit's dialect.
      env: { ...process.env, DATABASE_URL: dialect === "postgres" ? "postgres://generate" : "" },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  if (run.exitCode !== 0) process.exit(run.exitCode ?? 1);
}

/** Returns the statements that create all tables, indexes and triggers as they are after all migrations. */
function describeSqliteSchema(): string {
  const db = new Database(":memory:");
  const files = readdirSync(`${folder}/sqlite`).filter((file) => file.endsWith(".sql"));
  for (const file of files.sort()) db.run(readFileSync(`${folder}/sqlite/${file}`, "utf8"));
  const statements = db
    .query<{ sql: string }, []>(
      // Shadow tables come with their virtual table.
      `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
       AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`,
    )
    .all();
  return `${statements.map((statement) => `${statement.sql};`).join("\n--> statement-breakpoint\n")}\n`;
}

writeFileSync(`${folder}/sqlite-schema.sql`, describeSqliteSchema());

const lines = [
  "/** Written by `bun run db:generate`: the migrations, in order, as they travel inside the executable. */",
];
const lists: string[] = [];
for (const dialect of ["sqlite", "postgres"] as const) {
  const names = readdirSync(`${folder}/${dialect}`)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.replace(/\.sql$/, ""))
    .sort();
  for (const file of names) {
    lines.push(`import ${dialect}_${file} from "./${dialect}/${file}.sql" with { type: "text" };`);
  }
  lists.push(
    `  ${dialect}: [`,
    ...names.map((file) => `    { name: "${file}", sql: ${dialect}_${file} },`),
    "  ],",
  );
}
lines.push('import sqlite_schema from "./sqlite-schema.sql" with { type: "text" };');
lines.push("", "export const migrations = {", ...lists, "};", "");
lines.push(
  "/** What the migrations make of an empty database, in fewer statements. */",
  "export { sqlite_schema };",
  "",
);
writeFileSync(`${folder}/index.ts`, lines.join("\n"));
Bun.spawnSync([process.execPath, "x", "biome", "check", "--write", `${folder}/index.ts`], {
  stdio: ["ignore", "inherit", "inherit"],
});
