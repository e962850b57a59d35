/** What both clients share: the methods, what stands in for a reply that never came, the defaults. */

export const PROTOCOL_VERSION = 1

/** Methods of the wire that a client offers under the same name, each with one params object. */
export const METHODS = ['guard', 'approval', 'postExecute', 'userTurn', 'compacted', 'usage', 'agentStarted', 'agentEnded', 'status']

export const DEFAULTS = {
  /** Milliseconds that one call may take. */
  timeoutMs: 250,
  /** Milliseconds from the start of the process to its answer to `initialize`. */
  startTimeoutMs: 10_000,
  /** Bytes of one message in either direction; the server's own default. */
  maxLineBytes: 8 * 1024 * 1024,
  /** Milliseconds before the first new start of a process that went down; doubled up to the maximum. */
  backoffMs: 100,
  maxBackoffMs: 30_000,
  /** A process that owes answers and is silent for the time of this many calls is given up. */
  maxTimeouts: 3,
}

/** The program and its arguments when the caller names none. */
export function defaultCommand(env = process.env) {
  return [env.TOOLBREAKER || 'toolbreaker', 'serve']
}

/** The server refused the config that it was given. `problems` lists every one: `{key, problem, hint?}`. */
export class ConfigError extends Error {
  constructor(problems) {
    const lines = problems.map(({ key, problem, hint }) => `  ${key}: ${problem}${hint ? ` (${hint})` : ''}`)
    super(['toolbreaker refused its config:', ...lines].join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

const UNAVAILABLE = 'TOOLBREAKER_UNAVAILABLE'

/**
 * The reply that a caller gets when the server gave none. A call is allowed, unless `failClosed`. An approval
 * stands as the operator gave it.
 */
export function standIn(method, params, fault, failClosed) {
  switch (method) {
    case 'guard':
      return { ...verdict(!failClosed, fault), callId: params?.callId }
    case 'approval':
      return verdict(params?.outcome === 'approved' && !failClosed, fault)
    case 'postExecute':
      return { advisories: [], failure: null, degraded: true }
    case 'usage':
      return { advisories: [], degraded: true }
    case 'userTurn':
      return { reset: false, degraded: true }
    default:
      return { degraded: true }
  }
}

function verdict(allowed, fault) {
  if (allowed) return { decision: 'allow', hits: [], degraded: true }
  const reason = `${UNAVAILABLE}: this call was not run, because the gate in front of it does not answer (${fault.message}).`
  return { decision: 'deny', code: UNAVAILABLE, reason, hits: [], degraded: true }
}

const DECISIONS = new Set(['allow', 'deny', 'ask'])

/** Whether a result has the shape that callers rely on. */
export function wellFormed(method, result) {
  if (result === null || typeof result !== 'object') return false
  if (method === 'guard' || method === 'approval') return DECISIONS.has(result.decision)
  if (method === 'postExecute' || method === 'usage') return Array.isArray(result.advisories)
  return true
}
