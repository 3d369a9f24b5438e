"""OpenAPI 3.1 of every public route, socket and procedure, made from the rows themselves and the structs that they
decode.

Theory. A procedure is a path of its own under ``/trpc``: a query has its input as JSON in the parameter ``input``, a
mutation has it in its body, a subscription answers with events. The answer stands in the envelope of tRPC. Everything
else answers as its row says, and refuses with a problem (RFC 9457). The JSON schemas are msgspec's own.

Pure. Owns the shape of the document; it never looks at a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from svc.errors import ERRORS
from svc.feature import Feature, routes_of
from svc.protocol import Access, Nothing, Procedure, ProcedureKind, Route, Says, SocketRoute

AnyRoute = Route[Any]  # for any context type
AnyProcedure = Procedure[Any]
Json = dict[str, Any]
"""A part of the document."""

OPENAPI: Final = "3.1.0"
RPC_ROW: Final = "/trpc/*procedure"
"""The one route of all procedures; the document lists them one by one."""
JSON: Final = "application/json"
PROBLEM_JSON: Final = "application/problem+json"

_TITLES: Final = {row.status: row.title for row in ERRORS.values()}
SAYS_NOTHING: Final = Says(answers={200: None})
_METHODS: Final[dict[ProcedureKind, str]] = {"query": "get", "mutation": "post", "subscription": "get"}
_REF_START: Final = "#/components/schemas/"
_REF: Final = _REF_START + "{name}"
_PARAMETER: Final = re.compile(r"[:*]([A-Za-z0-9_]+)")
_INTRO: Final = (
    "Everything the app does. Procedures speak the wire of tRPC 11, so its public client works unchanged, typed by "
    "what `svc types` prints. Times are RFC 3339 in UTC; ids are opaque; an input that is missing counts as `{}`."
)
_SEGMENT: Final[Json] = {"type": "string", "minLength": 1, "pattern": "^[^\\u0000-\\u001f\\u007f]+$"}
"""A parameter of a path."""
_PROBLEM: Final[Json] = {
    "type": "object",
    "description": "A refusal (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence for a person."},
        "code": {"enum": sorted(ERRORS)},
    },
}
_RPC_ERROR: Final[Json] = {
    "type": "object",
    "description": "A refusal on the wire of tRPC.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "code", "data"],
            "properties": {
                "message": {"type": "string", "description": "One sentence, which names the field at fault."},
                "code": {"type": "integer"},
                "data": {
                    "type": "object",
                    "required": ["code", "httpStatus"],
                    "properties": {
                        "code": {"enum": sorted({row.rpc_name for row in ERRORS.values()})},
                        "httpStatus": {"type": "integer"},
                        "path": {"type": "string"},
                        "retryAfter": {"type": "integer", "description": "In seconds."},
                    },
                },
            },
        }
    },
}
_SECURITY: Final[Json] = {
    "session": {"type": "apiKey", "in": "cookie", "name": "svc_session", "description": "Of a browser that signed in."},
    "device": {"type": "apiKey", "in": "header", "name": "X-Svc-Device-Token", "description": "Of a paired device."},
}


def openapi(features: Sequence[Feature], *, version: str, origin: str) -> Json:
    """The whole document; ``origin`` is the address of the service."""
    types = _Types(features)
    paths: dict[str, Json] = {}
    for feature in features:
        for method, path, operation in _operations(types, feature):
            paths.setdefault(path, {})[method] = operation
    described = [feature for feature in features if feature.routes or feature.sockets or feature.procedures]
    return {
        "openapi": OPENAPI,
        "info": {"title": "svc", "version": version, "description": _INTRO},
        "servers": [{"url": origin}],
        "tags": [{"name": feature.name, "description": feature.summary} for feature in described],
        "paths": paths,
        "components": {
            "schemas": {**types.of_bodies(), "Problem": _PROBLEM, "RpcError": _RPC_ERROR},
            "securitySchemes": _SECURITY,
        },
    }


def _operations(types: _Types, feature: Feature) -> Iterator[tuple[str, str, Json]]:
    for route in routes_of([feature], "public"):
        if route.path != RPC_ROW:
            operation = {"tags": [feature.name], **_route(types, route)}
            yield route.method.lower(), _path(route.path), operation
            if route.method == "GET":
                yield "head", _path(route.path), _without_bodies(operation)
    for socket in feature.sockets:
        yield "get", socket.path, {"tags": [feature.name], **_socket(socket)}
    for row in feature.procedures:
        yield _METHODS[row.kind], f"/trpc/{row.name}", {"tags": [feature.name], **_procedure(types, row)}


class _Types:
    """The schemas of all types that rows name."""

    def __init__(self, features: Sequence[Feature]) -> None:
        named = list(_named(features))
        schemas, components = msgspec.json.schema_components(named, ref_template=_REF)
        names = _names(components)
        schemas = _renamed(schemas, names)
        self.components: Json = {names[key]: _renamed(schema, names) for key, schema in components.items()}
        self._schemas = {id(kind): schema for kind, schema in zip(named, schemas, strict=True)}
        self._apart = list(_parameters(features))
        self._kept = named  # an `id()` is valid only while its object lives

    def schema(self, kind: object) -> Json:
        found: Json = self._schemas[id(kind)]
        return found

    def fields(self, record: type) -> Iterator[tuple[str, Json, bool]]:
        """Name, schema, and whether it is required, for each field of a record whose fields are parameters."""
        schema = self.components[self._name(record)]
        for name, field in schema["properties"].items():
            yield name, field, name in schema.get("required", [])

    def of_bodies(self) -> Json:
        """All schemas except records that the document lists field by field, as parameters."""
        apart = {self._name(record) for record in self._apart}
        return {name: schema for name, schema in self.components.items() if name not in apart}

    def _name(self, record: type) -> str:
        reference: str = self.schema(record)["$ref"]
        return reference.rpartition("/")[2]


def _names(components: Iterable[str]) -> dict[str, str]:
    """The names of the records in this document. Two records of one name, which msgspec distinguishes by module, get
    the names of their features, as in the output of ``svc types``: ``svc.rules.wire.RunOut`` is RulesRunOut."""
    names: dict[str, str] = {}
    for key in components:
        words = key.split(".")
        name = words[-1] if len(words) == 1 else words[1].capitalize() + words[-1]
        if name in names.values():  # two in one feature
            name = "".join(word.capitalize() for word in words[1:-1]) + words[-1]
        if name in names.values():
            raise ValueError(f"two records are called {name}; rename {key}")
        names[key] = name
    return names


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """Replaces the names in the references of a part of the document."""
    if isinstance(part, dict):
        return {key: _renamed(value, names) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_renamed(value, names) for value in part]
    if isinstance(part, str) and part.startswith(_REF_START):
        return _REF_START + names[part.removeprefix(_REF_START)]
    return part


def _parameters(features: Iterable[Feature]) -> Iterator[type]:
    for route in routes_of(features, "public"):
        if route.says is not None:
            yield from (record for record in (route.says.query, route.says.headers) if record is not None)


def _named(features: Iterable[Feature]) -> Iterator[Any]:
    for feature in features:
        for route in routes_of([feature], "public"):
            if route.says is not None:
                parts = [route.says.body, route.says.query, route.says.headers, *route.says.answers.values()]
                yield from (part for part in parts if part is not None and not isinstance(part, str))
        for row in feature.procedures:
            yield from (row.input, row.output)


def _path(path: str) -> str:
    return _PARAMETER.sub(r"{\1}", path)


_ONLY: Final[dict[Access, str]] = {
    "admin": "Only an admin may ask for it.",
    "terminal": "Only an admin may ask for it, and of their devices those that may use terminals.",
}


def _guarded(access: Access, summary: str) -> Json:
    """The part of an operation that says who may call it."""
    if access == "public":
        return {"summary": summary, "security": []}
    only = _ONLY.get(access, "For whoever is signed in.")
    return {"summary": summary, "description": only, "security": [{name: []} for name in _SECURITY]}


def _route(types: _Types, route: AnyRoute) -> Json:
    says = route.says or SAYS_NOTHING
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _SEGMENT} for name in _PARAMETER.findall(route.path)
    ]
    for place, record in (("query", says.query), ("header", says.headers)):
        if record is not None:
            parameters += [
                {"name": name, "in": place, "required": required, "schema": schema}
                for name, schema, required in types.fields(record)
            ]
    operation = {**_guarded(route.access, route.summary), "operationId": _identifier(route)}
    if parameters:
        operation["parameters"] = parameters
    if says.body is not None:
        operation["requestBody"] = {"required": not isinstance(says.body, str), "content": _content(types, says.body)}
    operation["responses"] = {
        **{str(status): _answer(types, status, body) for status, body in says.answers.items()},
        "default": _refusal("Problem", PROBLEM_JSON),
    }
    return operation


def _without_bodies(operation: Json) -> Json:
    """HEAD is answered wherever GET is: with the same status and headers, and no body."""
    return {
        **operation,
        "operationId": operation["operationId"].replace("get_", "head_", 1),
        "responses": {
            status: {key: value for key, value in answer.items() if key != "content"}
            for status, answer in operation["responses"].items()
        },
    }


def _identifier(route: AnyRoute) -> str:
    words = re.findall(r"[A-Za-z0-9]+", route.path) or ["home"]
    return "_".join([route.method.lower(), *words])


def _answer(types: _Types, status: int, body: object) -> Json:
    return {
        "description": _TITLES.get(status, "As asked."),
        **({} if body is None else {"content": _content(types, body)}),
    }


def _content(types: _Types, body: object) -> Json:
    if isinstance(body, str):
        return {body: {} if body == JSON else {"schema": {"type": "string", "format": "binary"}}}
    return {JSON: {"schema": types.schema(body)}}


def _refusal(name: str, media_type: str) -> Json:
    return {"description": "A refusal.", "content": {media_type: {"schema": {"$ref": _REF.format(name=name)}}}}


def _socket(socket: SocketRoute[Any]) -> Json:
    return {
        **_guarded(socket.access, socket.summary),
        "operationId": f"socket{socket.path.replace('/', '_')}",
        "responses": {
            "101": {"description": "The WebSocket is open."},
            "426": _refusal("Problem", PROBLEM_JSON) | {"description": "Ask for an upgrade."},
            "default": _refusal("Problem", PROBLEM_JSON),
        },
    }


def _procedure(types: _Types, row: AnyProcedure) -> Json:
    operation = {**_guarded(row.access, row.summary), "operationId": row.name, "x-trpc-kind": row.kind}
    if row.input is not Nothing:
        given = {JSON: {"schema": types.schema(row.input)}}
        if row.kind == "mutation":
            operation["requestBody"] = _body(given)
        else:
            required = not _may_be_empty(types, row.input)
            operation["parameters"] = [{"name": "input", "in": "query", "required": required, "content": given}]
    elif row.kind == "mutation":
        operation["requestBody"] = _body({JSON: {}})
    operation["responses"] = {
        "200": _events(types, row) if row.kind == "subscription" else _result(types, row),
        "default": _rpc_refusal(),
    }
    return operation


def _body(content: Json) -> Json:
    """The request body. It is always required: a POST must have the content type JSON, which a page on another site
    can't send."""
    return {"required": True, "content": content}


def _rpc_refusal() -> Json:
    """The refusals of a procedure. A front before this service answers with a problem, as elsewhere."""
    refusal = _refusal("RpcError", JSON)
    refusal["content"] |= _refusal("Problem", PROBLEM_JSON)["content"]
    return refusal


def _may_be_empty(types: _Types, record: type) -> bool:
    return not any(required for _, _, required in types.fields(record))


def _result(types: _Types, row: AnyProcedure) -> Json:
    data = types.schema(row.output)
    result = {"type": "object", "required": ["data"], "properties": {"data": data}}
    envelope = {"type": "object", "required": ["result"], "properties": {"result": result}}
    return {"description": "As asked.", "content": {JSON: {"schema": envelope}}}


def _events(types: _Types, row: AnyProcedure) -> Json:
    schema = {
        "type": "string",
        "description": "Server-sent events, `message` for each that is told, `serialized-error` for a refusal.",
        "contentMediaType": JSON,
        "contentSchema": types.schema(row.output),
    }
    return {"description": "A stream without an end.", "content": {"text/event-stream": {"schema": schema}}}
