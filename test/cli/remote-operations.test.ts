/** What the command line knows of the operations that it calls, without loading them. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyRemoteOperation } from "../../cli/client/remote-operation.ts";
import { operations } from "../../src/server/features.ts";

const cli = join(import.meta.dir, "../../cli");

const isOperation = (value: object): value is AnyRemoteOperation => "responds" in value;

/** Lists the operations of a module, also those grouped by kind. */
function collect(value: unknown): AnyRemoteOperation[] {
  if (typeof value !== "object" || value === null) return [];
  return isOperation(value) ? [value] : Object.values(value).flatMap(collect);
}

test("each reference has the method, path and kind of response of an operation", async () => {
  const known = new Map(operations.map((each) => [`${each.method} ${each.path}`, each.responds.kind]));
  const found: AnyRemoteOperation[] = [];
  for (const file of new Bun.Glob("client/operations/*.ts").scanSync(cli))
    found.push(...collect({ ...(await import(join(cli, file))) }));
  expect(found.length).toBeGreaterThan(150);
  const differing = found.filter(
    ({ method, path, responds }) => known.get(`${method} ${path}`) !== responds.kind,
  );
  expect(differing).toEqual([]);
});

test("only `svc push` and `svc pull`, which compare fields, load operations themselves", () => {
  const files = [...new Bun.Glob("{client,commands,jobs,program,terminal}/**/*.ts").scanSync(cli)];
  const loading = files.filter((file) =>
    /^(import (?!type )[^;]*from |.*\bimport\()"[^"]*src\/features\/[^"]*operations\.ts"/m.test(
      readFileSync(join(cli, file), "utf8"),
    ),
  );
  expect(loading).toEqual([]);
});
