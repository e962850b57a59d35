/**
 * toolbreaker in front of DSH's tools.
 *
 * The verdict is awaited in `tools/pre-execute` and carried out by a guard, because no order of listeners can
 * overrule a guard. The guard must answer synchronously, so it finds the verdict in a WeakMap; an execution that
 * came past the listener is judged by the blocking client, on the same server.
 */
const { BreakerSync } = await import('toolbreaker-client').catch((error) => {
  // A checkout in which nothing was installed: the client is next door.
  if (error.code === 'ERR_MODULE_NOT_FOUND') return import('../node/index.js')
  throw error
})

export const name = 'toolbreaker'
export const inject = ['tools']

/** Keys under `server` in the row's config: how the server is run. Everything else are its settings. */
const SERVER_OPTIONS = ['command', 'cwd', 'env', 'failClosed', 'timeoutMs', 'startTimeoutMs', 'backoffMs', 'maxBackoffMs', 'maxLineBytes']

/** Budgets outlive the process, as DSH's sessions do. */
const defaultCommand = () => [process.env.TOOLBREAKER || 'toolbreaker', 'serve', '--state', 'auto', '--namespace', 'dsh']

/** The tool whose children DSH starts from a script rather than from calls of their own. */
const WORKFLOW = 'workflow'

export async function apply(ctx, config) {
  const { server = {}, ...settings } = config ?? {}
  for (const key of Object.keys(server)) {
    if (!SERVER_OPTIONS.includes(key)) throw new Error(`toolbreaker: server.${key}: no such option (there are ${SERVER_OPTIONS.join(', ')})`)
  }
  const breaker = new BreakerSync({
    command: defaultCommand(),
    ...server,
    config: settings,
    client: { name: 'dsh', version: '0.1.0' },
    // DSH keeps its log to itself; that calls go unguarded must be seen.
    onFault: ({ message }) => process.emitWarning(`${message}. ${server.failClosed ? 'Calls are denied' : 'Calls run unguarded'} until it answers.`, 'ToolbreakerWarning'),
    onStderr: (text) => ctx.logger.warn(text.trimEnd()),
  })
  ctx.effect(() => () => breaker.async.close(), 'toolbreaker')
  await breaker.async.initialize()
  listen(ctx, breaker)
}

