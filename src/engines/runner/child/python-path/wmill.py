"""
The client that Python scripts use: variables, resources, state, other scripts and flows, stored files, approvals.

It has the names of the established Python client of this interface, and needs nothing but the standard library. A package
`wmill` that a script's lock installs takes its place. Who calls is the running job: `WM_TOKEN`, `WM_WORKSPACE` and
`BASE_INTERNAL_URL` are read from the environment at each call.
"""
from __future__ import annotations

import functools
import inspect
import io
import json
import os
import pickle
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

__all__ = [
    "Windmill", "WindmillError", "S3Object", "JobStatus", "append_to_result_stream", "boto3_connection_settings",
    "cancel_job", "cancel_running", "delete_s3_object", "duckdb_connection_settings", "get_flow_user_state", "get_id_token", "get_job",
    "get_job_status", "get_presigned_s3_public_url", "get_presigned_s3_public_urls", "get_progress", "get_resource",
    "get_result", "get_resume_urls", "get_root_job_id", "get_shared_state", "get_shared_state_pickle", "get_state",
    "get_state_path", "get_variable", "get_version", "get_workspace", "list_resources", "load_s3_file",
    "load_s3_file_reader", "parse_resource_syntax", "parse_s3_object", "parse_variable_syntax",
    "polars_connection_settings", "run_flow", "run_flow_async", "run_script", "run_script_async", "run_script_by_hash",
    "run_script_by_hash_async", "run_script_by_path", "run_script_by_path_async", "run_script_by_path_sync",
    "run_script_sync", "set_flow_user_state", "set_progress", "set_resource", "set_shared_state",
    "set_shared_state_pickle", "set_state", "set_variable", "sign_s3_object", "sign_s3_objects", "state_path",
    "stream_result", "task", "user", "username_to_email", "wait_job", "whoami", "write_s3_file",
]

JobStatus = str
"""RUNNING, WAITING or COMPLETED."""

SHARED_FOLDER = "./shared"


class WindmillError(Exception):
    """The server refused a call. `status_code` and `body` say how."""

    def __init__(self, message: str, status_code: int = 0, body: str = ""):
        super().__init__(message)
        self.status_code = status_code
        self.body = body


