/** A repository with one file per branch for some items, as existing clients write it. */

const SETTINGS = (section: string): string => `defaultTs: bun
includes: ['**']
excludes: []
${section}:
  commonSpecificItems:
    resources: ['f/data/db*', 'f/data/note.*']
  main:
    specificItems:
      variables: ['f/data/*.variable.yaml']
      schedules: ['f/data/nightly.schedule.yaml']
      triggers: ['f/data/*_trigger.yaml']
      folders: ['f/team']
  staging:
    gitBranch: feature/next
    overrides:
      excludes: ['f/data/only_main.*']
`;

const variable = (value: string) => `description: ''\nis_secret: false\nvalue: ${value}\n`;
const resource = (value: string) => `description: ''\nresource_type: c_db\nvalue:\n  host: ${value}\n`;
const note =
  "description: ''\nresource_type: c_note\nvalue:\n  content: '!inline f/data/note.resource.file.md'\n";
const schedule = (cron: string) =>
  `summary: ''\nargs: null\nenabled: false\nis_flow: false\nno_flow_overlap: false\nschedule: ${cron}\nscript_path: f/data/job\ntimezone: UTC\nws_error_handler_muted: false\n`;
const route = (path: string) =>
  `authentication_method: none\nhttp_method: get\nis_flow: false\nis_static_website: false\nrequest_type: sync\nroute_path: ${path}\nscript_path: f/data/job\nworkspaced_route: true\n`;
const folder = (summary: string) => `summary: ${summary}\ndisplay_name: team\nextra_perms: {}\nowners: []\n`;

/** @param section name of the section of `wmill.yaml` */
export const createBranchFiles = (section: string): Record<string, string> => ({
  "wmill.yaml": SETTINGS(section),
  "c_note.resource-type.yaml": "description: ''\nformat_extension: md\nschema:\n  type: object\n",
  "f/data/folder.meta.yaml": "display_name: data\nextra_perms: {}\nowners: []\nsummary: ''\n",
  "f/team/folder.meta.yaml": folder("Of all"),
  "f/team/folder.main.meta.yaml": folder("Of main"),
  "f/data/job.sh": "echo 1\n",
  "f/data/only_main.sh": "echo 2\n",
  "f/data/host.variable.yaml": variable("all"),
  "f/data/host.main.variable.yaml": variable("main"),
  "f/data/db.resource.yaml": resource("all"),
  "f/data/db.main.resource.yaml": resource("main"),
  "f/data/db.staging.resource.yaml": resource("staging"),
  "f/data/other.resource.yaml": resource("all"),
  "f/data/other.main.resource.yaml": resource("main"),
  "f/data/nightly.schedule.yaml": schedule("0 0 1 * * *"),
  "f/data/nightly.main.schedule.yaml": schedule("0 0 2 * * *"),
  "f/data/shop.http_trigger.yaml": route("all"),
  "f/data/shop.main.http_trigger.yaml": route("main"),
  "f/data/shop.staging.http_trigger.yaml": route("staging"),
});

/** The resource of type file, which also differs by branch. */
export const NOTE_FILES: Record<string, string> = {
  "f/data/note.main.resource.yaml": note,
  "f/data/note.main.resource.file.md": "# Main\n",
  "f/data/note.staging.resource.yaml": note,
  "f/data/note.staging.resource.file.md": "# Staging\n",
};

/** The items of a branch as stored on the server. */
export interface BranchState {
  host: string;
  db: string | undefined;
  other: string;
  team: string;
  cron: string;
  route: string;
  has_only_main: boolean;
}

type Read = (path: string) => Promise<{ status: number; text: string }>;

/** Reads the state on the server. @param read reads below the workspace */
export async function readBranchState(read: Read): Promise<BranchState> {
  const get = async (path: string) => {
    const { status, text } = await read(path);
    return status === 200 ? JSON.parse(text) : undefined;
  };
  return {
    host: (await get("/variables/get/f/data/host"))?.value,
    db: (await get("/resources/get/f/data/db"))?.value.host,
    other: (await get("/resources/get/f/data/other"))?.value.host,
    team: (await get("/folders/get/team"))?.summary,
    cron: (await get("/schedules/get/f/data/nightly"))?.schedule,
    route: (await get("/http_triggers/get/f/data/shop"))?.route_path,
    has_only_main: await get("/scripts/exists/p/f/data/only_main"),
  };
}

export const ALL_STATE: BranchState = {
  host: "all",
  db: undefined,
  other: "all",
  team: "Of all",
  cron: "0 0 1 * * *",
  route: "all",
  has_only_main: true,
};
export const MAIN_STATE: BranchState = {
  host: "main",
  db: "main",
  other: "all",
  team: "Of main",
  cron: "0 0 2 * * *",
  route: "main",
  has_only_main: true,
};
export const STAGING_STATE: BranchState = { ...ALL_STATE, db: "staging", has_only_main: false };