function listen(ctx, breaker) {
  /** Execution → what the server said. An `ask` that reaches the guard was approved. */
  const verdicts = new WeakMap()
  const approved = new WeakSet()
  /** Agent → the step that it is in: the calls of one model response. */
  const steps = new WeakMap()
  /** Agent id → id of its running workflow call. */
  const workflows = new Map()

  function callOf(execution, canAsk) {
    const { agent, callId, name, arguments: args } = execution
    return { agent: agent?.id, parent: agent && parentOf(agent), callId, tool: name, arguments: args, step: agent && steps.get(agent), canAsk }
  }

  ctx.on('tools/pre-execute', async (execution, next) => {
    const decision = await next()
    // Denied by another policy: it will not run, so there is nothing to count.
    if (decision.kind === 'deny') return decision
    const verdict = await breaker.async.guard(callOf(execution, canAsk(ctx, execution)))
    verdicts.set(execution, verdict)
    if (verdict.decision === 'allow') return decision
    if (verdict.decision === 'deny') return { kind: 'deny', reason: verdict.reason }
    const reasons = [decision.kind === 'ask' && decision.reason, verdict.reason]
    return { kind: 'ask', reason: reasons.filter(Boolean).join('\n\n') }
  })

  ctx.tools.guard((execution) => {
    let verdict = verdicts.get(execution)
    if (verdict === undefined) {
      verdict = breaker.guard(callOf(execution, false))
      verdicts.set(execution, verdict)
    }
    if (verdict.decision === 'deny') return verdict.reason
    if (verdict.decision === 'ask') {
      approved.add(execution)
      breaker.notify('approval', { agent: execution.agent?.id, callId: execution.callId, outcome: 'approved' })
    }
    if (execution.name === WORKFLOW && execution.agent) workflows.set(execution.agent.id, execution.callId)
    return undefined
  })

  ctx.on('tools/post-execute', async (execution, result, next) => {
    if (workflows.get(execution.agent?.id) === execution.callId) workflows.delete(execution.agent.id)
    const [{ refusal, advisories }, decision] = await Promise.all([settle(execution, result), next()])
    const contexts = [...advisories.map(notice), ...(decision.additionalContexts ?? [])]
    if (refusal !== undefined && decision.kind === 'accept' && decision.content === undefined) {
      // DSH's own text says only that the call was rejected; the model needs to know why and what to do instead.
      return { kind: 'block', feedback: [{ type: 'text', text: `Error: ${refusal}` }], ...some(contexts) }
    }
    return { ...decision, ...some(contexts) }
  })

  /** Tell the server how a call went. `refusal` is the text of a denial that the model has not seen yet. */
  async function settle(execution, result) {
    const agent = execution.agent?.id
    const { callId, name, arguments: args } = execution
    let refusal
    if (verdicts.get(execution)?.decision === 'ask' && !approved.has(execution)) {
      const outcome = execution.signal?.aborted ? 'cancelled' : 'rejected'
      refusal = (await breaker.async.approval({ agent, callId, outcome })).reason
    }
    const { advisories } = await breaker.async.postExecute({
      agent,
      callId,
      tool: name,
      arguments: args,
      result: {
        content: Array.isArray(result.content) ? result.content.filter((block) => block.type === 'text') : result.content,
        value: result.value,
        isError: result.isError,
        error: result.error,
      },
    })
    return { refusal, advisories }
  }

  ctx.on('agent/pre-step', ({ agent, messages, turn, step }, next) => {
    steps.set(agent, `${turn}.${step}`)
    for (const kind of new Set(messages.map((message) => message.source.kind))) {
      breaker.notify('userTurn', { agent: agent.id, source: kind === 'user' && isDelegated(agent) ? 'delegation' : kind })
    }
    return next()
  })

  ctx.on('session/event', (session, { type, data }) => {
    if (type === 'assistant/message' && data.usage) {
      breaker.notify('usage', { agent: session.id, requestId: data.message.id, ...tokens(data.usage) })
    } else if (type === 'compaction/summary' && data.usage) {
      breaker.notify('usage', { agent: session.id, requestId: data.compactionId, ...tokens(data.usage) })
    } else if (type === 'compaction/end' && data.error === undefined) {
      breaker.notify('compacted', { agent: session.id })
    }
  })

  ctx.on('subagent/start', ({ id }) => {
    const child = ctx.get('agents')?.get(id)
    const parent = child && parentOf(child)
    // A child outside of this process makes no calls here.
    if (parent === undefined) return
    const callId = workflows.get(parent)
    breaker.notify('agentStarted', { agent: id, parent, kind: callId === undefined ? 'subagent' : 'workflow', callId })
  })

  ctx.on('subagent/end', ({ id }) => breaker.notify('agentEnded', { agent: id }))
}

/** The agent that started this one. A session that a person forked has a parent too, but nobody delegated to it. */
function parentOf(agent) {
  const { origin, parentSession } = agent.session.header
  return origin === 'subagent' ? parentSession : undefined
}

/**
 * Whether a `user` message to this agent is the task that its parent gave it. That comes as a user message as well,
 * and is the first; later ones were written by a person who talks to the subagent itself.
 */
function isDelegated(agent) {
  const { header, events } = agent.session
  if (header.origin !== 'subagent') return false
  const own = events.slice(header.seedLength ?? 0)
  return !own.some(({ type, data }) => type === 'user/message' && data.message.source.kind === 'user')
}

/** Whether a question would reach anybody: DSH must have the service, and the session's policy must let it ask. */
function canAsk(ctx, { agent }) {
  const approval = ctx.get('approval')
  if (approval === undefined || agent === undefined) return false
  return (approval.overrideOf(agent.session) ?? approval.config.policy) !== 'never'
}

/** Token counts without the members that a provider left out. DSH's counts are disjoint, as the server's are. */
function tokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) {
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
}

/** An advisory as a message to the model. Without a source it would show up as a prompt of the user. */
function notice({ text, summary }) {
  return {
    id: crypto.randomUUID(),
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: name, form: 'notice', summary: summary.slice(0, 120) },
  }
}

function some(additionalContexts) {
  return additionalContexts.length > 0 ? { additionalContexts } : {}
}

export default { name, inject, apply }
