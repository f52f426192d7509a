/**
 * A separate program, `<data directory> <database or ""> <n> <method> <path> [body]`: answers one call of the
 * local admin, and is killed once the given number of its transactions are committed.
 */

/** Path of this program. */
const CUT_OFF = import.meta.path;

/** @returns whether it was killed: otherwise the call ended earlier */
export async function cutOff(
  place: { data_dir: string; database_url?: string | undefined; secret_key?: string },
  commits: number,
  call: [method: string, path: string, body?: unknown],
): Promise<boolean> {
  const [method, path, body] = call;
  const { data_dir, database_url = "" } = place;
  const given = [data_dir, database_url, String(commits), method, path, JSON.stringify(body ?? null)];
  const child = Bun.spawn([process.execPath, CUT_OFF, ...given], {
    env: { ...process.env, ...(place.secret_key ? { SVC_SECRET_KEY: place.secret_key } : {}) },
    stdout: "ignore",
    stderr: "pipe",
  });
  const [errors] = await Promise.all([child.stderr.text(), child.exited]);
  if (child.signalCode !== "SIGKILL" && child.exitCode !== 0) throw new Error(errors);
  return child.signalCode === "SIGKILL";
}

async function callAndDie([data_dir, database_url, commits, method, path, body]: string[]): Promise<void> {
  const { createApp } = await import("../../src/server/app.ts");
  const { loadConfig } = await import("../../src/platform/config/config.ts");
  const config = loadConfig({ data_dir, database_url: database_url || undefined, log_level: "fatal" });
  const { app, fetchAsLocalAdmin, stop } = await createApp(config, "none");
  const { write } = app.db;
  let count = 0;
  app.db.write = async (work, how) => {
    const value = await write(work, how);
    if (++count === Number(commits)) process.kill(process.pid, "SIGKILL");
    return value;
  };
  const init: RequestInit = { method: method!, headers: { "content-type": "application/json" } };
  if (body !== "null") init.body = body!;
  const answer = await fetchAsLocalAdmin(new Request(`http://localhost/api${path}`, init));
  if (!answer.ok) throw new Error(await answer.text());
  await stop();
}

if (import.meta.main) await callAndDie(process.argv.slice(2));
