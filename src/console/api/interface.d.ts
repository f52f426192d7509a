// Written by `bun run console:client` from the description of the interface. Not to be edited.

export type AuditLog = { id: number; workspace_id: string; timestamp: string; username: string; email: string; operation: string; action_kind: string; resource?: string | null; parameters?: Record<string, string> | null };
export type Capture = { id: number; trigger_kind: string; main_args: unknown; preprocessor_args: unknown; payload: unknown; trigger_extra: unknown; created_at: string };
export type CaptureConfig = { trigger_kind: string; trigger_config: unknown; edited_by: string; last_client_ping: string };
export type FlowModule = { id: string; value: { type: "rawscript"; input_transforms: Record<string, InputTransform>; content: string; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; path?: string | null; lock?: string | null; tag?: string | null; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; custom_concurrency_key?: string | null } | { type: "script"; input_transforms: Record<string, InputTransform>; path: string; hash?: string | null; tag_override?: string | null } | { type: "flow"; input_transforms: Record<string, InputTransform>; path: string } | { type: "forloopflow"; iterator: InputTransform; modules: FlowModules; skip_failures: boolean; parallel?: boolean | null; parallelism?: number | InputTransform | null } | { type: "whileloopflow"; modules: FlowModules; skip_failures: boolean; parallel?: boolean | null; parallelism?: number | InputTransform | null } | { type: "branchone"; branches: ({ expr: string; modules: FlowModules; summary?: string | null })[]; default: FlowModules } | { type: "branchall"; branches: ({ modules: FlowModules; summary?: string | null; skip_failure?: boolean | null })[]; parallel?: boolean | null } | { type: "identity"; flow?: boolean | null }; summary?: string | null; stop_after_if?: { expr: string; skip_if_stopped?: boolean | null; error_message?: string | null; error_include_result?: boolean | null } | null; stop_after_all_iters_if?: { expr: string; skip_if_stopped?: boolean | null; error_message?: string | null; error_include_result?: boolean | null } | null; skip_if?: { expr: string } | null; sleep?: InputTransform | null; timeout?: number | InputTransform | null; cache_ttl?: number | null; delete_after_use?: boolean | null; mock?: { enabled?: boolean | null; return_value?: unknown } | null; suspend?: { required_events?: number | null; timeout?: number | null; resume_form?: unknown; user_auth_required?: boolean | null; user_groups_required?: InputTransform | null; self_approval_disabled?: boolean | null; hide_cancel?: boolean | null; continue_on_disapprove_timeout?: boolean | null } | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; continue_on_error?: boolean | null; priority?: number | null };
export type FlowModules = (FlowModule)[];
export type FlowStepJob = { type: "QueuedJob" | "CompletedJob"; id: string; created_at: string; started_at?: string; scheduled_for?: string; completed_at?: string; running?: boolean; duration_ms?: number; success?: boolean; is_skipped?: boolean; canceled: boolean; suspend?: number; job_kind: string; script_path?: string; parent_job: string; step_id: string; index?: number };
export type FlowValue = { modules: FlowModules; failure_module?: FlowModule | null; preprocessor_module?: FlowModule | null; same_worker?: boolean | null; concurrent_limit?: number | null; concurrency_key?: string | null; concurrency_time_window_s?: number | null; skip_expr?: string | null; cache_ttl?: number | null; priority?: number | null; early_return?: string | null; flow_env?: Record<string, unknown> | null };
export type Folder = { workspace_id: string; name: string; display_name: string; summary: string; owners: (string)[]; extra_perms: Record<string, boolean>; created_by: string; edited_at: string };
export type GlobalUserInfo = { email: string; login_type: string; super_admin: boolean; devops: boolean; verified: boolean; name?: string | null; company?: string | null; username?: string | null; operator_only?: boolean; first_time_user: boolean };
export type Group = { workspace_id: string; name: string; summary: string; extra_perms: Record<string, boolean>; members?: (string)[] };
export type HttpTrigger = { workspace_id: string; path: string; script_path: string; is_flow: boolean; enabled: boolean; summary?: string | null; edited_by: string; edited_at: string; email: string; extra_perms: Record<string, boolean>; route_path: string; workspaced_route: boolean; http_method: "get" | "post" | "put" | "delete" | "patch"; description?: string | null; is_async: boolean; request_type: "sync" | "async" | "sync_sse"; requires_auth: boolean; authentication_method: "none" | "token" | "api_key" | "basic_http" | "signature"; authentication_resource_path?: string | null; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; raw_string: boolean; wrap_body: boolean; is_static_website: boolean; static_asset_config?: { s3: string; storage?: string | null; filename?: (unknown) & (unknown) | null } | null; retry?: unknown | null; mode?: "enabled" | "disabled" | "suspended" | null; error?: string | null };
export type InputTransform = { type: "static"; value?: unknown } | { type: "javascript"; expr: string };
export type Job = { type: "QueuedJob" | "CompletedJob"; id: string; workspace_id: string; parent_job?: string; root_job?: string; created_by: string; created_at: string; started_at?: string; scheduled_for?: string; completed_at?: string; running?: boolean; duration_ms?: number; success?: boolean; is_skipped?: boolean; result?: unknown; deleted?: boolean; labels?: (string)[]; script_path?: string; script_hash?: string; schedule_path?: string; args?: unknown; logs?: string; raw_code?: string; raw_lock?: string; canceled: boolean; canceled_by?: string; canceled_reason?: string; last_ping?: string; suspend?: number; job_kind: string; permissioned_as: string; email: string; is_flow_step: boolean; flow_status?: { step: number; modules: ({ type: "WaitingForPriorSteps" | "WaitingForEvents" | "WaitingForExecutor" | "InProgress" | "Success" | "Failure"; id: string; job?: string })[]; failure_module: { type: string; id: string; parent_module: string }; preprocessor_module?: { type: "WaitingForPriorSteps" | "WaitingForEvents" | "WaitingForExecutor" | "InProgress" | "Success" | "Failure"; id: string; job?: string }; user_states?: Record<string, unknown>; approval_conditions?: { user_auth_required: boolean; user_groups_required: (string)[]; self_approval_disabled: boolean }; restarted_from?: { flow_job_id: string; step_id: string; branch_or_iteration_n?: number | null }; retry: { fail_count: number; failed_jobs: (string)[] } }; raw_flow?: unknown; language?: string; visible_to_owner: boolean; mem_peak?: number; isolation?: string; tag: string; priority?: number; self_wait_time_ms?: number; preprocessed?: boolean; worker?: string; trigger_kind?: string; trigger?: string };
export type ListableVariable = { workspace_id: string; path: string; value?: string | null; is_secret: boolean; description: string; account?: number | null; is_oauth: boolean; is_expired: boolean; is_refreshed: boolean; refresh_error?: string; expires_at?: string | null; extra_perms: Record<string, boolean>; is_linked: boolean };
export type Problem = { type: string; title: string; status: number; detail: string; hint?: string };
export type Resource = { workspace_id: string; path: string; value: unknown; description: string; resource_type: string; is_oauth: boolean; extra_perms: Record<string, boolean>; created_by: string; edited_at: string };
export type ResourceType = { workspace_id: string; name: string; schema: unknown; description: string; format_extension?: string | null; is_fileset: boolean; created_by: string; edited_at: string };
export type Runnable = { workspace: string; path: string; kind: "script" | "flow"; summary: string; description?: string; schema: unknown; endpoint_async: string; endpoint_sync: string; endpoint_ai_sync: string; endpoint_openai_sync: string };
export type Schedule = { workspace_id: string; path: string; script_path: string; is_flow: boolean; enabled: boolean; summary?: string | null; edited_by: string; edited_at: string; email: string; extra_perms: Record<string, boolean>; schedule: string; timezone: string; args: Record<string, unknown>; error?: string | null; description?: string | null; tag?: string | null; no_flow_overlap: boolean; paused_until?: string | null; retry?: unknown | null; cron_version?: string | null; ws_error_handler_muted: boolean; on_failure?: string | null; on_failure_times?: number | null; on_failure_exact?: boolean | null; on_failure_extra_args?: Record<string, unknown> | null; on_recovery?: string | null; on_recovery_times?: number | null; on_recovery_extra_args?: Record<string, unknown> | null; on_success?: string | null; on_success_extra_args?: Record<string, unknown> | null; next_at?: string | null };
export type Script = { workspace_id: string; hash: string; path: string; parent_hashes: (string)[]; summary: string; description: string; content: string; schema: unknown; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; kind: string; is_template: boolean; lock?: string | null; lock_error_logs?: string | null; imports?: ({ path: string; hash: string })[] | null; tag?: string | null; envs: (string)[]; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; concurrency_key?: string | null; cache_ttl?: number | null; timeout?: number | null; priority?: number | null; delete_after_use: boolean; dedicated_worker: boolean; restart_unless_cancelled: boolean; visible_to_runner_only: boolean; ws_error_handler_muted: boolean; isolation: "shared" | "fresh"; memory_mb?: number | null; validate: boolean; no_main_func: boolean; has_preprocessor: boolean; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; on_behalf_of_email?: string | null; codebase?: string | null; created_by: string; created_at: string; archived: boolean; deleted: boolean; draft_only: boolean; extra_perms: Record<string, boolean>; starred: boolean };
export type StoredTrigger = { workspace_id: string; path: string; script_path: string; is_flow: boolean; enabled: boolean; summary?: string | null; edited_by: string; edited_at: string; email: string; extra_perms: Record<string, boolean>; mode?: "enabled" | "disabled" | "suspended" | null; error?: string | null };
export type TriggersCount = { primary_schedule?: { schedule: string }; schedule_count: number; http_routes_count: number; webhook_count: number; email_count: number; websocket_count: number; postgres_count: number; kafka_count: number; nats_count: number; mqtt_count: number; amqp_count: number; sqs_count: number; gcp_count: number; azure_count: number };
export type User = { workspace_id: string; email: string; username: string; is_admin: boolean; is_super_admin: boolean; created_at: string; operator: boolean; disabled: boolean; groups: (string)[]; folders: (string)[]; folders_owners: (string)[] };
export type WebhookDelivery = { event_seq: number; event_id: string; type: string; payload: string; created_at: string; state: "pending" | "delivered" | "failed"; attempts: number; next_at: string; status: number | null; error: string | null; last_attempt_at: string | null };
export type WebhookEndpoint = { id: string; url: string; description: string; types: (string)[] | null; is_workspace_webhook: boolean; enabled: boolean; created_by: string; created_at: string; failing_since: string | null };
export type WebsocketTrigger = { workspace_id: string; path: string; script_path: string; is_flow: boolean; enabled: boolean; summary?: string | null; edited_by: string; edited_at: string; email: string; extra_perms: Record<string, boolean>; url: string; url_runnable_args: Record<string, unknown>; filters: ({ key: string; value: unknown })[]; initial_messages: ({ raw_message: string } | { runnable_result: { path: string; is_flow?: boolean; args?: Record<string, unknown> } })[]; can_return_message: boolean; can_return_error_result: boolean; retry?: unknown | null; mode?: "enabled" | "disabled" | "suspended" | null; error?: string | null; server_id?: string | null; last_server_ping?: string | null };
export type WorkerGroupConfig = { worker_tags?: (string)[] | null };
export type WorkerPing = { worker: string; worker_instance: string; worker_group: string; wm_version: string; ip: string; started_at: string; last_ping: number; ping_at: string; jobs_executed: number; custom_tags?: (string)[]; last_job_id?: string; last_job_workspace_id?: string; occupancy_rate: number; occupancy_rate_15s: number; occupancy_rate_5m: number; occupancy_rate_30m: number; vcpus: number; memory: number; memory_usage: number; wm_memory_usage: number; slots: number };
export type WorkspaceDependencies = { workspace_id: string; language: "bun" | "python3" | "php" | "go" | "powershell"; name?: string | null; content: string; description?: string | null; created_by: string; created_at: string; archived: boolean };
export type WorkspaceInvite = { workspace_id: string; email: string; is_admin: boolean; operator: boolean };

