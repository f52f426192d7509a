"""The program of a Python child: speaks JSON lines on the channel it inherited, and runs one job at a time."""
import codecs
import collections
import collections.abc
import importlib.util
import inspect
import json
import math
import os
import resource
import site
import sys
import time
import traceback

fd = int(os.environ.pop("SVC_CHANNEL_FD"))
os.set_blocking(fd, True)
os.set_inheritable(fd, False)
incoming = b""
# Most characters of an error's message, and of its stack.
MAX_ERROR = 100000
HERE = os.path.dirname(os.path.abspath(__file__))
if HERE in sys.path:
    sys.path.remove(HERE)
# Where Python's own modules are, whatever the script does to the search path.
OWN_PATH = list(sys.path)


def import_own(name):
    """Imports a module of Python itself that few jobs need."""
    given = sys.path
    sys.path = OWN_PATH
    try:
        return importlib.import_module(name)
    finally:
        sys.path = given



def receive():
    global incoming
    while b"\n" not in incoming:
        piece = os.read(fd, 1 << 16)
        if not piece:
            os._exit(1)
        incoming += piece
    line, incoming = incoming.split(b"\n", 1)
    return json.loads(line)


def send(message):
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(fd, data):]


def describe(error):
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(HERE)
              and not frame.filename.startswith("<frozen importlib")]
    stack = "".join(traceback.format_list(frames)).replace(load["file"], load["display"]).replace(load["root"] + "/", "")
    found = {"name": type(error).__name__, "message": str(error)[:MAX_ERROR], "stack": stack[:MAX_ERROR]}
    extra = {key: value for key, value in vars(error).items()} if hasattr(error, "__dict__") else {}
    if extra:
        try:
            text = json.dumps(extra, default=str)
            if len(text) <= MAX_ERROR:
                found["extra"] = json.loads(text)
        except ValueError:
            pass
    return found


VALUE_MODULES = ["base64", "dataclasses", "datetime", "decimal", "enum", "pathlib", "uuid"]


def import_value_modules():
    """Imports the modules of values that JSON has no form for. Few jobs have any, and loading them takes long."""
    if VALUE_MODULES[-1] in globals():
        return
    for name in VALUE_MODULES:
        globals()[name] = import_own(name)


