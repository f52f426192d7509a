/** What a process in bubblewrap finds in place of the files that it is given. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBwrapArguments } from "../../../../src/engines/runner/sandbox/walls/bwrap.ts";
import { openFolder } from "../../../support/harness.ts";

test.skipIf(!Bun.which("bwrap"))("links are followed, in a folder that it sees and elsewhere", () => {
  const place = openFolder("svc-mounts-");
  const [seen, hidden] = [join(place, "seen"), join(place, "hidden")];
  const file = join(hidden, "file");
  const links = [join(seen, "link"), join(hidden, "link")];
  for (const folder of [seen, hidden]) mkdirSync(folder);
  for (const path of [file, join(hidden, "secret")]) writeFileSync(path, "text\n");
  for (const link of links) symlinkSync(file, link);
  const read = ["/usr", "/bin", "/lib", "/lib64", seen, ...links, file];
  const walls = createBwrapArguments({ read, write: [], home: "/", isForOthers: false });
  const ran = Bun.spawnSync(["bwrap", ...walls, "/bin/cat", ...links, join(hidden, "secret")]);
  rmSync(place, { recursive: true });
  expect(ran.stderr.toString()).toContain("hidden/secret: No such file");
  expect(ran.stdout.toString()).toBe("text\ntext\n");
});
