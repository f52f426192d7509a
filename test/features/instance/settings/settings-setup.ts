/** A server, calls of its settings, and valid and invalid values for each. */
import { afterAll, beforeAll } from "bun:test";
import { createKeyPair, signLicense } from "../../../../src/features/tenancy/license/signed-license.ts";
import type { SettingKey } from "../../../../src/platform/config/instance-settings.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let userAsk: Ask;

export const set = (key: string, value: unknown) => ask("POST", `/settings/global/${key}`, { value });
export const get = async (key: string) => (await expectOk(ask("GET", `/settings/global/${key}`))).json();
export const listSettings = async (name: string, query = "") =>
  (await expectOk(ask("GET", `/settings/list_global${query}`)))
    .json<{ name: string; value: unknown; source: string; variable?: string }[]>()
    .find((setting) => setting.name === name);

export const SMTP = {
  smtp_host: "mail.example.org",
  smtp_port: 465,
  smtp_from: "svc@example.org",
  smtp_username: "svc",
  smtp_password: "hunter2-of-the-mail",
};

export const { public_key, private_pem } = await createKeyPair();
const forADay = { issued_at: new Date(), expires_at: new Date(Date.now() + 86_400_000) };
const LICENSE = await signLicense({ id: "lic", customer: "Acme", ...forADay }, private_pem);

const SECONDS = [-1, 1.5, 3_155_760_001, 1e300];
const LONG = "x".repeat(100_001);
const aFlag = { good: true, bad: [0, 1, "true"] };
const aText = { good: "a text", bad: [LONG] };
const aUrl = {
  good: "https://example.org",
  bad: ["example.org", "ftp://example.org", "https://", "javascript:1"],
};
const aList = { good: ["one"], bad: [[""], ["x".repeat(1001)], new Array(1001).fill("x")] };

/** For each key a valid value, and invalid ones of the same type. */
export const EXAMPLES: Record<SettingKey, { good: unknown; bad: unknown[] }> = {
  base_url: aUrl,
  email_domain: aText,
  retention_period_secs: { good: 60, bad: SECONDS },
  job_default_timeout: { good: 60, bad: [0, ...SECONDS] },
  timeout_wait_result: { good: 60, bad: [86_401, ...SECONDS] },
  job_search_index: { good: 5, bad: [-1, 10_000_001, 1.5, "5"] },
  error_status: aFlag,
  open_description: aFlag,
  newest_version_url: aUrl,
  instance_events_webhook: aUrl,
  request_size_limit_mb: { good: 60, bad: [0, 100_001, ...SECONDS] },
  smtp_settings: {
    good: SMTP,
    bad: [
      { ...SMTP, smtp_host: "" },
      { ...SMTP, smtp_port: 0 },
      { ...SMTP, smtp_port: "25" },
      { ...SMTP, smtp_from: "" },
      { ...SMTP, smtp_password: 7 },
      { ...SMTP, smtp_tls_implicit: "yes" },
    ],
  },
  critical_error_channels: {
    good: [{ email: "ops@example.org" }],
    bad: [
      [{ email: "ops" }],
      [{ email: "ops@example.org", chat_channel: 7 }],
      [{ webhook_url: "ftp://x.org" }],
      [{ chat_channel: 7 }],
      new Array(51).fill({ email: "ops@example.org" }),
    ],
  },
  critical_alert_mute_ui: aFlag,
  critical_alerts_on_token_expiry: aFlag,
  max_token_lifetime_secs: { good: 3_155_760_000, bad: [59, ...SECONDS] },
  oidc_token_lifetime_secs: { good: 60, bad: [59, 86_401, ...SECONDS] },
  oidc_token_algorithm: { good: "EdDSA", bad: ["none", "HS256", "rs256"] },
  chat: { good: { access_token: "x" }, bad: [{ access_token: "" }, { access_token: "x", api_url: "y" }] },
  license_key: { good: LICENSE, bad: ["no license", "a.b.c", LONG] },
  license_public_key: { good: public_key, bad: ["short", `${"x".repeat(43)} short`] },
  uid: aText,
  disable_stats: aFlag,
  stats_url: aUrl,
  automate_username_creation: aFlag,
  require_preexisting_user_for_oauth: aFlag,
  disable_password_login: aFlag,
  oauths: {
    good: { github: { id: "abc" } },
    bad: [{ github: {} }, { github: { id: "" } }, { github: "abc" }, { "": { id: "abc" } }],
  },
  saml_metadata: { good: "https://login.example.org/metadata", bad: ["<EntityDescriptor/>", "no metadata"] },
  scim_token: aText,
  jwt_secret: aText,
  create_workspace_require_superadmin: aFlag,
  root_route_workspaces: aList,
  custom_tags: aList,
  default_tags_per_workspace: aFlag,
  default_tags_workspaces: aList,
  hub_base_url: aUrl,
  hub_api_secret: aText,
  object_store_cache_config: { good: { type: "S3" }, bad: [{ type: "" }, { type: 7 }] },
  monitor_logs_on_s3: aFlag,
  expose_metrics: aFlag,
  expose_debug_metrics: aFlag,
  keep_job_dir: aFlag,
  dev_instance: aFlag,
  bunfig_install_scopes: aText,
  npm_config_registry: aUrl,
  pip_index_url: aText,
  pip_extra_index_url: aText,
  pip_trusted_host: aText,
  pip_find_links: aText,
  instance_python_version: aText,
};

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSettings(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ask = (await server.user("root", { super_admin: true })).ask;
    userAsk = (await server.user("ann")).ask;
  });
  afterAll(() => server.stop());
}