def to_plain(value):
    """What JSON has no form for, as people expect to find it in a result."""
    import_value_modules()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (set, frozenset, tuple, collections.deque, range)):
        return list(value)
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if isinstance(value, collections.abc.ValuesView) or isinstance(value, collections.abc.KeysView):
        return list(value)
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            return None
        return int(value) if value == value.to_integral_value() and value.adjusted() < 400 else float(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (uuid.UUID, pathlib.PurePath)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return of_library(value)


def of_library(value):
    """Values of packages that are in wide use, which are recognised by what they offer."""
    package = type(value).__module__.split(".")[0]
    if package == "pandas" and hasattr(value, "to_dict"):
        # A frame becomes its rows; other values (a series) what they are by key.
        return value.to_dict(orient="records") if hasattr(value, "columns") else value.to_dict()
    if package == "polars":
        return value.to_dicts() if hasattr(value, "to_dicts") else value.to_list()
    for name in ("model_dump", "tolist", "isoformat", "_asdict"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            return method()
    if package == "pydantic" or hasattr(value, "__fields__"):
        return value.dict()
    raise TypeError("a value of type %s is not JSON" % type(value).__name__)


def with_plain_keys(value):
    """The same with texts for keys and without numbers that JSON has no form for. Only for what is not JSON as it is."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, dict):
        return {key if isinstance(key, str) else key_text(key): with_plain_keys(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_plain_keys(each) for each in value]
    return with_plain_keys(to_plain(value))


def key_text(key):
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    plain = key if isinstance(key, tuple) else to_plain(key)
    return plain if isinstance(plain, str) else str(plain)


class ResultNotSerializable(Exception):
    pass


class ResultTooLarge(Exception):
    pass


class MissingFunction(Exception):
    pass


class InvalidPreprocessorResult(Exception):
    pass


class BadReference(Exception):
    """Carries the name that the server has for what went wrong."""


def to_json(value, limit, who="main"):
    try:
        try:
            text = json.dumps(value, default=to_plain, allow_nan=False, ensure_ascii=False)
        except (TypeError, ValueError):
            text = json.dumps(with_plain_keys(value), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ResultNotSerializable("%s returned what cannot be written down: %s" % (who, error)) from None
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise too_large(size, limit)
    return text


def too_large(size, limit):
    return ResultTooLarge("the result is %d MB, more than the %d MB allowed" % (size // 1000000 + 1, limit // 1000000))


def bind(function, bindings, args):
    parameters = inspect.signature(function).parameters
    bindings = {each["name"]: each for each in bindings or []}
    positional, named = [], {}
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            named.update({key: value for key, value in args.items() if key not in parameters})
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(args.get(name) or [])
            continue
        if name not in args:
            if parameter.default is parameter.empty:
                value = None
            else:
                continue
        else:
            value = args[name]
        binding = bindings.get(name, {})
        if binding.get("is_date") or binding.get("is_bytes"):
            import_value_modules()
        if isinstance(value, str) and binding.get("is_date"):
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        elif isinstance(value, str) and binding.get("is_bytes"):
            value = base64.b64decode(value)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[name] = value
    return positional, named


class Drain:
    """Hands on what a stream yields, piece by piece: text as it is, bytes as UTF-8, anything else as a line of JSON."""

    def __init__(self, limit):
        self.size = 0
        self.limit = limit
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, piece):
        if isinstance(piece, str):
            self.tell(piece)
        elif isinstance(piece, (bytes, bytearray, memoryview)):
            self.tell(self.decoder.decode(bytes(piece)))
        elif piece is not None:
            self.tell(to_json(piece, self.limit) + "\n")

    def tell(self, text):
        self.size += len(text)
        if self.size > self.limit:
            raise too_large(self.size, self.limit)
        if text:
            send({"t": "stream", "text": text})

    def end(self):
        """The result beside the stream: nothing, since the server has the whole; an empty stream is ""."""
        self.tell(self.decoder.decode(b"", True))
        return None if self.size else ""


def drain(pieces, limit):
    to = Drain(limit)
    for piece in pieces:
        to.take(piece)
    return to.end()


async def settle(value, limit):
    """Awaits a value and drains what it turns out to be, in one event loop: a stream may live on its main's connections."""
    if inspect.isawaitable(value):
        value = await value
    if not hasattr(value, "__aiter__"):
        return value
    to = Drain(limit)
    async for piece in value:
        to.take(piece)
    return to.end()


def function_named(name):
    found = getattr(module, name, None)
    if not callable(found):
        raise MissingFunction("the script defines no function `%s`" % name)
    return found


def preprocess(message):
    """Main's arguments as JSON text: what is stored of them is what main is given."""
    function = function_named("preprocessor")
    positional, named = bind(function, load.get("preprocessor_parameters"), json.loads(message["preprocessor_input"]))
    value = function(*positional, **named)
    if inspect.isawaitable(value):
        value = import_own("asyncio").run(value)
    text = to_json(value, message["max_result"], "it")
    if not text.startswith("{"):
        raise InvalidPreprocessorResult("it must return a dict, the arguments of main, and returned %s" % text[:100])
    return text


def without_references(text):
    """The server, which may read what they lead to, follows them."""
    if '"$' not in text and "\\u0024" not in text:
        return text
    send({"t": "refer", "args": text})
    answer = receive()
    if "args" not in answer:
        raise BadReference(answer["error"]["name"], answer["error"]["message"])
    return answer["args"]


def call(message, outcome):
    text = message["args"]
    if message.get("preprocessor_input") is not None:
        text = outcome["preprocessed_args"] = preprocess(message)
        text = without_references(text)
    args = json.loads(text)
    function = function_named(message["entrypoint"])
    positional, named = bind(function, load["parameters"], args)
    value = function(*positional, **named)
    limit = message["max_result"]
    if inspect.isawaitable(value) or hasattr(value, "__aiter__"):
        value = import_own("asyncio").run(settle(value, limit))
    if hasattr(value, "__next__") and hasattr(value, "__iter__"):
        value = drain(value, limit)
    outcome["result"] = to_json(value, limit)


def leftovers():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except ChildProcessError:
        return False


class Folder:
    """Each job begins in an empty folder. Its times say whether anything was put there; see folder.ts."""

    TICK_NS = 50_000_000
    MAX_ENTRIES = 1000

    def __init__(self):
        self.path = os.getcwd()
        self.fd = os.open(self.path, os.O_RDONLY)
        self.empty_since = None

    def clear(self, shared):
        """False when it is not empty: no other job may begin there."""
        try:
            os.chdir(self.path)
            if shared is None and os.fstat(self.fd).st_ctime_ns == self.empty_since:
                return True
            self.empty_since = None
            found = os.listdir(self.path)
            if len(found) > self.MAX_ENTRIES:
                return False
            linked = "shared" in found and self.leads_to(shared)
            for name in found:
                if name != "shared" or not linked:
                    self.remove(os.path.join(self.path, name))
            if shared is not None and not linked:
                os.symlink(shared, os.path.join(self.path, "shared"))
            changed = os.fstat(self.fd).st_ctime_ns
            if shared is None and time.time_ns() - changed > self.TICK_NS:
                self.empty_since = changed
            return True
        except (OSError, ImportError):
            return False

    def leads_to(self, shared):
        try:
            return os.readlink(os.path.join(self.path, "shared")) == shared
        except OSError:
            return False

    @staticmethod
    def remove(path):
        if os.path.isdir(path) and not os.path.islink(path):
            import_own("shutil").rmtree(path)
        else:
            os.remove(path)

    def has_files(self):
        """Hidden files are what libraries keep for themselves, and make anew."""
        return any(not name.startswith(".") and name != "shared" for name in os.listdir(self.path))


class FolderNotEmpty(Exception):
    pass


class Token:
    """A client that was made in an earlier job keeps the token of that job: the running job's takes its place; see token.ts."""

    NAME_LENGTH = 32

    def __init__(self, running):
        self.name = running[:self.NAME_LENGTH]
        self.running = running
        self.renews = set()

    def use(self, running):
        self.running = running
        if "http.client" in sys.modules and "http.client" not in self.renews:
            self.renews.add("http.client")
            self.renew_http_client(sys.modules["http.client"].HTTPConnection)
        if "httpx" in sys.modules and "httpx" not in self.renews:
            self.renews.add("httpx")
            self.renew_httpx(sys.modules["httpx"].Request)

    def renewed(self, value):
        """The value of an Authorization header."""
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        scheme, _, token = text.partition(" ") if isinstance(text, str) else ("", "", "")
        return "%s %s" % (scheme, self.running) if token.startswith(self.name) else value

    def renew_http_client(self, connection):
        plain = connection.putheader

        def putheader(itself, header, *values):
            name = header.decode("latin-1") if isinstance(header, bytes) else header
            if name.lower() == "authorization":
                values = [self.renewed(value) for value in values]
            return plain(itself, header, *values)
        connection.putheader = putheader

    def renew_httpx(self, request):
        plain = request.__init__

        def __init__(itself, *args, **options):
            plain(itself, *args, **options)
            value = itself.headers.get("authorization")
            if value is not None:
                itself.headers["authorization"] = self.renewed(value)
        request.__init__ = __init__


def end_output(mark):
    """Writes out what was printed, then the mark; a script may have closed either stream."""
    for stream, fd in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
        try:
            os.write(fd, mark)
        except OSError:
            pass


def run(message):
    global has_run
    os.environ.update(message["environment"])
    os.environ["MAIN_OVERRIDE"] = message["entrypoint"]
    outcome = {"t": "done"}
    try:
        if has_run:
            token.use(message["environment"]["WM_TOKEN"])
            if not folder.clear(message.get("shared")):
                raise FolderNotEmpty("what the job before left in its folder could not be removed")
        has_run = True
        call(message, outcome)
    except SystemExit as error:
        end_output(b"")
        code = error.code if isinstance(error.code, int) else (0 if error.code is None else 1)
        os._exit(code)
    except BaseException as error:
        outcome.pop("result", None)
        outcome["error"] = describe(error)
        if message.get("preprocessor_input") is not None and "preprocessed_args" not in outcome:
            outcome["error"]["message"] = "the preprocessor failed: " + outcome["error"]["message"]
        if isinstance(error, BadReference):
            outcome["error"]["name"], outcome["error"]["message"] = error.args
        if isinstance(error, (BadReference, ResultNotSerializable, ResultTooLarge, MissingFunction, InvalidPreprocessorResult, FolderNotEmpty)):
            outcome["error"].pop("stack", None)
    end_output(("\0%s\0" % load["nonce"]).encode())
    outcome["mem_peak_kb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome["fence"] = 3
    outcome["leftovers"] = once or leftovers() or not folder.clear(message.get("shared"))
    send(outcome)


send({"t": "channel"})
load = receive()
os.environ.update(load["environment"])
folder = Folder()
token = Token(load["environment"]["WM_TOKEN"])
# Takes no second job: it would not find the files that loading the script has left.
once = load["once"]
has_run = False
packages = os.path.join(load["root"], "packages")
if os.path.isdir(packages):
    site.addsitedir(packages)
    sys.path.remove(packages)
    # Before other installed packages, but after Python's own modules, as installed packages are everywhere.
    installed = ("site-packages", "dist-packages")
    places = [place for place, entry in enumerate(sys.path) if entry.endswith(installed)]
    sys.path.insert(min(places, default=len(sys.path)), packages)
sys.path.insert(0, load["root"])
# What svc brings along comes last: a package of the same name that a lock installs is taken instead.
sys.path.append(os.path.join(HERE, "python-path"))
sys.dont_write_bytecode = True
try:
    spec = importlib.util.spec_from_file_location(load["module"], load["file"])
    module = importlib.util.module_from_spec(spec)
    sys.modules[load["module"]] = module
    spec.loader.exec_module(module)
    once = once or folder.has_files()
    send({"t": "loaded"})
except SystemExit as error:
    os._exit(error.code if isinstance(error.code, int) else 1)
except BaseException as error:
    send({"t": "load_failed", "error": describe(error)})
while True:
    run(receive())