class _Fields(dict):
    """A dict whose keys are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class S3Object(_Fields):
    """A stored file: `s3` is its key, `storage` the name of a secondary storage."""


class PolarsConnectionSettings(_Fields):
    """`s3fs_args` for s3fs, `storage_options` for polars."""


class Boto3ConnectionSettings(_Fields):
    """Arguments of `boto3.client("s3", ...)`."""


class DuckDbConnectionSettings(_Fields):
    """`connection_settings_str`: statements to execute first."""


class Response:
    """What the server answered."""

    def __init__(self, status_code: int, headers: Any, content: bytes, url: str):
        self.status_code = status_code
        self.headers = headers
        self.content = content
        self.url = url

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.content)

    def raise_for_status(self) -> "Response":
        if not self.is_success:
            path = urllib.parse.urlsplit(self.url).path
            raise WindmillError("%s answered %d: %s" % (path, self.status_code, self.text), self.status_code, self.text)
        return self


def _plain(value: Any) -> Any:
    for convert in ("isoformat", "model_dump", "tolist"):
        method = getattr(value, convert, None)
        if callable(method):
            return method()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return str(value)


def _encode(value: Any) -> bytes:
    return json.dumps(value, default=_plain).encode()


class Windmill:
    """A client of one workspace, with the rights of a token: of the running job's unless another is given."""

    def __init__(self, base_url: Optional[str] = None, token: Optional[str] = None, workspace: Optional[str] = None,
                 verify: bool = True):
        self._base_url = base_url
        self._token = token
        self._workspace = workspace
        context = None if verify else ssl._create_unverified_context()
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                                   urllib.request.HTTPSHandler(context=context))
        self.mocked_api = None

    @property
    def base_url(self) -> str:
        """Address of the interface, with `/api` at its end."""
        found = self._base_url or os.environ.get("BASE_INTERNAL_URL") or os.environ.get("WM_BASE_URL")
        if not found:
            raise WindmillError("there is no server to call: BASE_INTERNAL_URL is not set")
        return found.rstrip("/") + ("" if found.rstrip("/").endswith("/api") else "/api")

    @property
    def token(self) -> str:
        found = self._token or os.environ.get("WM_TOKEN")
        if not found:
            raise WindmillError("there is no token: WM_TOKEN is not set")
        return found

    @property
    def workspace(self) -> str:
        found = self._workspace or os.environ.get("WM_WORKSPACE")
        if not found:
            raise WindmillError("there is no workspace: WM_WORKSPACE is not set")
        return found

    @property
    def path(self) -> str:
        """Path of the running script or flow."""
        return os.environ.get("WM_JOB_PATH", "")

    # Requests

    def _open(self, method: str, endpoint: str, params: Any = None, json: Any = None, content: Any = None,
              headers: Optional[Dict[str, str]] = None, timeout: Optional[float] = None):
        url = self.base_url + "/" + endpoint.lstrip("/")
        given = {key: value for key, value in dict(params or {}).items() if value is not None}
        if given:
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode(given, doseq=True)
        sent = {"Authorization": "Bearer " + self.token, "Accept": "*/*"}
        if json is not None:
            content = _encode(json)
            sent["Content-Type"] = "application/json"
        elif content is not None:
            sent["Content-Type"] = "application/octet-stream"
            if isinstance(content, str):
                content = content.encode()
        elif method == "POST":
            content = b""
        sent.update(headers or {})
        return self._opener.open(urllib.request.Request(url, data=content, headers=sent, method=method), timeout=timeout)

    def request(self, method: str, endpoint: str, raise_for_status: bool = True, **kwargs: Any) -> Response:
        """One call. Takes `params`, `json`, `content`, `headers` and `timeout` in seconds. Raises WindmillError."""
        try:
            with self._open(method, endpoint, **kwargs) as answer:
                response = Response(answer.status, answer.headers, answer.read(), answer.url)
        except urllib.error.HTTPError as error:
            response = Response(error.code, error.headers, error.read(), error.url)
        return response.raise_for_status() if raise_for_status else response

    def get(self, endpoint: str, raise_for_status: bool = True, **kwargs: Any) -> Response:
        return self.request("GET", endpoint, raise_for_status, **kwargs)

    def post(self, endpoint: str, raise_for_status: bool = True, **kwargs: Any) -> Response:
        return self.request("POST", endpoint, raise_for_status, **kwargs)

    def _at(self, endpoint: str) -> str:
        return "/w/%s/%s" % (urllib.parse.quote(self.workspace, safe=""), endpoint)

    # Who and where

    @property
    def version(self) -> str:
        return self.get("/version").text

    @property
    def user(self) -> dict:
        return self.get("/users/whoami").json()

    def whoami(self) -> dict:
        """The member of the workspace that the job runs as."""
        return self.get(self._at("users/whoami")).json()

    def username_to_email(self, username: str) -> str:
        return self.get(self._at("users/username_to_email/" + urllib.parse.quote(username))).text

    def create_token(self, duration: Any = None) -> str:
        """A token of the caller. `duration`: a timedelta, a day by default."""
        seconds = 86400 if duration is None else duration.total_seconds()
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        return self.post("/users/tokens/create", json={"label": "script", "expiration": ends}).text

    def get_id_token(self, audience: str, expires_in: Optional[int] = None) -> str:
        """An OIDC token that says which job this is. `expires_in`: seconds."""
        return self.post(self._at("oidc/token/" + urllib.parse.quote(audience, safe="")),
                         params={"expires_in": expires_in}).text

    # Running scripts and flows

    def _run_async(self, kind: str, target: str, args: Optional[dict], scheduled_in_secs: Optional[int],
                   tracked: bool = True, tag: Optional[str] = None) -> str:
        params: Dict[str, Any] = {"scheduled_in_secs": scheduled_in_secs, "tag": tag}
        if tracked:
            params["parent_job"] = os.environ.get("WM_JOB_ID") or None
            params["root_job"] = os.environ.get("WM_ROOT_FLOW_JOB_ID") or None
        return self.post(self._at("jobs/run/%s/%s" % (kind, urllib.parse.quote(target))), json=args or {},
                         params=params).text

    def run_script_async(self, path: Optional[str] = None, hash_: Optional[str] = None, args: Optional[dict] = None,
                         scheduled_in_secs: Optional[int] = None, tag: Optional[str] = None) -> str:
        """Starts a script, by path or by hash. Returns the job's id."""
        if (path is None) == (hash_ is None):
            raise WindmillError("run_script needs either a path or a hash")
        kind, target = ("p", path) if hash_ is None else ("h", hash_)
        return self._run_async(kind, str(target), args, scheduled_in_secs, tag=tag)

    def run_script_by_path_async(self, path: str, args: Optional[dict] = None,
                                 scheduled_in_secs: Optional[int] = None) -> str:
        return self.run_script_async(path=path, args=args, scheduled_in_secs=scheduled_in_secs)

    def run_script_by_hash_async(self, hash_: str, args: Optional[dict] = None,
                                 scheduled_in_secs: Optional[int] = None) -> str:
        return self.run_script_async(hash_=hash_, args=args, scheduled_in_secs=scheduled_in_secs)

    def run_flow_async(self, path: str, args: Optional[dict] = None, scheduled_in_secs: Optional[int] = None,
                       do_not_track_in_parent: bool = True) -> str:
        """Starts a flow. Returns the job's id. `do_not_track_in_parent`: it is no child of this job."""
        return self._run_async("f", path, args, scheduled_in_secs, tracked=not do_not_track_in_parent)

    def run_script(self, path: Optional[str] = None, hash_: Optional[str] = None, args: Optional[dict] = None,
                   timeout: Any = None, verbose: bool = False, cleanup: bool = True,
                   assert_result_is_not_none: bool = False) -> Any:
        """Runs a script and returns its result. `timeout`: seconds or a timedelta. Raises when it fails."""
        job_id = self.run_script_async(path=path, hash_=hash_, args=args)
        return self.wait_job(job_id, timeout, verbose, cleanup, assert_result_is_not_none)

    def run_script_by_path(self, path: str, args: Optional[dict] = None, timeout: Any = None, verbose: bool = False,
                           cleanup: bool = True, assert_result_is_not_none: bool = False) -> Any:
        return self.run_script(path, None, args, timeout, verbose, cleanup, assert_result_is_not_none)

    def run_script_by_hash(self, hash_: str, args: Optional[dict] = None, timeout: Any = None, verbose: bool = False,
                           cleanup: bool = True, assert_result_is_not_none: bool = False) -> Any:
        return self.run_script(None, hash_, args, timeout, verbose, cleanup, assert_result_is_not_none)

    def run_flow(self, path: str, args: Optional[dict] = None, timeout: Any = None, verbose: bool = False,
                 cleanup: bool = True, assert_result_is_not_none: bool = False) -> Any:
        """Runs a flow and returns its result."""
        job_id = self.run_flow_async(path, args, do_not_track_in_parent=False)
        return self.wait_job(job_id, timeout, verbose, cleanup, assert_result_is_not_none)

    def wait_job(self, job_id: str, timeout: Any = None, verbose: bool = False, cleanup: bool = True,
                 assert_result_is_not_none: bool = False) -> Any:
        """Waits for a job's end and returns its result. `cleanup`: a job that takes longer than `timeout` is canceled."""
        seconds = timeout.total_seconds() if hasattr(timeout, "total_seconds") else timeout
        deadline = None if seconds is None else time.monotonic() + seconds
        pause = 0.01
        while True:
            found = self.get(self._at("jobs_u/completed/get_result_maybe/" + job_id),
                             params={"get_started": "true"}).json()
            if found["completed"]:
                break
            if verbose:
                print("job %s has not ended yet" % job_id)
            if deadline is not None and time.monotonic() > deadline:
                if cleanup:
                    self.cancel_job(job_id, "it took longer than %s s" % seconds)
                raise TimeoutError("job %s did not end within %s s" % (job_id, seconds))
            time.sleep(pause)
            pause = min(0.5, pause * 1.5)
        result = found.get("result")
        if not found.get("success"):
            error = result.get("error", result) if isinstance(result, dict) else result
            message = error.get("message") if isinstance(error, dict) else None
            raise WindmillError("job %s failed: %s" % (job_id, message or json.dumps(error)), body=json.dumps(error))
        if result is None and assert_result_is_not_none:
            raise WindmillError("job %s has no result" % job_id)
        return result

    def cancel_job(self, job_id: str, reason: Optional[str] = None) -> str:
        return self.post(self._at("jobs_u/queue/cancel/" + job_id), json={"reason": reason or ""}).text

    def cancel_running(self) -> dict:
        """Cancels the other runs of this script that have not ended."""
        own = os.environ.get("WM_JOB_ID")
        path = os.environ.get("WM_JOB_PATH")
        if not path:
            raise WindmillError("only a deployed script has other runs")
        found = self.get(self._at("jobs/queue/list"), params={"script_path_exact": path, "per_page": 1000}).json()
        others = [job["id"] for job in found if job["id"] != own]
        return {job_id: self.cancel_job(job_id, "another run of the script asked for it") for job_id in others}

    def get_job(self, job_id: str) -> dict:
        return self.get(self._at("jobs_u/get/" + job_id)).json()

    def get_root_job_id(self, job_id: Optional[str] = None) -> str:
        """The outermost flow of a job, of this one by default."""
        return self.get(self._at("jobs_u/get_root_job_id/" + (job_id or os.environ["WM_JOB_ID"]))).json()

    def get_job_status(self, job_id: str) -> JobStatus:
        job = self.get_job(job_id)
        if job.get("type") == "CompletedJob":
            return "COMPLETED"
        return "RUNNING" if job.get("running") else "WAITING"

    def get_result(self, job_id: str, assert_result_is_not_none: bool = True) -> Any:
        """The result of a job that has ended. Raises WindmillError when it has none yet."""
        result = self.get(self._at("jobs_u/completed/get_result/" + job_id)).json()
        if result is None and assert_result_is_not_none:
            raise WindmillError("job %s has no result" % job_id)
        return result

    def get_resume_urls(self, approver: Optional[str] = None, flow_level: Optional[bool] = None) -> dict:
        """Addresses that continue or cancel the flow: `approvalPage`, `resume`, `cancel`."""
        nonce = random.randint(0, 2 ** 32 - 1)
        return self.get(self._at("jobs/resume_urls/%s/%d" % (os.environ["WM_JOB_ID"], nonce)),
                        params={"approver": approver, "flow_level": flow_level}).json()

    def set_progress(self, value: int, job_id: Optional[str] = None) -> None:
        """How far a job is, in percent."""
        job_id = job_id or os.environ["WM_JOB_ID"]
        body = {"percent": int(value), "flow_job_id": os.environ.get("WM_FLOW_JOB_ID") or None}
        self.post(self._at("job_metrics/set_progress/" + job_id), json=body)

    def get_progress(self, job_id: Optional[str] = None) -> Any:
        return self.get(self._at("job_metrics/get_progress/" + (job_id or os.environ["WM_JOB_ID"]))).json()

    # Variables, resources, state

    def get_variable(self, path: str) -> str:
        path = parse_variable_syntax(path) or path
        return self.get(self._at("variables/get_value/" + urllib.parse.quote(path))).json()

    def set_variable(self, path: str, value: str, is_secret: bool = False, description: str = "") -> None:
        """Sets a variable, which is made when there is none."""
        path = parse_variable_syntax(path) or path
        quoted = urllib.parse.quote(path)
        if self.get(self._at("variables/exists/" + quoted)).json():
            self.post(self._at("variables/update/" + quoted), json={"value": value})
        else:
            self.post(self._at("variables/create"), json={"path": path, "value": value, "is_secret": is_secret,
                                                          "description": description})

    def get_resource(self, path: str, none_if_undefined: bool = False, interpolated: bool = True) -> Any:
        """A resource's value. `none_if_undefined`: None when there is none, instead of an error."""
        path = parse_resource_syntax(path) or path
        kind = "get_value_interpolated" if interpolated else "get_value"
        params = {"job_id": os.environ.get("WM_JOB_ID") or None} if interpolated else {}
        answer = self.get(self._at("resources/%s/%s" % (kind, urllib.parse.quote(path))), raise_for_status=False,
                          params=params)
        if answer.status_code == 404 and none_if_undefined:
            return None
        return answer.raise_for_status().json()

    def set_resource(self, value: Any, path: str, resource_type: str) -> None:
        """Sets a resource's value; a resource that is not there is made with this type."""
        path = parse_resource_syntax(path) or path
        quoted = urllib.parse.quote(path)
        if self.get(self._at("resources/exists/" + quoted)).json():
            self.post(self._at("resources/update_value/" + quoted), json={"value": value})
        else:
            self.post(self._at("resources/create"), json={"path": path, "value": value, "resource_type": resource_type})

    def list_resources(self, resource_type: Optional[str] = None, page: Optional[int] = None,
                       per_page: Optional[int] = None) -> List[dict]:
        return self.get(self._at("resources/list"), params={"resource_type": resource_type, "page": page,
                                                            "per_page": per_page}).json()

    def delete_resource(self, path: str) -> None:
        self.request("DELETE", self._at("resources/delete/" + urllib.parse.quote(path)))

    @property
    def state_path(self) -> str:
        found = os.environ.get("WM_STATE_PATH_NEW") or os.environ.get("WM_STATE_PATH")
        if not found:
            raise WindmillError("there is no state path: WM_STATE_PATH is not set")
        return found

    def get_state(self, path: Optional[str] = None) -> Any:
        """What the run before has left with `set_state`; None at first."""
        return self.get_resource(path or self.state_path, none_if_undefined=True)

    def set_state(self, value: Any, path: Optional[str] = None) -> None:
        """Keeps a value for the next run of this script, by the same schedule or caller."""
        self.set_resource(value, path or self.state_path, "state")

    @property
    def state(self) -> Any:
        return self.get_state()

    @state.setter
    def state(self, value: Any) -> None:
        self.set_state(value)

    def set_flow_user_state(self, key: str, value: Any) -> None:
        """Keeps a value with the running flow."""
        endpoint = "jobs/flow/user_states/%s/%s" % (self.get_root_job_id(), urllib.parse.quote(key, safe=""))
        self.post(self._at(endpoint), json=value, content=b"null" if value is None else None,
                  headers={"Content-Type": "application/json"})

    def get_flow_user_state(self, key: str) -> Any:
        endpoint = "jobs/flow/user_states/%s/%s" % (self.get_root_job_id(), urllib.parse.quote(key, safe=""))
        return self.get(self._at(endpoint)).json()

    # Stored files

    def get_duckdb_connection_settings(self, s3_resource_path: str = "") -> DuckDbConnectionSettings:
        return DuckDbConnectionSettings(self._settings_for("duckdb", s3_resource_path))

    def get_polars_connection_settings(self, s3_resource_path: str = "") -> PolarsConnectionSettings:
        found = self._settings_for("polars", s3_resource_path)
        return PolarsConnectionSettings({key: _Fields(value) if isinstance(value, dict) else value
                                         for key, value in found.items()})

    def _settings_for(self, library: str, s3_resource_path: str) -> dict:
        body = {"s3_resource_path": s3_resource_path} if s3_resource_path else {}
        return self.post(self._at("job_helpers/v2/%s_connection_settings" % library), json=body).json()

    def get_boto3_connection_settings(self, s3_resource_path: str = "") -> Boto3ConnectionSettings:
        body = {"s3_resource_path": s3_resource_path} if s3_resource_path else {}
        found = self.post(self._at("job_helpers/v2/s3_resource_info"), json=body).json()
        end_point = found.get("endPoint") or ""
        if end_point and "://" not in end_point:
            end_point = ("https://" if found.get("useSSL", True) else "http://") + end_point
        return Boto3ConnectionSettings({
            "endpoint_url": end_point or None,
            "region_name": found.get("region"),
            "use_ssl": found.get("useSSL", True),
            "aws_access_key_id": found.get("accessKey"),
            "aws_secret_access_key": found.get("secretKey"),
        })

    def load_s3_file(self, s3object: Any, s3_resource_path: Optional[str] = None) -> bytes:
        """The content of a stored file."""
        with self.load_s3_file_reader(s3object, s3_resource_path) as reader:
            return reader.read()

    def load_s3_file_reader(self, s3object: Any, s3_resource_path: Optional[str] = None) -> io.BufferedIOBase:
        """A stored file to be read piece by piece; close it afterwards."""
        file = parse_s3_object(s3object)
        params = {"file_key": file.get("s3"), "storage": file.get("storage"), "s3_resource_path": s3_resource_path}
        try:
            return self._open("GET", self._at("job_helpers/download_s3_file"), params=params)
        except urllib.error.HTTPError as error:
            Response(error.code, error.headers, error.read(), error.url).raise_for_status()
            raise

    def write_s3_file(self, s3object: Any, file_content: Any, s3_resource_path: Optional[str] = None,
                      content_type: Optional[str] = None, content_disposition: Optional[str] = None) -> S3Object:
        """Stores bytes, text, or what an open file holds; without `s3object` under a name of the server's."""
        file = parse_s3_object(s3object)
        if hasattr(file_content, "read"):
            file_content = file_content.read()
        params = {"file_key": file.get("s3"), "storage": file.get("storage"), "s3_resource_path": s3_resource_path,
                  "content_type": content_type, "content_disposition": content_disposition}
        answer = self.post(self._at("job_helpers/upload_s3_file"), params=params, content=file_content).json()
        kept = {"storage": file["storage"]} if file.get("storage") else {}
        return S3Object(s3=answer["file_key"], **kept)

    def delete_s3_object(self, s3object: Any) -> None:
        file = parse_s3_object(s3object)
        self.request("DELETE", self._at("job_helpers/delete_s3_file"),
                     params={"file_key": file.get("s3"), "storage": file.get("storage")})

    def sign_s3_objects(self, s3_objects: Iterable[Any]) -> List[S3Object]:
        """Stored files with the signature that lets anybody with the link read them."""
        files = [parse_s3_object(each) for each in s3_objects]
        return [S3Object(each) for each in self.post(self._at("apps/sign_s3_objects"), json={"s3_objects": files}).json()]

    def sign_s3_object(self, s3_object: Any) -> S3Object:
        return self.sign_s3_objects([s3_object])[0]

    def get_presigned_s3_public_urls(self, s3_objects: Iterable[Any], base_url: Optional[str] = None) -> List[str]:
        """Addresses at which anybody reads the files, for as long as their signatures last."""
        base = (base_url or os.environ.get("WM_BASE_URL") or self.base_url[:-len("/api")]).rstrip("/")
        return ["%s/api%s?%s" % (base, self._at("s3_proxy/%s/%s" % (file.get("storage") or "_default_", file["s3"])),
                                 file["presigned"]) for file in self.sign_s3_objects(s3_objects)]

    def get_presigned_s3_public_url(self, s3_object: Any, base_url: Optional[str] = None) -> str:
        return self.get_presigned_s3_public_urls([s3_object], base_url)[0]


