/** Client of `toolbreaker serve`, wire protocol version 1. */

export type Decision = 'allow' | 'deny' | 'ask'
export type Outcome = 'approved' | 'rejected' | 'cancelled' | 'unavailable'
export type Stage = 'warn' | 'summarize' | 'failWarn' | 'budgetWarn' | 'quotaWarn' | 'letThrough'

/** MCP's tool annotations and three more. */
export interface Annotations {
  readOnlyHint?: boolean
  idempotentHint?: boolean
  destructiveHint?: boolean
  openWorldHint?: boolean
  pollHint?: boolean
  spawnHint?: boolean
  bookkeepingHint?: boolean
}

/** A tool call that is about to run. */
export interface Call {
  /** Unique name of the agent; `"main"` when absent. */
  agent?: string
  /** The agent that started this one. */
  parent?: string
  callId?: string
  tool: string
  arguments?: unknown
  annotations?: Annotations
  /** Names the model response that the call came in. */
  step?: string
  /** Seconds since the epoch; `null`: nobody knows. Absent: when it arrives. */
  at?: number | null
  /** `false`: nobody can be asked, so every question becomes a denial. */
  canAsk?: boolean
  explain?: boolean
}

export interface Hit {
  gate: string
  fingerprint?: string
  count: number
  limit: number
  detail?: string
}

/** `degraded`: the server did not judge, and this reply stands in for its own. */
export interface Degradable {
  degraded?: true
}

export interface Verdict extends Degradable {
  decision: Decision
  /** With `deny` and `ask`. */
  code?: string
  /** With `deny`: for the model. With `ask`: for the operator. */
  reason?: string
  hits: Hit[]
  /** The call's own, or the one that the server made. */
  callId?: string
  /** With `explain`. */
  fingerprints?: { fingerprint: string; count: number; limit: number | null; failures: number }[]
}

export interface Approval extends Degradable {
  decision: 'allow' | 'deny'
  code?: string
  reason?: string
  hits: Hit[]
}

export interface Result {
  /** Text, or content blocks of which those of type `text` carry `text`. */
  content?: unknown
  /** What the tool returned as data: `exitCode`, `statusCode`, `timedOut`, … */
  value?: unknown
  isError?: boolean
  error?: unknown
}

/** Disjoint token counts of one model request. */
export interface TokenCounts {
  requestId?: string
  inputTokens: number
  outputTokens?: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
}

export interface Settled {
  agent?: string
  callId?: string
  tool?: string
  arguments?: unknown
  at?: number | null
  result: Result
  usage?: TokenCounts
}

/** A text for the model that stops nothing. */
export interface Advisory {
  gate: string
  stage: Stage
  fingerprint?: string
  count: number
  text: string
  /** One line for people. */
  summary: string
  source: { kind: 'plugin' }
}

export interface Report extends Degradable {
  advisories: Advisory[]
  failure: { reason: string; detail?: string | null } | null
}

export interface Started {
  agent: string
  parent: string
  kind: 'subagent' | 'workflow'
  /** The call that started it. */
  callId?: string
}

export interface Greeting extends Degradable {
  protocolVersion: number
  server: { name: string; version: string }
  methods: string[]
  /** The whole resolved config. */
  config: Record<string, unknown>
}

export interface Problem {
  key: string
  problem: string
  hint?: string
}

/** Something that kept a call from being judged. */
export interface Fault {
  kind:
    | 'spawn' | 'startTimeout' | 'timeout' | 'exit' | 'garbage' | 'unknownId' | 'tooLarge'
    | 'stalled' | 'unserializable' | 'error' | 'config' | 'thread' | 'down' | 'closed'
  message: string
  method?: string
  code?: number | null
  signal?: string | null
  data?: unknown
}

export interface Options {
  /** The program and its arguments. A string is a program that is started with `serve`. Default: `$TOOLBREAKER serve`, else `toolbreaker serve`. */
  command?: string | readonly string[]
  cwd?: string
  env?: Record<string, string | undefined>
  /** Settings for `initialize`, also of every later start. */
  config?: Record<string, unknown>
  client?: { name: string; version: string }
  capabilities?: { ask?: boolean }
  /** Milliseconds that one call may take. Default 250. */
  timeoutMs?: number
  /** Milliseconds that a start may take. Default 10000. */
  startTimeoutMs?: number
  /** Bytes of one message. Default 8 MiB. */
  maxLineBytes?: number
  /** Milliseconds before the first new start, doubled each time. Defaults 100 and 30000. */
  backoffMs?: number
  maxBackoffMs?: number
  /** A process that owes answers and is silent for the time of so many calls is started anew. Default 3. */
  maxTimeouts?: number
  /** Deny what could not be judged, instead of allowing it. Default false. */
  failClosed?: boolean
  /** Called once a kind of fault, until a process works again. Default: a process warning. */
  onFault?: (fault: Fault) => void
  /** Receives what the server writes to stderr. Default: only the end of it, in the fault of an exit. */
  onStderr?: (text: string) => void
}

export interface Breaker {
  guard(call: Call): Promise<Verdict>
  approval(answer: { agent?: string; callId: string; outcome: Outcome }): Promise<Approval>
  postExecute(settled: Settled): Promise<Report>
  userTurn(turn?: { agent?: string; source?: string }): Promise<{ reset: boolean } & Degradable>
  compacted(which?: { agent?: string }): Promise<Degradable>
  usage(counts: { agent?: string } & TokenCounts): Promise<{ advisories: Advisory[] } & Degradable>
  agentStarted(started: Started): Promise<Degradable>
  agentEnded(ended: { agent: string }): Promise<Degradable>
  status(which?: { agent?: string }): Promise<Record<string, unknown> & Degradable>
}

/** Client that awaits. No method but `initialize` rejects. */
export class Breaker {
  constructor(options?: Options)
  /** Process id of the server, while there is one. */
  readonly pid: number | undefined
  /**
   * Start the server, or start afresh with another config.
   * @throws ConfigError for a config that the server refuses; Error when `failClosed` and it cannot be reached.
   */
  initialize(config?: Record<string, unknown>): Promise<Greeting>
  /** Send a message that needs no reply. */
  notify(method: string, params?: object): void
  /** Let the server write its state and end. Later calls are answered as if it did not answer. */
  close(): Promise<void>
}

type Blocking<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : T[K] }

export interface BreakerSync extends Blocking<Omit<Breaker, 'notify' | 'pid'>> {}

/** Client that blocks the calling thread, for guards that must answer at once. */
export class BreakerSync {
  constructor(options?: Options)
  readonly pid: number | undefined
  /** The same server, for code that can await. */
  readonly async: Omit<Breaker, 'notify' | 'pid'>
  notify(method: string, params?: object): void
}

export class ConfigError extends Error {
  readonly problems: Problem[]
}
