/** Background services of features: each is declared, and starts after the services it depends on. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createService, createServiceStack } from "../../src/lib/async/service.ts";
import { createLog } from "../../src/lib/logging/log.ts";
import type { App } from "../../src/platform/app/context.ts";
import type { Feature } from "../../src/platform/app/feature.ts";
import type { JobsRole, Loop } from "../../src/platform/app/loop.ts";
import { features } from "../../src/server/features.ts";
import { startLoops } from "../../src/server/loops.ts";

const root = join(import.meta.dir, "../..");

/** Features from the highest floor down, with loops that record their starts and stops. */
function recorded() {
  const events: string[] = [];
  const loop = (name: string, roles: JobsRole[], phase?: Loop["phase"]): Loop => ({
    name,
    roles,
    ...(phase ? { phase } : {}),
    create: () =>
      createService(() => {
        events.push(`+${name}`);
        return () => void events.push(`-${name}`);
      }),
  });
  const declared: Feature[] = [
    { folder: "roof", loops: [loop("roof", ["all"])] },
    { folder: "middle" },
    {
      folder: "ground",
      loops: [
        loop("early", ["all", "own"], "before worker"),
        loop("one", ["all", "worker"]),
        loop("two", ["all"]),
      ],
    },
  ];
  return { events, app: { features: declared } as unknown as App };
}

test("loops start in order of dependency, and stop in reverse", async () => {
  const { events, app } = recorded();
  const parts = createServiceStack(createLog("silent", "json"));
  await startLoops(app, parts, "all");
  expect(events.splice(0)).toEqual(["+one", "+two", "+roof"]);
  await parts.stop();
  expect(events).toEqual(["-roof", "-two", "-one"]);
});

test.each([
  ["all", "before worker", ["+early"]],
  ["own", "before worker", ["+early"]],
  ["own", undefined, []],
  ["worker", undefined, ["+one"]],
  ["none", "before worker", []],
] as const)("role %s starts only its own loops (phase: %s)", async (role, phase, started) => {
  const { events, app } = recorded();
  const parts = createServiceStack(createLog("silent", "json"));
  await startLoops(app, parts, role, phase);
  expect(events).toEqual([...started]);
  await parts.stop();
});

/**
 * Started explicitly, in this order and before all loops, or by another service: `server/app.ts` and
 * `start-worker.ts`. The display of a job updates while it is followed.
 */
const BY_HAND = [
  "createUsageFlusher",
  "createTokenUseFlusher",
  "createWorker",
  "createJobHeartbeats",
  "subscribeToFeed",
];

test("every periodic task of a feature is a loop that a feature declares", async () => {
  const files = await Array.fromAsync(new Bun.Glob("src/features/**/*.ts").scan({ cwd: root }));
  const texts = await Promise.all(
    files.map(async (file) => [file, await Bun.file(join(root, file)).text()] as const),
  );
  const declarations = texts.filter(([file]) => file.endsWith("/feature.ts")).map(([, text]) => text);
  const created = texts
    .filter(([, text]) => text.includes("createPeriodicTask("))
    .flatMap(([, text]) => [...text.matchAll(/^export function (\w+)\(app: App\b.*\): [A-Z]\w+ \{$/gm)])
    .map(([, name]) => name!);
  expect(created.length).toBeGreaterThan(10);
  const forgotten = created.filter(
    (name) => !BY_HAND.includes(name) && !declarations.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
  );
  expect(forgotten).toEqual([]);
});

test("loops have unique names", () => {
  const names = features.flatMap(({ loops = [] }) => loops.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});