_client = Windmill()


def parse_resource_syntax(text: Any) -> Optional[str]:
    """The path in `$res:u/ann/x` or `res://u/ann/x`; None for any other text."""
    return _after(text, ("$res:", "res://"))


def parse_variable_syntax(text: Any) -> Optional[str]:
    """The path in `$var:u/ann/x` or `var://u/ann/x`; None for any other text."""
    return _after(text, ("$var:", "var://"))


def _after(text: Any, prefixes: Iterable[str]) -> Optional[str]:
    for prefix in prefixes:
        if isinstance(text, str) and text.startswith(prefix):
            return text[len(prefix):]
    return None


def parse_s3_object(s3_object: Any) -> S3Object:
    """A stored file out of a dict, or of a text such as `s3://storage/key` or `s3:///key`; an empty one out of None."""
    if s3_object is None:
        return S3Object()
    if isinstance(s3_object, str):
        storage, _, key = s3_object[5:].partition("/") if s3_object.startswith("s3://") else ("", "", s3_object)
        return S3Object({"s3": key, **({"storage": storage} if storage else {})})
    return S3Object(s3_object)


def _delegate(name: str, attribute: Optional[str] = None) -> Callable:
    method = getattr(Windmill, attribute or name)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(_client, attribute or name)(*args, **kwargs)

    call.__name__ = name
    call.__signature__ = inspect.Signature(list(inspect.signature(method).parameters.values())[1:])
    return call


