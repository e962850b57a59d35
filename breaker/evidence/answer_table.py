"""Words and members by which an answer says how a call went. The expressions are for text in lower case."""

from __future__ import annotations

import re

from breaker.word_set import word_set

DENIED_CODES = word_set(
    "DENIED REJECTED PERMISSION_DENIED FORBIDDEN_BY_POLICY NOT_ALLOWED DISALLOWED BLOCKED POLICY_DENIED "
    "POLICY_VIOLATION "
    "USER_REJECTED USER_DENIED REQUIRES_APPROVAL APPROVAL_REQUIRED APPROVAL_DENIED HOOK_DENIED HOOK_BLOCKED REFUSED "
    "PERMISSION_REJECTED DECLINED USER_DECLINED TOOL_DENIED PRETOOLUSE_DENIED"
)
INVALID_CODES = word_set(
    "INVALID_ARGUMENTS INVALID_ARGUMENT INVALID_PARAMS INVALID_PARAMETERS INVALID_INPUT INVALID_TOOL_INPUT "
    "VALIDATION_ERROR "
    "SCHEMA_ERROR INPUT_VALIDATION_ERROR UNKNOWN_TOOL TOOL_NOT_FOUND NO_SUCH_TOOL TOOL_UNAVAILABLE BAD_ARGUMENTS "
    "PARSE_ERROR "
    "MISSING_PARAMETER MISSING_ARGUMENT INVALID_TOOL_CALL MALFORMED_TOOL_CALL _32602 -32602 _32601 -32601"
)

DENIAL_HINTS = (
    "denied", "reject", "declin", "block", "forbid", "refus", "allow", "permit", "permission", "approv", "grant",
    "mode", "veto", "prohibit", "want to proceed", "repeating", "cancel", "confirm", "consent",
)  # fmt: skip
"""What `DENIALS` has in it, whatever it matches."""
INVALID_HINTS = ("valid", "tool", "function", "missing", "required", "expected", "schema", "exactly one", "unexpected")
"""What `INVALID` has in it, whatever it matches."""

DENIALS = re.compile(
    r"\b(?:denied|rejected|declined|blocked|forbidden|refused|disallowed|prohibited|vetoed|not (?:allowed|"
    r"permitted)) "
    r"(?:by|in|under|because of|per|due to) (?:the |your |a |an |this |our |its )?(?:\w+[ -]){0,2}"
    r"(?:user|operator|human|policy|policies|hook|hooks|rules?|guard|guardrails?|plan|sandbox|permissions?|"
    r"settings?|config\w*|"
    r"administrator|mode|harness|client|classifier)\b"
    r"|\b(?:user|operator|human) (?:has )?(?:rejected|denied|declined|refused|doesn.?t want|does not want|"
    r"did not (?:approve|allow)|cancel?led the)"
    r"|\btool use was rejected\b"
    r"|\bpermission to (?:use|run|execute|call|access)\b.{0,80}\b(?:denied|not granted|has not been)"
    r"|\b(?:requires?|needs?|awaiting|waiting for|without) (?:\w+ ){0,2}(?:approval|permission|confirmation|"
    r"consent)\b"
    r"|\bhaven.?t granted\b|\bnot (?:been )?granted\b"
    r"|\b(?:call|command|action|tool|request|execution) (?:was |is |has been )?(?:denied|rejected|blocked|"
    r"declined|disallowed|forbidden|refused|not (?:allowed|permitted))\b(?!:? ?\()"
    r"|\bnot (?:allowed|permitted) (?:to (?:run|use|execute|call)|in (?:this|plan|read))"
    r"|\b(?:plan|read-only) mode\b.{0,80}\b(?:only|cannot|not|disabled)"
    r"|\bstop repeating this call\b"
)
"""Somebody, or a rule, does not want the call: not the system that was to carry it out."""

INVALID = re.compile(
    r"\b(?:input)?validation ?errors?\b|\binvalid (?:arguments?|params|parameters?|input|tool call|tool input|json)\b"
    r"|\b(?:unknown|no such|unrecognized|nonexistent|unregistered) (?:tool|function)\b|"
    r"\btool \S{1,80} (?:does not exist|is not (?:available|registered|found)|not found)"
    r"|\b(?:tool|function)(?: name)?:? \S{1,80} (?:was )?not found\b"
    r"|\bmissing (?:\d+ )?(?:a )?(?:required|mandatory)\b|\brequired (?:parameter|argument|property|field)\b"
    r"|\b(?:is|are) (?:a )?required\b(?! to)|\bunexpected keyword argument\b|\bmust have required property\b"
    r"|\bexpected (?:string|number|boolean|array|object)\b.{0,40}\b(?:received|got)\b|"
    r"\bdid not match the (?:expected )?schema\b"
    r"|\bexactly one (?:action|tool call|command)\b|\bno tool calls? found\b|\bmalformed (?:tool|function) call\b"
)
"""The call itself was wrong and reached nothing."""

