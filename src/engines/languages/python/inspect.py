"""
Reads a script from stdin and prints as JSON what its function of that name and `preprocessor` take, and what it imports.
Runs nothing of it. Arguments: the function's name, and the Python version that the script asks for (may be empty).
"""
import ast
import importlib.util
import json
import os
import re
import sys

SIMPLE = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "list": "array",
          "Dict": "object", "List": "array", "tuple": "array", "set": "array"}


def name_of(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def arguments_of(node):
    inner = node.slice
    if type(inner).__name__ == "Index":
        inner = inner.value
    return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


def union(members):
    kept = [schema_of(member) for member in members if not is_none(member)]
    if len(kept) == 1:
        return kept[0]
    # A class or a dict: no resource is meant, since its value would be a dict too.
    if kept and {"type": "object"} in kept and all(each.get("type") == "object" for each in kept):
        return {"type": "object"}
    return {"oneOf": kept} if kept else {}


def members_of_union(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return members_of_union(node.left) + members_of_union(node.right)
    return [node]


def schema_of(node):
    if node is None:
        return {}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return schema_of(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return {}
    if isinstance(node, ast.BinOp):
        return union(members_of_union(node))
    if isinstance(node, ast.Subscript):
        outer = name_of(node.value)
        inner = arguments_of(node)
        if outer in ("list", "List", "Sequence", "Iterable", "set", "Set", "tuple", "Tuple"):
            return {"type": "array", "items": schema_of(inner[0])}
        if outer in ("dict", "Dict", "Mapping"):
            return {"type": "object"}
        if outer == "Optional":
            return schema_of(inner[0])
        if outer == "Union":
            return union(inner)
        if outer == "Literal":
            values = [element.value for element in inner if isinstance(element, ast.Constant)]
            kinds = {type(value).__name__ for value in values}
            schema = {"enum": values}
            if len(kinds) == 1:
                schema["type"] = SIMPLE.get(kinds.pop(), "string")
            return schema
        return {}
    name = name_of(node)
    if name in SIMPLE:
        return {"type": SIMPLE[name]}
    if name == "bytes":
        return {"type": "string", "contentEncoding": "base64"}
    if name == "datetime":
        return {"type": "string", "format": "date-time"}
    if name == "date":
        return {"type": "string", "format": "date"}
    if name in ("", "Any", "object"):
        return {}
    if name == "S3Object":
        return {"type": "object", "format": "resource-s3_object"}
    return {"type": "object", "format": "resource-" + re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()}


def is_optional(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return is_optional(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return False
    if isinstance(node, ast.Subscript):
        outer = name_of(node.value)
        return outer == "Optional" or (outer == "Union" and any(is_none(inner) for inner in arguments_of(node)))
    return isinstance(node, ast.BinOp) and any(is_none(member) for member in members_of_union(node))


def parameter(argument, default):
    schema = schema_of(argument.annotation)
    found = {"name": argument.arg, "kind": "named", "schema": schema,
             "optional": default is not None or is_optional(argument.annotation)}
    if default is not None:
        try:
            value = ast.literal_eval(default)
            json.dumps(value, allow_nan=False)
            if value is not None:
                if not schema:
                    schema["type"] = SIMPLE.get(type(value).__name__, "object")
                schema["default"] = value
        except (ValueError, TypeError):
            pass
    if schema.get("format") == "date-time":
        found["is_date"] = True
    if schema.get("contentEncoding") == "base64":
        found["is_bytes"] = True
    return found


def parameters_of(function):
    if function is None:
        return None
    taken = function.args
    positional = list(getattr(taken, "posonlyargs", [])) + taken.args
    defaults = [None] * (len(positional) - len(taken.defaults)) + taken.defaults
    parameters = [parameter(a, d) for a, d in zip(positional, defaults)]
    parameters += [parameter(a, d) for a, d in zip(taken.kwonlyargs, taken.kw_defaults)]
    if taken.vararg is not None:
        parameters.append({"name": taken.vararg.arg, "kind": "rest", "optional": True,
                           "schema": {"type": "array", "items": schema_of(taken.vararg.annotation)}})
    return parameters


def is_standard(name):
    known = getattr(sys, "stdlib_module_names", None)
    if known is not None:
        return name in known or name in sys.builtin_module_names
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    origin = spec.origin or ""
    return origin in ("built-in", "frozen") or (origin.startswith(os.path.dirname(os.__file__)) and "site-packages" not in origin)


# Packages that many distributions share: which one is meant shows in the names below.
NAMESPACES = ("google", "azure", "ruamel")


def imported_by(tree):
    """What is imported anywhere in it: modules by their full names, relative ones with their dots, in order."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            # `from f.dir import x` and `from . import x` may mean the module x: both are named.
            precise = node.level > 0 or base.split(".")[0] in ("f", "u") + NAMESPACES
            found += [base + ("" if base.endswith(".") else ".") + alias.name for alias in node.names] if precise else [base]
    return found


def imported_by_lines(source):
    """The same for a source that this Python does not parse."""
    found = []
    for line in source.splitlines():
        match = re.match(r"\s*from\s+([.\w]+)\s+import\s", line)
        if match:
            found.append(match.group(1))
        match = re.match(r"\s*import\s+([\w., ]+)", line)
        if match:
            found += [part.split(" as ")[0].strip() for part in match.group(1).split(",")]
    return found


def third_party(names):
    found = {}
    for name in names:
        top = name.split(".")[0]
        if top and top not in ("f", "u", "wmill", "__main__") and not is_standard(top):
            found[name if top in NAMESPACES else top] = True
    return list(found)


def header_of(source, name):
    """A function without its body, for a source that does not parse as a whole."""
    match = re.search(r"^(?:async\s+)?def\s+%s\s*\(" % re.escape(name), source, re.M)
    if not match:
        return None
    for end in re.finditer(r":[ \t]*(?:#.*)?$", source[match.end():], re.M):
        try:
            return ast.parse(source[match.start():match.end() + end.start()] + ": pass").body[0]
        except SyntaxError:
            continue
    return None


# Found in lines that another version of Python takes: statements of Python 2, and what came after 3.8.
OTHER_VERSION = re.compile(r"^\s*(print\s|exec\s|except\s+\w[\w.]*\s*,|raise\s+\w+\s*,|type\s+\w|match\s|case\s|except\s*\*"
                           r"|(async\s+)?def\s+\w+\s*\[|class\s+\w+\s*\[|with\s*\()|\b[fFtT][rR]?[\"']|\b\d+[lL]\b|<>|\bur[\"']")


def is_for_another(source, error):
    if sys.argv[2] and sys.argv[2] != "%d.%d" % sys.version_info[:2]:
        return True
    lines = source.splitlines()
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    return OTHER_VERSION.search(line) is not None


def inspect(source):
    warning = None
    try:
        tree = ast.parse(source)
        functions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        imports = imported_by(tree)
    except SyntaxError as error:
        if not is_for_another(source, error):
            raise
        functions = {name: header_of(source, name) for name in (sys.argv[1], "preprocessor")}
        imports = imported_by_lines(source)
        warning = "Python %d.%d does not parse line %d: %s" % (sys.version_info[0], sys.version_info[1], error.lineno or 1, error.msg)
    main = parameters_of(functions.get(sys.argv[1]))
    return {"parameters": main or [], "has_main": main is not None,
            "preprocessor": parameters_of(functions.get("preprocessor")),
            "imports": [name for name in dict.fromkeys(imports) if name.startswith((".", "f.", "u."))],
            "third_party": third_party(imports), "warning": warning}


try:
    result = inspect(sys.stdin.buffer.read().decode("utf-8"))
except SyntaxError as error:
    result = {"error": {"line": error.lineno or 1, "column": error.offset or 1, "message": error.msg}}
except (ValueError, RecursionError, MemoryError) as error:
    result = {"error": {"line": 1, "column": 1, "message": str(error)}}
print(json.dumps(result))