cancel_job = _delegate("cancel_job")
cancel_running = _delegate("cancel_running")
delete_s3_object = _delegate("delete_s3_object")
get_flow_user_state = _delegate("get_flow_user_state")
get_id_token = _delegate("get_id_token")
get_job = _delegate("get_job")
get_job_status = _delegate("get_job_status")
get_presigned_s3_public_url = _delegate("get_presigned_s3_public_url")
get_presigned_s3_public_urls = _delegate("get_presigned_s3_public_urls")
get_progress = _delegate("get_progress")
get_resource = _delegate("get_resource")
get_result = _delegate("get_result")
get_resume_urls = _delegate("get_resume_urls")
get_root_job_id = _delegate("get_root_job_id")
get_state = _delegate("get_state")
get_variable = _delegate("get_variable")
list_resources = _delegate("list_resources")
load_s3_file = _delegate("load_s3_file")
load_s3_file_reader = _delegate("load_s3_file_reader")
run_flow = _delegate("run_flow")
run_flow_async = _delegate("run_flow_async")
run_script = _delegate("run_script")
run_script_by_hash = _delegate("run_script_by_hash")
run_script_by_hash_async = _delegate("run_script_by_hash_async")
run_script_by_path = _delegate("run_script_by_path")
run_script_by_path_async = _delegate("run_script_by_path_async")
run_script_by_path_sync = _delegate("run_script_by_path_sync", "run_script_by_path")
set_flow_user_state = _delegate("set_flow_user_state")
set_progress = _delegate("set_progress")
set_resource = _delegate("set_resource")
set_state = _delegate("set_state")
set_variable = _delegate("set_variable")
sign_s3_object = _delegate("sign_s3_object")
sign_s3_objects = _delegate("sign_s3_objects")
username_to_email = _delegate("username_to_email")
wait_job = _delegate("wait_job")
whoami = _delegate("whoami")
write_s3_file = _delegate("write_s3_file")
duckdb_connection_settings = _delegate("duckdb_connection_settings", "get_duckdb_connection_settings")
polars_connection_settings = _delegate("polars_connection_settings", "get_polars_connection_settings")
boto3_connection_settings = _delegate("boto3_connection_settings", "get_boto3_connection_settings")


