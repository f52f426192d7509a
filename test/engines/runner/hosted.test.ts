/** Jobs whose program runs below a warm process, such as bash: they share nothing with the previous job. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer({ child_idle_s: 600 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

let made = 0;
async function bash(content: string, more: object = {}) {
  const path = `u/admin/shell_${++made}`;
  await deploy(ask, "acme", path, content, { language: "bash", ...more });
  const start = (args: object) => ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args);
  return {
    run: async (args: object = {}) => (await expectOk(start(args))).json(),
    fail: async (args: object = {}) => (await start(args)).json().error,
  };
}
/** A zombie process has ended. */
const isAlive = (pid: number) =>
  Bun.file(`/proc/${pid}/stat`)
    .text()
    .then((stat) => !stat.includes(") Z "))
    .catch(() => false);

describe("two jobs of one script in one warm process", () => {
  test("do not see each other's variables, files, working folder, traps and limits", async () => {
    const script = await bash(`
      seen="$(ls -A | tr '\\n' ,)/\${LEFT-unset}/$(ulimit -n)/$(ulimit -u)/$(umask)/$([ "$PWD" = "$HOME" ] && echo home)/\${1-}/$(type -t helper)"
      helper() { :; }; export -f helper
      export LEFT=here; ulimit -n 50; ulimit -u 100; umask 077; trap 'true' TERM
      mkdir -p .deep/er; echo x > secret.txt; ln -s /usr link; cd .deep
      echo "{\\"seen\\": \\"$seen\\", \\"host\\": $PPID, \\"pid\\": $$}" > ../result.json`);
    const first = await script.run();
    const second = await script.run();
    expect(second.host).toBe(first.host);
    expect(second.pid).not.toBe(first.pid);
    expect(second.seen).toBe(first.seen);
    expect(first.seen).toStartWith("/unset/");
    expect(first.seen).toContain("/home/");
  });

  test("do not see arguments of the previous one, nor the memory of the parent process", async () => {
    const script = await bash(`
      secret="$1"
      for name in environ mem maps fd/0 fd/1 fd/3 cwd/. root/etc; do
        head -c 1 /proc/$PPID/$name > /dev/null 2>&1 && echo "$name" >> read
      done
      ls /proc/$PPID/fd > /dev/null 2>&1 && echo fd >> read
      cat read > /dev/null 2>&1 && cat read || echo none`);
    expect(await script.run({ secret: "mine" })).toBe("none");
    expect(await script.run()).toBe("none");
  });

  test("get their own arguments and tokens", async () => {
    const script = await bash(`a="$1"
b="\${2:-two}"
printf '%s\\n' "$PPID" "$a" "$b" "\${BASH_ENV-none}" "$WM_JOB_ID" "$(printf %s "$WM_TOKEN" | sha256sum)" > result.out`);
    const first = (await script.run({ a: `it's "so" $HOME` })).split("\n");
    const next = (await script.run({ a: "x", b: { n: 1 } })).split("\n");
    expect(first.slice(1, 4)).toEqual([`it's "so" $HOME`, "two", "none"]);
    expect(next.slice(0, 4)).toEqual([first[0], "x", '{"n":1}', "none"]);
    expect(next[4]).not.toBe(first[4]);
    expect(next[5]).not.toBe(first[5]);
  });

  test("are not affected by changes of the previous one to its output", async () => {
    const script = await bash(`
      python3 -c 'import os; os.get_blocking(1) and os.get_blocking(2) or exit(3)' || exit 3
      python3 -c 'import os; os.set_blocking(1, False); os.set_blocking(2, False)'
      exec 1>&- 2>&-
      echo '"whole"' > result.json`);
    for (const _ of [1, 2]) expect(await script.run()).toBe("whole");
  });
});

