/**
 * toolbreaker in front of opencode's tools.
 *
 * A throw in `tool.execute.before` is opencode's way to deny, so nothing here throws for any other reason. A question
 * would end the run of opencode, so none is put: calls at a limit are denied.
 */
const { Breaker } = await import('toolbreaker-client').catch((error) => {
  // A checkout in which nothing was installed: the client is next door.
  if (/^(ERR_)?MODULE_NOT_FOUND$/.test(error.code)) return import('../node/index.js')
  throw error
})

/** Options that are about the process; all others are settings of the server. */
const SERVER_OPTIONS = new Set(['command', 'cwd', 'env', 'failClosed', 'timeoutMs', 'startTimeoutMs'])

/** Milliseconds that opencode gets to say whose child a session is. */
const LOOKUP_MS = 1000

// opencode calls everything that a plugin file exports, so there is one export.
export const ToolbreakerPlugin = async ({ client }, options = {}) => {
  const pick = (wanted) => Object.fromEntries(Object.entries(options).filter(([key]) => SERVER_OPTIONS.has(key) === wanted))
  const tell = (level, message) => report(client, level, message)
  const breaker = new Breaker({
    command: [process.env.TOOLBREAKER || 'toolbreaker', 'serve', '--state', 'auto', '--namespace', 'opencode'],
    ...pick(true),
    config: pick(false),
    capabilities: { ask: false },
    client: { name: 'opencode', version: '0.1.0' },
    onFault: ({ message }) => tell('warn', `toolbreaker: ${message}. Tool calls are not judged until it answers.`),
    onStderr: (text) => tell('info', text.trimEnd()),
  })
  try {
    await breaker.initialize()
  } catch (error) {
    tell('error', error.message)
    if (!options.failClosed) return {}
  }
  return hooks(client, breaker, tell)
}

function hooks(client, breaker, tell) {
  const sessions = new Sessions(client)
  /** opencode's call id → ours. A provider may use an id again, so ours carry a number. */
  const calls = new Map()
  /** Session → texts for its model that came when there was no output to put them into. */
  const owed = new Map()
  let made = 0

  const keyOf = (sessionID, callID) => `${sessionID} ${callID}`

  /** Tell the server how a call went and return the texts for the model. */
  async function settle({ sessionID, callID, tool, args }, result) {
    const key = keyOf(sessionID, callID)
    const callId = calls.get(key)
    calls.delete(key)
    const { advisories } = await breaker.postExecute({ agent: sessionID, callId: callId ?? callID, tool, arguments: args, result })
    return advisories.map((advisory) => advisory.text)
  }

  /** A hook that fails is a line in the log and nothing more. */
  const guarded = (hook) => async (...input) => {
    try {
      return await hook(...input)
    } catch (error) {
      return tell('error', `toolbreaker: ${error.stack ?? error}`)
    }
  }

  const judge = guarded(async ({ tool, sessionID, callID }, { args }) => {
    const callId = `${callID}#${++made}`
    calls.set(keyOf(sessionID, callID), callId)
    const parent = await sessions.parentOf(sessionID)
    return breaker.guard({ agent: sessionID, parent, callId, tool, arguments: args, canAsk: false })
  })

  const events = {
    'session.created': ({ info }) => {
      sessions.know(info.id, info.parentID)
      if (info.parentID) breaker.notify('agentStarted', { agent: info.id, parent: info.parentID, kind: 'subagent' })
    },
    'session.idle': async ({ sessionID }) => {
      if (await sessions.parentOf(sessionID)) breaker.notify('agentEnded', { agent: sessionID })
    },
    'session.compacted': ({ sessionID }) => breaker.notify('compacted', { agent: sessionID }),
    'message.updated': ({ info }) => {
      if (info.role !== 'assistant' || !info.time?.completed || !info.tokens) return
      const { input, output, cache } = info.tokens
      breaker.notify('usage', {
        agent: info.sessionID,
        requestId: info.id,
        inputTokens: input,
        outputTokens: output,
        cacheReadTokens: cache?.read,
        cacheWriteTokens: cache?.write,
      })
    },
    // Failed calls, denied ones among them, have no `tool.execute.after`.
    'message.part.updated': async ({ part }) => {
      if (part.type !== 'tool' || part.state.status !== 'error' || !calls.has(keyOf(part.sessionID, part.callID))) return
      const { error, input } = part.state
      const { sessionID, callID, tool } = part
      const texts = await settle({ sessionID, callID, tool, args: input }, { isError: true, content: error, error: { message: error } })
      if (texts.length > 0) owed.set(sessionID, [...(owed.get(sessionID) ?? []), ...texts])
    },
  }

  return {
    'tool.execute.before': async (input, output) => {
      const verdict = await judge(input, output)
      if (verdict && verdict.decision !== 'allow') throw new Error(verdict.reason)
    },

    'tool.execute.after': guarded(async (input, output) => {
      const texts = [...(owed.get(input.sessionID) ?? []), ...(await settle(input, resultOf(output)))]
      owed.delete(input.sessionID)
      if (texts.length > 0) output.output = [output.output, ...texts].join('\n\n')
    }),

    'chat.message': guarded(async ({ sessionID }, { parts }) => {
      // A task that a parent delegates comes as a message as well, and so does what opencode itself writes.
      const person = !(await sessions.parentOf(sessionID)) && !parts?.every((part) => part.synthetic)
      breaker.notify('userTurn', { agent: sessionID, source: person ? 'user' : 'opencode' })
    }),

    event: guarded(async ({ event }) => events[event.type]?.(event.properties)),

    dispose: guarded(() => breaker.close()),
  }
}

/** Which session started which. Those created before the plugin was loaded are asked for, once. */
class Sessions {
  #client
  #parents = new Map()

  constructor(client) {
    this.#client = client
  }

  know(id, parent) {
    this.#parents.set(id, Promise.resolve(parent))
  }

  parentOf(id) {
    if (!this.#parents.has(id)) this.#parents.set(id, this.#ask(id))
    return this.#parents.get(id)
  }

  async #ask(id) {
    let timer
    const late = new Promise((resolve) => { timer = setTimeout(resolve, LOOKUP_MS) })
    try {
      const answer = await Promise.race([this.#client.session.get({ path: { id } }), late])
      return answer?.data?.parentID
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A result as the server takes it. The shell tool's exit code is `null` when the command was ended from outside. */
function resultOf({ output, metadata }) {
  const text = typeof output === 'string' ? output : ''
  const result = { isError: false, content: text }
  if (typeof metadata?.exit === 'number') result.value = { kind: 'foreground', exitCode: metadata.exit }
  if (metadata?.exit === null) {
    // What the shell tool appends itself stands at the very end.
    const note = text.slice(text.lastIndexOf('<shell_metadata>'))
    const timeout = /exceeding timeout (\d+) ms/.exec(note)
    if (timeout) result.value = { kind: 'foreground', timedOut: true, timeoutMs: Number(timeout[1]) }
    else if (note.includes('User aborted the command')) result.value = { kind: 'foreground', aborted: true }
  }
  return result
}

/** Say something in opencode's log, and on its screen when it is more than information. */
function report(client, level, message) {
  const quietly = (promise) => Promise.resolve(promise).catch(() => {})
  try {
    quietly(client?.app?.log({ body: { service: 'toolbreaker', level, message } }))
    if (level !== 'info') quietly(client?.tui?.showToast({ body: { message, variant: level === 'error' ? 'error' : 'warning' } }))
  } catch {
    // Nobody listens.
  }
}