_STATUS = r"(?:(?:http|status|code|error|response|returned)\W{{0,4}}(?:\w{{1,12}}\W{{1,3}}){{0,2}}{0}\b|\A\W*{0}\b)"
"""A number as the status of a response: `404` alone may be a line or a value that a test did not expect."""


def _with_statuses(pattern: str) -> str:
    return re.sub(r"\{(\d\d[\d\[\]]+)\}", lambda found: _STATUS.format(found[1]), pattern)


FAILURES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(_with_statuses(pattern)))
    for name, pattern in (
        ("rate", r"{429}|too many requests|rate[ -]?limit|quota (?:exceeded|exhausted)|throttl|resource_exhausted"),
        ("blocked page",
            r"captcha|verify (?:that )?you are (?:a )?human|enable javascript|unusual traffic|"
            r"automated (?:access|requests)|access to this page has been denied"),
        ("auth",
            r"{401}|unauthori[sz]ed|authentication (?:failed|required)|invalid (?:api[ _-]?key|token|"
            r"credentials)|\(publickey|not logged in|token (?:has )?expired|could not read username"),
        ("refused",
            r"econnrefused|connection refused|failed to connect|could not connect|couldn't connect|"
            r"connect: connection"),
        ("reset",
            r"econnreset|connection reset|socket hang up|broken pipe|connection (?:was )?(?:closed|"
            r"aborted)|epipe\b"),
        ("dns",
            r"\benotfound\b|eai_again|could not resolve|name or service not known|no such host|getaddrinfo|"
            r"name resolution"),
        ("timeout", r"etimedout|timed?[ -]?out\b|deadline exceeded|timeout(?:error|exceeded| of | after )"),
        ("unavailable",
            r"{50[0234]}|service unavailable|temporarily unavailable|(?:is|are) (?:busy|overloaded)|"
            r"try again (?:later|in \d)|bad gateway|gateway time|internal server error"),
        ("no answer",
            r"\bno (?:answer|response|reply)\b|\bnobody (?:answered|replied)|\bdid not (?:answer|respond|reply)"),
        ("locked",
            r"could not get lock|is locked\b|lock file|resource (?:temporarily unavailable|busy)|"
            r"another .{0,20}process|ebusy"),
        ("permission",
            r"eacces|eperm\b|permission denied|operation not permitted|access (?:is )?denied|\b403\b|"
            r"forbidden"),
        ("in use", r"eaddrinuse|address already in use|port .{0,12}(?:in use|already)"),
        ("no command",
            r"command not found|not recognized as an internal|no such command|"
            r"executable file not found|: not found$"),
        ("too large",
            r"exceeds? (?:the )?(?:maximum|limit|max)|too (?:large|big|long)\b|maximum .{0,30}exceeded|"
            r"out of memory|enomem|no space left|enospc"),
        ("not found",
            r"enoent|no such file|does not exist|doesn't exist|{404}|(?:file|path|directory|page|"
            r"resource|document|object|key|table|record|entity) not found|cannot find (?:the )?(?:file|path|"
            r"module)|cannot access|not found:? |eisdir|enotdir|is a directory|not a directory"),
    )
)  # fmt: skip
"""Failures that the system names, by class; the first that fits. What may pass by itself comes first."""

LIKE_AN_ERROR = re.compile(
    r"\W{0,12}(?:\[?(?:error|err!|fatal|failed|failure|exception|panic|traceback|usage error|e:|e\d{3,5}:|"
    r"npm err|warning: could not)\b"
    r"|expected (?:an? )?\w{1,20},? (?:but )?(?:got|found|received)\b"
    r"|[\w.]{1,60}(?:error|exception)\b|cannot\b|can't\b|can not\b|could not\b|couldn't\b|unable to\b|invalid\b|"
    r"unknown\b|access denied|permission denied"
    r"|(?:the )?\w{1,20} is (?:busy|overloaded|unavailable)\b|denied\b|blocked\b|forbidden\b|not found\b|"
    r"no such\b|command not found|unauthori[sz]ed|too many requests|"
    r"http (?:error )?[45]\d\d|[45]\d\d\b(?: [a-z]|\W{0,3}$)"
    r"|[\w./@-]{1,80}: (?:line \d+: )?(?:[^\n]{0,160}: )?(?:cannot|can't|could not|no such|permission denied|"
    r"command not found|not found|fatal|error|unable|invalid|unrecognized|failed)"
    r"|(?:the )?[\w ./'\"-]{1,80} (?:does not exist|could not be|cannot be|was not found|is not available|"
    r"not found|failed)\b)"
)
"""How a short answer begins that is a failure although nothing flags it."""

