/**
 * `bun run db:generate [name]`: generates one migration per dialect from all features' tables, and the index that
 * embeds them in the executable. Released migrations never change.
 */
import { readdirSync, writeFileSync } from "node:fs";

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
lines.push("", "export const migrations = {", ...lists, "};", "");
writeFileSync(`${folder}/index.ts`, lines.join("\n"));
Bun.spawnSync([process.execPath, "x", "biome", "check", "--write", `${folder}/index.ts`], {
  stdio: ["ignore", "inherit", "inherit"],
});
