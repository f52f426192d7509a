"""Main journeys through the Python client that is generated from the server's own description of its interface.

Arguments: the folder of the client, the address of the interface, e-mail and password. It prints what it got as JSON.
"""

import json
import sys
import time

sys.path.insert(0, sys.argv[1])

import svc_client  # noqa: E402

_, _, url, email, password = sys.argv


def connect(token=None):
    configuration = svc_client.Configuration(host=url)
    configuration.access_token = token
    return svc_client.ApiClient(configuration)


found = {}
token = svc_client.UsersApi(connect()).login({"email": email, "password": password})
client = connect(token)
found["whoami"] = svc_client.UsersApi(client).global_whoami().email

svc_client.WorkspacesApi(client).create_workspace({"id": "generated", "name": "Generated"})
found["workspaces"] = [each.id for each in svc_client.WorkspacesApi(client).list_workspaces()]
w = "generated"
me = svc_client.UsersApi(client).whoami(w).username
path = f"u/{me}/greet"

scripts = svc_client.ScriptsApi(client)
script = {
    "path": path,
    "summary": "Greet",
    "description": "",
    "language": "bun",
    "content": "export const main = (name: string) => ({ hello: name })",
}
found["hash"] = scripts.create_script(w, script)
found["script_path"] = scripts.get_script_by_path(w, path).path
found["scripts"] = [each.path for each in scripts.list_scripts(w)]

jobs = svc_client.JobsApi(client)
found["waited"] = jobs.run_wait_result_script_by_path(w, path, request_body={"name": "Ann"})
job = jobs.run_script_by_path(w, path, request_body={"name": "Bob"})
for _ in range(300):
    outcome = jobs.get_completed_job_result_maybe(w, job)
    if outcome.completed:
        break
    time.sleep(0.1)
found["result"] = outcome.result
found["success"] = jobs.get_completed_job(w, job).success
found["job_args"] = jobs.get_job(w, job).args
found["jobs"] = sorted(each.script_path for each in jobs.list_jobs(w, per_page=10, success=True))

variables = svc_client.VariablesApi(client)
variable = {"path": f"u/{me}/key", "value": "secret", "is_secret": True, "description": "A key"}
variables.create_variable(w, variable)
variables.update_variable(w, variable["path"], {"value": "other"})
found["variable"] = variables.get_variable_value(w, variable["path"])
found["variables"] = [(each.path, each.is_secret) for each in variables.list_variables(w)]

schedules = svc_client.SchedulesApi(client)
schedule = {
    "path": f"u/{me}/daily",
    "schedule": "0 0 12 * * *",
    "timezone": "Etc/UTC",
    "script_path": path,
    "is_flow": False,
    "args": {"name": "noon"},
    "enabled": True,
}
schedules.create_schedule(w, schedule)
schedules.set_schedule_enabled(w, schedule["path"], {"enabled": False})
found["schedules"] = [(each.path, each.enabled) for each in schedules.list_schedules(w)]
variables.delete_variable(w, variable["path"])

try:
    variables.get_variable_value(w, variable["path"])
except svc_client.ApiException as error:
    found["missing"] = error.status

print(json.dumps(found))
