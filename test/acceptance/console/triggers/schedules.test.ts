/** Schedules in a real browser: created, displayed, paused, run and deleted. */
import { expect, test } from "bun:test";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

test("a schedule is created, read, paused, run, changed and deleted", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await seen.open("w/acme/schedules");
  await page.getByText("No schedules yet").waitFor();
  await seen.picture("schedules-none");
  await seen.accessible("no schedules");
  await page.getByRole("link", { name: "New schedule" }).click();
  await page.getByRole("combobox", { name: "What it runs" }).click();
  await page.getByRole("option", { name: /f\/finance\/refund/ }).click();
  await page.getByLabel("notes").fill("Not of the flow");
  await page.getByRole("combobox", { name: "What it runs" }).fill("nightly");
  await page.getByRole("option", { name: /f\/finance\/nightly/ }).click();
  // The arguments of the previous target are dropped.
  await page.getByText("It takes no arguments.").waitFor();
  await page.getByRole("combobox", { name: "What it runs" }).fill("refund");
  await page.getByRole("option", { name: /f\/finance\/refund/ }).click();
  await page.getByLabel("Path").fill("f/finance/late_orders");
  await page.getByLabel("Summary").fill("Late orders");
  await page.getByLabel("Cron expression").fill("0 30 9 * * 1-5");
  await page.getByText("At 09:30, Monday through Friday").waitFor();
  // Times are in the schedule's time zone, not the browser's.
  await page.getByRole("combobox", { name: "Time zone" }).click();
  await page.getByRole("option", { name: "Europe/Berlin", selected: true }).waitFor();
  await page.getByRole("combobox", { name: "Time zone" }).fill("Tokyo");
  await page.getByRole("option", { name: "Asia/Tokyo" }).click();
  await page.getByRole("region", { name: "Next times" }).getByText("09:30").nth(9).waitFor();
  await button("Create the schedule").click();
  await page.getByText("is required").first().waitFor();
  await page.locator("#root_order:focus").waitFor();
  expect(await page.locator("form form").count()).toBe(0);
  await page.getByLabel("order").fill("12");
  await seen.picture("schedule-new");
  await seen.accessible("new schedule");
  await button("Create the schedule").click();
  await page.getByRole("heading", { name: "Late orders" }).waitFor();
  await page.getByText("At 09:30, Monday through Friday").waitFor();
  const stored = async () =>
    JSON.parse(await site.filled.ask("GET", "/w/acme/schedules/get/f/finance/late_orders"));
  expect(await stored()).toMatchObject({
    schedule: "0 30 9 * * 1-5",
    timezone: "Asia/Tokyo",
    args: { order: 12, reason: "damaged" },
    enabled: true,
  });
  expect((await stored()).args.notes).toBeUndefined();
  await page.getByRole("region", { name: "Next times" }).getByText("09:30").nth(9).waitFor();
  await seen.picture("schedule");
  await seen.accessible("schedule");
  await button("Pause").click();
  await button("Resume").waitFor();
  expect((await stored()).enabled).toBe(false);
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Cron expression").fill("nonsense");
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("Cron expression").fill("0 0 8 * * *");
  await page.getByText("At 08:00").waitFor();
  // The browser's console also logs the rejected rule.
  seen.wrongs.splice(
    0,
    seen.wrongs.length,
    ...seen.wrongs.filter((each) => !each.includes("/api/schedules/preview")),
  );
  await button("Save").click();
  await page.getByText("At 08:00").waitFor();
  expect(await stored()).toMatchObject({ schedule: "0 0 8 * * *", enabled: false, args: { order: 12 } });
  await page.getByRole("link", { name: "Schedules" }).first().click();
  await page.getByText("paused").waitFor();
  await page.getByRole("switch", { name: /late_orders/ }).click({ force: true });
  await page.getByText("paused").waitFor({ state: "detached" });
  await seen.picture("schedules");
  await seen.accessible("schedules");
  await page.getByRole("link", { name: "Late orders" }).click();
  await button("Run now").click();
  await page.getByText("no such customer").first().waitFor();
  await page.goBack();
  await button("Delete").click();
  await seen.accessible("delete a schedule");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No schedules yet").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("long rules stay in their column, and rules with seconds are described with them", async () => {
  const schedule = (path: string, rule: string) =>
    site.filled.ask("POST", "/w/acme/schedules/create", {
      path,
      script_path: "f/finance/figures",
      schedule: rule,
      timezone: "Europe/Berlin",
      enabled: false,
    });
  await schedule("f/finance/long_rule", "0 15 10 ? * 6L");
  await schedule("f/finance/often", "*/10 * * * * *");
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/schedules");
  const rule = (await page.getByText("At 10:15, on the last Saturday of the month").boundingBox())!;
  const next = (await page
    .getByRole("row", { name: /long_rule/ })
    .getByText("f/finance/figures")
    .boundingBox())!;
  expect(rule.x + rule.width).toBeLessThanOrEqual(next.x);
  await seen.open("w/acme/schedules/p/f/finance/often");
  const times = page.getByRole("region", { name: "Next times" }).getByRole("listitem");
  await times.nth(9).waitFor();
  expect(new Set(await times.allInnerTexts()).size).toBe(10);
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("combobox", { name: "When it fails" }).fill("script/u/ann/hello");
  await page.keyboard.press("Escape");
  await seen.accessible("a schedule's form");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("definition").getByText("script/u/ann/hello").waitFor();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("combobox", { name: "When it fails" }).fill("script/u/ann/nothing");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("u/ann/nothing").waitFor();
  for (const path of ["f/finance/long_rule", "f/finance/often"])
    await site.filled.ask("DELETE", `/w/acme/schedules/delete/${path}`);
  // The browser also logs the rejected handler.
  expect(seen.wrongs.filter((each) => !/status of 4\d\d/.test(each))).toEqual([]);
  seen.wrongs.length = 0;
}, 60_000);