def run_script_async(hash_or_path: str, args: Optional[dict] = None, scheduled_in_secs: Optional[int] = None) -> str:
    """Starts a script by its path, or by its hash when there is no `/` in the text. Returns the job's id."""
    if "/" in hash_or_path:
        return _client.run_script_async(path=hash_or_path, args=args, scheduled_in_secs=scheduled_in_secs)
    return _client.run_script_async(hash_=hash_or_path, args=args, scheduled_in_secs=scheduled_in_secs)


def run_script_sync(hash: str, args: Optional[dict] = None, verbose: bool = False,
                    assert_result_is_not_none: bool = True, cleanup: bool = True, timeout: Any = None) -> Any:
    """Runs a version by its hash and returns its result."""
    return _client.run_script_by_hash(hash, args, timeout, verbose, cleanup, assert_result_is_not_none)


def get_workspace() -> str:
    return _client.workspace


def get_version() -> str:
    return _client.version


def user() -> dict:
    return _client.user


def state_path() -> str:
    return _client.state_path


def get_state_path() -> str:
    return _client.state_path


def set_shared_state(value: Any, path: str = "state.json") -> None:
    """Leaves a value for later steps of a flow that run on the same worker."""
    with open(os.path.join(SHARED_FOLDER, path), "w", encoding="utf-8") as file:
        json.dump(value, file, default=_plain)