describe("a shell that waits for its job", () => {
  const childrenOf = async (host: number) =>
    (await Bun.file(`/proc/${host}/task/${host}/children`).text()).trim().split(" ").map(Number);

  /** Its process id, once it was started. */
  const waitingBelow = (host: number) =>
    until(async () => (await childrenOf(host)).find((pid) => pid > 0), "a shell that waits");

  test("is as clean as one that is started then", async () => {
    const script = await bash(`seen="$?/$SECONDS/$#/\${1-}/\${BASH_ENV-none}"
a="$1"
own="$(tr '\\0' '\\n' < /proc/$$/environ | grep -c ^WM_)"
echo "{\\"host\\": $PPID, \\"pid\\": $$, \\"seen\\": \\"$seen\\", \\"own\\": $own, \\"job\\": \\"$WM_JOB_ID\\"}" > result.json`);
    const first = await script.run({ a: "one" });
    const waiting = await waitingBelow(first.host);
    // Longer than the interval of the checks for processes that should be idle.
    await Bun.sleep(2_500);
    const second = await script.run({ a: "two" });
    expect(second).toMatchObject({ host: first.host, pid: waiting, seen: "0/0/1/two/none", own: 0 });
    expect(second.job).not.toBe(first.job);
  });

  test("runs nothing when the process above is killed", async () => {
    let calls = 0;
    await using desk = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(`${++calls}`) });
    const script = await bash(`curl -sS ${desk.url.href} > /dev/null; echo $PPID`);
    const host = Number(await script.run());
    const waiting = await waitingBelow(host);
    process.kill(host, "SIGKILL");
    await until(async () => !(await isAlive(waiting)), "its end");
    expect(calls).toBe(1);
    expect(Number(await script.run())).not.toBe(host);
  });

  test("is replaced for the job when it has been killed", async () => {
    const script = await bash("echo $PPID $$");
    const [host, before] = (await script.run()).split(" ").map(Number);
    const waiting = await waitingBelow(host);
    process.kill(waiting, "SIGKILL");
    await until(async () => !(await isAlive(waiting)), "its end");
    const [same, pid] = (await script.run()).split(" ").map(Number);
    expect(same).toBe(host);
    expect([before, waiting]).not.toContain(pid);
  });

  test("is replaced when a variable that it was started with has changed", async () => {
    const script = await bash('echo "$PPID $BASE_URL $WM_BASE_URL"');
    const [host] = (await script.run()).split(" ");
    await waitingBelow(Number(host));
    const setting = { value: "https://svc.example.org" };
    await expectOk(server.operator("POST", "/settings/global/base_url", setting));
    expect(await script.run()).toBe(`${host} ${setting.value} ${setting.value}`);
  });
});

test("processes left by a job are killed with it, and its parent process is not reused", async () => {
  const script = await bash(`
    setsid sleep 600 > /dev/null 2>&1 & left=$!
    (trap '' TERM HUP; sleep 600) &
    echo "$PPID $left $!"`);
  const [host, ...left] = (await script.run()).split(" ").map(Number);
  for (const pid of [host, ...left]) expect(await isAlive(pid)).toBe(false);
  expect((await script.run()).split(" ").map(Number)[0]).not.toBe(host);
});

test("ended processes do not count, whatever process started them", async () => {
  const script = await bash(`
    for i in $(seq 400); do (true &) ; done
    for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done
    cat /proc/$PPID/task/$PPID/children | wc -w`);
  const first = await script.run();
  expect(first).toBe("1");
  expect(await script.run()).toBe("1");
});

test("limits include processes started by a job", async () => {
  const take = (mb: number) =>
    `python3 -c 'import time; x = b"x" * (${mb} << 20); time.sleep(0.6)'; echo $PPID`;
  const script = await bash(take(40), { memory_mb: 64 });
  expect(await script.run()).toBe(await script.run());
  const greedy = await bash(`${take(90)}; sleep 60`, { memory_mb: 64 });
  expect(await greedy.fail()).toMatchObject({ name: "OutOfMemory" });
});

test("a job that signals its own group, or its parent, harms no other", async () => {
  const script = await bash(
    `go="$1"\necho "host $PPID"\nif [ "$go" = group ]; then kill -TERM 0; elif [ "$go" = above ]; then kill -KILL $PPID; sleep 60; fi`,
  );
  const host = await script.run({ go: "" });
  expect((await script.fail({ go: "group" })).message).toStartWith("the script was killed by SIGTERM");
  expect(await script.run({ go: "" })).toBe(host);
  expect((await script.fail({ go: "above" })).message).toStartWith("the script was killed by SIGKILL");
  expect(await script.run({ go: "" })).not.toBe(host);
});

test("the exit of a job is reported, and after a failure the process is reused", async () => {
  const script = await bash(
    `how="$1"\necho $PPID\necho oops >&2\ncase "$how" in kill) kill -KILL $$;; *) exit "$how";; esac`,
  );
  const host = await script.run({ how: 0 });
  expect(await script.fail({ how: 7 })).toEqual({
    name: "ExecutionErr",
    message: expect.stringMatching(/^the script exited with code 7; its last output:\n/),
  });
  expect((await script.fail({ how: 137 })).message).toStartWith("the script exited with code 137");
  expect((await script.fail({ how: "kill" })).message).toStartWith("the script was killed by SIGKILL");
  expect(await script.run({ how: 0 })).toBe(host);
});

test("with `isolation: fresh` each job also has its own parent process", async () => {
  const script = await bash("echo $PPID", { isolation: "fresh" });
  expect(await script.run()).not.toBe(await script.run());
});

test("a canceled job ends with all its processes and its parent", async () => {
  const path = "u/admin/canceled_shell";
  await deploy(ask, "acme", path, "sleep 600 & echo pids $PPID $$ $!; wait", { language: "bash" });
  const id = (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text;
  const pids = await until(async () => {
    const log = (await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text;
    return /pids (\d+) (\d+) (\d+)/.exec(log)?.slice(1).map(Number);
  }, "its process ids");
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "test" }));
  await until(async () => (await Promise.all(pids.map(isAlive))).every((alive) => !alive), "their end");
});
