// The plugin on the genuine ToolRuntime of DSH, with a stub tool: what is denied is never entered.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

import * as plugin from '../../examples/dsh/index.js'

const folder = join(process.env.TOOLBREAKER_DSH_DIR || join(homedir(), '.cache/toolbreaker-tests/dsh'), 'runtime')
process.env.TOOLBREAKER ||= fileURLToPath(new URL('../../.venv/bin/toolbreaker', import.meta.url))
const missing = [join(folder, 'node_modules'), process.env.TOOLBREAKER].find((path) => !existsSync(path))
const skip = missing !== undefined && `${missing} is missing`

/** A directory for what the plugin keeps. */
function newState(t) {
  const state = mkdtempSync(join(tmpdir(), 'toolbreaker-state-'))
  t.after(() => rmSync(state, { recursive: true, force: true }))
  return state
}

/** A package of the runtime, wherever it was installed. */
const load = (name) => import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(`@deepseek-ai/${name}`)))

const anything = { type: 'object' }

/**
 * A runtime with the plugin and one tool `bash`, whose body is `body`. `before` registers listeners that come
 * ahead of the plugin's, `after` such as come behind, and `services` are DSH's optional ones.
 */
async function runtime(t, { config, body = () => ({ exitCode: 0 }), before = () => {}, after = () => {}, services = {}, state = newState(t) } = {}) {
  const [{ Context }, { ToolRuntime }, { SystemPrompt }] = await Promise.all(['cordis', 'dsh-tools', 'dsh-system-prompt'].map(load))
  const ctx = new Context()
  t.after(() => ctx.fiber.dispose())
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  for (const [name, service] of Object.entries(services)) ctx.provide(name, service)
  let entered = 0
  for (const name of ['bash', 'subagent']) {
    ctx.tools.register({
      name,
      description: 'a stub',
      parameters: anything,
      output: { schema: anything, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }] },
      async execute(args) {
        entered++
        return { kind: 'foreground', ...body(args) }
      },
    })
  }
  before(ctx)
  // A busy machine is no fault of the plugin.
  const server = { timeoutMs: 5000, env: { ...process.env, XDG_STATE_HOME: state } }
  await ctx.plugin(plugin, { ...config, server: { ...server, ...config?.server } })
  after(ctx)
  let calls = 0
  const run = (agent, command = 'make test', tool = 'bash') =>
    ctx.tools.execute({ callId: `c${++calls}`, name: tool, arguments: { command }, agent, signal: new AbortController().signal })
  return { ctx, run, entered: () => entered }
}

const agentNamed = (id, header = {}, events = []) => ({ id, session: { id, header: { id, ...header }, events } })
const textOf = (result) => result.content.map((block) => block.text).join('')
const noticesOf = (result) => (result.additionalContexts ?? []).map((context) => context.content[0].text)

/** Run the same call so many times and return the results. */
async function repeat(run, times, ...call) {
  const results = []
  for (let i = 0; i < times; i++) results.push(await run(...call))
  return results
}

/** What a user's message, or another one, looks like when it enters a step. */
const step = (ctx, agent, turn, kind) =>
  ctx.waterfall('agent/pre-step', { agent, turn, step: 1, messages: [{ source: { kind } }], signal: new AbortController().signal }, async () => ({ kind: 'enter' }))

test('the body of a repeated call is entered up to the cap and never again', { skip }, async (t) => {
  const { run, entered } = await runtime(t, { config: { limits: { exact: 5, cmd: 5 }, warnAt: 3, summarizeAt: 4 } })
  const results = await repeat(run, 7, agentNamed('a'))
  assert.equal(entered(), 4)
  assert.deepEqual(results.map((result) => result.isError), [false, false, false, false, true, true, true])
  assert.match(textOf(results[4]), /^Error: REPEAT_TOOL_BLOCKED/)
  assert.deepEqual(results.map((result) => noticesOf(result).length), [0, 0, 1, 1, 0, 0, 0])
})

test('the body of a failing call is entered up to the limit and never again', { skip }, async (t) => {
  const { run, entered } = await runtime(t, { config: { failWarnAt: 2, failLimit: 3 }, body: ({ command }) => ({ exitCode: command === 'make test' ? 2 : 0 }) })
  const agent = agentNamed('a')
  const results = await repeat(run, 5, agent)
  assert.equal(entered(), 3)
  assert.match(textOf(results[3]), /^Error: REPEAT_TOOL_BLOCKED/)
  assert.deepEqual(results.map((result) => noticesOf(result).length), [0, 1, 0, 0, 0])
  assert.equal((await run(agent, 'cat build.log')).isError, false)
})

test('an advisory says that the plugin wrote it', { skip }, async (t) => {
  const { run } = await runtime(t, { config: { warnAt: 2 } })
  const [, second] = await repeat(run, 2, agentNamed('a'))
  const [{ id, role, source }] = second.additionalContexts
  assert.ok(id)
  assert.equal(role, 'user')
  assert.deepEqual([source.kind, source.plugin, source.form], ['plugin', 'toolbreaker', 'notice'])
  assert.ok(source.summary.length > 0 && source.summary.length <= 120)
})

