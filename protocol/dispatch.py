"""JSON-RPC 2.0 over jsonrpcserver, which no other module imports.

The library takes a message apart, finds the method, calls it and pairs the result with its id. What is ours: the
decoding, what counts as a request, the encoding, and that no exception's text reaches a reply.

jsonrpcserver takes about 0.15 s to import, nearly all of it for a validator that is not used here: a `Dispatcher`
imports it, this module does not.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from inspect import BoundArguments, Signature, signature
from typing import Any, get_args

import msgspec
from msgspec import UNSET, Struct

from breaker.json_text import encode
from breaker.secrets import redacted
from protocol.decode import decode
from protocol.methods import METHODS, InvalidParamsError, Method, Session

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

TEXTS = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    INTERNAL_ERROR: "Internal error",
}

REFUSED: Any = object()
"""The name under which messages that are no requests are dispatched: no client can spell it."""

_ID_TYPES = (str, int, float, type(None))
_LONGEST_QUOTE = 200
_IN_JSON = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
"""msgspec names types as Python does; clients need not know that."""

_TYPES = re.compile(r"\b(?:str|int|float|bool)\b")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")


class Error(Struct):
    code: int
    message: str
    data: Any = UNSET


class Success(Struct, tag_field="jsonrpc", tag="2.0"):
    id: Any
    result: Any


class Failure(Struct, tag_field="jsonrpc", tag="2.0"):
    id: Any
    error: Error


Reply = Success | Failure


class Dispatcher:
    """Answers the messages of one session."""

    def __init__(self, session: Session, methods: dict[str, Method] = METHODS) -> None:
        with warnings.catch_warnings():
            # jsonrpcserver 5.0.9 reads its schema through importlib.resources.read_text, deprecated in 3.11.
            warnings.simplefilter("ignore", DeprecationWarning)
            import jsonrpcserver
            from jsonrpcserver.response import to_serializable_one
        self._dispatch: Callable[..., Any] = jsonrpcserver.dispatch_to_response
        self._as_dict: Callable[[Any], Any] = to_serializable_one
        self._success = jsonrpcserver.Success
        self._error = jsonrpcserver.Error
        self._session = session
        self._known = frozenset(methods)
        self._methods: dict[Any, Any] = {REFUSED: self._refuser()}
        for name, method in methods.items():
            self._methods[name] = self._handler(name, method, silent=False)
            self._methods[(name,)] = self._handler(name, method, silent=True)  # notified

    def reply(self, line: bytes) -> bytes | None:
        """The line that answers a line; nothing for notifications."""
        replies = self._dispatch(
            line,
            self._methods,
            context=self._session,
            deserializer=self._deserialize,
            validator=_validate,
            post_process=self._reply,
        )
        return None if replies is None else self._serialize(replies)

    def _deserialize(self, line: bytes) -> Any:
        value = decode(line)
        if type(value) is dict:
            return self._request(value)
        if type(value) is list:
            return [self._request(item) for item in value]
        return value

    def _request(self, item: Any) -> dict[str, Any]:
        """The item as jsonrpcserver reads it: one that is no request becomes a call of `REFUSED`."""
        if type(item) is not dict:
            return _refusal(None, "a request is an object")
        message_id = item.get("id")
        if type(message_id) not in _ID_TYPES:
            return _refusal(None, "`id` must be a string, a number or null")
        method = item.get("method")
        if type(method) is not str:
            return _refusal(message_id, "`method` must be a string")
        if item.get("jsonrpc") != "2.0":
            return _refusal(message_id, '`jsonrpc` must be "2.0"')
        if "id" not in item and method in self._known:
            item["method"] = (method,)
        params = item.get("params")
        if type(params) is not dict:
            item["params"] = {}
            if params is not None and method in self._known:
                item["method"] = REFUSED
                item["params"] = {"code": INVALID_PARAMS, "data": [_problem("$", "Expected `object`")]}
        return item

    def _handler(self, name: str, method: Method, silent: bool) -> Callable[..., Any]:
        success, error, convert = self._success, self._error, msgspec.convert
        params_type, answer, degraded = method.params, method.answer, method.degraded
        waits = name == "guard"

        def handle(session: Session, /, **params: Any) -> Any:
            session.silent = silent
            try:
                converted = convert(params, params_type)
            except msgspec.ValidationError as invalid:
                return error(INVALID_PARAMS, TEXTS[INVALID_PARAMS], [where_and_why(invalid, params_type)])
            try:
                session.keeping.before()
                try:
                    return success(answer(session, converted))
                finally:
                    session.keeping.after(waits=waits)
            except InvalidParamsError as invalid:
                return error(INVALID_PARAMS, TEXTS[INVALID_PARAMS], invalid.data)
            except Exception:
                session.fault(name)
                return success(degraded(converted)) if degraded else error(INTERNAL_ERROR, TEXTS[INTERNAL_ERROR])

        return _with_signature(handle)

    def _refuser(self) -> Callable[..., Any]:
        error = self._error

        def refuse(_session: Session, /, **params: Any) -> Any:
            return error(params["code"], TEXTS[params["code"]], params["data"])

        return _with_signature(refuse)

    def _reply(self, response: Any) -> Reply:
        """A response of jsonrpcserver as we write it."""
        reply = response.bind(_success)
        if type(reply) is Success:
            return reply
        failed = self._as_dict(response)
        error = failed["error"]
        code = error["code"]
        if code not in TEXTS or code == INTERNAL_ERROR:  # the library's own bring the text of an exception along
            if "data" in error:
                self._session.log(f"a fault in jsonrpcserver: {redacted(str(error['data']))}")
            return _failure(INTERNAL_ERROR, failed["id"])
        data = error.get("data", UNSET)
        if code == METHOD_NOT_FOUND:
            data = f"there is no method {shortened(str(data))}"
        return _failure(code, failed["id"], data)

    def _serialize(self, replies: Reply | list[Reply]) -> bytes:
        try:
            return encode(replies) + b"\n"
        except Exception:
            self._session.fault("encoding a reply")
        each = [self._serialize_one(reply) for reply in (replies if isinstance(replies, list) else [replies])]
        return (b"[" + b",".join(each) + b"]\n") if isinstance(replies, list) else each[0] + b"\n"

    def _serialize_one(self, reply: Reply) -> bytes:
        try:
            return encode(reply)
        except Exception:
            return encode(_failure(INTERNAL_ERROR, reply.id))


def oversized_reply(max_line_bytes: int) -> bytes:
    """The line that answers a line which was too long to be kept."""
    data = f"the line is longer than {max_line_bytes} bytes"
    return encode(_failure(INVALID_REQUEST, None, data)) + b"\n"


def fault_reply() -> bytes:
    """The line that answers a line when even the dispatching failed."""
    return encode(_failure(INTERNAL_ERROR, None)) + b"\n"


def where_and_why(invalid: msgspec.ValidationError, params: type[Struct]) -> dict[str, str]:
    """A param that `params` does not take as `{key, problem}`, the key being a path such as `$.arguments`."""
    problem, at, path = str(invalid).partition(" - at `")
    key = path.removesuffix("`") if at else "$"
    missing = _MISSING.match(problem)
    if missing:
        return _problem(f"{key}.{missing['name']}", "is required")
    if problem.startswith("Invalid enum value"):  # which may be long, and does not say what would be valid
        return _problem(key, f"Expected one of {', '.join(_choices(params, key.removeprefix('$.')))}")
    return _problem(key, _TYPES.sub(lambda found: _IN_JSON[found[0]], problem))


def _choices(params: type[Struct], name: str) -> list[str]:
    return [
        each for field in msgspec.structs.fields(params) if field.encode_name == name for each in get_args(field.type)
    ]


def shortened(name: str) -> str:
    """A name that a client sent, quoted and short enough for an error."""
    return repr(name if len(name) <= _LONGEST_QUOTE else f"{name[:_LONGEST_QUOTE]}…")


def _validate(value: Any) -> None:
    """Raise unless the message is an object or a batch with something in it. jsonrpcserver does the rest."""
    if type(value) is not dict and not (type(value) is list and value):
        raise ValueError


def _refusal(message_id: Any, why: str) -> dict[str, Any]:
    return {"method": REFUSED, "params": {"code": INVALID_REQUEST, "data": why}, "id": message_id}


def _problem(key: str, problem: str) -> dict[str, str]:
    return {"key": key, "problem": problem}


def _failure(code: int, message_id: Any, data: Any = UNSET) -> Failure:
    return Failure(message_id, Error(code, TEXTS[code], data))


def _success(answered: Any) -> Success:
    return Success(answered.id, answered.result)


class _AnyParams(Signature):
    """The signature `(session, /, **params)`, which takes whatever comes: there is nothing to check in binding."""

    __slots__ = ()

    def bind(self, /, *_args: Any, **_kwargs: Any) -> BoundArguments:
        return _BOUND


def _signature(_session: Session, /, **_params: Any) -> None: ...


_ANY_PARAMS = _AnyParams(list(signature(_signature).parameters.values()))
_BOUND = signature(_signature).bind(None)


def _with_signature(handler: Callable[..., Any]) -> Callable[..., Any]:
    """jsonrpcserver looks at the signature at every call, which takes inspect 14 µs unless it is noted down."""
    handler.__signature__ = _ANY_PARAMS  # type: ignore[attr-defined]
    return handler
