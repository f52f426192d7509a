"""Reads a script from stdin and prints what its function of that name and `preprocessor` take, as JSON. Runs nothing of it."""
import ast
import json
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


def inspect(source):
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    main = parameters_of(functions.get(sys.argv[1]))
    return {"parameters": main or [], "has_main": main is not None,
            "preprocessor": parameters_of(functions.get("preprocessor"))}


try:
    result = inspect(sys.stdin.buffer.read().decode("utf-8"))
except SyntaxError as error:
    result = {"error": {"line": error.lineno or 1, "column": error.offset or 1, "message": error.msg}}
except ValueError as error:
    result = {"error": {"line": 1, "column": 1, "message": str(error)}}
print(json.dumps(result))