test('a listener that allows without passing on is no way around', { skip }, async (t) => {
  const { run, entered } = await runtime(t, {
    config: { limits: { exact: 3, cmd: 3 } },
    before: (ctx) => ctx.on('tools/pre-execute', async () => ({ kind: 'allow' })),
  })
  const results = await repeat(run, 4, agentNamed('a'))
  assert.equal(entered(), 2)
  assert.match(textOf(results[2]), /^Error: REPEAT_TOOL_BLOCKED/)
})

test('a listener that overrules a denial is no way around', { skip }, async (t) => {
  const { run, entered } = await runtime(t, {
    config: { limits: { exact: 3, cmd: 3 }, onLimit: 'deny' },
    before: (ctx) => ctx.on('tools/pre-execute', async (_execution, next) => {
      await next()
      return { kind: 'allow' }
    }),
  })
  await repeat(run, 4, agentNamed('a'))
  assert.equal(entered(), 2)
})

test('a call that another policy denies is not counted as one that ran', { skip }, async (t) => {
  let closed = true
  const { run, entered } = await runtime(t, {
    config: { limits: { exact: 3, cmd: 3 }, failLimit: null },
    after: (ctx) => ctx.on('tools/pre-execute', (_execution, next) => (closed ? { kind: 'deny', reason: 'closed' } : next())),
  })
  const agent = agentNamed('a')
  for (const result of await repeat(run, 5, agent)) assert.equal(textOf(result), 'Error: closed')
  closed = false
  await repeat(run, 4, agent)
  assert.equal(entered(), 2)
})

/** An approval service that gives one answer, and what it was asked. */
function approvals(outcome, policy = 'ask') {
  const asked = []
  return { asked, config: { policy }, overrideOf: () => undefined, request: async (request) => (asked.push(request), outcome) }
}

test('an approved question lets the call and its repeats run without another one', { skip }, async (t) => {
  const approval = approvals('allowed-once')
  const { run, entered } = await runtime(t, { config: { limits: { exact: 3, cmd: 3 } }, services: { approval } })
  await repeat(run, 6, agentNamed('a'))
  assert.equal(entered(), 6)
  assert.equal(approval.asked.length, 1)
  assert.ok(approval.asked[0].reason)
})

for (const outcome of ['rejected', 'unavailable']) {
  test(`a question that is ${outcome} is a denial that says why, asked once`, { skip }, async (t) => {
    const approval = approvals(outcome)
    const { run, entered } = await runtime(t, { config: { limits: { exact: 3, cmd: 3 } }, services: { approval } })
    const results = await repeat(run, 5, agentNamed('a'))
    assert.equal(entered(), 2)
    assert.equal(approval.asked.length, 1)
    for (const result of results.slice(2)) assert.match(textOf(result), /^Error: REPEAT_TOOL_BLOCKED/)
  })
}

test('nobody is asked where the session never asks', { skip }, async (t) => {
  const approval = approvals('rejected', 'never')
  const { run } = await runtime(t, { config: { limits: { exact: 3, cmd: 3 } }, services: { approval } })
  const results = await repeat(run, 3, agentNamed('a'))
  assert.equal(approval.asked.length, 0)
  assert.match(textOf(results[2]), /^Error: REPEAT_TOOL_BLOCKED/)
})

test('another question and ours are put as one', { skip }, async (t) => {
  const approval = approvals('allowed-once')
  const { run } = await runtime(t, {
    config: { limits: { exact: 3, cmd: 3 } },
    services: { approval },
    after: (ctx) => ctx.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'may it write?' })),
  })
  await repeat(run, 3, agentNamed('a'))
  assert.equal(approval.asked.length, 3)
  assert.equal(approval.asked[1].reason, 'may it write?')
  assert.match(approval.asked[2].reason, /^may it write\?\n\n./)
})

test('what a later listener decides about a result stands, with our advisory ahead of its own', { skip }, async (t) => {
  const theirs = { id: 'x', role: 'user', content: [{ type: 'text', text: 'theirs' }], source: { kind: 'plugin', plugin: 'other' } }
  let decision = { kind: 'accept', content: [{ type: 'text', text: 'rewritten' }], additionalContexts: [theirs] }
  const { run } = await runtime(t, { config: { warnAt: 2 }, after: (ctx) => ctx.on('tools/post-execute', async () => decision) })
  for (const agent of ['a', 'b']) {
    const [, second] = await repeat(run, 2, agentNamed(agent))
    assert.equal(textOf(second), decision.kind === 'block' ? 'blocked' : 'rewritten')
    assert.equal(second.isError, decision.kind === 'block')
    const [ours, last] = noticesOf(second)
    assert.match(ours, /^CONVERGENCE_CHECK/)
    assert.equal(last, 'theirs')
    decision = { kind: 'block', feedback: [{ type: 'text', text: 'blocked' }], additionalContexts: [theirs] }
  }
})

test('agents do not touch each other', { skip }, async (t) => {
  const { run, entered } = await runtime(t, { config: { limits: { exact: 3, cmd: 3 } } })
  await repeat(run, 3, agentNamed('a'))
  await repeat(run, 3, agentNamed('b'))
  assert.equal(entered(), 4)
})