ENDS_IN_AN_ERROR = re.compile(
    r"(?:\A|\n)(?:\w{1,40}\.){0,6}[a-z]\w{1,60}(?:error|exception)(?:: [^\n]{0,400})?\s*\Z"
    r"|\n(?:error|fatal): [^\n]{0,400}\s*\Z"
)
"""How a short answer ends that is a failure although nothing flags it, in lower case."""
BLOCKED_PAGE = re.compile(
    r"(?:enable|requires?) javascript|verify (?:that )?you are (?:a )?human|complete the (?:captcha|check)|"
    r"unusual traffic|"
    r"access to this page has been denied|please (?:solve|complete) (?:the|a) captcha"
)
"""A page for robots in place of what was asked for, in lower case."""
BLOCKED_HINTS = ("javascript", "human", "captcha", "complete the check", "unusual traffic", "access to this page")
"""What `BLOCKED_PAGE` has in it, whatever it matches."""
STARTED = re.compile(
    r"(?:command|process|task|job) (?:is |was )?(?:still )?(?:running|started|launched|"
    r"moved)(?: in (?:the )?background| \(session| with session id)|"
    r"running in (?:the )?background"
)
"""What a shell answers that left a command running, in lower case: no look at what goes on."""

EMPTY = re.compile(
    r"\s*(?:\W{0,3}(?:no|none|nothing|zero|0|empty|null|undefined|n/a)\b[^\n]{0,160}|\[\s*\]|\{\s*\}|\(\s*\)|"
    r"(?:found|matched|showing|returned|total:?|results?:?|count:?) (?:0|no|zero)\b[^\n]{0,120}|"
    r"[^\n]{0,60}\b(?:returned|has|with|found) no (?:results|matches|entries|output|data)\b[^\n]{0,60}"
    r"|[^\n]{0,80}\b(?:shorter than|(?:beyond|past|behind|after) the (?:end|last)|out of (?:range|bounds))\b"
    r"|[^\n]{0,40}\b0 (?:results|matches|hits|files|items|records|rows|entries)\b[^\n]{0,60})\s*"
)
NOBODY = re.compile(
    r"\W{0,4}(?:there (?:was|is) )?(?:no (?:answer|response|reply)|nobody (?:answered|replied))\b[^\n]{0,80}\Z"
)
"""Nobody answered what was asked or said, in lower case."""
NOT_EMPTY = re.compile(
    r"\b(?:no|0|zero) (?:\w+ )?(?:errors?|issues?|problems?|warnings?|failures?|failed|violations?|conflicts?|"
    r"changes? needed|vulnerabilities)|\bno such\b|\bnot found\b|\bnothing to \w+|\bnothing (?:added|changed)|"
    r"^\s*0?\s*$|^\s*no\W*$"
)
"""Says nothing went wrong, or is itself an answer: not that nothing was found."""

LIVE = re.compile(
    r"(?<![\w-])(?:running|pending|queued|in[ _-]?progress|inprogress|waiting|starting|building|provisioning|"
    r"creating|containercreating|\Adown\Z|offline|unreachable|"
    r"podinitializing|processing|deploying|initiali[sz]ing|still|"
    r"not (?:yet )?(?:ready|done|finished|complete|up|available|reachable|online|started|healthy)|loading|pulling|"
    r"scheduled|compiling|downloading|uploading|installing|connecting|warming|timed_out|ongoing|unfinished|busy|"
    r"working(?! (?:tree|dir|copy))|"
    r"\[[=#>.\- ]{4,80}\])(?![\w-])"
)
GOES_ON = re.compile(
    r"(?<![\w-])(?:running|pending|queued|in[ _-]?progress|waiting for|not (?:yet )?(?:ready|done|finished|"
    r"complete)|still \w+ing|"
    r"containercreating|starting)(?![\w-])"
)
"""What says so even in an answer that counts as a failure."""
DEAD = re.compile(
    r"(?<![\w-])(?:completed?|finished|exited|done|terminated|killed|stopped|failed|failure|succeeded|success|"
    r"successful|cancell?ed|"
    r"aborted|crashed|not found|no such|does not exist|unknown|expired|closed|ended|passed|merged)(?![\w-])"
)

VOLATILE_KEYS = word_set(
    "timestamp time ts now date datetime servertime generatedat checkedat fetchedat retrievedat requestedat "
    "respondedat lastchecked "
    "asof requestid traceid spanid messageid msgid correlationid eventid deliveryid invocationid nonce etag "
    "elapsed elapsedms "
    "elapsedseconds duration durationms durationseconds took tookms latency latencyms walltime walltimeseconds "
    "responsetime "
    "responsetimems executiontime executiontimems runtime runtimems uptime pid processid cursor chunkid serverid "
    "hostname sessiontoken "
    "originaltokencount durationsec timems"
)
"""Members whose value differs from try to try, lower case without `_` and `-`."""
SHELL_VALUE = word_set("kind exitCode stdout stderr timedOut timeoutMs signal statusCode sandbox aborted")
"""Members of a structured result that say how a command went, not what it answered."""
EXIT_KEYS = frozenset({"exitcode", "returncode", "exitstatus", "rc"})
ERROR_KEYS = frozenset({"error", "errors", "errormessage", "err"})
FLAGS = frozenset(
    {
        "ok",
        "success",
        "status",
        "iserror",
        "error",
        "errors",
        "succeeded",
        "type",
        "jsonrpc",
        "version",
        "truncated",
        "hasmore",
    }
)
ECHOES = word_set(
    "query q pattern path search searchterm term filter filters input params request url glob repo page perpage "
    "limit offset"
)
"""Members that repeat what was asked for."""