test("a schedule can start at a given time, retry, and have handlers for each outcome", async () => {
  const stored = async () =>
    JSON.parse(await site.filled.ask("GET", "/w/acme/schedules/get/f/finance/handled"));
  await site.filled.ask("POST", "/w/acme/schedules/create", {
    path: "f/finance/handled",
    script_path: "f/finance/figures",
    schedule: "0 0 6 * * *",
    timezone: "Europe/Berlin",
    retry: { constant: { attempts: 2, seconds: 1 }, retry_if: { expr: "true" }, theirs: 1 },
    on_failure: "script/u/ann/hello",
    on_failure_extra_args: { channel: "ops" },
  });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/schedules/p/f/finance/handled");
  await page.getByText("2 times, every 1 s").waitFor();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Not before").fill("2031-05-06T07:08");
  await page.getByRole("region", { name: "Next times" }).getByText("7 May 2031").waitFor();
  await page.getByRole("combobox", { name: "When a run fails" }).click();
  await page.getByRole("option", { name: "Retry with exponential backoff" }).click();
  await page.getByLabel("Times", { exact: true }).fill("4");
  await page.getByLabel("Multiplier").fill("2");
  await page.getByLabel("Jitter, in percent").fill("10");
  await page.getByText("waits about 10 s, 50 s, 250 s, 1250 s.").waitFor();
  await page.getByLabel("Failures in a row").fill("3");
  await page.getByLabel("Only once").check();
  const handler = async (name: string, path: string) => {
    await page.getByRole("combobox", { name, exact: true }).fill(path);
    await page.keyboard.press("Escape");
  };
  await handler("When it succeeds after failures", "flow/f/finance/nightly");
  await page.getByLabel("Successes in a row").fill("2");
  await handler("When it succeeds", "script/f/finance/figures");
  await page.getByLabel("A failure does not start the workspace's error handler").check();
  await seen.picture("schedule-handlers");
  await seen.accessible("a schedule's handlers");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("flow/f/finance/nightly, after 2 successes").waitFor();
  await page.getByText("4 times, with exponential backoff").waitFor();
  await page.getByText("script/u/ann/hello, after 3 failures").waitFor();
  await seen.picture("schedule-handled");
  expect(await stored()).toMatchObject({
    paused_until: "2031-05-06T05:08:00.000Z",
    next_at: "2031-05-07T04:00:00.000Z",
    retry: {
      exponential: { attempts: 4, multiplier: 2, seconds: 5, random_factor: 10 },
      retry_if: { expr: "true" },
      theirs: 1,
    },
    on_failure: "script/u/ann/hello",
    on_failure_times: 3,
    on_failure_exact: true,
    on_failure_extra_args: { channel: "ops" },
    on_recovery: "flow/f/finance/nightly",
    on_recovery_times: 2,
    on_success: "script/f/finance/figures",
    ws_error_handler_muted: true,
  });
  // Removed again, one by one.
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Not before").fill("");
  await page.getByRole("combobox", { name: "When a run fails" }).click();
  await page.getByRole("option", { name: "No retry" }).click();
  for (const name of ["When it fails", "When it succeeds after failures", "When it succeeds"])
    await handler(name, "");
  await page.getByRole("button", { name: "Save" }).click();
  // The form shows the next times as well.
  await page.getByRole("link", { name: "Edit" }).waitFor();
  const left = await stored();
  expect(
    ["paused_until", "retry", "on_failure", "on_failure_times", "on_recovery", "on_success"].map(
      (name) => left[name] ?? null,
    ),
  ).toEqual([null, null, null, null, null, null]);
  await site.filled.ask("DELETE", "/w/acme/schedules/delete/f/finance/handled");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a reload asks before it discards changes, and not after they are saved", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/schedules/new");
  const path = page.getByLabel("Path");
  await path.click();
  const first = await path.inputValue();
  await path.fill("f/finance/other");
  await path.fill(first);
  // Without unsaved changes: the visit would record a question.
  await page.reload();
  expect(seen.wrongs).toEqual([]);
  await page.getByRole("combobox", { name: "What it runs" }).click();
  await page.getByRole("option", { name: /f\/finance\/figures/ }).click();
  const toldOfChoice = page.waitForEvent("dialog");
  await page.reload({ timeout: 2_000 }).catch(() => {});
  expect((await toldOfChoice).type()).toBe("beforeunload");
  // Following a link asks as well, and declining keeps the input.
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await seen.accessible("a form that is left");
  await question.getByRole("button", { name: "Stay" }).click();
  await question.waitFor({ state: "detached" });
  await path.fill("f/finance/other");
  await page.getByRole("link", { name: "Schedules" }).first().click();
  await question.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("link", { name: "New schedule" }).first().click();
  await page.getByRole("combobox", { name: "What it runs" }).click();
  await page.getByRole("option", { name: /f\/finance\/figures/ }).click();
  await path.fill("f/finance/kept");
  const asked = page.waitForEvent("dialog");
  // The visit declines the question, so the page stays.
  await page.reload({ timeout: 2_000 }).catch(() => {});
  expect((await asked).type()).toBe("beforeunload");
  expect(await path.inputValue()).toBe("f/finance/kept");
  seen.wrongs.length = 0;
  await page.getByRole("button", { name: "Create the schedule" }).click();
  await page.getByRole("heading", { name: "f/finance/kept" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "f/finance/kept" }).waitFor();
  await site.filled.ask("DELETE", "/w/acme/schedules/delete/f/finance/kept");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("users who may not change a schedule are not offered changes", async () => {
  await site.filled.ask("POST", "/w/acme/schedules/create", {
    path: "f/finance/report",
    script_path: "f/finance/figures",
    schedule: "0 0 6 * * *",
    timezone: "Europe/Berlin",
    summary: `<img src=x onerror=alert(1)>`,
    description: `<svg onload=alert(2)>`,
    enabled: false,
  });
  await site.serving.operator("/users/create", {
    email: "bob@example.org",
    password: "correct horse battery",
    super_admin: false,
  });
  await site.filled.ask("POST", "/w/acme/workspaces/add_user", {
    email: "bob@example.org",
    username: "bob",
    is_admin: false,
    operator: false,
  });
  await site.filled.ask("POST", "/w/acme/folders/update/finance", { extra_perms: { "u/bob": false } });
  const token = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "bob@example.org",
  });
  await using seen = await site.visit({ token, scheme: "dark" });
  const { page } = seen;
  await seen.open("w/acme/schedules");
  await page.getByText("onerror=alert(1)").waitFor();
  await expectSoon(() => page.getByRole("switch", { name: /report/ }).isDisabled(), true);
  await seen.picture("schedules-dark");
  await seen.accessible("schedules of a reader");
  await page.getByRole("link", { name: /onerror/ }).click();
  await page.getByRole("button", { name: "Run now" }).waitFor();
  await page.getByText("svg onload").waitFor();
  for (const name of ["Pause", "Resume", "Delete"])
    expect(await page.getByRole("button", { name }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
  await seen.picture("schedule-dark");
  await seen.accessible("schedule of a reader");
  expect(seen.wrongs).toEqual([]);
}, 60_000);
