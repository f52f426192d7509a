/** Every operation that changes something declares an audit row. */
import { expect, test } from "bun:test";
import { operations } from "../../../../src/server/features.ts";

/** Operations other than GET without an audit row, with the reason. */
const WITHOUT: Record<string, string> = {
  analyseCode: "reads code that it is given and stores nothing",
  captureRouteDelete: "stores what a sender sent, who is nobody known",
  captureRoutePatch: "stores what a sender sent, who is nobody known",
  captureRoutePost: "stores what a sender sent, who is nobody known",
  captureRoutePut: "stores what a sender sent, who is nobody known",
  captureWebhook: "stores what a sender sent, who is nobody known",
  checkFlow: "tells what is wrong with a flow and stores nothing",
  duckdbConnectionSettings: "answers with the settings of a resource that it is given",
  encryptValue: "answers with a sealed text and stores nothing",
  existsWorkspace: "asks a question whose answer is not a secret",
  evaluateFlowExpression: "evaluates what it is given and stores nothing",
  existsRoute: "asks a question whose answer is not a secret",
  existsUserInWorkspace: "asks a question whose answer is not a secret",
  existsUsername: "asks a question whose answer is not a secret",
  getJobMetrics: "reads what a job has used",
  getStartedAtByIds: "reads when jobs have begun",
  listLatestRuns: "reads the latest run of each path that it is given",
  listSelectedJobGroups: "reads which jobs belong together",
  pingCaptureConfig: "goes on with what was set, each minute",
  polarsConnectionSettings: "answers with the settings of a resource that it is given",
  previewSchedule: "tells the next times of a rule and stores nothing",
  requestPasswordReset: "mails a link for whoever asks; what is done by it is audited",
  setFlowUserState: "a running flow's note to itself, written as often as it likes and gone with its run",
  setJobProgress: "a running job's own percentage, written as often as it likes",
  updateCapture: "stores what a sender sent, who is nobody known",
};

/** Names in the audit log: a noun in snake case, and the action. */
const NAME = /^[a-z_]+(\.[a-z0-9_]+)+$/;

test("every operation that may change something declares its audit row, or why it has none", () => {
  const silent = operations.filter((op) => op.method !== "GET" && op.audit === undefined);
  expect(silent.map((op) => op.name).sort()).toEqual(Object.keys(WITHOUT).sort());
});

test("audit rows of deletions have the kind Delete, and all names one form", () => {
  for (const op of operations) {
    if (!op.audit) continue;
    expect([op.name, op.audit.operation]).toEqual([op.name, expect.stringMatching(NAME)]);
    if (op.method === "DELETE") expect([op.name, op.audit.action_kind]).toEqual([op.name, "Delete"]);
  }
});

test("the audit names that existing clients know are used for the same operations", () => {
  const expected: Record<string, string> = {
    login: "users.login Create",
    logout: "users.logout Delete",
    createToken: "users.token.create Create",
    deleteToken: "users.token.delete Delete",
    createTokenImpersonate: "users.impersonate Create",
    setPassword: "users.setpassword Update",
    createUser: "users.create Create",
    addUser: "users.add_to_workspace Create",
    leaveWorkspace: "users.leave_workspace Delete",
    createWorkspace: "workspaces.create Create",
    archiveWorkspace: "workspaces.archive Update",
    unarchiveWorkspace: "workspaces.unarchive Update",
    deleteWorkspace: "workspaces.delete Delete",
    editChatCommand: "workspaces.edit_command_script Update",
    editDeployTo: "workspaces.edit_deploy_to Update",
    editAutoInvite: "workspaces.edit_auto_invite_domain Update",
    editWebhook: "workspaces.edit_webhook Update",
    editCopilotConfig: "workspaces.edit_copilot_config Update",
    editErrorHandler: "workspaces.edit_error_handler Update",
    createScript: "scripts.create Create",
    archiveScriptByPath: "scripts.archive Update",
    createFlow: "flows.create Create",
    updateFlow: "flows.update Update",
    deleteFlowByPath: "flows.delete Delete",
    createVariable: "variables.create Create",
    updateVariable: "variables.update Update",
    deleteVariable: "variables.delete Delete",
    getVariable: "variables.decrypt_secret Execute",
    getVariableValue: "variables.decrypt_secret Execute",
    createResource: "resources.create Create",
    createResourceType: "resource_types.create Create",
    runScriptByPath: "jobs.run.script Execute",
    runFlowByPath: "jobs.run.flow Execute",
    runFlowByVersion: "jobs.run.flow Execute",
    runPreview: "jobs.run.preview Execute",
    runFlowPreview: "jobs.run.flow_preview Execute",
    runDependencies: "jobs.run.dependencies Execute",
    cancelJob: "jobs.cancel Delete",
    forceCancelJob: "jobs.force_cancel Delete",
    cancelPersistentQueuedJobs: "jobs.cancel_persistent Delete",
    deleteCompletedJob: "jobs.delete Delete",
    resumeSuspendedJobPost: "jobs.suspend_resume Update",
    cancelSuspendedJobPost: "jobs.disapproval Update",
  };
  for (const [name, audit] of Object.entries(expected)) {
    const op = operations.find((one) => one.name === name);
    expect([name, `${op?.audit?.operation} ${op?.audit?.action_kind}`]).toEqual([name, audit]);
  }
});