export interface Operations {
  /** Read an app of the public hub: always 404 */
  "GET /apps/hub/get/{id}": { input: { id: string }; answer: unknown; access: "user" };
  /** List apps of the public hub: always empty */
  "GET /apps/hub/list": { input: {  }; answer: { apps: (unknown)[] }; access: "user" };
  /** Read an app by the address that an admin has chosen; callers who are not logged in can only read an anonymous app */
  "GET /apps_u/public_app_by_custom_path/{custom_path}": { input: { custom_path: string }; answer: { id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; versions: (number)[]; created_by: string; created_at: string; value: unknown; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; custom_path?: string | null }; access: "anyone" };
  /** Export audit rows of all workspaces as JSON lines, oldest first */
  "GET /audit/export": { input: { query?: { before?: string; after?: string; username?: string; operation?: string; operations?: string; exclude_operations?: string; resource?: string; action_kind?: "Create" | "Update" | "Delete" | "Execute"; workspace?: string } }; answer: unknown; access: "superAdmin" };
  /** List audit rows of all workspaces, of none (`global`) and of deleted ones, newest first */
  "GET /audit/list": { input: { query?: { page?: number; per_page?: number; before?: string; after?: string; username?: string; operation?: string; operations?: string; exclude_operations?: string; resource?: string; action_kind?: "Create" | "Update" | "Delete" | "Execute"; workspace?: string } }; answer: (AuditLog)[]; access: "superAdmin" };
  /** Check whether password reset by mail is available */
  "GET /auth/is_smtp_configured": { input: {  }; answer: boolean; access: "anyone" };
  /** Log in with e-mail and password; the session token is the body and the cookie `token` */
  "POST /auth/login": { input: { body: { email: string; password: string } }; answer: string; access: "anyone" };
  /** Log out by GET, with the token in the header or the URL, and redirect to `rd`, an address of this instance */
  "GET /auth/logout": { input: { query?: { rd?: string } }; answer: string; access: "anyone" };
  /** Delete the presented token and clear the cookie */
  "POST /auth/logout": { input: {  }; answer: string; access: "anyone" };
  /** Mail a link that sets a new password; the response does not reveal whether the account exists */
  "POST /auth/request_password_reset": { input: { body: { email: string } }; answer: { message: string }; access: "anyone" };
  /** Set a new password with the token of a mailed link; all sessions of the account end */
  "POST /auth/reset_password": { input: { body: { token: string; new_password: string } }; answer: { message: string }; access: "anyone" };
  /** List the concurrency keys of running and waiting jobs */
  "GET /concurrency_groups/list": { input: {  }; answer: ({ concurrency_key: string; workspace_id: string; total_running: number })[]; access: "superAdmin" };
  /** Remove a concurrency key from completed jobs, so that blocked jobs may start */
  "DELETE /concurrency_groups/prune/{key_path}": { input: { key_path: string; query?: { workspace_id?: string } }; answer: { message: string }; access: "superAdmin" };
  /** Read the concurrency key of a job; null without one */
  "GET /concurrency_groups/{job_id}/key": { input: { job_id: string }; answer: string | null; access: "user" };
  /** Read the configuration of a worker group; null without one */
  "GET /configs/get/{name}": { input: { name: string }; answer: WorkerGroupConfig | null; access: "devops" };
  /** List all configurations by their full names */
  "GET /configs/list": { input: {  }; answer: ({ name: string; config?: WorkerGroupConfig })[]; access: "devops" };
  /** List autoscaling events of a worker group: always empty */
  "GET /configs/list_autoscaling_events/{name}": { input: { name: string }; answer: (unknown)[]; access: "user" };
  /** List the worker groups that have a configuration, with it */
  "GET /configs/list_worker_groups": { input: {  }; answer: ({ name: string; config?: WorkerGroupConfig })[]; access: "user" };
  /** Delete the configuration of a worker group: its workers then accept all jobs */
  "DELETE /configs/update/{name}": { input: { name: string }; answer: string; access: "superAdmin" };
  /** Set the configuration of a worker group; its workers apply it at once */
  "POST /configs/update/{name}": { input: { name: string; body: WorkerGroupConfig }; answer: string; access: "superAdmin" };
  /** Show the reference of this interface as a page */
  "GET /docs": { input: {  }; answer: string; access: "anyone" };
  /** Read the id of the license; empty without a valid one */
  "GET /ee_license": { input: {  }; answer: string; access: "user" };
  /** Search scripts of the public hub: always empty */
  "GET /embeddings/query_hub_scripts": { input: {  }; answer: (unknown)[]; access: "user" };
  /** Read a flow of the public hub: always 404 */
  "GET /flows/hub/get/{id}": { input: { id: string }; answer: unknown; access: "user" };
  /** List flows of the public hub: always empty */
  "GET /flows/hub/list": { input: {  }; answer: { flows: (unknown)[] }; access: "user" };
  /** Read the JSON Schema of a flow's value */
  "GET /flows/json_schema": { input: {  }; answer: Record<string, unknown>; access: "user" };
  /** Add a user to a group of the instance */
  "POST /groups/adduser/{name}": { input: { name: string; body: { email: string } }; answer: string; access: "superAdmin" };
  /** Create a group of the instance: its members are in the group of that name in all their workspaces */
  "POST /groups/create": { input: { body: { name: string; summary?: string | null } }; answer: string; access: "superAdmin" };
  /** Delete a group of the instance */
  "DELETE /groups/delete/{name}": { input: { name: string }; answer: string; access: "superAdmin" };
  /** Export all groups of the instance, to import them elsewhere */
  "GET /groups/export": { input: {  }; answer: ({ name: string; summary: string; emails: (string)[]; id?: string | null; scim_display_name?: string | null; external_id?: string | null })[]; access: "superAdmin" };
  /** Read a group of the instance, with those members that the caller may know about */
  "GET /groups/get/{name}": { input: { name: string }; answer: { name: string; summary: string; emails: (string)[] }; access: "user" };
  /** List the groups of the instance, with those members that the caller may know about */
  "GET /groups/list": { input: {  }; answer: ({ name: string; summary: string; emails: (string)[] })[]; access: "user" };
  /** Replace all groups of the instance by exported ones */
  "POST /groups/overwrite": { input: { body: ({ name: string; summary?: string | null; emails?: (string)[] | null; id?: string | null; scim_display_name?: string | null; external_id?: string | null })[] }; answer: string; access: "superAdmin" };
  /** Remove a user from a group of the instance */
  "POST /groups/removeuser/{name}": { input: { name: string; body: { email: string } }; answer: string; access: "superAdmin" };
  /** Set the summary of a group of the instance */
  "POST /groups/update/{name}": { input: { name: string; body: { summary?: string | null; new_summary?: string | null } }; answer: string; access: "superAdmin" };
  /** Report whether the server is ready (200) or why not (503); with details for devops users and super admins */
  "GET /health": { input: {  }; answer: unknown; access: "anyone" };
  /** Report that the process is alive, whatever else is wrong */
  "GET /health/live": { input: {  }; answer: unknown; access: "anyone" };
  /** List integrations of the public hub: always empty */
  "GET /integrations/hub/list": { input: {  }; answer: (unknown)[]; access: "user" };
  /** Count the jobs completed in the last seconds, by tag */
  "GET /jobs/completed/count_by_tag": { input: { query?: { horizon_secs?: number; workspace_id?: string } }; answer: ({ tag: string; count: number })[]; access: "superAdmin" };
  /** Read the server's clock, in milliseconds since 1970 */
  "GET /jobs/db_clock": { input: {  }; answer: number; access: "user" };
  /** Offer the scripts and flows the caller may run to an AI agent, by the Model Context Protocol */
  "POST /mcp/w/{workspace}/mcp": { input: { workspace: string; body?: { jsonrpc: "2.0"; id?: string | number; method: string; params?: {  } } | ({ jsonrpc: "2.0"; id?: string | number; method: string; params?: {  } })[] }; answer: string; access: "member" };
  /** Read the figures of this server in the text format of Prometheus; SVC_METRICS=off switches it off */
  "GET /metrics": { input: {  }; answer: string; access: "anyone" };
  /** Receive a signed slash command of Slack, which starts the workspace's command script */
  "POST /oauth/chat_command": { input: {  }; answer: unknown; access: "anyone" };
  /** Redirect a browser to a provider to connect an account; with `workspace` and `path` the callback stores it there */
  "GET /oauth/connect/{client_name}": { input: { client_name: string; query?: { scopes?: string; extra_params?: string; workspace?: string; path?: string } }; answer: string; access: "user" };
  /** Exchange the provider's authorization code for tokens, which are not stored */
  "POST /oauth/connect_callback/{client_name}": { input: { client_name: string; body: { code: string; state: string; iss?: string | null } }; answer: { access_token: string; expires_in?: number; refresh_token?: string; scope?: (string)[] }; access: "user" };
  /** Redirect a browser to Slack to connect it to the workspace `workspace`, or else to the instance */
  "GET /oauth/connect_chat": { input: { query?: { workspace?: string | null } }; answer: string; access: "user" };
  /** Connect Slack to the instance, for its alerts */
  "POST /oauth/connect_chat_callback": { input: { body: { code: string; state: string; iss?: string | null } }; answer: string; access: "superAdmin" };
  /** Redirect a browser to Slack to connect it to the workspace `workspace`, or else to the instance */
  "GET /oauth/connect_slack": { input: { query?: { workspace?: string | null } }; answer: string; access: "user" };
  /** Connect Slack to the instance, for its alerts */
  "POST /oauth/connect_slack_callback": { input: { body: { code: string; state: string; iss?: string | null } }; answer: string; access: "superAdmin" };
  /** Read the default scopes and parameters of a provider */
  "GET /oauth/get_connect/{client}": { input: { client: string }; answer: { scopes?: (string)[]; extra_params?: Record<string, string> }; access: "user" };
  /** List the providers with which accounts can be connected */
  "GET /oauth/list_connects": { input: {  }; answer: (string)[]; access: "user" };
  /** List the providers to log in with */
  "GET /oauth/list_logins": { input: {  }; answer: { oauth: ({ type: string; display_name: string })[]; saml?: string }; access: "anyone" };
  /** Redirect a browser to a provider to log in; `rd` is the target afterwards */
  "GET /oauth/login/{client_name}": { input: { client_name: string; query?: { rd?: string } }; answer: string; access: "anyone" };
  /** Complete a login with the provider's authorization response */
  "POST /oauth/login_callback/{client_name}": { input: { client_name: string; body: { code: string; state: string; iss?: string | null } }; answer: string; access: "anyone" };
  /** Receive a signed slash command of Slack, which starts the workspace's command script */
  "POST /oauth/slack": { input: {  }; answer: unknown; access: "anyone" };
  /** Metadata of the issuer of jobs' identity tokens (OpenID Connect Discovery) */
  "GET /oidc/.well-known/openid-configuration": { input: {  }; answer: unknown; access: "anyone" };
  /** The public keys that verify jobs' identity tokens (RFC 7517) */
  "GET /oidc/jwks": { input: {  }; answer: unknown; access: "anyone" };
  /** Read the machine-readable description of this interface */
  "GET /openapi.yaml": { input: {  }; answer: string; access: "anyone" };
  /** Answer a DELETE to a route of somebody's choosing */
  "DELETE /r/{route_path}": { input: { route_path: string }; answer: unknown; access: "anyone" };
  /** Answer a GET to a route of somebody's choosing */
  "GET /r/{route_path}": { input: { route_path: string }; answer: unknown; access: "anyone" };
  /** Answer a PATCH to a route of somebody's choosing */
  "PATCH /r/{route_path}": { input: { route_path: string }; answer: unknown; access: "anyone" };
  /** Answer a POST to a route of somebody's choosing */
  "POST /r/{route_path}": { input: { route_path: string }; answer: unknown; access: "anyone" };
  /** Answer a PUT to a route of somebody's choosing */
  "PUT /r/{route_path}": { input: { route_path: string }; answer: unknown; access: "anyone" };
  /** Read the metadata of a SAML identity provider, given as XML or by its URL, and report errors in it */
  "POST /saml/test_metadata": { input: { body: string }; answer: string; access: "superAdmin" };
  /** Preview the next times of a cron expression */
  "POST /schedules/preview": { input: { body: { schedule: string; timezone: string; cron_version?: string | null; paused_until?: string | null; count?: number | null } }; answer: (string)[]; access: "user" };
  /** Read the source of a script of the public hub: always 404 */
  "GET /scripts/hub/get/{path}": { input: { path: string }; answer: unknown; access: "user" };
  /** Read a script of the public hub: always 404 */
  "GET /scripts/hub/get_full/{path}": { input: { path: string }; answer: unknown; access: "user" };
  /** List scripts of the public hub: always empty */
  "GET /scripts/hub/top": { input: {  }; answer: { asks: (unknown)[] }; access: "user" };
  /** Read the source of the newest version with a token in the URL, for module loaders */
  "GET /scripts_u/tokened_raw/{workspace}/{token}/{path}": { input: { workspace: string; token: string; path: string }; answer: string; access: "anyone" };
  /** Read a file of the server's log, one JSON object per line */
  "GET /service_logs/get_log_file/{path}": { input: { path: string }; answer: string; access: "superAdmin" };
  /** List the files of the server's log, newest first; empty unless SVC_LOG_DIR is set */
  "GET /service_logs/list_files": { input: { query?: { before?: string; after?: string; with_error?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ hostname: string; mode: string; worker_group: string; log_ts: string; file_path: string; ok_lines?: number; err_lines?: number; json_fmt: boolean })[]; access: "superAdmin" };
  /** List critical alerts, newest first */
  "GET /settings/critical_alerts": { input: { query?: { page?: number; page_size?: number; acknowledged?: "true" | "false" | "null" | boolean } }; answer: ({ id: number; alert_type: string; kind: string; message: string; workspace_id: string | null; count: number; created_at: string; last_raised_at: string; acknowledged: boolean; send_failures: ({ channel: string; error: string; at: string })[] | null })[]; access: "devops" };
  /** Acknowledge all critical alerts */
  "POST /settings/critical_alerts/acknowledge_all": { input: {  }; answer: string; access: "superAdmin" };
  /** Acknowledge a critical alert */
  "POST /settings/critical_alerts/{id}/acknowledge": { input: { id: string }; answer: string; access: "superAdmin" };
  /** Read the URL of the license's customer portal */
  "POST /settings/customer_portal": { input: { query?: { license_key?: string | null } }; answer: string; access: "superAdmin" };
  /** Read the effective value of an instance setting; null if it is not set */
  "GET /settings/global/{key}": { input: { key: string }; answer: unknown; access: "user" };
  /** Set an instance setting, effective at once; null removes it */
  "POST /settings/global/{key}": { input: { key: string; body: { value: unknown } }; answer: string; access: "superAdmin" };
  /** Read the time and result of the last renewal attempt; null without one */
  "GET /settings/latest_key_renewal_attempt": { input: {  }; answer: { result: string; attempted_at: string } | null; access: "superAdmin" };
  /** List the settings of the instance with their sources; secrets are masked */
  "GET /settings/list_global": { input: { query?: { all?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ name: string; value: unknown; source: "flag" | "environment" | "directory" | "stored" | "default"; variable?: string; meaning?: string })[]; access: "devops" };
  /** List the settings of this server's process with their sources; secrets are masked */
  "GET /settings/local": { input: {  }; answer: Record<string, { value: string | number | null; source: "flag" | "environment" | "directory" | "default"; variable: string; meaning: string; setting?: string }>; access: "devops" };
  /** Renew the license at its renewal URL, and set it */
  "POST /settings/renew_license_key": { input: { query?: { license_key?: string | null } }; answer: string; access: "superAdmin" };
  /** Send the instance's statistics if enabled; returns them in any case */
  "POST /settings/send_stats": { input: {  }; answer: string; access: "superAdmin" };
  /** Send a test alert to each of the given channels, and report the results */
  "POST /settings/test_critical_channels": { input: { body: (unknown)[] }; answer: string; access: "superAdmin" };
  /** Check a license without setting it */
  "POST /settings/test_license_key": { input: { body: { license_key: string } }; answer: string; access: "superAdmin" };
  /** Write, read and delete an object in the given storage, and say how that went */
  "POST /settings/test_object_storage_config": { input: { body: Record<string, unknown> }; answer: string; access: "superAdmin" };
  /** Send a test mail through the given server, and report the result */
  "POST /settings/test_smtp": { input: { body: { to: string; smtp: { host: string; username: string; password: string; port: number; from: string; tls_implicit: boolean; disable_tls: boolean; ca?: string | null } } }; answer: string; access: "superAdmin" };
  /** Show the page that creates the first admin account */
  "GET /setup/{token}": { input: { token: string }; answer: string; access: "anyone" };
  /** Create the first admin account; the link then becomes invalid */
  "POST /setup/{token}": { input: { token: string; body?: unknown }; answer: string; access: "anyone" };
  /** Count the lines of hosts' logs with all words */
  "GET /srch/index/search/count_service_logs": { input: { query?: { search_query: string; hosts: string; min_ts?: string; max_ts?: string } }; answer: { query_parse_errors: (string)[]; count_per_host: Record<string, number>; searched_until?: string }; access: "superAdmin" };
  /** Search a host's log for lines with all words, newest files first */
  "GET /srch/index/search/service_logs": { input: { query?: { search_query: string; mode?: string; worker_group?: string; hostname: string; min_ts?: string; max_ts?: string } }; answer: { query_parse_errors: (string)[]; hits: ({ file_path: string; log_ts: string; line: string })[]; searched_until?: string }; access: "superAdmin" };
  /** Find jobs by words of their arguments, result, path, labels, creator or id, newest first; with filters as for lists */
  "GET /srch/w/{workspace}/index/search/job": { input: { workspace: string; query?: { search_query: string; pagination_offset?: number; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; scheduled_for_before_now?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; suspended?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_or_started_before?: string; created_or_started_after?: string; created_or_started_after_completed_jobs?: string; include_args?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { query_parse_errors: (string)[]; hits: ({ document: Job })[]; searched_until?: string }; access: "member" };
  /** List the scopes of tokens */
  "GET /tokens/list/scopes": { input: {  }; answer: ({ name: string; description?: string | null; scopes: ({ value: string; label: string; description?: string | null; requires_resource_path: boolean })[] })[]; access: "user" };
  /** Check whether the server is up to date, if the setting newest_version_url is set */
  "GET /uptodate": { input: {  }; answer: string; access: "user" };
  /** Accept an invite to a workspace */
  "POST /users/accept_invite": { input: { body: { workspace_id: string; username?: string | null } }; answer: string; access: "user" };
  /** List the scripts and flows the caller can run, in all its workspaces, with their webhooks */
  "GET /users/all_runnables": { input: {  }; answer: (Runnable)[]; access: "user" };
  /** Create a user who logs in with a password */
  "POST /users/create": { input: { body: { email: string; password: string; super_admin: boolean; name?: string | null; company?: string | null; username?: string | null } }; answer: string; access: "superAdmin" };
  /** Decline an invite */
  "POST /users/decline_invite": { input: { body: { workspace_id: string } }; answer: string; access: "user" };
  /** Delete a user: their runs are canceled, and their items are left to the workspaces' admins */
  "DELETE /users/delete/{email}": { input: { email: string }; answer: string; access: "superAdmin" };
  /** Read the caller's e-mail */
  "GET /users/email": { input: {  }; answer: string; access: "user" };
  /** Check whether a user has this e-mail, among those that the caller may know about */
  "GET /users/exists/{email}": { input: { email: string }; answer: boolean; access: "user" };
  /** Export all users of the instance with their password hashes */
  "GET /users/export": { input: {  }; answer: ({ email: string; super_admin: boolean; verified: boolean; first_time_user: boolean; password_hash?: string | null; name?: string | null; company?: string | null; username?: string | null; login_type?: string | null; devops?: boolean | null })[]; access: "superAdmin" };
  /** Delete the caller's own account, with the same effects as deletion by a super admin */
  "POST /users/leave_instance": { input: {  }; answer: string; access: "user" };
  /** List the users of the instance by e-mail */
  "GET /users/list_as_super_admin": { input: { query?: { page?: number; per_page?: number; active_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (GlobalUserInfo)[]; access: "superAdmin" };
  /** List the workspaces the caller is invited to */
  "GET /users/list_invites": { input: {  }; answer: (WorkspaceInvite)[]; access: "user" };
  /** Replace all users of the instance by the given ones */
  "POST /users/overwrite": { input: { body: ({ email: string; super_admin: boolean; verified: boolean; first_time_user: boolean; password_hash?: string | null; name?: string | null; company?: string | null; username?: string | null; login_type?: string | null; devops?: boolean | null })[] }; answer: string; access: "superAdmin" };
  /** Start a new session, returned as the body and the cookie `token`; the current one stays valid until it expires */
  "GET /users/refresh_token": { input: { query?: { if_expiring_in_less_than_s?: number } }; answer: string; access: "user" };
  /** Rename a user in all workspaces; items below u/<name>/ move along */
  "POST /users/rename/{email}": { input: { email: string; body: { new_username: string } }; answer: string; access: "superAdmin" };
  /** Set how a user, given by e-mail, logs in: by password or a provider; all their sessions end */
  "POST /users/set_login_type/{user}": { input: { user: string; body: { login_type: string } }; answer: string; access: "superAdmin" };
  /** Set the password of a user, given by e-mail; all their sessions end */
  "POST /users/set_password_of/{user}": { input: { user: string; body: { password: string } }; answer: string; access: "superAdmin" };
  /** Change the caller's password; all sessions end, and the cookie `token` is set to a new one */
  "POST /users/setpassword": { input: { body: { password: string } }; answer: string; access: "user" };
  /** Create a token for the caller; its value is shown once */
  "POST /users/tokens/create": { input: { body: { label?: string | null; expiration?: string | null; scopes?: (string)[] | null; workspace_id?: string | null } }; answer: string; access: "user" };
  /** Delete the tokens that begin with a prefix, of the caller or of another user (super admins) */
  "DELETE /users/tokens/delete/{token_prefix}": { input: { token_prefix: string; query?: { email?: string } }; answer: string; access: "user" };
  /** Create a token for another user */
  "POST /users/tokens/impersonate": { input: { body: { label?: string | null; expiration?: string | null; scopes?: (string)[] | null; workspace_id?: string | null; impersonate_email: string } }; answer: string; access: "superAdmin" };
  /** List the tokens of the caller, or of another user (super admins), newest first */
  "GET /users/tokens/list": { input: { query?: { page?: number; per_page?: number; email?: string; exclude_ephemeral?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ token_prefix: string; created_at: string; last_used_at: string; label?: string | null; expiration?: string | null; scopes?: (string)[] | null; workspace_id?: string | null; kind: "session" | "user" | "machine" })[]; access: "user" };
  /** Read the completed tutorial steps of the caller, as a bitmask */
  "GET /users/tutorial_progress": { input: {  }; answer: { progress: number }; access: "user" };
  /** Set the completed tutorial steps of the caller, as a bitmask */
  "POST /users/tutorial_progress": { input: { body: { progress: number } }; answer: string; access: "user" };
  /** Update a user's name or role on the instance */
  "POST /users/update/{email}": { input: { email: string; body: { is_super_admin?: boolean | null; is_devops?: boolean | null; name?: string | null } }; answer: string; access: "superAdmin" };
  /** Read this month's executions of the caller outside premium workspaces: one for every started second */
  "GET /users/usage": { input: {  }; answer: number; access: "user" };
  /** Read a user's username on the instance and in each workspace */
  "GET /users/username_info/{email}": { input: { email: string }; answer: { username: string; workspace_usernames: ({ workspace_id: string; username: string })[] }; access: "superAdmin" };
  /** Read the user of the token */
  "GET /users/whoami": { input: {  }; answer: GlobalUserInfo; access: "user" };
  /** Read the version of the HTTP interface, with that of the server as its suffix and in `svc-version` */
  "GET /version": { input: {  }; answer: string; access: "anyone" };
  /** Grant read access or, with `write`, write access */
  "POST /w/{workspace}/acls/add/{kind}/{path}": { input: { workspace: string; kind: string; path: string; body: { owner: string; write?: boolean | null } }; answer: string; access: "author" };
  /** List the members who may read or change an item, and why */
  "GET /w/{workspace}/acls/explain/{kind}/{path}": { input: { workspace: string; kind: string; path: string }; answer: ({ username: string; right: "read" | "write" | "owner"; operator: boolean; reasons: ({ by: "admin" | "path" | "folder" | "item"; right: "read" | "write" | "owner"; grantee?: string })[] })[]; access: "member" };
  /** Read the grants of an item, a folder (`folder`) or a group (`group_`) */
  "GET /w/{workspace}/acls/get/{kind}/{path}": { input: { workspace: string; kind: string; path: string }; answer: Record<string, boolean>; access: "member" };
  /** Revoke a grant */
  "POST /w/{workspace}/acls/remove/{kind}/{path}": { input: { workspace: string; kind: string; path: string; body: { owner: string } }; answer: string; access: "author" };
  /** Store an AMQP trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/amqp_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete an AMQP trigger; what runs goes on */
  "DELETE /w/{workspace}/amqp_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is an AMQP trigger at a path */
  "GET /w/{workspace}/amqp_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read an AMQP trigger */
  "GET /w/{workspace}/amqp_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the AMQP triggers, last edited first */
  "GET /w/{workspace}/amqp_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch an AMQP trigger on or off */
  "POST /w/{workspace}/amqp_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace an AMQP trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/amqp_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Deploy a new app */
  "POST /w/{workspace}/apps/create": { input: { workspace: string; body: { path: string; value: unknown; summary?: string; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; draft_only?: boolean | null; deployment_message?: string | null; custom_path?: string | null } }; answer: string; access: "author" };
  /** Deploy a new app of code with its built bundle */
  "POST /w/{workspace}/apps/create_raw": { input: { workspace: string; body?: unknown }; answer: string; access: "author" };
  /** Check whether an app of the instance has this custom path */
  "GET /w/{workspace}/apps/custom_path_exists/{custom_path}": { input: { workspace: string; custom_path: string }; answer: boolean; access: "member" };
  /** Delete an app with its history */
  "DELETE /w/{workspace}/apps/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Check whether an app exists at a path */
  "GET /w/{workspace}/apps/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read the newest version of an app, with the draft of the caller or of `draft_of`, and who else keeps one */
  "GET /w/{workspace}/apps/get/draft/{path}": { input: { workspace: string; path: string; query?: { draft_of?: string } }; answer: { id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; versions: (number)[]; created_by: string; created_at: string; value: unknown; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; custom_path?: string | null; draft?: unknown; draft_revision?: string; other_drafts: ({ created_by: string; created_at: string })[] }; access: "member" };
  /** Read the newest version of an app, without its history */
  "GET /w/{workspace}/apps/get/lite/{path}": { input: { workspace: string; path: string }; answer: { id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; versions: (number)[]; created_by: string; created_at: string; value: unknown; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; custom_path?: string | null }; access: "member" };
  /** Read the newest version of an app */
  "GET /w/{workspace}/apps/get/p/{path}": { input: { workspace: string; path: string; query?: { with_starred_info?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; versions: (number)[]; created_by: string; created_at: string; value: unknown; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; custom_path?: string | null; starred?: boolean }; access: "member" };
  /** Read one version of an app */
  "GET /w/{workspace}/apps/get/v/{id}": { input: { workspace: string; id: string }; answer: { id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; versions: (number)[]; created_by: string; created_at: string; value: unknown; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; custom_path?: string | null }; access: "member" };
  /** Read the bundle of a raw app, by the version shown in lists */
  "GET /w/{workspace}/apps/get_data/{version}/{path}": { input: { workspace: string; version: string; path: string }; answer: string; access: "member" };
  /** Read the id of an app's newest version */
  "GET /w/{workspace}/apps/get_latest_version/{path}": { input: { workspace: string; path: string }; answer: { version: number; deployment_msg?: string | null }; access: "member" };
  /** List the versions of an app, newest first */
  "GET /w/{workspace}/apps/history/p/{path}": { input: { workspace: string; path: string }; answer: ({ version: number; deployment_msg?: string | null })[]; access: "member" };
  /** Set the deployment message of a version */
  "POST /w/{workspace}/apps/history_update/a/{id}/v/{version}": { input: { workspace: string; id: string; version: string; body: { deployment_msg?: string | null } }; answer: string; access: "author" };
  /** List apps, most recently deployed first */
  "GET /w/{workspace}/apps/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; path_start?: string; path_exact?: string; starred_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_draft_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; with_deployment_msg?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; version: number; edited_at: string; starred: boolean; has_draft: boolean; deployment_msg?: string | null })[]; access: "member" };
  /** List apps with their values, for searching */
  "GET /w/{workspace}/apps/list_search": { input: { workspace: string }; answer: ({ path: string; value: unknown })[]; access: "member" };
  /** Read the secret part of an app's public URL */
  "GET /w/{workspace}/apps/secret_of/{path}": { input: { workspace: string; path: string }; answer: string; access: "member" };
  /** Sign links to stored files; holders of a link may read the file until it expires */
  "POST /w/{workspace}/apps/sign_s3_objects": { input: { workspace: string; body: { s3_objects: ({ s3: string; storage?: string | null })[]; expiry_secs?: number | null } }; answer: ({ s3: string; storage?: string | null; presigned: string })[]; access: "member" };
  /** Update an app; a value creates a new version, another path renames it */
  "POST /w/{workspace}/apps/update/{path}": { input: { workspace: string; path: string; body: { path?: string | null; value?: unknown | null; summary?: string | null; policy?: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null } | null; deployment_message?: string | null; custom_path?: string | null } }; answer: string; access: "author" };
  /** Update an app of code; a value creates a new version, another path renames it */
  "POST /w/{workspace}/apps/update_raw/{path}": { input: { workspace: string; path: string; body?: unknown }; answer: string; access: "author" };
  /** Run the script or flow of an app's component, if the app's policy allows it */
  "POST /w/{workspace}/apps_u/execute_component/{path}": { input: { workspace: string; path: string; body: { component: string; path?: string | null; args?: Record<string, unknown>; raw_code?: { content: string; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; lock?: string | null } | null; force_viewer_static_fields?: Record<string, unknown> | null; force_viewer_one_of_fields?: Record<string, (unknown)[]> | null; force_viewer_allow_user_resources?: (string)[] | null } }; answer: string; access: "anyone" };
  /** Read an app by its secret; without a login only an anonymous app */
  "GET /w/{workspace}/apps_u/public_app/{secret}": { input: { workspace: string; secret: string }; answer: { id: number; workspace_id: string; path: string; summary: string; execution_mode: "viewer" | "publisher" | "anonymous"; extra_perms: Record<string, boolean>; draft_only: boolean; raw_app: boolean; versions: (number)[]; created_by: string; created_at: string; value: unknown; policy: { triggerables?: Record<string, Record<string, unknown>> | null; triggerables_v2?: Record<string, { static_inputs?: Record<string, unknown> | null; one_of_inputs?: Record<string, (unknown)[]> | null; allow_user_resources?: (string)[] | null }> | null; s3_inputs?: (unknown)[] | null; execution_mode?: "viewer" | "publisher" | "anonymous"; on_behalf_of?: string | null; on_behalf_of_email?: string | null }; custom_path?: string | null }; access: "anyone" };
  /** Read a theme of apps: a resource below f/app_themes/ */
  "GET /w/{workspace}/apps_u/public_resource/{path}": { input: { workspace: string; path: string }; answer: unknown; access: "anyone" };
  /** Export audit rows as JSON lines, oldest first; users who are not admins get their own rows only */
  "GET /w/{workspace}/audit/export": { input: { workspace: string; query?: { before?: string; after?: string; username?: string; operation?: string; operations?: string; exclude_operations?: string; resource?: string; action_kind?: "Create" | "Update" | "Delete" | "Execute" } }; answer: unknown; access: "member" };
  /** Read one audit row */
  "GET /w/{workspace}/audit/get/{id}": { input: { workspace: string; id: string }; answer: AuditLog; access: "admin" };
  /** List audit rows, newest first */
  "GET /w/{workspace}/audit/list": { input: { workspace: string; query?: { page?: number; per_page?: number; before?: string; after?: string; username?: string; operation?: string; operations?: string; exclude_operations?: string; resource?: string; action_kind?: "Create" | "Update" | "Delete" | "Execute" } }; answer: (AuditLog)[]; access: "admin" };
  /** Store an Azure Event Grid trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/azure_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete an Azure Event Grid trigger; what runs goes on */
  "DELETE /w/{workspace}/azure_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is an Azure Event Grid trigger at a path */
  "GET /w/{workspace}/azure_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read an Azure Event Grid trigger */
  "GET /w/{workspace}/azure_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the Azure Event Grid triggers, last edited first */
  "GET /w/{workspace}/azure_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch an Azure Event Grid trigger on or off */
  "POST /w/{workspace}/azure_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace an Azure Event Grid trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/azure_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** List the active captures of a script or flow */
  "GET /w/{workspace}/capture/get_configs/{runnable_kind}/{path}": { input: { workspace: string; runnable_kind: string; path: string }; answer: (CaptureConfig)[]; access: "author" };
  /** List the captures of a script or flow, newest first */
  "GET /w/{workspace}/capture/list/{runnable_kind}/{path}": { input: { workspace: string; runnable_kind: string; path: string; query?: { trigger_kind?: "webhook" | "http" | "websocket"; page?: number; per_page?: number } }; answer: (Capture)[]; access: "author" };
  /** Move captures and configs of a script or flow to its new path */
  "POST /w/{workspace}/capture/move/{runnable_kind}/{path}": { input: { workspace: string; runnable_kind: string; path: string; body: { new_path: string } }; answer: string; access: "author" };
  /** Continue capturing for another minute */
  "POST /w/{workspace}/capture/ping_config/{trigger_kind}/{runnable_kind}/{path}": { input: { workspace: string; trigger_kind: string; runnable_kind: string; path: string }; answer: string; access: "author" };
  /** Start capturing what a trigger of a script or flow receives */
  "POST /w/{workspace}/capture/set_config": { input: { workspace: string; body: { trigger_kind: "webhook" | "http" | "websocket"; path: string; is_flow: boolean; trigger_config?: Record<string, unknown> | null } }; answer: string; access: "author" };
  /** Delete a capture */
  "DELETE /w/{workspace}/capture/{id}": { input: { workspace: string; id: string }; answer: string; access: "author" };
  /** Read a capture */
  "GET /w/{workspace}/capture/{id}": { input: { workspace: string; id: string }; answer: Capture; access: "author" };
  /** Read the arguments of a flow's last capture, for older clients */
  "GET /w/{workspace}/capture/{path}": { input: { workspace: string; path: string }; answer: unknown; access: "author" };
  /** Start capturing what the webhook of a flow receives, for older clients */
  "PUT /w/{workspace}/capture/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Capture a DELETE to a route; the path of the script or flow has dots instead of slashes */
  "DELETE /w/{workspace}/capture_u/http/{runnable_kind}/{runnable}/{route_path}": { input: { workspace: string; runnable_kind: string; runnable: string; route_path: string }; answer: string; access: "anyone" };
  /** Capture a GET to a route; the path of the script or flow has dots instead of slashes */
  "GET /w/{workspace}/capture_u/http/{runnable_kind}/{runnable}/{route_path}": { input: { workspace: string; runnable_kind: string; runnable: string; route_path: string }; answer: string; access: "anyone" };
  /** Capture a PATCH to a route; the path of the script or flow has dots instead of slashes */
  "PATCH /w/{workspace}/capture_u/http/{runnable_kind}/{runnable}/{route_path}": { input: { workspace: string; runnable_kind: string; runnable: string; route_path: string }; answer: string; access: "anyone" };
  /** Capture a POST to a route; the path of the script or flow has dots instead of slashes */
  "POST /w/{workspace}/capture_u/http/{runnable_kind}/{runnable}/{route_path}": { input: { workspace: string; runnable_kind: string; runnable: string; route_path: string }; answer: string; access: "anyone" };
  /** Capture a PUT to a route; the path of the script or flow has dots instead of slashes */
  "PUT /w/{workspace}/capture_u/http/{runnable_kind}/{runnable}/{route_path}": { input: { workspace: string; runnable_kind: string; runnable: string; route_path: string }; answer: string; access: "anyone" };
  /** Capture a webhook's request while a config for it is active */
  "POST /w/{workspace}/capture_u/webhook/{runnable_kind}/{path}": { input: { workspace: string; runnable_kind: string; path: string; query?: { raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string } }; answer: string; access: "anyone" };
  /** Capture requests to a flow, for older clients, while a config for its webhook is active */
  "POST /w/{workspace}/capture_u/{path}": { input: { workspace: string; path: string }; answer: string; access: "anyone" };
  /** List jobs; for jobs of a concurrency key that the caller may not see, only their times */
  "GET /w/{workspace}/concurrency_groups/list_jobs": { input: { workspace: string; query?: { order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; scheduled_for_before_now?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; suspended?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_or_started_before?: string; created_or_started_after?: string; created_or_started_after_completed_jobs?: string; concurrency_key?: string; row_limit?: number } }; answer: { jobs: (Job)[]; obscured_jobs: ({ typ: "QueuedJob" | "CompletedJob"; started_at?: string; duration_ms?: number })[]; omitted_obscured_jobs: boolean }; access: "member" };
  /** Save the caller's draft of a script, a flow or an app */
  "POST /w/{workspace}/drafts/create": { input: { workspace: string; body: { path: string; typ: "script" | "flow" | "app"; value: unknown; replaces?: string | null } }; answer: string; access: "author" };
  /** Delete the caller's draft, or another user's by `created_by` */
  "DELETE /w/{workspace}/drafts/delete/{kind}/{path}": { input: { workspace: string; kind: string; path: string; query?: { created_by?: string } }; answer: string; access: "author" };
  /** Store an e-mail trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/email_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete an e-mail trigger; what runs goes on */
  "DELETE /w/{workspace}/email_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is an e-mail trigger at a path */
  "GET /w/{workspace}/email_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read an e-mail trigger */
  "GET /w/{workspace}/email_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the e-mail triggers, last edited first */
  "GET /w/{workspace}/email_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch an e-mail trigger on or off */
  "POST /w/{workspace}/email_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace an e-mail trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/email_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Search resource types of the public hub: always empty */
  "GET /w/{workspace}/embeddings/query_resource_types": { input: { workspace: string }; answer: (unknown)[]; access: "member" };
  /** Star a script, a flow or an app */
  "POST /w/{workspace}/favorites/star": { input: { workspace: string; body: { path: string; favorite_kind: "script" | "flow" | "app" | "raw_app" } }; answer: string; access: "member" };
  /** Unstar a script, a flow or an app */
  "POST /w/{workspace}/favorites/unstar": { input: { workspace: string; body: { path: string; favorite_kind: "script" | "flow" | "app" | "raw_app" } }; answer: string; access: "member" };
  /** Archive a flow, or restore it with `archived: false` */
  "POST /w/{workspace}/flows/archive/{path}": { input: { workspace: string; path: string; body?: { archived?: boolean } }; answer: string; access: "author" };
  /** List the problems of a flow's value, without storing it */
  "POST /w/{workspace}/flows/check": { input: { workspace: string; body: { value: unknown } }; answer: { problems: ({ path: (string | number)[]; message: string; is_refused: boolean })[] }; access: "member" };
  /** Deploy a new flow */
  "POST /w/{workspace}/flows/create": { input: { workspace: string; body: { path: string; summary?: string; description?: string | null; value: FlowValue | { modules: (unknown)[] }; schema?: Record<string, unknown> | null; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted?: boolean | null; dedicated_worker?: boolean | null; visible_to_runner_only?: boolean | null; on_behalf_of_email?: string | null; draft_only?: boolean | null; deployment_message?: string | null; parent_version?: number | null } }; answer: string; access: "author" };
  /** Delete a flow with all its versions */
  "DELETE /w/{workspace}/flows/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Report whether the newest version of a flow can run, and which job resolves its scripts' dependencies */
  "GET /w/{workspace}/flows/deployment_status/p/{path}": { input: { workspace: string; path: string }; answer: { ready: boolean; lock_error_logs?: string; job_id?: string }; access: "member" };
  /** Check whether an active flow exists at a path */
  "GET /w/{workspace}/flows/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Check an expression of a flow, and evaluate it with given values */
  "POST /w/{workspace}/flows/expressions/evaluate": { input: { workspace: string; body: { expr: string; scope?: Record<string, unknown> } }; answer: { ok: boolean; value?: unknown; error?: { message: string; line?: number; column?: number } }; access: "author" };
  /** Read the newest version of a flow, with the draft of the caller or of `draft_of`, and who else keeps one */
  "GET /w/{workspace}/flows/get/draft/{path}": { input: { workspace: string; path: string; query?: { draft_of?: string } }; answer: { workspace_id: string; path: string; summary: string; description?: string; version_id: number; edited_by: string; edited_at: string; archived: boolean; extra_perms: Record<string, boolean>; starred: boolean; draft_only: boolean; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted: boolean; dedicated_worker: boolean; visible_to_runner_only: boolean; on_behalf_of_email?: string | null; value: FlowValue | { modules: (unknown)[] }; schema: unknown; draft?: unknown; draft_revision?: string; other_drafts: ({ created_by: string; created_at: string })[] }; access: "member" };
  /** Read one version of a flow */
  "GET /w/{workspace}/flows/get/v/{version}": { input: { workspace: string; version: string }; answer: { workspace_id: string; path: string; summary: string; description?: string; version_id: number; edited_by: string; edited_at: string; archived: boolean; extra_perms: Record<string, boolean>; starred: boolean; draft_only: boolean; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted: boolean; dedicated_worker: boolean; visible_to_runner_only: boolean; on_behalf_of_email?: string | null; value: FlowValue | { modules: (unknown)[] }; schema: unknown }; access: "member" };
  /** Read one version of the flow at this path */
  "GET /w/{workspace}/flows/get/v/{version}/p/{path}": { input: { workspace: string; version: string; path: string }; answer: { workspace_id: string; path: string; summary: string; description?: string; version_id: number; edited_by: string; edited_at: string; archived: boolean; extra_perms: Record<string, boolean>; starred: boolean; draft_only: boolean; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted: boolean; dedicated_worker: boolean; visible_to_runner_only: boolean; on_behalf_of_email?: string | null; value: FlowValue | { modules: (unknown)[] }; schema: unknown }; access: "member" };
  /** Read the newest version of a flow */
  "GET /w/{workspace}/flows/get/{path}": { input: { workspace: string; path: string; query?: { with_starred_info?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { workspace_id: string; path: string; summary: string; description?: string; version_id: number; edited_by: string; edited_at: string; archived: boolean; extra_perms: Record<string, boolean>; starred: boolean; draft_only: boolean; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted: boolean; dedicated_worker: boolean; visible_to_runner_only: boolean; on_behalf_of_email?: string | null; value: FlowValue | { modules: (unknown)[] }; schema: unknown }; access: "member" };
  /** Read the number of a flow's newest version */
  "GET /w/{workspace}/flows/get_latest_version/{path}": { input: { workspace: string; path: string }; answer: { id: number; created_at: string; deployment_msg?: string | null }; access: "member" };
  /** Count the triggers of a flow: schedules, routes, WebSockets, stored kinds and webhook tokens */
  "GET /w/{workspace}/flows/get_triggers_count/{path}": { input: { workspace: string; path: string }; answer: TriggersCount; access: "member" };
  /** List the versions of a flow, newest first */
  "GET /w/{workspace}/flows/history/p/{path}": { input: { workspace: string; path: string }; answer: ({ id: number; created_at: string; deployment_msg?: string | null })[]; access: "member" };
  /** Set the deployment message of a version */
  "POST /w/{workspace}/flows/history_update/v/{version}/p/{path}": { input: { workspace: string; version: string; path: string; body: { deployment_msg: string } }; answer: string; access: "author" };
  /** List flows, most recently deployed first */
  "GET /w/{workspace}/flows/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; path_start?: string; path_exact?: string; show_archived?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; starred_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_draft_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; with_deployment_msg?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; without_description?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; dedicated_worker?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ workspace_id: string; path: string; summary: string; description?: string; version_id: number; edited_by: string; edited_at: string; archived: boolean; extra_perms: Record<string, boolean>; starred: boolean; draft_only: boolean; has_draft?: boolean; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted: boolean; dedicated_worker: boolean; visible_to_runner_only: boolean; on_behalf_of_email?: string | null; deployment_msg?: string | null; has_deploy_errors?: boolean })[]; access: "member" };
  /** List the paths of flows */
  "GET /w/{workspace}/flows/list_paths": { input: { workspace: string }; answer: (string)[]; access: "member" };
  /** List flows with their steps, for searching */
  "GET /w/{workspace}/flows/list_search": { input: { workspace: string }; answer: ({ path: string; value: FlowValue | { modules: (unknown)[] } })[]; access: "member" };
  /** List the tokens whose scopes name a flow, newest first */
  "GET /w/{workspace}/flows/list_tokens/{path}": { input: { workspace: string; path: string }; answer: ({ token_prefix: string; created_at: string; last_used_at: string; label?: string | null; expiration?: string | null; scopes?: (string)[] | null; workspace_id?: string | null; kind: "session" | "user" | "machine"; email: string })[]; access: "member" };
  /** Mute or unmute the workspace's error handler for a flow */
  "POST /w/{workspace}/flows/toggle_workspace_error_handler/{path}": { input: { workspace: string; path: string; body: { muted?: boolean } }; answer: string; access: "author" };
  /** Deploy a new version of a flow, and rename it if the body has another path */
  "POST /w/{workspace}/flows/update/{path}": { input: { workspace: string; path: string; body: { path: string; summary?: string; description?: string | null; value: FlowValue | { modules: (unknown)[] }; schema?: Record<string, unknown> | null; tag?: string | null; priority?: number | null; timeout?: number | null; ws_error_handler_muted?: boolean | null; dedicated_worker?: boolean | null; visible_to_runner_only?: boolean | null; on_behalf_of_email?: string | null; draft_only?: boolean | null; deployment_message?: string | null; parent_version?: number | null } }; answer: string; access: "author" };
  /** Make a user or a group an owner of a folder */
  "POST /w/{workspace}/folders/addowner/{name}": { input: { workspace: string; name: string; body: { owner: string } }; answer: string; access: "author" };
  /** Create a folder; the caller becomes an owner of it */
  "POST /w/{workspace}/folders/create": { input: { workspace: string; body: { display_name?: string | null; summary?: string | null; owners?: (string)[] | null; extra_perms?: Record<string, boolean> | null; name: string } }; answer: string; access: "author" };
  /** Delete a folder: owners only; its items stay */
  "DELETE /w/{workspace}/folders/delete/{name}": { input: { workspace: string; name: string }; answer: string; access: "author" };
  /** Check whether a folder of this name exists */
  "GET /w/{workspace}/folders/exists/{name}": { input: { workspace: string; name: string }; answer: boolean; access: "member" };
  /** Read a folder */
  "GET /w/{workspace}/folders/get/{name}": { input: { workspace: string; name: string }; answer: Folder; access: "member" };
  /** Count the items in a folder, by kind */
  "GET /w/{workspace}/folders/getusage/{name}": { input: { workspace: string; name: string }; answer: Record<string, number>; access: "member" };
  /** Check whether the caller is an owner of a folder */
  "GET /w/{workspace}/folders/is_owner/{name}": { input: { workspace: string; name: string }; answer: boolean; access: "member" };
  /** List the folders that the caller may read */
  "GET /w/{workspace}/folders/list": { input: { workspace: string; query?: { page?: number; per_page?: number } }; answer: (Folder)[]; access: "member" };
  /** List the names of the folders that the caller may read; admins may limit it to those with a right of theirs */
  "GET /w/{workspace}/folders/listnames": { input: { workspace: string; query?: { only_member_of?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (string)[]; access: "member" };
  /** Remove an owner of a folder; `write` is the right that they keep */
  "POST /w/{workspace}/folders/removeowner/{name}": { input: { workspace: string; name: string; body: { owner: string; write?: boolean | null } }; answer: string; access: "author" };
  /** Update a folder: owners only */
  "POST /w/{workspace}/folders/update/{name}": { input: { workspace: string; name: string; body: { display_name?: string | null; summary?: string | null; owners?: (string)[] | null; extra_perms?: Record<string, boolean> | null } }; answer: string; access: "author" };
  /** Store a Google Pub/Sub trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/gcp_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete a Google Pub/Sub trigger; what runs goes on */
  "DELETE /w/{workspace}/gcp_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is a Google Pub/Sub trigger at a path */
  "GET /w/{workspace}/gcp_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a Google Pub/Sub trigger */
  "GET /w/{workspace}/gcp_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the Google Pub/Sub triggers, last edited first */
  "GET /w/{workspace}/gcp_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch a Google Pub/Sub trigger on or off */
  "POST /w/{workspace}/gcp_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace a Google Pub/Sub trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/gcp_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Add a user to a group: its managers only */
  "POST /w/{workspace}/groups/adduser/{name}": { input: { workspace: string; name: string; body: { username: string } }; answer: string; access: "author" };
  /** Create a group; the caller becomes a member and manager of it */
  "POST /w/{workspace}/groups/create": { input: { workspace: string; body: { name: string; summary?: string | null } }; answer: string; access: "author" };
  /** Delete a group with all grants to it: its managers only */
  "DELETE /w/{workspace}/groups/delete/{name}": { input: { workspace: string; name: string }; answer: string; access: "author" };
  /** Read a group with its members */
  "GET /w/{workspace}/groups/get/{name}": { input: { workspace: string; name: string }; answer: Group; access: "member" };
  /** List the groups of the workspace */
  "GET /w/{workspace}/groups/list": { input: { workspace: string; query?: { page?: number; per_page?: number } }; answer: (Group)[]; access: "member" };
  /** List the names of the groups, or of the caller's groups only */
  "GET /w/{workspace}/groups/listnames": { input: { workspace: string; query?: { only_member_of?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (string)[]; access: "member" };
  /** Remove a user from a group: its managers only */
  "POST /w/{workspace}/groups/removeuser/{name}": { input: { workspace: string; name: string; body: { username: string } }; answer: string; access: "author" };
  /** Set the summary of a group: its managers only */
  "POST /w/{workspace}/groups/update/{name}": { input: { workspace: string; name: string; body: { summary?: string | null } }; answer: string; access: "author" };
  /** Create a route below /api/r/ that runs a script or flow, or serves files */
  "POST /w/{workspace}/http_triggers/create": { input: { workspace: string; body: { path: string; route_path: string; workspaced_route?: boolean | null; http_method: string; script_path?: string | null; is_flow?: boolean | null; summary?: string | null; description?: string | null; request_type?: "sync" | "async" | "sync_sse" | null; is_async?: boolean | null; authentication_method?: "none" | "token" | "api_key" | "basic_http" | "signature" | null; requires_auth?: boolean | null; authentication_resource_path?: string | null; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; raw_string?: boolean | null; wrap_body?: boolean | null; is_static_website?: boolean | null; static_asset_config?: { s3: string; storage?: string | null; filename?: (unknown) & (unknown) | null } | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete an HTTP route; what runs goes on */
  "DELETE /w/{workspace}/http_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is an HTTP route at a path */
  "GET /w/{workspace}/http_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read an HTTP route */
  "GET /w/{workspace}/http_triggers/get/{path}": { input: { workspace: string; path: string }; answer: HttpTrigger; access: "member" };
  /** List the HTTP routes, last edited first */
  "GET /w/{workspace}/http_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (HttpTrigger)[]; access: "member" };
  /** Check whether a route exists */
  "POST /w/{workspace}/http_triggers/route_exists": { input: { workspace: string; body: { route_path: string; http_method: string; workspaced_route?: boolean | null; trigger_path?: string | null } }; answer: boolean; access: "member" };
  /** Switch an HTTP route on or off */
  "POST /w/{workspace}/http_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Update a route; its runs act as its last editor */
  "POST /w/{workspace}/http_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; route_path?: string | null; workspaced_route?: boolean | null; http_method: string; script_path?: string | null; is_flow?: boolean | null; summary?: string | null; description?: string | null; request_type?: "sync" | "async" | "sync_sse" | null; is_async?: boolean | null; authentication_method?: "none" | "token" | "api_key" | "basic_http" | "signature" | null; requires_auth?: boolean | null; authentication_resource_path?: string | null; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; raw_string?: boolean | null; wrap_body?: boolean | null; is_static_website?: boolean | null; static_asset_config?: { s3: string; storage?: string | null; filename?: (unknown) & (unknown) | null } | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Save arguments of a script or flow */
  "POST /w/{workspace}/inputs/create": { input: { workspace: string; query?: { runnable_id: string; runnable_type: "ScriptHash" | "ScriptPath" | "FlowPath" }; body: { name: string; args: Record<string, unknown> } }; answer: string; access: "member" };
  /** Delete saved arguments */
  "POST /w/{workspace}/inputs/delete/{id}": { input: { workspace: string; id: string }; answer: string; access: "member" };
  /** List the runs of a script or flow that the caller may see, to reuse their arguments */
  "GET /w/{workspace}/inputs/history": { input: { workspace: string; query?: { runnable_id: string; runnable_type: "ScriptHash" | "ScriptPath" | "FlowPath"; page?: number; per_page?: number; args?: string; include_preview?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ id: string; name: string; created_by: string; created_at: string; is_public: boolean; args: null; success?: boolean })[]; access: "member" };
  /** List saved arguments of a script or flow: the caller's, and those shared with everybody */
  "GET /w/{workspace}/inputs/list": { input: { workspace: string; query?: { runnable_id: string; runnable_type: "ScriptHash" | "ScriptPath" | "FlowPath"; page?: number; per_page?: number } }; answer: ({ id: string; name: string; created_by: string; created_at: string; is_public: boolean; args: null; success?: boolean })[]; access: "member" };
  /** Rename saved arguments, and set whether they are shared with everybody */
  "POST /w/{workspace}/inputs/update": { input: { workspace: string; body: { id: string; name: string; is_public: boolean } }; answer: string; access: "member" };
  /** Read the arguments of a run, or saved ones with `input=true` */
  "GET /w/{workspace}/inputs/{job_or_input_id}/args": { input: { workspace: string; job_or_input_id: string; query?: { input?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; allow_large?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: unknown; access: "member" };
  /** Delete a stored file */
  "DELETE /w/{workspace}/job_helpers/delete_s3_file": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; file_key: string } }; answer: string; access: "member" };
  /** Read a stored file, or the part in a Range header */
  "GET /w/{workspace}/job_helpers/download_s3_file": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; file_key: string; content_disposition?: string } }; answer: string; access: "member" };
  /** Download a stored Parquet file as CSV */
  "GET /w/{workspace}/job_helpers/download_s3_parquet_file_as_csv": { input: { workspace: string; query?: { file_key: string; storage?: string } }; answer: string; access: "member" };
  /** Create the statements that connect DuckDB to the bucket of a given resource */
  "POST /w/{workspace}/job_helpers/duckdb_connection_settings": { input: { workspace: string; body: { s3_resource: { bucket: string; region?: string | null; endPoint?: string | null; port?: number | null; useSSL?: boolean | null; accessKey: string; secretKey: string; pathStyle?: boolean | null } } }; answer: { connection_settings_str: string }; access: "member" };
  /** List the keys of the stored files, in order */
  "GET /w/{workspace}/job_helpers/list_stored_files": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; max_keys?: number; marker?: string; prefix?: string } }; answer: { windmill_large_files: ({ s3: string })[]; next_marker?: string }; access: "member" };
  /** Read some rows of a stored CSV file, by column; its first line names the columns */
  "GET /w/{workspace}/job_helpers/load_csv_preview/{path}": { input: { workspace: string; path: string; query?: { storage?: string; search_col?: string; search_term?: string; offset?: number; limit?: number; sort_col?: string; sort_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; csv_separator?: string } }; answer: { columns: ({ name: string; datatype: string; values: (unknown)[] })[] }; access: "member" };
  /** Read type, size and modification time of a stored file */
  "GET /w/{workspace}/job_helpers/load_file_metadata": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; file_key: string } }; answer: { mime_type: string; size_in_bytes: number; last_modified: string; expires?: string | null; version_id?: string | null }; access: "member" };
  /** Read the beginning of a stored file if it is text */
  "GET /w/{workspace}/job_helpers/load_file_preview": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; file_key: string; read_bytes_from?: number; read_bytes_length?: number } }; answer: { content_type: "RawText" | "Csv" | "Parquet" | "Unknown"; msg?: string; content?: string }; access: "member" };
  /** Read some rows of a stored Parquet file, by column */
  "GET /w/{workspace}/job_helpers/load_parquet_preview/{path}": { input: { workspace: string; path: string; query?: { storage?: string; search_col?: string; search_term?: string; offset?: number; limit?: number; sort_col?: string; sort_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { columns: ({ name: string; datatype: string; values: (unknown)[] })[] }; access: "member" };
  /** Count the rows of a stored Parquet or CSV file */
  "GET /w/{workspace}/job_helpers/load_table_count/{path}": { input: { workspace: string; path: string; query?: { storage?: string; search_col?: string; search_term?: string; csv_separator?: string } }; answer: { count: number }; access: "member" };
  /** Move a stored file to another key, replacing an existing one */
  "GET /w/{workspace}/job_helpers/move_s3_file": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; src_file_key: string; dest_file_key: string } }; answer: string; access: "member" };
  /** Create the arguments that connect Polars and s3fs to the bucket of a given resource */
  "POST /w/{workspace}/job_helpers/polars_connection_settings": { input: { workspace: string; body: { s3_resource: { bucket: string; region?: string | null; endPoint?: string | null; port?: number | null; useSSL?: boolean | null; accessKey: string; secretKey: string; pathStyle?: boolean | null } } }; answer: { endpoint_url: string; key: string; secret: string; use_ssl: boolean; cache_regions: boolean; client_kwargs: { region_name: string } }; access: "member" };
  /** Test the object storage by listing a key */
  "GET /w/{workspace}/job_helpers/test_connection": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | "" } }; answer: string; access: "member" };
  /** Store the body of the request as a file */
  "POST /w/{workspace}/job_helpers/upload_s3_file": { input: { workspace: string; query?: { storage?: string; s3_resource_path?: string; resource_type?: "s3" | ""; file_key?: string; file_extension?: string; content_type?: string; content_disposition?: string }; body?: unknown }; answer: { file_key: string }; access: "member" };
  /** Read the statements that connect DuckDB to the bucket */
  "POST /w/{workspace}/job_helpers/v2/duckdb_connection_settings": { input: { workspace: string; body?: { s3_resource_path?: string | null; storage?: string | null } }; answer: { connection_settings_str: string }; access: "member" };
  /** Read the arguments that connect Polars and s3fs to the bucket */
  "POST /w/{workspace}/job_helpers/v2/polars_connection_settings": { input: { workspace: string; body?: { s3_resource_path?: string | null; storage?: string | null } }; answer: { s3fs_args: { endpoint_url: string; key: string; secret: string; use_ssl: boolean; cache_regions: boolean; client_kwargs: { region_name: string } }; storage_options: Record<string, string> }; access: "member" };
  /** Read the address and the keys of the workspace's bucket, or of the named resource */
  "POST /w/{workspace}/job_helpers/v2/s3_resource_info": { input: { workspace: string; body?: { s3_resource_path?: string | null; storage?: string | null } }; answer: { bucket: string; region: string; endPoint: string; port?: number; useSSL: boolean; pathStyle: boolean; accessKey: string; secretKey: string }; access: "member" };
  /** Read the peak memory of a completed job */
  "POST /w/{workspace}/job_metrics/get/{id}": { input: { workspace: string; id: string; body?: { timeseries_max_datapoints?: number | null; from_timestamp?: string | null; to_timestamp?: string | null } }; answer: { metrics_metadata: ({ id: string; name: string })[]; scalar_metrics: ({ metric_id: string; value: number })[]; timeseries_metrics: ({ metric_id: string; values: ({ timestamp: string; value: number })[] })[] }; access: "member" };
  /** Read the progress of a job, in percent; null if it reported none */
  "GET /w/{workspace}/job_metrics/get_progress/{id}": { input: { workspace: string; id: string }; answer: number | null; access: "member" };
  /** Set the progress of a running job, in percent */
  "POST /w/{workspace}/job_metrics/set_progress/{id}": { input: { workspace: string; id: string; body: { percent: number; flow_job_id?: string | null } }; answer: string; access: "member" };
  /** Stream the updates of a job as server-sent events */
  "GET /w/{workspace}/job_u/getupdate_sse/{id}": { input: { workspace: string; id: string; query?: { running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; log_offset?: number; stream_offset?: number; no_logs?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; only_result?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; get_progress?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; fast?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; poll_delay_ms?: number } }; answer: string; access: "anyone" };
  /** Queue a number of identical jobs as a load test; super admins only */
  "POST /w/{workspace}/jobs/add_batch_jobs/{n}": { input: { workspace: string; n: string; body: { kind: "script" | "rawscript" | "noop"; path?: string | null; rawscript?: { content: string; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; path?: string | null; lock?: string | null } | null; tag?: string | null } }; answer: (string)[]; access: "member" };
  /** Run the newest version of a flow for an AI product and answer its result */
  "POST /w/{workspace}/jobs/ai_sync/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Run the newest version of a script, or else of a flow, for an AI product and answer its result */
  "POST /w/{workspace}/jobs/ai_sync/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Count the completed jobs */
  "GET /w/{workspace}/jobs/completed/count": { input: { workspace: string }; answer: { database_length: number }; access: "member" };
  /** Count the completed jobs by tag, outcome, or age */
  "GET /w/{workspace}/jobs/completed/count_jobs": { input: { workspace: string; query?: { completed_after_s_ago?: number; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; tags?: string; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: number; access: "member" };
  /** Delete the arguments, result, log and code of a completed job */
  "POST /w/{workspace}/jobs/completed/delete/{id}": { input: { workspace: string; id: string }; answer: Job; access: "admin" };
  /** Export completed jobs, to import them elsewhere */
  "GET /w/{workspace}/jobs/completed/export": { input: { workspace: string; query?: { page?: number; per_page?: number } }; answer: unknown; access: "admin" };
  /** Read a completed job; 404 for other jobs */
  "GET /w/{workspace}/jobs/completed/get/{id}": { input: { workspace: string; id: string }; answer: Job; access: "member" };
  /** Read the result of a completed job; 404 for other jobs */
  "GET /w/{workspace}/jobs/completed/get_result/{id}": { input: { workspace: string; id: string; query?: { json_path?: string; suspended_job?: string; resume_id?: string; secret?: string; approver?: string } }; answer: unknown; access: "member" };
  /** Read the result of a job if it is completed; not an error for other jobs */
  "GET /w/{workspace}/jobs/completed/get_result_maybe/{id}": { input: { workspace: string; id: string; query?: { get_started?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { completed: boolean; result: unknown; success: boolean | null; started: boolean | null }; access: "member" };
  /** Import completed jobs; existing ids are skipped */
  "POST /w/{workspace}/jobs/completed/import": { input: { workspace: string; body?: ({ id: string; job_kind: string; created_by: string; created_at: string; scheduled_for?: string | null; permissioned_as: string; email: string; visible_to_owner?: boolean; script_path?: string | null; script_hash?: string | null; language?: string | null; tag: string; priority?: number | null; timeout?: number | null; args?: Record<string, unknown> | null; raw_code?: string | null; raw_lock?: string | null; raw_modules?: string | null; preprocessor_input?: unknown; parent_job?: string | null; root_job?: string | null; trigger_kind?: string | null; schedule_path?: string | null; concurrency_key?: string | null; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; cache_ttl?: number | null; status: "success" | "failure" | "canceled" | "skipped"; started_at?: string | null; completed_at: string; duration_ms?: number | null; result?: unknown; logs?: string | null; preprocessed?: boolean | null; canceled_by?: string | null; canceled_reason?: string | null; worker?: string | null; mem_peak?: number | null; isolation?: string | null; progress?: number | null; labels?: (string)[] | null; deleted?: boolean | null })[] }; answer: string; access: "admin" };
  /** List the completed jobs, newest first */
  "GET /w/{workspace}/jobs/completed/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; include_args?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (Job)[]; access: "member" };
  /** Delete queued and completed jobs completely; running ones are not affected */
  "POST /w/{workspace}/jobs/delete": { input: { workspace: string; body: (string)[] }; answer: string; access: "admin" };
  /** Approve a waiting flow as an owner of its path; the body is passed to the next step */
  "POST /w/{workspace}/jobs/flow/resume/{flow_job_id}": { input: { workspace: string; flow_job_id: string; body?: unknown }; answer: string; access: "member" };
  /** List the jobs of a flow's run with the step and iteration of each, and the approvals it waits for */
  "GET /w/{workspace}/jobs/flow/steps/{flow_job_id}": { input: { workspace: string; flow_job_id: string }; answer: { version: number | null; steps: (FlowStepJob)[]; truncated: boolean; approvals: ({ job_id: string; flow_job_id: string; step_id: string; summary: string; description: unknown; schema: Record<string, unknown>; required_events: number; approvers: (string)[]; hide_cancel: boolean; until: string; refusal?: string })[] }; access: "member" };
  /** Read a value that scripts of a flow share under a key; null without one */
  "GET /w/{workspace}/jobs/flow/user_states/{flow_job_id}/{key}": { input: { workspace: string; flow_job_id: string; key: string }; answer: unknown; access: "member" };
  /** Set a value under a key, for other scripts of the flow */
  "POST /w/{workspace}/jobs/flow/user_states/{flow_job_id}/{key}": { input: { workspace: string; flow_job_id: string; key: string; body?: unknown }; answer: string; access: "member" };
  /** Sign the approval of a step, to create links to it */
  "GET /w/{workspace}/jobs/job_signature/{job_id}/{resume_id}": { input: { workspace: string; job_id: string; resume_id: string; query?: { approver?: string } }; answer: string; access: "member" };
  /** Read the latest run so far of each of some scripts and flows, also those that were steps of a flow */
  "POST /w/{workspace}/jobs/latest": { input: { workspace: string; body: ({ kind: "script" | "flow"; path: string })[] }; answer: (Job)[]; access: "member" };
  /** List jobs, queued and completed, newest first */
  "GET /w/{workspace}/jobs/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; scheduled_for_before_now?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; suspended?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_or_started_before?: string; created_or_started_after?: string; created_or_started_after_completed_jobs?: string; include_args?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (Job)[]; access: "member" };
  /** List the ids of the jobs that match a filter */
  "GET /w/{workspace}/jobs/list_filtered_uuids": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; scheduled_for_before_now?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; suspended?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_or_started_before?: string; created_or_started_after?: string; created_or_started_after_completed_jobs?: string; concurrency_key?: string } }; answer: (string)[]; access: "admin" };
  /** Group jobs by script or flow, with the argument schemas, to run them again */
  "POST /w/{workspace}/jobs/list_selected_job_groups": { input: { workspace: string; body: (string)[] }; answer: ({ kind: "script" | "flow"; script_path: string; latest_schema?: unknown; schemas: ({ script_hash: string; job_ids: (string)[]; schema?: unknown })[] })[]; access: "member" };
  /** Run the newest version of a flow for an AI product and answer its result */
  "POST /w/{workspace}/jobs/openai_sync/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Run the newest version of a script, or else of a flow, for an AI product and answer its result */
  "POST /w/{workspace}/jobs/openai_sync/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Cancel several jobs; planned runs of schedules are not affected */
  "POST /w/{workspace}/jobs/queue/cancel_selection": { input: { workspace: string; body: (string)[] }; answer: (string)[]; access: "member" };
  /** Count the jobs that are due and wait for a worker, and the flows that wait for approvals */
  "GET /w/{workspace}/jobs/queue/count": { input: { workspace: string; query?: { all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; tags?: string } }; answer: { database_length: number; suspended: number }; access: "member" };
  /** Count the jobs that wait for a worker, run, or wait for approval or time, by tag */
  "GET /w/{workspace}/jobs/queue/depth": { input: { workspace: string }; answer: ({ tag: string; waiting: number; running: number; suspended: number })[]; access: "member" };
  /** Export queued jobs, to import them elsewhere */
  "GET /w/{workspace}/jobs/queue/export": { input: { workspace: string; query?: { page?: number; per_page?: number } }; answer: unknown; access: "admin" };
  /** Import and queue exported jobs; existing ids are skipped */
  "POST /w/{workspace}/jobs/queue/import": { input: { workspace: string; body?: ({ id: string; job_kind: string; created_by: string; created_at: string; scheduled_for?: string | null; permissioned_as: string; email: string; visible_to_owner?: boolean; script_path?: string | null; script_hash?: string | null; language?: string | null; tag: string; priority?: number | null; timeout?: number | null; args?: Record<string, unknown> | null; raw_code?: string | null; raw_lock?: string | null; raw_modules?: string | null; preprocessor_input?: unknown; parent_job?: string | null; root_job?: string | null; trigger_kind?: string | null; schedule_path?: string | null; concurrency_key?: string | null; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; cache_ttl?: number | null })[] }; answer: string; access: "admin" };
  /** List the jobs that are not completed, newest first */
  "GET /w/{workspace}/jobs/queue/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; scheduled_for_before_now?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; suspended?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_args?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (Job)[]; access: "member" };
  /** List the ids of the unfinished jobs that match a filter */
  "GET /w/{workspace}/jobs/queue/list_filtered_uuids": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; label?: string; parent_job?: string; script_path_exact?: string; script_path_start?: string; schedule_path?: string; script_hash?: string; started_before?: string; started_after?: string; created_before?: string; created_after?: string; success?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; job_kinds?: string; args?: string; result?: string; tag?: string; is_skipped?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; canceled?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_flow_step?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; has_null_parent?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_not_schedule?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; all_workspaces?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; worker?: string; allow_wildcards?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; trigger_kind?: string; running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; scheduled_for_before_now?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; suspended?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; concurrency_key?: string } }; answer: (string)[]; access: "admin" };
  /** Count the queued jobs of the instance that are due by a time, in milliseconds */
  "GET /w/{workspace}/jobs/queue/position/{scheduled_for}": { input: { workspace: string; scheduled_for: string }; answer: { position?: number }; access: "member" };
  /** Read the due time of a queued or running job, in milliseconds */
  "GET /w/{workspace}/jobs/queue/scheduled_for/{id}": { input: { workspace: string; id: string }; answer: number; access: "member" };
  /** Restart a flow run from a step, iteration or branch given in the body */
  "POST /w/{workspace}/jobs/restart/f/{job_id}": { input: { workspace: string; job_id: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body: { step_id: string; branch_or_iteration_n?: number | null } }; answer: string; access: "member" };
  /** Restart a flow run from a step, with the results of the steps before it */
  "POST /w/{workspace}/jobs/restart/f/{job_id}/from/{step_id}": { input: { workspace: string; job_id: string; step_id: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body?: Record<string, unknown> | null }; answer: string; access: "member" };
  /** Restart a flow run from an iteration or branch of a step */
  "POST /w/{workspace}/jobs/restart/f/{job_id}/from/{step_id}/{branch_or_iteration_n}": { input: { workspace: string; job_id: string; step_id: string; branch_or_iteration_n: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body?: Record<string, unknown> | null }; answer: string; access: "member" };
  /** Read the result of a step of a flow run; of a step that ran several times, the newest */
  "GET /w/{workspace}/jobs/result_by_id/{flow_job_id}/{node_id}": { input: { workspace: string; flow_job_id: string; node_id: string; query?: { json_path?: string } }; answer: unknown; access: "member" };
  /** Create the links that approve or reject a step's approval request, by its job or by the flow's */
  "GET /w/{workspace}/jobs/resume_urls/{job_id}/{resume_id}": { input: { workspace: string; job_id: string; resume_id: string; query?: { approver?: string } }; answer: { approvalPage: string; resume: string; cancel: string }; access: "member" };
  /** Run deployed scripts and flows again with the arguments of earlier jobs */
  "POST /w/{workspace}/jobs/run/batch_rerun_jobs": { input: { workspace: string; body: { job_ids: (string)[]; script_options_by_path?: Record<string, { input_transforms?: Record<string, { type: "static"; value: unknown }>; use_latest_version?: boolean }>; flow_options_by_path?: Record<string, { input_transforms?: Record<string, { type: "static"; value: unknown }>; use_latest_version?: boolean }> } }; answer: string; access: "member" };
  /** Resolve the lock of undeployed code */
  "POST /w/{workspace}/jobs/run/dependencies": { input: { workspace: string; body: { raw_scripts: ({ raw_code: string; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; script_path?: string; path?: string })[]; entrypoint: string } }; answer: { lock?: string; error?: { message: string } }; access: "author" };
  /** Resolve the lock of undeployed code, asynchronously */
  "POST /w/{workspace}/jobs/run/dependencies_async": { input: { workspace: string; body: { raw_scripts: ({ raw_code: string; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; script_path?: string; path?: string })[]; entrypoint: string } }; answer: string; access: "author" };
  /** Run a function that returns the choices of a form field, asynchronously */
  "POST /w/{workspace}/jobs/run/dynamic_select": { input: { workspace: string; body: { entrypoint_function: string; args?: Record<string, unknown>; runnable_ref: { source: "deployed"; path: string; runnable_kind: "script" | "flow" } | { source: "inline"; code: string; lang?: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb" | null } } }; answer: string; access: "member" };
  /** Start the newest version of a flow; answers before it runs */
  "POST /w/{workspace}/jobs/run/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body?: unknown }; answer: string; access: "member" };
  /** Resolve the locks of the scripts in an undeployed flow */
  "POST /w/{workspace}/jobs/run/flow_dependencies": { input: { workspace: string; body: { path: string; flow_value: FlowValue | { modules: (unknown)[] } } }; answer: { updated_flow_value: FlowValue | { modules: (unknown)[] } }; access: "author" };
  /** Resolve the locks of the scripts in an undeployed flow, asynchronously */
  "POST /w/{workspace}/jobs/run/flow_dependencies_async": { input: { workspace: string; body: { path: string; flow_value: FlowValue | { modules: (unknown)[] } } }; answer: string; access: "author" };
  /** Start one version of a flow; answers before it runs */
  "POST /w/{workspace}/jobs/run/fv/{version}": { input: { workspace: string; version: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body?: unknown }; answer: string; access: "member" };
  /** Start one version of a script; answers before it runs */
  "POST /w/{workspace}/jobs/run/h/{hash}": { input: { workspace: string; hash: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body?: unknown }; answer: string; access: "member" };
  /** Start the newest version of a script, or else of a flow,; answers before it runs */
  "POST /w/{workspace}/jobs/run/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number }; body?: unknown }; answer: string; access: "member" };
  /** Run undeployed code asynchronously */
  "POST /w/{workspace}/jobs/run/preview": { input: { workspace: string; query?: { scheduled_for?: string; job_id?: string; tag?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { args?: Record<string, unknown>; kind?: "code" | "identity" | null; content?: string | null; path?: string | null; language?: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; tag?: string | null; lock?: string | null; modules?: Record<string, string> | null } }; answer: string; access: "author" };
  /** Run an undeployed bundle of JavaScript asynchronously */
  "POST /w/{workspace}/jobs/run/preview_bundle": { input: { workspace: string; query?: { scheduled_for?: string; job_id?: string; tag?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body?: unknown }; answer: string; access: "author" };
  /** Run an undeployed flow asynchronously */
  "POST /w/{workspace}/jobs/run/preview_flow": { input: { workspace: string; query?: { scheduled_for?: string; job_id?: string; tag?: string; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { value: FlowValue | { modules: (unknown)[] }; args?: Record<string, unknown>; path?: string | null; tag?: string | null; restarted_from?: { flow_job_id: string; step_id: string; branch_or_iteration_n?: number | null } | null } }; answer: string; access: "author" };
  /** Run an exported function of the calling job's own code as a child job */
  "POST /w/{workspace}/jobs/run/workflow_as_code/{job_id}/{entrypoint}": { input: { workspace: string; job_id: string; entrypoint: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number; skip_update?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body?: { args?: Record<string, unknown> } }; answer: string; access: "member" };
  /** Run the newest version of a flow with a base64 payload and stream its updates */
  "GET /w/{workspace}/jobs/run_and_stream/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: string; access: "member" };
  /** Run the newest version of a flow and stream its updates */
  "POST /w/{workspace}/jobs/run_and_stream/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: string; access: "member" };
  /** Run one version of a flow with a base64 payload and stream its updates */
  "GET /w/{workspace}/jobs/run_and_stream/fv/{version}": { input: { workspace: string; version: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: string; access: "member" };
  /** Run one version of a flow and stream its updates */
  "POST /w/{workspace}/jobs/run_and_stream/fv/{version}": { input: { workspace: string; version: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: string; access: "member" };
  /** Run one version of a script with a base64 payload and stream its updates */
  "GET /w/{workspace}/jobs/run_and_stream/h/{hash}": { input: { workspace: string; hash: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: string; access: "member" };
  /** Run one version of a script and stream its updates */
  "POST /w/{workspace}/jobs/run_and_stream/h/{hash}": { input: { workspace: string; hash: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: string; access: "member" };
  /** Run the newest version of a script, or else of a flow, with a base64 payload and stream its updates */
  "GET /w/{workspace}/jobs/run_and_stream/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: string; access: "member" };
  /** Run the newest version of a script, or else of a flow, and stream its updates */
  "POST /w/{workspace}/jobs/run_and_stream/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: string; access: "member" };
  /** Run the newest version of a flow with a base64 payload and answer its result */
  "GET /w/{workspace}/jobs/run_wait_result/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: unknown; access: "member" };
  /** Run the newest version of a flow and answer its result */
  "POST /w/{workspace}/jobs/run_wait_result/f/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Run one version of a flow with a base64 payload and answer its result */
  "GET /w/{workspace}/jobs/run_wait_result/fv/{version}": { input: { workspace: string; version: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: unknown; access: "member" };
  /** Run one version of a flow and answer its result */
  "POST /w/{workspace}/jobs/run_wait_result/fv/{version}": { input: { workspace: string; version: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Run one version of a script with a base64 payload and answer its result */
  "GET /w/{workspace}/jobs/run_wait_result/h/{hash}": { input: { workspace: string; hash: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: unknown; access: "member" };
  /** Run one version of a script and answer its result */
  "POST /w/{workspace}/jobs/run_wait_result/h/{hash}": { input: { workspace: string; hash: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Run the newest version of a script, or else of a flow, with a base64 payload and answer its result */
  "GET /w/{workspace}/jobs/run_wait_result/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number } }; answer: unknown; access: "member" };
  /** Run the newest version of a script, or else of a flow, and answer its result */
  "POST /w/{workspace}/jobs/run_wait_result/p/{path}": { input: { workspace: string; path: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; error_status?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; queue_limit?: number }; body?: unknown }; answer: unknown; access: "member" };
  /** Run undeployed code and return its result */
  "POST /w/{workspace}/jobs/run_wait_result/preview": { input: { workspace: string; query?: { scheduled_for?: string; job_id?: string; tag?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { args?: Record<string, unknown>; kind?: "code" | "identity" | null; content?: string | null; path?: string | null; language?: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; tag?: string | null; lock?: string | null; modules?: Record<string, string> | null } }; answer: unknown; access: "author" };
  /** Run an undeployed flow and return its result */
  "POST /w/{workspace}/jobs/run_wait_result/preview_flow": { input: { workspace: string; query?: { scheduled_for?: string; job_id?: string; tag?: string; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { value: FlowValue | { modules: (unknown)[] }; args?: Record<string, unknown>; path?: string | null; tag?: string | null; restarted_from?: { flow_job_id: string; step_id: string; branch_or_iteration_n?: number | null } | null } }; answer: unknown; access: "author" };
  /** Run an exported function of the calling job's own code as a child job */
  "POST /w/{workspace}/jobs/workflow_as_code/{job_id}/{entrypoint}": { input: { workspace: string; job_id: string; entrypoint: string; query?: { parent_job?: string; root_job?: string; tag?: string; job_id?: string; timeout?: number; invisible_to_owner?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_header?: string; include_query?: string; raw?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; wrap_body?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_preprocessor?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; payload?: string; cache_ttl?: number; scheduled_for?: string; scheduled_in_secs?: number; skip_update?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body?: { args?: Record<string, unknown> } }; answer: string; access: "member" };
  /** Refuse what a step asks for, by a signed link; browsers and previews of links get its page instead */
  "GET /w/{workspace}/jobs_u/cancel/{job_id}/{resume_id}/{signature}": { input: { workspace: string; job_id: string; resume_id: string; signature: string; query?: { approver?: string; payload?: string } }; answer: string; access: "anyone" };
  /** Refuse what a step asks for, by a signed link; the body is what the next step reads */
  "POST /w/{workspace}/jobs_u/cancel/{job_id}/{resume_id}/{signature}": { input: { workspace: string; job_id: string; resume_id: string; signature: string; query?: { approver?: string }; body?: unknown }; answer: string; access: "anyone" };
  /** Read a completed job; 404 for other jobs */
  "GET /w/{workspace}/jobs_u/completed/get/{id}": { input: { workspace: string; id: string }; answer: Job; access: "anyone" };
  /** Read the result of a completed job; 404 for other jobs */
  "GET /w/{workspace}/jobs_u/completed/get_result/{id}": { input: { workspace: string; id: string; query?: { json_path?: string; suspended_job?: string; resume_id?: string; secret?: string; approver?: string } }; answer: unknown; access: "anyone" };
  /** Read the result of a job if it is completed; not an error for other jobs */
  "GET /w/{workspace}/jobs_u/completed/get_result_maybe/{id}": { input: { workspace: string; id: string; query?: { get_started?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { completed: boolean; result: unknown; success: boolean | null; started: boolean | null }; access: "anyone" };
  /** Read a job's creation and start times, and its duration */
  "GET /w/{workspace}/jobs_u/completed/get_timing/{id}": { input: { workspace: string; id: string }; answer: { created_at: string; started_at?: string; duration_ms?: number }; access: "anyone" };
  /** Read a job, queued, running or completed */
  "GET /w/{workspace}/jobs_u/get/{id}": { input: { workspace: string; id: string; query?: { no_logs?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; no_code?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: Job; access: "anyone" };
  /** Read the arguments of a job */
  "GET /w/{workspace}/jobs_u/get_args/{id}": { input: { workspace: string; id: string }; answer: unknown; access: "anyone" };
  /** Read the end of the log of a completed job; 404 for other jobs */
  "GET /w/{workspace}/jobs_u/get_completed_logs_tail/{id}": { input: { workspace: string; id: string }; answer: string; access: "anyone" };
  /** Read the flow of a signed link, and its approvers so far */
  "GET /w/{workspace}/jobs_u/get_flow/{job_id}/{resume_id}/{signature}": { input: { workspace: string; job_id: string; resume_id: string; signature: string; query?: { approver?: string } }; answer: { job: Job; approvers: ({ resume_id: number; approver: string })[] }; access: "anyone" };
  /** Read the jobs of a running flow that the caller may see by their ids, and the flow's own as `root_job` */
  "GET /w/{workspace}/jobs_u/get_flow_debug_info/{id}": { input: { workspace: string; id: string }; answer: Record<string, Job>; access: "anyone" };
  /** Read the log of a job by the path of a log file, which begins with the job's id */
  "GET /w/{workspace}/jobs_u/get_log_file/{file_path}": { input: { workspace: string; file_path: string }; answer: string; access: "anyone" };
  /** Read the whole log of a job */
  "GET /w/{workspace}/jobs_u/get_logs/{id}": { input: { workspace: string; id: string }; answer: string; access: "anyone" };
  /** Read the id of a job's topmost ancestor: its own if it has none */
  "GET /w/{workspace}/jobs_u/get_root_job_id/{id}": { input: { workspace: string; id: string }; answer: string; access: "anyone" };
  /** Read the updates of a job since the given offsets */
  "GET /w/{workspace}/jobs_u/getupdate/{id}": { input: { workspace: string; id: string; query?: { running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; log_offset?: number; stream_offset?: number; no_logs?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; only_result?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; get_progress?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: { running?: boolean; completed?: boolean; new_logs?: string; log_offset?: number; new_result_stream?: string; stream_offset?: number; mem_peak?: number; progress?: number; only_result?: unknown; job?: Job }; access: "anyone" };
  /** Stream the updates of a job as server-sent events */
  "GET /w/{workspace}/jobs_u/getupdate_sse/{id}": { input: { workspace: string; id: string; query?: { running?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; log_offset?: number; stream_offset?: number; no_logs?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; only_result?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; get_progress?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; fast?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; poll_delay_ms?: number } }; answer: string; access: "anyone" };
  /** Cancel a job, queued or running */
  "POST /w/{workspace}/jobs_u/queue/cancel/{id}": { input: { workspace: string; id: string; body?: { reason?: string | null } }; answer: string; access: "anyone" };
  /** Cancel all runs of a script, also to stop one that restarts until canceled */
  "POST /w/{workspace}/jobs_u/queue/cancel_persistent/{path}": { input: { workspace: string; path: string; body?: { reason?: string | null } }; answer: string; access: "member" };
  /** Complete a job as canceled at once, even if its worker is lost */
  "POST /w/{workspace}/jobs_u/queue/force_cancel/{id}": { input: { workspace: string; id: string; body?: { reason?: string | null } }; answer: string; access: "anyone" };
  /** Read the start times of some jobs; null for one that has not started, or that the caller may not see */
  "POST /w/{workspace}/jobs_u/queue/get_started_at_by_ids": { input: { workspace: string; body: (string)[] }; answer: (string | null)[]; access: "anyone" };
  /** Approve what a step asks for, by a signed link; browsers and previews of links get its page instead */
  "GET /w/{workspace}/jobs_u/resume/{job_id}/{resume_id}/{signature}": { input: { workspace: string; job_id: string; resume_id: string; signature: string; query?: { approver?: string; payload?: string } }; answer: string; access: "anyone" };
  /** Approve what a step asks for, by a signed link; the body is what the next step reads */
  "POST /w/{workspace}/jobs_u/resume/{job_id}/{resume_id}/{signature}": { input: { workspace: string; job_id: string; resume_id: string; signature: string; query?: { approver?: string }; body?: unknown }; answer: string; access: "anyone" };
  /** Store a Kafka trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/kafka_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete a Kafka trigger; what runs goes on */
  "DELETE /w/{workspace}/kafka_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is a Kafka trigger at a path */
  "GET /w/{workspace}/kafka_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a Kafka trigger */
  "GET /w/{workspace}/kafka_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the Kafka triggers, last edited first */
  "GET /w/{workspace}/kafka_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch a Kafka trigger on or off */
  "POST /w/{workspace}/kafka_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace a Kafka trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/kafka_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Store an MQTT trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/mqtt_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete an MQTT trigger; what runs goes on */
  "DELETE /w/{workspace}/mqtt_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is an MQTT trigger at a path */
  "GET /w/{workspace}/mqtt_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read an MQTT trigger */
  "GET /w/{workspace}/mqtt_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the MQTT triggers, last edited first */
  "GET /w/{workspace}/mqtt_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch an MQTT trigger on or off */
  "POST /w/{workspace}/mqtt_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace an MQTT trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/mqtt_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Store a NATS trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/nats_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete a NATS trigger; what runs goes on */
  "DELETE /w/{workspace}/nats_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is a NATS trigger at a path */
  "GET /w/{workspace}/nats_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a NATS trigger */
  "GET /w/{workspace}/nats_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the NATS triggers, last edited first */
  "GET /w/{workspace}/nats_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch a NATS trigger on or off */
  "POST /w/{workspace}/nats_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace a NATS trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/nats_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Connect Slack to the workspace: its bot's token becomes a secret and a resource */
  "POST /w/{workspace}/oauth/connect_chat_callback": { input: { workspace: string; body: { code: string; state: string; iss?: string | null } }; answer: string; access: "admin" };
  /** Connect Slack to the workspace: its bot's token becomes a secret and a resource */
  "POST /w/{workspace}/oauth/connect_slack_callback": { input: { workspace: string; body: { code: string; state: string; iss?: string | null } }; answer: string; access: "admin" };
  /** Store an account that variables can refer to; their values are then refreshed */
  "POST /w/{workspace}/oauth/create_account": { input: { workspace: string; body: { refresh_token?: string | null; expires_in: number; client: string } }; answer: string; access: "author" };
  /** Delete an account, and revoke its token at the provider if possible */
  "POST /w/{workspace}/oauth/disconnect/{id}": { input: { workspace: string; id: string }; answer: string; access: "author" };
  /** Disconnect Slack from the workspace */
  "POST /w/{workspace}/oauth/disconnect_chat": { input: { workspace: string }; answer: string; access: "admin" };
  /** Disconnect Slack from the workspace */
  "POST /w/{workspace}/oauth/disconnect_slack": { input: { workspace: string }; answer: string; access: "admin" };
  /** Refresh an account's token now; `path` is a variable of the account that the caller may read */
  "POST /w/{workspace}/oauth/refresh_token/{id}": { input: { workspace: string; id: string; body: { path: string } }; answer: string; access: "member" };
  /** Issue an identity token for the calling job, for use at another service (EE) */
  "POST /w/{workspace}/oidc/token/{audience}": { input: { workspace: string; audience: string; query?: { expires_in?: number } }; answer: string; access: "member" };
  /** Store a PostgreSQL trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/postgres_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete a PostgreSQL trigger; what runs goes on */
  "DELETE /w/{workspace}/postgres_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is a PostgreSQL trigger at a path */
  "GET /w/{workspace}/postgres_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a PostgreSQL trigger */
  "GET /w/{workspace}/postgres_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the PostgreSQL triggers, last edited first */
  "GET /w/{workspace}/postgres_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch a PostgreSQL trigger on or off */
  "POST /w/{workspace}/postgres_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace a PostgreSQL trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/postgres_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Deploy a raw app: a single bundle of JavaScript */
  "POST /w/{workspace}/raw_apps/create": { input: { workspace: string; body: { path: string; value: string; summary?: string } }; answer: string; access: "author" };
  /** Delete a raw app */
  "DELETE /w/{workspace}/raw_apps/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Check whether a raw app exists at a path */
  "GET /w/{workspace}/raw_apps/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** List raw apps, most recently updated first */
  "GET /w/{workspace}/raw_apps/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; path_start?: string; path_exact?: string; starred_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ workspace_id: string; path: string; summary: string; version: number; edited_at: string; extra_perms: Record<string, boolean>; starred: boolean })[]; access: "member" };
  /** Update or rename a raw app */
  "POST /w/{workspace}/raw_apps/update/{path}": { input: { workspace: string; path: string; body: { path?: string | null; value?: string | null; summary?: string | null } }; answer: string; access: "author" };
  /** Create a resource */
  "POST /w/{workspace}/resources/create": { input: { workspace: string; query?: { update_if_exists?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { path: string; value: unknown; resource_type: string; description?: string | null } }; answer: string; access: "author" };
  /** Delete a resource */
  "DELETE /w/{workspace}/resources/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Check whether a resource exists at a path */
  "GET /w/{workspace}/resources/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** List the file extensions of resource types whose values are files */
  "GET /w/{workspace}/resources/file_resource_type_to_file_ext_map": { input: { workspace: string }; answer: Record<string, string>; access: "member" };
  /** Read a resource; references in its value are not resolved */
  "GET /w/{workspace}/resources/get/{path}": { input: { workspace: string; path: string }; answer: Resource; access: "member" };
  /** Read the value of a resource; references in it are not resolved */
  "GET /w/{workspace}/resources/get_value/{path}": { input: { workspace: string; path: string }; answer: unknown; access: "member" };
  /** Read the value of a resource with all references resolved */
  "GET /w/{workspace}/resources/get_value_interpolated/{path}": { input: { workspace: string; path: string; query?: { job_id?: string } }; answer: unknown; access: "member" };
  /** List the resources the caller may read, without their values */
  "GET /w/{workspace}/resources/list": { input: { workspace: string; query?: { page?: number; per_page?: number; resource_type?: string; resource_type_exclude?: string; path_start?: string; path?: string; description?: string; value?: string } }; answer: ({ workspace_id: string; path: string; value: unknown; description: string; resource_type: string; is_oauth: boolean; extra_perms: Record<string, boolean>; created_by: string; edited_at: string; account?: number | null; is_expired: boolean; is_refreshed: boolean; refresh_error?: string; is_linked: boolean })[]; access: "member" };
  /** List the resources of one type by name: the value's own `name`, else the end of the path */
  "GET /w/{workspace}/resources/list_names/{type}": { input: { workspace: string; type: string }; answer: ({ name: string; path: string })[]; access: "member" };
  /** List path and value of the resources the caller may read, for searching */
  "GET /w/{workspace}/resources/list_search": { input: { workspace: string }; answer: ({ path: string; value: unknown })[]; access: "member" };
  /** Create a resource type; those of the workspace admins are visible in all workspaces */
  "POST /w/{workspace}/resources/type/create": { input: { workspace: string; body: { name: string; schema?: unknown | null; description?: string | null; format_extension?: string | null; is_fileset?: boolean | null } }; answer: string; access: "author" };
  /** Delete a resource type of the workspace */
  "DELETE /w/{workspace}/resources/type/delete/{name}": { input: { workspace: string; name: string }; answer: string; access: "author" };
  /** Check whether a resource type exists in the workspace */
  "GET /w/{workspace}/resources/type/exists/{name}": { input: { workspace: string; name: string }; answer: boolean; access: "member" };
  /** Read a resource type */
  "GET /w/{workspace}/resources/type/get/{name}": { input: { workspace: string; name: string }; answer: ResourceType; access: "member" };
  /** List the resource types of the workspace, shared ones included */
  "GET /w/{workspace}/resources/type/list": { input: { workspace: string }; answer: (ResourceType)[]; access: "member" };
  /** List the names of the workspace's resource types, shared ones included */
  "GET /w/{workspace}/resources/type/listnames": { input: { workspace: string }; answer: (string)[]; access: "member" };
  /** Update a resource type; a shared one is copied to the workspace */
  "POST /w/{workspace}/resources/type/update/{name}": { input: { workspace: string; name: string; body: { schema?: unknown | null; description?: string | null; format_extension?: string | null; is_fileset?: boolean | null } }; answer: string; access: "author" };
  /** Update or rename a resource */
  "POST /w/{workspace}/resources/update/{path}": { input: { workspace: string; path: string; body: { path?: string | null; value?: unknown | null; resource_type?: string | null; description?: string | null } }; answer: string; access: "author" };
  /** Replace the value of a resource */
  "POST /w/{workspace}/resources/update_value/{path}": { input: { workspace: string; path: string; body: { value: unknown } }; answer: string; access: "author" };
  /** Read a stored file by its signed link, or the part in a Range header */
  "GET /w/{workspace}/s3_proxy/{storage}/{file_path}": { input: { workspace: string; storage: string; file_path: string; query?: { exp: number; sig: string } }; answer: string; access: "anyone" };
  /** Create a schedule that runs a script or flow by a cron expression, in a time zone */
  "POST /w/{workspace}/schedules/create": { input: { workspace: string; body: { path: string; script_path: string; is_flow?: boolean | null; enabled?: boolean | null; schedule: string; timezone: string; args?: Record<string, unknown> | null; summary?: string | null; description?: string | null; tag?: string | null; no_flow_overlap?: boolean | null; paused_until?: string | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; cron_version?: string | null; ws_error_handler_muted?: boolean | null; on_failure?: string | null; on_failure_times?: number | null; on_failure_exact?: boolean | null; on_failure_extra_args?: Record<string, unknown> | null; on_recovery?: string | null; on_recovery_times?: number | null; on_recovery_extra_args?: Record<string, unknown> | null; on_success?: string | null; on_success_extra_args?: Record<string, unknown> | null } }; answer: string; access: "author" };
  /** Delete a schedule; what runs goes on */
  "DELETE /w/{workspace}/schedules/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is a schedule at a path */
  "GET /w/{workspace}/schedules/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a schedule */
  "GET /w/{workspace}/schedules/get/{path}": { input: { workspace: string; path: string }; answer: Schedule; access: "member" };
  /** List the schedules, last edited first */
  "GET /w/{workspace}/schedules/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number; args?: string } }; answer: (Schedule)[]; access: "member" };
  /** List schedules with the last runs of each */
  "GET /w/{workspace}/schedules/list_with_jobs": { input: { workspace: string; query?: { page?: number; per_page?: number } }; answer: ({ workspace_id: string; path: string; script_path: string; is_flow: boolean; enabled: boolean; summary?: string | null; edited_by: string; edited_at: string; email: string; extra_perms: Record<string, boolean>; schedule: string; timezone: string; args: Record<string, unknown>; error?: string | null; description?: string | null; tag?: string | null; no_flow_overlap: boolean; paused_until?: string | null; retry?: unknown | null; cron_version?: string | null; ws_error_handler_muted: boolean; on_failure?: string | null; on_failure_times?: number | null; on_failure_exact?: boolean | null; on_failure_extra_args?: Record<string, unknown> | null; on_recovery?: string | null; on_recovery_times?: number | null; on_recovery_extra_args?: Record<string, unknown> | null; on_success?: string | null; on_success_extra_args?: Record<string, unknown> | null; next_at?: string | null; jobs: ({ id: string; success: boolean; duration_ms: number })[] })[]; access: "member" };
  /** Set the default handler of schedules, on request also of all existing ones */
  "POST /w/{workspace}/schedules/setdefaulthandler": { input: { workspace: string; body: { handler_type: "error" | "recovery" | "success"; override_existing?: boolean | null; path?: string | null; extra_args?: Record<string, unknown> | null; number_of_occurence?: number | null; number_of_occurence_exact?: boolean | null; workspace_handler_muted?: boolean | null } }; answer: string; access: "admin" };
  /** Switch a schedule on or off */
  "POST /w/{workspace}/schedules/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Update a schedule; its runs act as its last editor */
  "POST /w/{workspace}/schedules/update/{path}": { input: { workspace: string; path: string; body: { schedule: string; timezone: string; args?: Record<string, unknown> | null; summary?: string | null; description?: string | null; tag?: string | null; no_flow_overlap?: boolean | null; paused_until?: string | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; cron_version?: string | null; ws_error_handler_muted?: boolean | null; on_failure?: string | null; on_failure_times?: number | null; on_failure_exact?: boolean | null; on_failure_extra_args?: Record<string, unknown> | null; on_recovery?: string | null; on_recovery_times?: number | null; on_recovery_extra_args?: Record<string, unknown> | null; on_success?: string | null; on_success_extra_args?: Record<string, unknown> | null } }; answer: string; access: "author" };
  /** Analyse code without storing it: arguments, packages, imports, and syntax errors */
  "POST /w/{workspace}/scripts/analyse": { input: { workspace: string; body: { language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; content: string } }; answer: { schema?: Record<string, unknown>; has_main: boolean; has_preprocessor: boolean; packages: (string)[]; imports: (string)[]; warning?: string; missing_program?: string; problem?: { message: string; line?: number; column?: number } }; access: "author" };
  /** Archive one version of a script */
  "POST /w/{workspace}/scripts/archive/h/{hash}": { input: { workspace: string; hash: string }; answer: Script; access: "author" };
  /** Archive a script with all its versions */
  "POST /w/{workspace}/scripts/archive/p/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Deploy a new version of a script */
  "POST /w/{workspace}/scripts/create": { input: { workspace: string; body: { path: string; parent_hash?: string | null; summary?: string; description?: string; content: string; schema?: Record<string, unknown> | null; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; kind?: "script" | "failure" | "trigger" | "command" | "approval" | "preprocessor" | null; is_template?: boolean | null; lock?: string | (string)[] | null; tag?: string | null; envs?: (string)[] | null; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; concurrency_key?: string | null; cache_ttl?: number | null; timeout?: number | null; priority?: number | null; delete_after_use?: boolean | null; dedicated_worker?: boolean | null; restart_unless_cancelled?: boolean | null; visible_to_runner_only?: boolean | null; ws_error_handler_muted?: boolean | null; isolation?: "shared" | "fresh" | null; memory_mb?: number | null; validate?: boolean | null; no_main_func?: boolean | null; has_preprocessor?: boolean | null; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; on_behalf_of_email?: string | null; draft_only?: boolean | null; deployment_message?: string | null; codebase?: string | null } }; answer: string; access: "author" };
  /** Deploy a new version of a script with a JavaScript bundle that runs in its place */
  "POST /w/{workspace}/scripts/create_snapshot": { input: { workspace: string; body?: unknown }; answer: string; access: "author" };
  /** Delete the content of one version (admins); its history entry stays */
  "POST /w/{workspace}/scripts/delete/h/{hash}": { input: { workspace: string; hash: string }; answer: Script; access: "author" };
  /** Delete a script with all its versions (admins); a draft also by users who may manage it */
  "POST /w/{workspace}/scripts/delete/p/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Read whether a version's dependencies are resolved; without `lock` they are not yet */
  "GET /w/{workspace}/scripts/deployment_status/h/{hash}": { input: { workspace: string; hash: string }; answer: { lock?: string; lock_error_logs?: string }; access: "member" };
  /** Check whether an active script exists at a path */
  "GET /w/{workspace}/scripts/exists/p/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read the newest version of a script, with the draft of the caller or of `draft_of`, and who else keeps one */
  "GET /w/{workspace}/scripts/get/draft/{path}": { input: { workspace: string; path: string; query?: { draft_of?: string } }; answer: { workspace_id: string; hash: string; path: string; parent_hashes: (string)[]; summary: string; description: string; content: string; schema: unknown; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; kind: string; is_template: boolean; lock?: string | null; lock_error_logs?: string | null; imports?: ({ path: string; hash: string })[] | null; tag?: string | null; envs: (string)[]; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; concurrency_key?: string | null; cache_ttl?: number | null; timeout?: number | null; priority?: number | null; delete_after_use: boolean; dedicated_worker: boolean; restart_unless_cancelled: boolean; visible_to_runner_only: boolean; ws_error_handler_muted: boolean; isolation: "shared" | "fresh"; memory_mb?: number | null; validate: boolean; no_main_func: boolean; has_preprocessor: boolean; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; on_behalf_of_email?: string | null; codebase?: string | null; created_by: string; created_at: string; archived: boolean; deleted: boolean; draft_only: boolean; extra_perms: Record<string, boolean>; starred: boolean; draft?: unknown; draft_revision?: string; other_drafts: ({ created_by: string; created_at: string })[] }; access: "member" };
  /** Read one version of a script */
  "GET /w/{workspace}/scripts/get/h/{hash}": { input: { workspace: string; hash: string; query?: { with_starred_info?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: Script; access: "member" };
  /** Read the newest version of a script */
  "GET /w/{workspace}/scripts/get/p/{path}": { input: { workspace: string; path: string; query?: { with_starred_info?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: Script; access: "member" };
  /** Read the newest version of a script's history */
  "GET /w/{workspace}/scripts/get_latest_version/{path}": { input: { workspace: string; path: string }; answer: { script_hash: string; deployment_msg?: string | null }; access: "member" };
  /** Count the triggers of a script: schedules, routes, WebSockets, stored kinds and webhook tokens */
  "GET /w/{workspace}/scripts/get_triggers_count/{path}": { input: { workspace: string; path: string }; answer: TriggersCount; access: "member" };
  /** List the versions of a script, newest first */
  "GET /w/{workspace}/scripts/history/p/{path}": { input: { workspace: string; path: string }; answer: ({ script_hash: string; deployment_msg?: string | null; created_at: string })[]; access: "member" };
  /** Set the deployment message of a version */
  "POST /w/{workspace}/scripts/history_update/h/{hash}/p/{path}": { input: { workspace: string; hash: string; path: string; body?: { deployment_msg?: string | null } }; answer: string; access: "author" };
  /** List the newest version of each script */
  "GET /w/{workspace}/scripts/list": { input: { workspace: string; query?: { page?: number; per_page?: number; order_desc?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; created_by?: string; path_start?: string; path_exact?: string; show_archived?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_draft_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; starred_only?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_without_main?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; is_template?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; parent_hash?: string; first_parent_hash?: string; last_parent_hash?: string; kinds?: string; languages?: string; with_deployment_msg?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ({ workspace_id: string; hash: string; path: string; parent_hashes: (string)[]; summary: string; description: string; schema: unknown; language: "bun" | "deno" | "nativets" | "bunnative" | "bash" | "python3" | "postgresql" | "mysql" | "sqlite" | "graphql" | "go" | "php" | "ruby" | "rust" | "powershell" | "csharp" | "java" | "nu" | "ansible" | "rlang" | "mssql" | "oracledb" | "bigquery" | "snowflake" | "duckdb"; kind: string; is_template: boolean; imports?: ({ path: string; hash: string })[] | null; tag?: string | null; envs: (string)[]; concurrent_limit?: number | null; concurrency_time_window_s?: number | null; concurrency_key?: string | null; cache_ttl?: number | null; timeout?: number | null; priority?: number | null; delete_after_use: boolean; dedicated_worker: boolean; restart_unless_cancelled: boolean; visible_to_runner_only: boolean; ws_error_handler_muted: boolean; isolation: "shared" | "fresh"; memory_mb?: number | null; validate: boolean; no_main_func: boolean; has_preprocessor: boolean; signature?: { scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256"; secret: string; header?: string | null; tolerance_s?: number | null } | null; on_behalf_of_email?: string | null; codebase?: string | null; created_by: string; created_at: string; archived: boolean; deleted: boolean; draft_only: boolean; extra_perms: Record<string, boolean>; starred: boolean; has_draft: boolean; deployment_msg?: string | null; has_deploy_errors?: boolean })[]; access: "member" };
  /** List the paths of scripts */
  "GET /w/{workspace}/scripts/list_paths": { input: { workspace: string }; answer: (string)[]; access: "member" };
  /** List scripts with their source, for searching */
  "GET /w/{workspace}/scripts/list_search": { input: { workspace: string }; answer: ({ path: string; content: string })[]; access: "member" };
  /** List the tokens whose scopes name a script, newest first */
  "GET /w/{workspace}/scripts/list_tokens/{path}": { input: { workspace: string; path: string }; answer: ({ token_prefix: string; created_at: string; last_used_at: string; label?: string | null; expiration?: string | null; scopes?: (string)[] | null; workspace_id?: string | null; kind: "session" | "user" | "machine"; email: string })[]; access: "member" };
  /** Read the source of one version */
  "GET /w/{workspace}/scripts/raw/h/{hash}": { input: { workspace: string; hash: string }; answer: string; access: "member" };
  /** Read the source of the newest version */
  "GET /w/{workspace}/scripts/raw/p/{path}": { input: { workspace: string; path: string }; answer: string; access: "member" };
  /** Read the source of the newest version, without versions in its imports */
  "GET /w/{workspace}/scripts/raw_unpinned/p/{path}": { input: { workspace: string; path: string }; answer: string; access: "member" };
  /** Mute or unmute the workspace's error handler for a script */
  "POST /w/{workspace}/scripts/toggle_workspace_error_handler/p/{path}": { input: { workspace: string; path: string; body: { muted?: boolean } }; answer: string; access: "author" };
  /** Store an SQS trigger with all fields of the body; it is not run */
  "POST /w/{workspace}/sqs_triggers/create": { input: { workspace: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete an SQS trigger; what runs goes on */
  "DELETE /w/{workspace}/sqs_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is an SQS trigger at a path */
  "GET /w/{workspace}/sqs_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read an SQS trigger */
  "GET /w/{workspace}/sqs_triggers/get/{path}": { input: { workspace: string; path: string }; answer: StoredTrigger; access: "member" };
  /** List the SQS triggers, last edited first */
  "GET /w/{workspace}/sqs_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (StoredTrigger)[]; access: "member" };
  /** Switch an SQS trigger on or off */
  "POST /w/{workspace}/sqs_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Replace an SQS trigger by the fields of the body; it is not run */
  "POST /w/{workspace}/sqs_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path?: string | null; is_flow?: boolean | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Remove a member from the workspace: their runs are canceled, and their items are left to the admins */
  "DELETE /w/{workspace}/users/delete/{username}": { input: { workspace: string; username: string }; answer: string; access: "admin" };
  /** Check whether a username is taken in the workspace */
  "POST /w/{workspace}/users/exists": { input: { workspace: string; body: { username: string } }; answer: boolean; access: "member" };
  /** Read a member of the workspace */
  "GET /w/{workspace}/users/get/{username}": { input: { workspace: string; username: string }; answer: User; access: "admin" };
  /** Check whether the caller owns a path; admins own all */
  "GET /w/{workspace}/users/is_owner/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** List the members of the workspace by name */
  "GET /w/{workspace}/users/list": { input: { workspace: string }; answer: (User)[]; access: "member" };
  /** List the executions of members in the last seven days: a job's seconds plus one each */
  "GET /w/{workspace}/users/list_usage": { input: { workspace: string }; answer: ({ email: string; executions: number })[]; access: "member" };
  /** List the names of the members */
  "GET /w/{workspace}/users/list_usernames": { input: { workspace: string }; answer: (string)[]; access: "member" };
  /** Change a member's role; a disabled member loses all access to the workspace at once */
  "POST /w/{workspace}/users/update/{username}": { input: { workspace: string; username: string; body: { is_admin?: boolean | null; operator?: boolean | null; disabled?: boolean | null } }; answer: string; access: "admin" };
  /** Read the e-mail of a member */
  "GET /w/{workspace}/users/username_to_email/{username}": { input: { workspace: string; username: string }; answer: string; access: "member" };
  /** Read the caller's membership in the workspace */
  "GET /w/{workspace}/users/whoami": { input: { workspace: string }; answer: User; access: "member" };
  /** Read a user's membership in the workspace */
  "GET /w/{workspace}/users/whois/{username}": { input: { workspace: string; username: string }; answer: User; access: "member" };
  /** Create a variable or a secret */
  "POST /w/{workspace}/variables/create": { input: { workspace: string; query?: { already_encrypted?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { path: string; value: string; is_secret: boolean; description?: string; account?: number | null; is_oauth?: boolean | null; expires_at?: string | null } }; answer: string; access: "author" };
  /** Delete a variable */
  "DELETE /w/{workspace}/variables/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Encrypt a value with the workspace's key */
  "POST /w/{workspace}/variables/encrypt": { input: { workspace: string; body: string }; answer: string; access: "author" };
  /** Check whether a variable exists at a path */
  "GET /w/{workspace}/variables/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a variable; a secret is decrypted unless `decrypt_secret=false` */
  "GET /w/{workspace}/variables/get/{path}": { input: { workspace: string; path: string; query?: { decrypt_secret?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_encrypted?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: ListableVariable; access: "member" };
  /** Read the plain value of a variable */
  "GET /w/{workspace}/variables/get_value/{path}": { input: { workspace: string; path: string }; answer: string; access: "member" };
  /** List the variables the caller may read; values of secrets stay hidden */
  "GET /w/{workspace}/variables/list": { input: { workspace: string; query?: { page?: number; per_page?: number; path_start?: string } }; answer: (ListableVariable)[]; access: "member" };
  /** List the contextual variables of jobs, with the values that a job of the caller would get */
  "GET /w/{workspace}/variables/list_contextual": { input: { workspace: string }; answer: ({ name: string; value: string; description: string; is_custom: boolean })[]; access: "member" };
  /** Update or rename a variable */
  "POST /w/{workspace}/variables/update/{path}": { input: { workspace: string; path: string; query?: { already_encrypted?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean }; body: { path?: string | null; value?: string | null; is_secret?: boolean | null; description?: string | null } }; answer: string; access: "author" };
  /** Create an endpoint for events of the workspace; the signing secret is shown only now */
  "POST /w/{workspace}/webhooks/create": { input: { workspace: string; body: { url: string; description?: string | null; types?: ("CreateScript" | "UpdateScript" | "DeleteScript" | "DeleteScriptPath" | "CreateFlow" | "UpdateFlow" | "ArchiveFlow" | "DeleteFlow" | "CreateApp" | "UpdateApp" | "DeleteApp" | "CreateResource" | "UpdateResource" | "DeleteResource" | "CreateResourceType" | "UpdateResourceType" | "DeleteResourceType" | "CreateVariable" | "UpdateVariable" | "DeleteVariable" | "CreateFolder" | "UpdateFolder" | "DeleteFolder" | "TokenExpiringSoon" | "TokenExpired")[] | null; enabled?: boolean | null } }; answer: { id: string; secret: string }; access: "admin" };
  /** Delete an endpoint with its deliveries */
  "DELETE /w/{workspace}/webhooks/delete/{id}": { input: { workspace: string; id: string }; answer: string; access: "admin" };
  /** List the deliveries of an endpoint, newest first */
  "GET /w/{workspace}/webhooks/deliveries/{id}": { input: { workspace: string; id: string; query?: { state?: "pending" | "delivered" | "failed" | null; before?: number | null; per_page?: number } }; answer: (WebhookDelivery)[]; access: "admin" };
  /** List the endpoints that receive events */
  "GET /w/{workspace}/webhooks/list": { input: { workspace: string }; answer: (WebhookEndpoint)[]; access: "admin" };
  /** Redeliver an event, or all failed ones */
  "POST /w/{workspace}/webhooks/redeliver/{id}": { input: { workspace: string; id: string; body?: { event_seq?: number | null } }; answer: { count: number }; access: "admin" };
  /** Rotate the secret, which is shown only now; for a day the previous one signs too */
  "POST /w/{workspace}/webhooks/rotate_secret/{id}": { input: { workspace: string; id: string }; answer: { secret: string }; access: "admin" };
  /** Update an endpoint; while it is disabled, no events are sent or stored for it */
  "POST /w/{workspace}/webhooks/update/{id}": { input: { workspace: string; id: string; body: { url?: string | null; description?: string | null; types?: ("CreateScript" | "UpdateScript" | "DeleteScript" | "DeleteScriptPath" | "CreateFlow" | "UpdateFlow" | "ArchiveFlow" | "DeleteFlow" | "CreateApp" | "UpdateApp" | "DeleteApp" | "CreateResource" | "UpdateResource" | "DeleteResource" | "CreateResourceType" | "UpdateResourceType" | "DeleteResourceType" | "CreateVariable" | "UpdateVariable" | "DeleteVariable" | "CreateFolder" | "UpdateFolder" | "DeleteFolder" | "TokenExpiringSoon" | "TokenExpired")[] | null; enabled?: boolean | null } }; answer: string; access: "admin" };
  /** Create a trigger that runs a script or flow for each message of a WebSocket server */
  "POST /w/{workspace}/websocket_triggers/create": { input: { workspace: string; body: { path: string; script_path: string; is_flow?: boolean | null; url: string; url_runnable_args?: Record<string, unknown> | null; summary?: string | null; filters?: ({ key: string; value: unknown })[] | null; initial_messages?: ({ raw_message: string } | { runnable_result: { path: string; is_flow?: boolean; args?: Record<string, unknown> } })[] | null; can_return_message?: boolean | null; can_return_error_result?: boolean | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; enabled?: boolean | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete a WebSocket trigger; what runs goes on */
  "DELETE /w/{workspace}/websocket_triggers/delete/{path}": { input: { workspace: string; path: string }; answer: string; access: "author" };
  /** Say whether there is a WebSocket trigger at a path */
  "GET /w/{workspace}/websocket_triggers/exists/{path}": { input: { workspace: string; path: string }; answer: boolean; access: "member" };
  /** Read a WebSocket trigger */
  "GET /w/{workspace}/websocket_triggers/get/{path}": { input: { workspace: string; path: string }; answer: WebsocketTrigger; access: "member" };
  /** List the WebSocket triggers, last edited first */
  "GET /w/{workspace}/websocket_triggers/list": { input: { workspace: string; query?: { path?: string | null; is_flow?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean | null; path_start?: string | null; page?: number; per_page?: number } }; answer: (WebsocketTrigger)[]; access: "member" };
  /** Switch a WebSocket trigger on or off */
  "POST /w/{workspace}/websocket_triggers/setenabled/{path}": { input: { workspace: string; path: string; body: { enabled: boolean } }; answer: string; access: "author" };
  /** Update a WebSocket trigger, which then reconnects; its runs act as its last editor */
  "POST /w/{workspace}/websocket_triggers/update/{path}": { input: { workspace: string; path: string; body: { path: string; script_path: string; is_flow?: boolean | null; url: string; url_runnable_args?: Record<string, unknown> | null; summary?: string | null; filters?: ({ key: string; value: unknown })[] | null; initial_messages?: ({ raw_message: string } | { runnable_result: { path: string; is_flow?: boolean; args?: Record<string, unknown> } })[] | null; can_return_message?: boolean | null; can_return_error_result?: boolean | null; retry?: { constant?: { attempts: number; seconds: number } | null; exponential?: { attempts: number; multiplier: number; seconds: number; random_factor?: number | null } | null; retry_if?: { expr: string } | null } | null; mode?: "enabled" | "disabled" | "suspended" | null } }; answer: string; access: "author" };
  /** Delete a list of packages; archived lists are not kept */
  "POST /w/{workspace}/workspace_dependencies/archive/{language}": { input: { workspace: string; language: string; query?: { name?: string | null } }; answer: string; access: "admin" };
  /** Store a list of packages of the workspace, replacing an earlier one */
  "POST /w/{workspace}/workspace_dependencies/create": { input: { workspace: string; body: { language: "bun" | "python3" | "php" | "go" | "powershell"; name?: string | null; content: string; description?: string | null } }; answer: string; access: "admin" };
  /** Delete a list of packages of the workspace */
  "POST /w/{workspace}/workspace_dependencies/delete/{language}": { input: { workspace: string; language: string; query?: { name?: string | null } }; answer: string; access: "admin" };
  /** Read a list of packages of the workspace; without `name` the language's default list */
  "GET /w/{workspace}/workspace_dependencies/get_latest/{language}": { input: { workspace: string; language: string; query?: { name?: string | null } }; answer: WorkspaceDependencies; access: "member" };
  /** List the package lists of the workspace */
  "GET /w/{workspace}/workspace_dependencies/list": { input: { workspace: string }; answer: (WorkspaceDependencies)[]; access: "member" };
  /** Add a user, whose account may not exist yet; existing accounts are invited, unless a super admin adds them */
  "POST /w/{workspace}/workspaces/add_user": { input: { workspace: string; body: { email: string; is_admin: boolean; operator: boolean; username?: string | null } }; answer: string; access: "admin" };
  /** Archive the workspace: access is denied, and unfinished jobs are canceled */
  "POST /w/{workspace}/workspaces/archive": { input: { workspace: string }; answer: string; access: "admin" };
  /** Set the color in which clients show the workspace */
  "POST /w/{workspace}/workspaces/change_workspace_color": { input: { workspace: string; body: { color?: string | null } }; answer: string; access: "admin" };
  /** Change the id of the workspace; everything in it follows, and running jobs are canceled */
  "POST /w/{workspace}/workspaces/change_workspace_id": { input: { workspace: string; body: { username?: unknown; new_id: string; new_name?: string | null } }; answer: string; access: "admin" };
  /** Change the display name of the workspace */
  "POST /w/{workspace}/workspaces/change_workspace_name": { input: { workspace: string; body: { username?: unknown; new_name: string } }; answer: string; access: "admin" };
  /** Have the workspace's critical alerts stand as acknowledged from the start; the instance's channels hear of them all the same */
  "POST /w/{workspace}/workspaces/critical_alerts/mute": { input: { workspace: string; body: { mute_critical_alerts?: boolean | null } }; answer: string; access: "admin" };
  /** Read the default app of operators */
  "GET /w/{workspace}/workspaces/default_app": { input: { workspace: string }; answer: { default_app_path: string | null }; access: "member" };
  /** Read the languages offered for new scripts, and their templates */
  "GET /w/{workspace}/workspaces/default_scripts": { input: { workspace: string }; answer: { order?: (string)[] | null; hidden?: (string)[] | null; default_script_content?: Record<string, string> | null }; access: "member" };
  /** Set the languages offered for new scripts, and their templates */
  "POST /w/{workspace}/workspaces/default_scripts": { input: { workspace: string; body?: { order?: (string)[] | null; hidden?: (string)[] | null; default_script_content?: Record<string, string> | null } }; answer: string; access: "admin" };
  /** Revoke an invite */
  "POST /w/{workspace}/workspaces/delete_invite": { input: { workspace: string; body: { email: string; is_admin: boolean; operator: boolean } }; answer: string; access: "admin" };
  /** Let users of the caller's e-mail domain join automatically; without `operator` this is disabled */
  "POST /w/{workspace}/workspaces/edit_auto_invite": { input: { workspace: string; body: { operator?: boolean | null; invite_all?: boolean | null; auto_add?: boolean | null } }; answer: string; access: "admin" };
  /** Set the script that a chat command starts */
  "POST /w/{workspace}/workspaces/edit_chat_command": { input: { workspace: string; body: { chat_command_script?: string | null; slack_command_script?: string | null } }; answer: string; access: "admin" };
  /** Set the AI provider for code completion */
  "POST /w/{workspace}/workspaces/edit_copilot_config": { input: { workspace: string; body: { ai_resource?: { path: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null; code_completion_enabled?: boolean | null; openai_resource_path?: string | null; providers?: Record<string, { resource_path: string; models?: (string)[] | null }>; default_model?: { model: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null; code_completion_model?: { model: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null } }; answer: string; access: "admin" };
  /** Store the databases of data tables, which have no effect here */
  "POST /w/{workspace}/workspaces/edit_datatable_config": { input: { workspace: string; body: { settings?: Record<string, unknown> | null } }; answer: { stranded_references: (unknown)[] }; access: "admin" };
  /** Set the default app of operators */
  "POST /w/{workspace}/workspaces/edit_default_app": { input: { workspace: string; body: { default_app_path?: string | null } }; answer: string; access: "admin" };
  /** Set the workspace that this one is deployed to */
  "POST /w/{workspace}/workspaces/edit_deploy_to": { input: { workspace: string; body: { deploy_to?: string | null } }; answer: string; access: "admin" };
  /** Set which items may be deployed to another workspace in the UI */
  "POST /w/{workspace}/workspaces/edit_deploy_ui_config": { input: { workspace: string; body: { deploy_ui_settings?: { include_path?: (string)[] | null; include_type?: ("script" | "flow" | "app" | "resource" | "variable" | "secret" | "trigger")[] | null } | null } }; answer: string; access: "admin" };
  /** Set the error handler of the workspace */
  "POST /w/{workspace}/workspaces/edit_error_handler": { input: { workspace: string; body: { error_handler?: string | null; error_handler_extra_args?: Record<string, unknown> | null; error_handler_muted_on_cancel?: boolean | null; error_handler_muted_on_user_path?: boolean | null; path?: string | null; extra_args?: Record<string, unknown> | null; muted_on_cancel?: boolean | null; muted_on_user_path?: boolean | null } }; answer: string; access: "admin" };
  /** Set the git sync of the workspace */
  "POST /w/{workspace}/workspaces/edit_git_sync_config": { input: { workspace: string; body: { git_sync_settings?: { include_path?: (string)[] | null; include_type?: ("script" | "flow" | "app" | "folder" | "resource" | "variable" | "secret" | "resourcetype" | "schedule" | "user" | "group" | "trigger" | "settings" | "key")[] | null; repositories?: ({ script_path?: string | null; git_repo_resource_path: string; use_individual_branch?: boolean | null; group_by_folder?: boolean | null; exclude_types_override?: ("script" | "flow" | "app" | "folder" | "resource" | "variable" | "secret" | "resourcetype" | "schedule" | "user" | "group" | "trigger" | "settings" | "key")[] | null; collapsed?: boolean | null; settings?: Record<string, unknown> | null })[] | null } | null } }; answer: string; access: "admin" };
  /** Store which groups of the instance join the workspace, which has no effect here */
  "POST /w/{workspace}/workspaces/edit_instance_groups": { input: { workspace: string; body: { groups?: (string)[] | null; roles?: Record<string, string> | null } }; answer: string; access: "admin" };
  /** Set the object storage of the workspace; null removes it, without deleting files */
  "POST /w/{workspace}/workspaces/edit_large_file_storage_config": { input: { workspace: string; body: { large_file_storage?: { type: "FilesystemStorage" | "S3Storage"; s3_resource_path?: string | null; azure_blob_resource_path?: string | null; gcs_resource_path?: string | null; public_resource?: boolean | null; secondary_storage?: Record<string, { type: "FilesystemStorage" | "S3Storage"; s3_resource_path?: string | null; azure_blob_resource_path?: string | null; gcs_resource_path?: string | null; public_resource?: boolean | null }> | null } | null } }; answer: string; access: "admin" };
  /** Set the script that a chat command starts */
  "POST /w/{workspace}/workspaces/edit_slack_command": { input: { workspace: string; body: { chat_command_script?: string | null; slack_command_script?: string | null } }; answer: string; access: "admin" };
  /** Set the success handler of the workspace, which is started after each job that succeeds */
  "POST /w/{workspace}/workspaces/edit_success_handler": { input: { workspace: string; body: { path?: string | null; extra_args?: Record<string, unknown> | null; success_handler?: string | null; success_handler_extra_args?: Record<string, unknown> | null } }; answer: string; access: "admin" };
  /** Set the URL that the workspace's events are sent to */
  "POST /w/{workspace}/workspaces/edit_webhook": { input: { workspace: string; body: { webhook?: string | null } }; answer: string; access: "admin" };
  /** Read the key that encrypts the workspace's secrets */
  "GET /w/{workspace}/workspaces/encryption_key": { input: { workspace: string }; answer: { key: string }; access: "admin" };
  /** Change the key, and re-encrypt every secret with it unless `skip_reencrypt` is set */
  "POST /w/{workspace}/workspaces/encryption_key": { input: { workspace: string; body: { new_key: string; skip_reencrypt?: boolean | null } }; answer: string; access: "admin" };
  /** Read the AI provider for code completion */
  "GET /w/{workspace}/workspaces/get_copilot_info": { input: { workspace: string }; answer: { ai_provider: string; exists_ai_resource: boolean; code_completion_enabled: boolean; exists_openai_resource_path: boolean; providers?: Record<string, { resource_path: string; models?: (string)[] | null }>; default_model?: { model: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null; code_completion_model?: { model: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null }; access: "member" };
  /** List which scripts and flows import which scripts, directly or indirectly */
  "GET /w/{workspace}/workspaces/get_dependency_map": { input: { workspace: string }; answer: ({ workspace_id: string; importer_path: string; importer_kind: "script" | "flow"; imported_path: string; importer_node_id: string | null })[]; access: "member" };
  /** List the scripts and flows that import a script */
  "GET /w/{workspace}/workspaces/get_dependents/{imported_path}": { input: { workspace: string; imported_path: string }; answer: ({ importer_path: string; importer_kind: "script" | "flow"; importer_node_ids: (string)[] | null })[]; access: "member" };
  /** Read the workspace that this one is deployed to */
  "GET /w/{workspace}/workspaces/get_deploy_to": { input: { workspace: string }; answer: { deploy_to: string | null }; access: "member" };
  /** Read the object storage of the workspace; null without one */
  "GET /w/{workspace}/workspaces/get_large_file_storage_config": { input: { workspace: string }; answer: { type: "FilesystemStorage" | "S3Storage"; s3_resource_path?: string | null; azure_blob_resource_path?: string | null; gcs_resource_path?: string | null; public_resource?: boolean | null; secondary_storage?: Record<string, { type: "FilesystemStorage" | "S3Storage"; s3_resource_path?: string | null; azure_blob_resource_path?: string | null; gcs_resource_path?: string | null; public_resource?: boolean | null }> | null } | null; access: "member" };
  /** List the names of the secondary storages */
  "GET /w/{workspace}/workspaces/get_secondary_storage_names": { input: { workspace: string; query?: { include_default?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean } }; answer: (string)[]; access: "member" };
  /** Read the workspace's settings; only admins see the targets of events and errors */
  "GET /w/{workspace}/workspaces/get_settings": { input: { workspace: string }; answer: { workspace_id: string; chat_name: string | null; chat_team_id: string | null; chat_command_script: string | null; slack_name: string | null; slack_team_id: string | null; slack_command_script: string | null; auto_invite_domain: string | null; auto_invite_operator: boolean | null; auto_add: boolean | null; plan: string | null; automatic_billing: boolean; customer_id: string | null; webhook: string | null; deploy_to: string | null; ai_resource: { path: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null; ai_config?: { providers: Record<string, { resource_path: string; models?: (string)[] | null }>; default_model?: { model: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null; code_completion_model?: { model: string; provider: "openai" | "azure_openai" | "anthropic" | "mistral" | "deepseek" | "googleai" | "groq" | "openrouter" | "togetherai" | "aws_bedrock" | "customai" } | null }; openai_resource_path: string | null; code_completion_enabled: boolean; error_handler: string | null; error_handler_extra_args: Record<string, unknown> | null; error_handler_muted_on_cancel: boolean; large_file_storage: { type: "FilesystemStorage" | "S3Storage"; s3_resource_path?: string | null; azure_blob_resource_path?: string | null; gcs_resource_path?: string | null; public_resource?: boolean | null; secondary_storage?: Record<string, { type: "FilesystemStorage" | "S3Storage"; s3_resource_path?: string | null; azure_blob_resource_path?: string | null; gcs_resource_path?: string | null; public_resource?: boolean | null }> | null } | null; git_sync: { include_path?: (string)[] | null; include_type?: ("script" | "flow" | "app" | "folder" | "resource" | "variable" | "secret" | "resourcetype" | "schedule" | "user" | "group" | "trigger" | "settings" | "key")[] | null; repositories?: ({ script_path?: string | null; git_repo_resource_path: string; use_individual_branch?: boolean | null; group_by_folder?: boolean | null; exclude_types_override?: ("script" | "flow" | "app" | "folder" | "resource" | "variable" | "secret" | "resourcetype" | "schedule" | "user" | "group" | "trigger" | "settings" | "key")[] | null; collapsed?: boolean | null; settings?: Record<string, unknown> | null })[] | null } | null; deploy_ui: { include_path?: (string)[] | null; include_type?: ("script" | "flow" | "app" | "resource" | "variable" | "secret" | "trigger")[] | null } | null; default_app: string | null; default_scripts: { order?: (string)[] | null; hidden?: (string)[] | null; default_script_content?: Record<string, string> | null } | null; default_error_handler?: { path: string; extra_args?: Record<string, unknown>; times?: number; exact?: boolean; workspace_handler_muted?: boolean }; default_recovery_handler?: { path: string; extra_args?: Record<string, unknown>; times?: number; exact?: boolean; workspace_handler_muted?: boolean }; default_success_handler?: { path: string; extra_args?: Record<string, unknown>; times?: number; exact?: boolean; workspace_handler_muted?: boolean }; mute_critical_alerts?: true; color?: string; operator_settings?: Record<string, unknown>; success_handler?: { path: string; extra_args?: Record<string, unknown> | null }; error_handler_muted_on_user_path?: true; instance_groups?: (string)[]; instance_groups_roles?: Record<string, string>; datatable?: Record<string, unknown> }; access: "member" };
  /** Read the display name of the workspace */
  "GET /w/{workspace}/workspaces/get_workspace_name": { input: { workspace: string }; answer: string; access: "member" };
  /** Invite a user, who becomes a member by accepting */
  "POST /w/{workspace}/workspaces/invite_user": { input: { workspace: string; body: { email: string; is_admin: boolean; operator: boolean } }; answer: string; access: "admin" };
  /** Check whether the workspace is premium: all are if the instance has a license */
  "GET /w/{workspace}/workspaces/is_premium": { input: { workspace: string }; answer: boolean; access: "member" };
  /** Leave the workspace: the caller's runs are canceled, and their items are left to its admins */
  "POST /w/{workspace}/workspaces/leave": { input: { workspace: string }; answer: string; access: "member" };
  /** List pending invites */
  "GET /w/{workspace}/workspaces/list_pending_invites": { input: { workspace: string }; answer: ({ workspace_id: string; email: string; is_admin: boolean; operator: boolean })[]; access: "admin" };
  /** Set what other clients show to operators; stored for them, without effect here */
  "POST /w/{workspace}/workspaces/operator_settings": { input: { workspace: string; body?: Record<string, unknown> }; answer: string; access: "admin" };
  /** Read whether the workspace is premium, and this month's executions */
  "GET /w/{workspace}/workspaces/premium_info": { input: { workspace: string }; answer: { premium: boolean; usage: number; seats?: number; automatic_billing: boolean }; access: "member" };
  /** Run a job that posts a message through the workspace's connection to Slack */
  "POST /w/{workspace}/workspaces/run_chat_message_test_job": { input: { workspace: string; body?: { hub_script_path?: string | null; channel?: string | null; test_msg?: string | null } }; answer: string; access: "admin" };
  /** Run a job that posts a message through the workspace's connection to Slack */
  "POST /w/{workspace}/workspaces/run_slack_message_test_job": { input: { workspace: string; body?: { hub_script_path?: string | null; channel?: string | null; test_msg?: string | null } }; answer: string; access: "admin" };
  /** Set whether seats are counted automatically, and otherwise their number */
  "POST /w/{workspace}/workspaces/set_automatic_billing": { input: { workspace: string; body: { automatic_billing: boolean; seats?: number | null } }; answer: string; access: "admin" };
  /** Set an environment variable of all jobs; without a value it is removed */
  "POST /w/{workspace}/workspaces/set_environment_variable": { input: { workspace: string; body: { name: string; value?: string | null } }; answer: string; access: "admin" };
  /** Export the workspace as an archive of files, as far as the caller may read it */
  "GET /w/{workspace}/workspaces/tarball": { input: { workspace: string; query?: { archive_type?: string; plain_secret?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; plain_secrets?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_secrets?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_variables?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_resources?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; skip_resource_types?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_schedules?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_triggers?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_users?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_groups?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_settings?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; include_key?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; settings_version?: string; include_workspace_dependencies?: "0" | "1" | "true" | "false" | "" | "True" | "False" | boolean; default_ts?: "bun" | "deno" } }; answer: unknown; access: "member" };
  /** Read this month's executions: one for every started second of a job */
  "GET /w/{workspace}/workspaces/usage": { input: { workspace: string }; answer: number; access: "member" };
  /** Read which kinds of triggers the workspace uses */
  "GET /w/{workspace}/workspaces/used_triggers": { input: { workspace: string }; answer: { http_routes_used: boolean; websocket_used: boolean; kafka_used: boolean; nats_used: boolean; postgres_used: boolean; mqtt_used: boolean; amqp_used: boolean; sqs_used: boolean; gcp_used: boolean; azure_used: boolean; email_used: boolean }; access: "member" };
  /** Read the endpoint of events about users of the instance, and its state */
  "GET /webhooks/instance": { input: {  }; answer: WebhookEndpoint; access: "superAdmin" };
  /** List deliveries of the instance's events, newest first */
  "GET /webhooks/instance/deliveries": { input: { query?: { state?: "pending" | "delivered" | "failed" | null; before?: number | null; per_page?: number } }; answer: (WebhookDelivery)[]; access: "superAdmin" };
  /** Redeliver one of the instance's events, or all failed ones */
  "POST /webhooks/instance/redeliver": { input: { body?: { event_seq?: number | null } }; answer: { count: number }; access: "superAdmin" };
  /** Rotate the signing secret of the instance's events, shown only now; for a day the previous one signs too */
  "POST /webhooks/instance/rotate_secret": { input: {  }; answer: { secret: string }; access: "superAdmin" };
  /** List the allowed custom tags */
  "GET /workers/custom_tags": { input: {  }; answer: (string)[]; access: "user" };
  /** Check whether some worker accepts jobs of a tag */
  "GET /workers/exists_worker_with_tag": { input: { query?: { tag: string } }; answer: boolean; access: "user" };
  /** Check for several tags whether some worker accepts them */
  "GET /workers/exists_workers_with_tags": { input: { query?: { tags: string } }; answer: Record<string, boolean>; access: "user" };
  /** List the default tags of jobs */
  "GET /workers/get_default_tags": { input: {  }; answer: (string)[]; access: "user" };
  /** Read whether default tags contain the workspace's id */
  "GET /workers/is_default_tags_per_workspace": { input: {  }; answer: boolean; access: "user" };
  /** List the processes that run jobs, most recent heartbeat first */
  "GET /workers/list": { input: { query?: { page?: number; per_page?: number; ping_since?: number } }; answer: (WorkerPing)[]; access: "user" };
  /** Count the jobs that are due and wait for a worker, by tag */
  "GET /workers/queue_counts": { input: {  }; answer: Record<string, number>; access: "devops" };
  /** Read the number of waiting jobs and the longest wait in seconds, by tag */
  "GET /workers/queue_metrics": { input: {  }; answer: ({ id: string; values: ({ created_at: string; value: number })[] })[]; access: "devops" };
  /** Check whether users of the caller's e-mail domain may be invited automatically */
  "GET /workspaces/allowed_domain_auto_invite": { input: {  }; answer: boolean; access: "user" };
  /** Create a workspace (super admins, or all users if a setting permits); its first admin is the caller or the named owner */
  "POST /workspaces/create": { input: { body: { id: string; name: string; username?: string | null; owner?: string } }; answer: string; access: "user" };
  /** Delete the workspace with everything in it, permanently */
  "DELETE /workspaces/delete/{workspace}": { input: { workspace: string }; answer: string; access: "superAdmin" };
  /** Check whether a workspace id is taken */
  "POST /workspaces/exists": { input: { body: { id: string } }; answer: boolean; access: "user" };
  /** Check whether a username is taken in a workspace that the caller belongs to or is invited to */
  "POST /workspaces/exists_username": { input: { body: { id: string; username: string } }; answer: boolean; access: "user" };
  /** List the caller's workspaces; super admins see all */
  "GET /workspaces/list": { input: {  }; answer: ({ id: string; name: string; owner: string })[]; access: "user" };
  /** List all workspaces, archived ones (`deleted`) included */
  "GET /workspaces/list_as_superadmin": { input: { query?: { page?: number; per_page?: number } }; answer: ({ id: string; name: string; owner: string; premium: boolean; deleted: boolean })[]; access: "superAdmin" };
  /** Restore an archived workspace: its admins and super admins */
  "POST /workspaces/unarchive/{workspace}": { input: { workspace: string }; answer: string; access: "user" };
  /** List the caller's workspaces with the caller's username in each */
  "GET /workspaces/users": { input: {  }; answer: { email: string; workspaces: ({ id: string; name: string; username: string })[] }; access: "user" };
}