test('a message of the user starts afresh, a notice of a plugin does not', { skip }, async (t) => {
  const { ctx, run, entered } = await runtime(t, { config: { limits: { exact: 3, cmd: 3 } } })
  const agent = agentNamed('a')
  await repeat(run, 3, agent)
  await step(ctx, agent, 1, 'plugin')
  await run(agent)
  assert.equal(entered(), 2)
  await step(ctx, agent, 2, 'user')
  await repeat(run, 3, agent)
  assert.equal(entered(), 4)
})

test('the task that a parent gives to its subagent is no message of the user, a later one is', { skip }, async (t) => {
  const { ctx, run, entered } = await runtime(t, { config: { limits: { exact: 3, cmd: 3 } } })
  const parent = agentNamed('parent')
  const child = agentNamed('child', { origin: 'subagent', parentSession: 'parent', seedLength: 1 }, [{ type: 'user/message', data: { message: { source: { kind: 'user' } } } }])
  for (const agent of [parent, child]) await repeat(run, 3, agent)
  await step(ctx, child, 1, 'user')
  await run(parent)
  await run(child)
  assert.equal(entered(), 4)
  child.session.events.push({ type: 'user/message', data: { message: { source: { kind: 'user' } } } })
  await step(ctx, child, 2, 'user')
  await run(child)
  assert.equal(entered(), 5)
  await run(parent)
  assert.equal(entered(), 5)
})

const usageEvent = (id, inputTokens) => ({ type: 'assistant/message', data: { message: { id }, usage: { inputTokens, outputTokens: 1, cacheReadTokens: 600 } } })

test('tokens of an agent and of its subagents count against the budget, once a message', { skip }, async (t) => {
  const parent = agentNamed('parent')
  const child = agentNamed('child', { origin: 'subagent', parentSession: 'parent' })
  const agents = new Map([parent, child].map((agent) => [agent.id, agent]))
  const { ctx, run } = await runtime(t, { config: { maxTokens: 3000 }, services: { agents } })
  await step(ctx, parent, 1, 'user')
  ctx.emit('session/event', parent.session, usageEvent('m1', 400))
  ctx.emit('session/event', parent.session, usageEvent('m1', 400))
  assert.equal((await run(parent, 'one')).isError, false)
  ctx.emit('subagent/start', { id: 'child' })
  ctx.emit('session/event', child.session, usageEvent('m2', 700))
  // 1000 + 1300 of 3000: past the warning at 70 %, which the spender gets with its next result.
  assert.deepEqual(noticesOf(await run(parent, 'two')), [])
  assert.equal(noticesOf(await run(child, 'two')).length, 1)
  ctx.emit('session/event', child.session, usageEvent('m3', 100))
  assert.match(textOf(await run(parent, 'three')), /^Error: LOOP_GUARD_BUDGET_EXHAUSTED/)
  await step(ctx, parent, 2, 'user')
  assert.equal((await run(parent, 'four')).isError, false)
})

test('what was spent outlives the process', { skip }, async (t) => {
  const agent = agentNamed('spender')
  const state = newState(t)
  for (const [spent, denied] of [[900, false], [900, true]]) {
    const { ctx, run } = await runtime(t, { config: { sessionMaxTokens: 2500 }, state })
    ctx.emit('session/event', agent.session, usageEvent(`m${spent}${denied}`, spent))
    assert.equal((await run(agent, 'one')).isError, denied)
    await ctx.fiber.dispose()
  }
})

test('more subagents at once than the fan-out allows are not started', { skip }, async (t) => {
  const parent = agentNamed('parent')
  const children = [1, 2].map((i) => agentNamed(`child${i}`, { origin: 'subagent', parentSession: 'parent' }))
  const agents = new Map([parent, ...children].map((agent) => [agent.id, agent]))
  const { ctx, run } = await runtime(t, { config: { fanout: 2 }, services: { agents } })
  for (const { id } of children) ctx.emit('subagent/start', { id })
  // A quota lets its first overrun pass, with a word.
  await run(parent, 'one', 'subagent')
  assert.match(textOf(await run(parent, 'two', 'subagent')), /^Error: LOOP_GUARD_FANOUT/)
  ctx.emit('subagent/end', { id: 'child1' })
  assert.equal((await run(parent, 'three', 'subagent')).isError, false)
})

test('a bad config fails the load with everything that is wrong with it', { skip }, async (t) => {
  await assert.rejects(runtime(t, { config: { window: 1, onLimit: 'maybe' } }), (error) => /window/.test(error.message) && /onLimit/.test(error.message))
  await assert.rejects(runtime(t, { config: { server: { comand: 'x' } } }), /server\.comand/)
})

test('without a server every call runs, unless the row says failClosed', { skip }, async (t) => {
  const command = ['/nowhere/toolbreaker', 'serve']
  const { run, entered } = await runtime(t, { config: { server: { command } } })
  await repeat(run, 20, agentNamed('a'))
  assert.equal(entered(), 20)
  await assert.rejects(runtime(t, { config: { server: { command, failClosed: true } } }), /cannot start/)
})