def get_shared_state(path: str = "state.json") -> Any:
    with open(os.path.join(SHARED_FOLDER, path), encoding="utf-8") as file:
        return json.load(file)


def set_shared_state_pickle(value: Any, path: str = "state.pickle") -> None:
    with open(os.path.join(SHARED_FOLDER, path), "wb") as file:
        pickle.dump(value, file)


def get_shared_state_pickle(path: str = "state.pickle") -> Any:
    with open(os.path.join(SHARED_FOLDER, path), "rb") as file:
        return pickle.load(file)


def append_to_result_stream(text: str) -> None:
    """Sends a chunk of text to clients that follow the job's result."""
    print("WM_STREAM: " + text.replace("\n", "\\n"), flush=True)


def stream_result(stream: Iterable[Union[str, bytes]]) -> None:
    """Forwards the chunks of a stream as they arrive."""
    for piece in stream:
        append_to_result_stream(piece.decode() if isinstance(piece, bytes) else str(piece))


def task(*args: Any, **kwargs: Any) -> Callable:
    """
    Makes each call of a function a job of its own: `@task` or `@task(tag="gpu")`. Outside of a job, and in the job that
    runs the function itself, it is an ordinary call.
    """
    def decorate(function: Callable, tag: Optional[str] = None) -> Callable:
        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            job_id = os.environ.get("WM_JOB_ID")
            if not job_id or os.environ.get("MAIN_OVERRIDE") == function.__name__:
                return function(*given, **named)
            bound = inspect.signature(function).bind(*given, **named)
            started = _client.post(
                _client._at("jobs/run/workflow_as_code/%s/%s" % (job_id, function.__name__)),
                json={"args": dict(bound.arguments)}, params={"tag": tag}).text
            return _client.wait_job(started)
        return call

    if len(args) == 1 and callable(args[0]) and not kwargs:
        return decorate(args[0])
    return lambda function: decorate(function, kwargs.get("tag"))
