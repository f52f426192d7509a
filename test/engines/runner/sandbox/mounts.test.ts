/** Files that a process in bubblewrap sees instead of the originals. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBwrapArguments } from "../../../../src/engines/runner/sandbox/isolation/bwrap.ts";
import { createTemporaryFolder } from "../../../support/harness.ts";

test.skipIf(!Bun.which("bwrap"))("links are followed, in a folder that it sees and elsewhere", () => {
  const place = createTemporaryFolder("svc-mounts-");
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

test.skipIf(!Bun.which("bwrap"))(
  "a link that leads out of a visible folder works, and so does everything it leads to",
  () => {
    const place = createTemporaryFolder("svc-mounts-");
    const at = (...names: string[]) => join(place, ...names);
    for (const path of ["seen", "hops", "end/sub", "other/sub"]) mkdirSync(at(path), { recursive: true });
    for (const path of ["end/file", "other/sub/file", "hops/secret", "other/secret"])
      writeFileSync(at(path), "text\n");
    symlinkSync(at("hops/next"), at("seen/link"));
    symlinkSync("../end", at("hops/next"));
    symlinkSync(at("other"), at("seen/above"));
    const read = ["/usr", "/bin", "/lib", "/lib64", at("seen"), at("seen/link"), at("seen/above/sub")];
    const walls = createBwrapArguments({ read, write: [], home: "/", isForOthers: false });
    const open = ["seen/link/file", "hops/next/file", "end/file", "seen/above/sub/file", "other/sub/file"];
    const hidden = ["hops/secret", "other/secret"];
    const ran = Bun.spawnSync([
      "bwrap",
      ...walls,
      "/bin/cat",
      ...[...open, ...hidden].map((path) => at(path)),
    ]);
    rmSync(place, { recursive: true });
    expect(ran.stdout.toString()).toBe("text\n".repeat(open.length));
    expect(ran.stderr.toString().match(/[a-z]+\/secret: No such file/g)).toHaveLength(hidden.length);
  },
);
